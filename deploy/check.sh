#!/bin/sh
# Checks and measures this machine with what lies beside this script; nothing is built, nothing outside $TMPDIR is written.
#
#     check.sh [--checks]        --checks: no benchmarks (seconds)
#
# First the checks: the GPU tests, and proofs of small circuits on every device, each verified, each refused for another
# statement. Then benchmarks. The table of all comes last. Exit code: 0, or 1 when a check failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
penstock=$here/bin/penstock
circuits=$here/share/penstock/circuits
only_checks=
case ${1:-} in
--checks) only_checks=1 ;;
"") ;;
*)
    echo "usage: check.sh [--checks]" >&2
    exit 2
    ;;
esac
tmp=$(mktemp -d) || exit 73
trap 'rm -rf "$tmp"' EXIT
export TMPDIR="$tmp"
failed=0 done=0 good=0
row() { printf '%-35s %-8s %s\n' "$1" "$2" "$3" >>"$tmp/table"; }
say() { printf '\n== %s\n' "$*"; }

# check NAME DEVICE COMMAND...: counted; its output is shown when it fails
check() {
    name=$1 on=$2
    shift 2
    done=$((done + 1))
    if "$@" >"$tmp/log" 2>&1; then
        good=$((good + 1))
        return
    fi
    code=$?
    echo "FAIL  $name, $on (exit $code): $*"
    tail -20 "$tmp/log"
    failed=1
}
# counted NAME DEVICE: a row of what was counted since the last one
counted() {
    if [ $good = $done ]; then row "$1" "$2" "ok ($done)"; else row "$1" "$2" "FAILED ($((done - good)) of $done)"; fi
    tail -1 "$tmp/table"
    done=0 good=0
}
refused() { "$@"; [ $? = 1 ]; }

say "$("$penstock" --version), $(uname -srm), $(nproc) CPUs"
"$penstock" topo || failed=1
devices=host
n=0
while "$penstock" key check -q --device cuda:$n "$circuits/bn128/mult/mult.zkey" >"$tmp/log" 2>&1; [ $? != 69 ]; do
    devices="$devices cuda:$n"
    n=$((n + 1))
done
[ $n -gt 0 ] || cat "$tmp/log"

say "checks on $devices"
if [ $n -gt 0 ] && [ -x "$here/libexec/penstock/test_gpu" ]; then
    check "GPU tests" cuda:0 "$here/libexec/penstock/test_gpu"
    counted "GPU tests" cuda:0
else
    row "GPU tests" - "not run: $([ $n -gt 0 ] && echo "a build without CUDA" || echo "no GPU")"
fi
for device in $devices; do
    for curve in bn128 bls12381; do
        for circuit in mult linear nopub poseidon1; do
            k=$circuits/$curve/$circuit
            proof=$tmp/proof.json public=$tmp/public.json
            check "$curve $circuit: key" $device "$penstock" key check -q --device $device "$k/$circuit.zkey"
            check "$curve $circuit: proof" $device "$penstock" prove -q --device $device "$k/$circuit.zkey" \
                "$k/$circuit.wtns" "$proof" "$public"
            check "$curve $circuit: verified" $device "$penstock" verify "$k/verification_key.json" "$k/public.json" "$proof"
            values=$(tr -d '[] \n' <"$k/public.json")
            echo "[\"7\"${values:+,$values}]" >"$tmp/other.json"
            check "$curve $circuit: refused" $device refused "$penstock" verify "$k/verification_key.json" "$tmp/other.json" "$proof"
        done
    done
    counted "keys, proofs, refusals, 8 circuits" $device
done
say "doctor"
"$penstock" doctor --quiet
row "doctor" - "exit $? (0 ok, 1 warnings, 69 a GPU, 71 memory or system)"

# bench DEVICE WHAT ARGUMENT...: shown, and kept for the table
bench() {
    on=$1
    shift
    say "bench $*, $on"
    if "$penstock" bench "$@" --device "$on" >"$tmp/bench" 2>"$tmp/log"; then
        cat "$tmp/bench"
        return 0
    fi
    cat "$tmp/bench" "$tmp/log"
    row "bench $1" "$on" "FAILED"
    failed=1
    return 1
}
if [ -z "$only_checks" ]; then
    for device in $devices; do
        log=16 bytes=64MiB # the host's "link" is memcpy
        [ $device = host ] || log=22 bytes=1GiB
        if bench $device link --bytes $bytes; then
            for way in "to device" "from device"; do
                row "link, pinned, $way" $device "$(awk -v w="$way" 'index($0, "pinned    " w) == 1 { sub(".*MiB", ""); if ($1 > best) best = $1 } END { print best " GB/s" }' "$tmp/bench")"
            done
        fi
        if bench $device ntt --log $log; then
            row "NTT 2^$log, BN254 / BLS12-381" $device "$(awk '$1 == "ntt" { for (i = 2; i < NF; i++) if ($(i + 1) == "ms") t = t (t ? " / " : "") $i } END { print t " ms" }' "$tmp/bench")"
        fi
        if bench $device msm --log $log; then
            row "MSM 2^$log G1, BN254 / BLS12-381" $device "$(awk '$1 == "msm_g1" { for (i = 2; i < NF; i++) if ($(i + 1) == "ms") t = t (t ? " / " : "") $i } END { print t " ms" }' "$tmp/bench")"
            row "MSM 2^$log G2, BN254 / BLS12-381" $device "$(awk '$1 == "msm_g2" { for (i = 2; i < NF; i++) if ($(i + 1) == "ms") t = t (t ? " / " : "") $i } END { print t " ms" }' "$tmp/bench")"
        fi
        k=$circuits/bn128/poseidon1/poseidon1
        if bench $device prove "$k.zkey" "$k.wtns"; then
            row "proof, 1024 rows" $device "$(awk '$1 == "total" { print $2, $3 }' "$tmp/bench")"
        fi
    done
    say "bench pool"
    "$penstock" bench pool | tee "$tmp/bench"
    row "lease of 12 units, alone" - "$(sed -n 's/.*one thread: pool \([0-9.]* ns\).*/\1/p' "$tmp/bench")"
    say "bench start"
    "$penstock" bench start
fi
say "table"
cat "$tmp/table"
[ $failed = 0 ] && echo "all checks passed" || echo "CHECKS FAILED"
exit $failed
