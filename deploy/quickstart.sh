#!/bin/sh
# From a fresh clone to a proof: installs what is missing (Debian packages), builds, proves a circuit made by circom and
# snarkjs, and verifies the proof. With nvcc the CUDA device is built too; a GPU is used where there is one.
set -eu
cd "$(dirname "$0")/.."
sh deploy/packages.sh build
preset=release
if command -v nvcc >/dev/null 2>&1 || [ -x /usr/local/cuda/bin/nvcc ]; then
    echo "penstock: building the host and the CUDA device (nvcc found)"
else
    echo "penstock: building the host device (no nvcc here; for a GPU without the toolkit take the bundle)"
    preset=host
fi
cmake --preset $preset -DPENSTOCK_TESTS=OFF -DPENSTOCK_BENCH=OFF >/dev/null
cmake --build --preset $preset
penstock=build/$preset/engine/penstock
data=tests/data/bn128/poseidon1
out=build/$preset/example
mkdir -p "$out"
set -x
$penstock prove $data/poseidon1.zkey $data/poseidon1.wtns "$out/proof.json" "$out/public.json"
$penstock verify $data/verification_key.json "$out/public.json" "$out/proof.json"
