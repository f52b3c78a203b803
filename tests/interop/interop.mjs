// Claims: snarkjs accepts every proof of penstock; penstock accepts every proof of snarkjs; snarkjs proves with keys from
// `penstock setup`; `snarkjs zkey verify` says OK on one whose ceremony has the same trapdoor.
// usage: node interop.mjs PENSTOCK DATA [MORE_DATA...]     DATA/CURVE/NAME/NAME.{zkey,wtns,r1cs}, verification_key.json
import fs from "fs";
import os from "os";
import path from "path";
import { spawnSync } from "child_process";
import * as snarkjs from "snarkjs";
import { writePtau } from "./ptau.mjs";

const [penstock, ...roots] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "penstock-interop-"));
const at = (name) => path.join(scratch, name);
const read = (file) => JSON.parse(fs.readFileSync(file));
let passed = 0, failed = 0;

const claim = (what, holds) => {
  if (holds) passed++;
  else { failed++; console.log(`FAIL: ${what}`); }
};
const run = (...args) => {
  const r = spawnSync(penstock, args, { encoding: "utf8" });
  if (r.status !== 0) console.log(`penstock ${args.join(" ")}: exit ${r.status}: ${r.stderr}`);
  return r.status === 0;
};

async function both(name, zkey, wtns, vk) {
  claim(`${name}: penstock proves`, run("prove", "-q", zkey, wtns, at("proof.json"), at("public.json")));
  claim(`${name}: snarkjs accepts penstock's proof`,
    await snarkjs.groth16.verify(read(vk), read(at("public.json")), read(at("proof.json"))));
  const theirs = await snarkjs.groth16.prove(zkey, wtns);
  fs.writeFileSync(at("proof.json"), JSON.stringify(theirs.proof));
  fs.writeFileSync(at("public.json"), JSON.stringify(theirs.publicSignals));
  claim(`${name}: penstock accepts snarkjs's proof`, run("verify", "-q", vk, at("public.json"), at("proof.json")));
}

const secret = { tau: "0x123456789abcdef1", alpha: "0xfedcba987654321", beta: "0x1111111122222222", delta: "0x1" };
fs.writeFileSync(at("secret.json"), JSON.stringify(secret));
const ptau = {};
for (const curve of ["bn128", "bls12381"]) {
  ptau[curve] = at(`${curve}.ptau`);
  await writePtau(ptau[curve], curve, 7, secret);
}

for (const root of roots) {
  for (const curve of fs.readdirSync(root).filter((c) => c in ptau)) {
    for (const name of fs.readdirSync(path.join(root, curve))) {
      const file = (ext) => path.join(root, curve, name, `${name}.${ext}`);
      if (!fs.existsSync(file("zkey"))) continue;
      await both(`${curve}/${name}`, file("zkey"), file("wtns"), path.join(root, curve, name, "verification_key.json"));
      if (!fs.existsSync(file("r1cs"))) continue;
      claim(`${name}: setup`, run("setup", "-q", "--seed", "5", file("r1cs"), at("own.zkey"), at("own.json")));
      await both(`${curve}/${name}, own key`, at("own.zkey"), file("wtns"), at("own.json"));
      const exported = await snarkjs.zKey.exportVerificationKey(at("own.zkey"));
      claim(`${name}: verification_key.json is what snarkjs exports`,
        JSON.stringify(exported) === JSON.stringify(read(at("own.json"))));
      if (fs.statSync(file("r1cs")).size > 20000) continue; // the ceremony of this test has 2^7
      claim(`${name}: setup with the ceremony's trapdoor`,
        run("setup", "-q", "--trapdoor", at("secret.json"), file("r1cs"), at("own.zkey"), at("own.json")));
      claim(`${name}: snarkjs zkey verify`, await snarkjs.zKey.verifyFromR1cs(file("r1cs"), ptau[curve], at("own.zkey")));
    }
  }
}
fs.rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
