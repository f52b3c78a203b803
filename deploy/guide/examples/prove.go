// Prove from Go: prove KEY.zkey WITNESS.wtns prints the proof.
//
//	CGO_CFLAGS="-I..." CGO_LDFLAGS="-L... -lpenstock -ljansson -lcrypto -lpthread -lm" go build prove.go
package main

/*
#include <penstock/engine.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// call keeps the goroutine on one thread: the sentence of a failure belongs to the thread.
func call(f func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f() != 0 {
		return errors.New(C.GoString(C.pen_last_error()))
	}
	return nil
}

func prove(key, witness string) (string, error) {
	var engine *C.struct_pen_engine
	if err := call(func() C.int { return C.pen_engine_open(&engine, nil) }); err != nil {
		return "", err
	}
	defer C.pen_engine_close(engine)
	name, keyPath, witnessPath := C.CString("mine"), C.CString(key), C.CString(witness)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(keyPath))
	defer C.free(unsafe.Pointer(witnessPath))
	if err := call(func() C.int { return C.pen_circuit_load(engine, name, keyPath) }); err != nil {
		return "", err
	}
	var job C.uint64_t
	if err := call(func() C.int { return C.pen_submit_file(engine, &job, name, witnessPath, nil) }); err != nil {
		return "", err
	}
	var result C.struct_pen_result
	if err := call(func() C.int { return C.pen_wait(engine, &result, job, C.PEN_FOREVER) }); err != nil {
		return "", err
	}
	defer C.pen_result_close(&result)
	if result.state != C.PEN_DONE {
		return "", errors.New(C.GoString(&result.why[0]))
	}
	return C.GoString(result.proof_json), nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: prove KEY.zkey WITNESS.wtns")
		os.Exit(2)
	}
	proof, err := prove(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(proof)
}
