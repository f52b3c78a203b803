# Claim: `bench' lists what can be measured and runs the program of that name, with its arguments and exit code; each has
# --help with examples and gives one JSON object.
. "$(dirname "$0")/lib.sh"
k=$DATA/bn128/mult
export TMPDIR=$scratch
if ! "$PENSTOCK" bench >/dev/null 2>&1; then # a build without them
    expect 69 "$PENSTOCK" bench pool
    said "the benchmarks are not installed"
    finish
fi
expect 0 "$PENSTOCK" bench
for b in pool start fill link field ntt msm prove partition gpu; do
    grep -q "^  $b  *[a-zA-Z]" "$scratch/out" || complain "$b is not listed"
done
expect 0 "$PENSTOCK" bench --json
is_json
member benches.0.bench pool
expect 0 "$PENSTOCK" bench
if grep -q "^  gpu .*not in this build" "$scratch/out"; then
    expect 69 "$PENSTOCK" bench gpu
    said "not in this build"
fi
expect 2 "$PENSTOCK" bench nothing
said '"nothing" is no benchmark'
for b in pool start fill link field ntt msm prove; do
    expect 0 "$PENSTOCK" bench $b --help
    printed Examples:
    printed --json
    printed "penstock bench $b"
    expect 2 "$PENSTOCK" bench $b --no-such-option
done
measure() {
    expect 0 "$PENSTOCK" bench "$@" --json
    is_json
    member bench "$1"
}
measure link --device host --bytes 3MiB --chunk 1MiB --runs 1
member rows.5.memory pageable
member rows.5.bytes $((6 << 20))
measure field --device host --log 8
measure ntt --device host --log 8 --curve bn254
member rows.0.log_n 8
measure msm --device host --log 6 --curve bls12-381 --group 2 --isa portable
member rows.1.what msm_g2
measure prove --device host --runs 2 --warm-ups 0 "$k/mult.zkey" "$k/mult.wtns"
member rows.0.runs 2
member rows.7.stage total
# an uneven end, a file that fio and we both read
head -c 1500001 /dev/zero >"$scratch/file"
measure fill --rounds 1 "$scratch/file"
expect 65 "$PENSTOCK" bench prove --device host "$k/mult.zkey" "$DATA/bn128/linear/linear.wtns"
said linear.wtns
expect 69 "$PENSTOCK" bench link --device cuda:77 --bytes 1MiB
expect 65 "$PENSTOCK" bench fill "$scratch/nothing"
said nothing
expect 2 "$PENSTOCK" bench prove "$k/mult.zkey"
expect 2 "$PENSTOCK" bench link --bytes many
expect 2 "$PENSTOCK" bench msm --group 3
ls -d "$scratch"/penstock-bench-* 2>/dev/null && complain "a folder was left behind"
finish
