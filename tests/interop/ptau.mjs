// A powers-of-tau file with a known trapdoor, as `snarkjs powersoftau prepare phase2` would leave it: sections 1-7 and
// the Lagrange forms 12-15. Small powers only.
import fs from "fs";
import { createRequire } from "module";
const require = createRequire(import.meta.resolve("snarkjs"));
const { getCurveFromName } = require("ffjavascript");

const u32 = (x) => Buffer.from(Uint32Array.of(x).buffer);
const u64 = (x) => Buffer.from(BigUint64Array.of(BigInt(x)).buffer);

export async function writePtau(path, curveName, power, secret) {
  const curve = await getCurveFromName(curveName);
  const { Fr, G1, G2 } = curve;
  const [tau, alpha, beta] = ["tau", "alpha", "beta"].map((k) => Fr.e(BigInt(secret[k])));
  const lem = (G, k) => {
    const buf = new Uint8Array(G.F.n8 * 2);
    G.toRprLEM(buf, 0, G.toAffine(G.timesFr(G.g, k)));
    return Buffer.from(buf);
  };
  const points = (G, ks) => Buffer.concat(ks.map((k) => lem(G, k)));
  const n = 2 ** power;
  const powers = [Fr.one];
  while (powers.length < 2 * n - 1) powers.push(Fr.mul(powers.at(-1), tau));
  const scaled = (ks, k) => ks.map((x) => Fr.mul(x, k));

  // l_i(tau) on {w^i}: w^i (tau^m - 1) / (m (tau - w^i))
  const lagrange = (k) => {
    const m = 2 ** k, w = Fr.w[k];
    const z = Fr.div(Fr.sub(Fr.exp(tau, m), Fr.one), Fr.e(m));
    const out = [];
    for (let i = 0, x = Fr.one; i < m; i++, x = Fr.mul(x, w)) out.push(Fr.div(Fr.mul(z, x), Fr.sub(tau, x)));
    return out;
  };
  const levels = [...Array(power + 1).keys()].map(lagrange);
  // the extra level lacks tau^(2n-1): the ceremony stops before it
  const top = Fr.div(Fr.exp(tau, 2 * n - 1), Fr.e(2 * n));
  const extra = lagrange(power + 1).map((l, i) => Fr.sub(l, Fr.mul(top, Fr.exp(Fr.w[power + 1], i))));

  const q = Buffer.alloc(G1.F.n8);
  for (let i = 0, x = BigInt(curve.q); i < q.length; i++, x >>= 8n) q[i] = Number(x & 255n);
  const sections = [
    [1, Buffer.concat([u32(q.length), q, u32(power), u32(power)])],
    [2, points(G1, powers)],
    [3, points(G2, powers.slice(0, n))],
    [4, points(G1, scaled(powers.slice(0, n), alpha))],
    [5, points(G1, scaled(powers.slice(0, n), beta))],
    [6, lem(G2, beta)],
    [7, u32(0)],
    [12, points(G1, [...levels.flat(), ...extra])],
    [13, points(G2, levels.flat())],
    [14, points(G1, scaled(levels.flat(), alpha))],
    [15, points(G1, scaled(levels.flat(), beta))],
  ];
  const parts = [Buffer.from("ptau"), u32(1), u32(sections.length)];
  for (const [id, data] of sections) parts.push(u32(id), u64(data.length), data);
  fs.writeFileSync(path, Buffer.concat(parts));
}
