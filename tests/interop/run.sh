#!/bin/bash
# Proofs and keys against snarkjs (npm). usage: run.sh PENSTOCK [DATA...]; default data: tests/data. Exit 77 without node.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null && command -v npm >/dev/null || { echo "skipped: needs node and npm"; exit 77; }
penstock=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- "$here/../data"
roots=()
for root in "$@"; do roots+=("$(realpath "$root")"); done
modules=${PENSTOCK_INTEROP_MODULES:-$here/node_modules}
[ -d "$modules/snarkjs" ] || (cd "$here" && npm install --silent --no-fund --no-audit)
cd "$here" && exec node interop.mjs "$penstock" "${roots[@]}"
