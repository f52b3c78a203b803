# Claim: with r and s fixed (test program only) a proof is a function of its inputs: the same for 1, 2 and 5 threads and
# for every instruction set; and `setup --seed` makes the same key every time.
. "$(dirname "$0")/lib.sh"
export PENSTOCK_TEST_R=123456789 PENSTOCK_TEST_S=987654321
for curve in bn128 bls12381; do
    k=$DATA/$curve/linear
    for isa in portable adx ifma; do
        for threads in 1 2 5; do
            export PENSTOCK_ISA=$isa
            expect 0 "$PENSTOCK_FIXED" prove -q --device host -t $threads "$k/linear.zkey" "$k/linear.wtns" "$scratch/p.json" "$scratch/q.json"
            [ -e "$scratch/first-$curve" ] || cp "$scratch/p.json" "$scratch/first-$curve"
            cmp -s "$scratch/p.json" "$scratch/first-$curve" || complain "$curve $isa $threads threads: another proof"
        done
    done
    unset PENSTOCK_ISA
    for i in 1 2; do
        expect 0 "$PENSTOCK" setup -q --seed 7 --device host "$k/linear.r1cs" "$scratch/$i.zkey" "$scratch/$i.vk"
    done
    cmp -s "$scratch/1.zkey" "$scratch/2.zkey" || complain "$curve: two keys of one seed differ"
    cmp -s "$scratch/1.vk" "$scratch/2.vk" || complain "$curve: two vks of one seed differ"
    expect 0 "$PENSTOCK" key check --device host "$scratch/1.zkey"
    expect 0 "$PENSTOCK" prove -q --device host "$scratch/1.zkey" "$k/linear.wtns" "$scratch/p.json" "$scratch/q.json"
    expect 0 "$PENSTOCK" verify "$scratch/1.vk" "$scratch/q.json" "$scratch/p.json"
done
finish
