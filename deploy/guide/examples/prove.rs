// Prove from Rust, no crates: prove KEY.zkey WITNESS.wtns prints the proof.
//     rustc prove.rs -L DIR -l static=penstock -l jansson -l crypto
use std::ffi::{c_char, c_double, c_int, c_void, CStr, CString};

#[repr(C)]
struct PenResult {
    state: c_int,
    error: c_int,
    why: [c_char; 256],
    proof_json: *mut c_char,
    public_json: *mut c_char,
    queued_s: c_double,
    run_s: c_double,
    device_fault: c_int,
}

const PEN_DONE: c_int = 5;
const PEN_FOREVER: u64 = u64::MAX;

extern "C" {
    fn pen_engine_open(engine: *mut *mut c_void, opts: *const c_void) -> c_int;
    fn pen_engine_close(engine: *mut c_void);
    fn pen_circuit_load(engine: *mut c_void, name: *const c_char, path: *const c_char) -> c_int;
    fn pen_submit_file(engine: *mut c_void, job: *mut u64, circuit: *const c_char, path: *const c_char,
                       opts: *const c_void) -> c_int;
    fn pen_wait(engine: *mut c_void, result: *mut PenResult, job: u64, timeout_ms: u64) -> c_int;
    fn pen_result_close(result: *mut PenResult);
    fn pen_last_error() -> *const c_char;
}

struct Engine(*mut c_void);

fn check(rc: c_int) -> Result<(), String> {
    if rc == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(pen_last_error()) }.to_string_lossy().into_owned())
}

impl Engine {
    fn open() -> Result<Engine, String> {
        let mut engine = std::ptr::null_mut();
        check(unsafe { pen_engine_open(&mut engine, std::ptr::null()) })?;
        Ok(Engine(engine))
    }

    fn load(&self, name: &str, path: &str) -> Result<(), String> {
        let (name, path) = (CString::new(name).unwrap(), CString::new(path).unwrap());
        check(unsafe { pen_circuit_load(self.0, name.as_ptr(), path.as_ptr()) })
    }

    fn prove(&self, name: &str, path: &str) -> Result<String, String> {
        let (name, path) = (CString::new(name).unwrap(), CString::new(path).unwrap());
        let mut job = 0;
        check(unsafe { pen_submit_file(self.0, &mut job, name.as_ptr(), path.as_ptr(), std::ptr::null()) })?;
        let mut result: PenResult = unsafe { std::mem::zeroed() };
        check(unsafe { pen_wait(self.0, &mut result, job, PEN_FOREVER) })?;
        let text = if result.state == PEN_DONE { result.proof_json as *const c_char } else { result.why.as_ptr() };
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        unsafe { pen_result_close(&mut result) };
        if result.state == PEN_DONE { Ok(text) } else { Err(text) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        unsafe { pen_engine_close(self.0) }
    }
}

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().collect();
    if args.len() != 3 {
        return Err("usage: prove KEY.zkey WITNESS.wtns".into());
    }
    let engine = Engine::open()?;
    engine.load("mine", &args[1])?;
    print!("{}", engine.prove("mine", &args[2])?);
    Ok(())
}
