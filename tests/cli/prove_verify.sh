# Claim: every good input proves and verifies; a proof of one statement does not verify for another; snarkjs's own proofs
# verify, with and without `curve`.
. "$(dirname "$0")/lib.sh"
roots=$DATA
[ -n "${PENSTOCK_CORPUS:-}" ] && roots="$roots $PENSTOCK_CORPUS/good"
n=0
for root in $roots; do
    for key in "$root"/*/*/*.zkey; do
        dir=$(dirname "$key")
        name=$(basename "$key" .zkey)
        proof=$scratch/proof.json public=$scratch/public.json
        rm -f "$proof" "$public"
        expect 0 "$PENSTOCK" prove --device host "$key" "$dir/$name.wtns" "$proof" "$public"
        cmp -s "$public" "$dir/public.json" || complain "$key: public.json differs from snarkjs's"
        expect 0 "$PENSTOCK" verify "$dir/verification_key.json" "$public" "$proof"
        expect 0 "$PENSTOCK" verify "$dir/verification_key.json" "$dir/public.json" "$dir/proof.json"
        if [ -f "$dir/$name.r1cs" ]; then
            expect 0 "$PENSTOCK" prove -q --device host --r1cs "$dir/$name.r1cs" "$key" "$dir/$name.wtns" "$proof" "$public"
        fi
        tr -d '\n' <"$dir/proof.json" | sed -E 's/, *"curve": *"[a-z0-9]*"//' >"$scratch/rapid.json"
        grep -q curve "$scratch/rapid.json" && complain "curve was not cut from $dir/proof.json"
        expect 0 "$PENSTOCK" verify "$dir/verification_key.json" "$dir/public.json" "$scratch/rapid.json"
        values=$(tr -d '[] \n' <"$public")
        echo "[\"1\"${values:+,$values}]" >"$scratch/longer.json"
        expect 1 "$PENSTOCK" verify "$dir/verification_key.json" "$scratch/longer.json" "$proof"
        n=$((n + 1))
    done
done
[ $n -ge 6 ] || complain "only $n keys found below $roots"
# a proof is random: two of the same statement differ
k=$DATA/bn128/mult
expect 0 "$PENSTOCK" prove -q --device host "$k/mult.zkey" "$k/mult.wtns" "$scratch/p1.json" "$scratch/x.json"
expect 0 "$PENSTOCK" prove -q --device host "$k/mult.zkey" "$k/mult.wtns" "$scratch/p2.json" "$scratch/x.json"
cmp -s "$scratch/p1.json" "$scratch/p2.json" && complain "two proofs are the same: no blinding"
# the other curve's key
expect 65 "$PENSTOCK" prove --device host "$k/mult.zkey" "$DATA/bls12381/mult/mult.wtns" "$scratch/no.json" "$scratch/no2.json"
[ -e "$scratch/no.json" ] && complain "a proof was written"
expect 0 "$PENSTOCK" key info "$k/mult.zkey"
expect 0 "$PENSTOCK" key check --device host "$k/mult.zkey"
finish
