#!/bin/sh
# Every kernel compiles for every architecture that the device supports. Run by hand after a change of a kernel, not in CI: a quarter of an hour on two idle cores.
#
#     archs.sh [ARCH ...]        default 80 86 89 90 100 120; NVCC=nvcc
#
# One line per architecture: seconds, most registers, bytes spilled. Exit 1 if a unit does not compile.
set -u
cd "$(dirname "$0")/../../.." || exit 1
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
[ $# -gt 0 ] || set -- 80 86 89 90 100 120
failed=0
for arch in "$@"; do
    begin=$(date +%s)
    : >"$out/log"
    for unit in cuda/gpu/*.cu; do
        if ! nice -n 10 "$nvcc" -std=c++17 -O3 -I. -Xptxas -v -arch="sm_$arch" -c -o "$out/unit.o" "$unit" >>"$out/log" 2>&1; then
            echo "sm_$arch: $unit does not compile:"
            tail -n 20 "$out/log"
            failed=1
        fi
    done
    awk -v arch="$arch" -v s=$(($(date +%s) - begin)) '
        match($0, /Used [0-9]+ registers/) { r = substr($0, RSTART + 5) + 0; if (r > most) most = r; kernels++ }
        match($0, /[0-9]+ bytes spill stores/) { spilled += substr($0, RSTART) + 0 }
        END { printf "sm_%s: %d kernels, %d s, at most %d registers, %d bytes of spill stores\n", arch, kernels, s, most, spilled }
    ' "$out/log"
done
exit $failed
