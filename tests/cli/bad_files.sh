# Claim: every malformed file of a corpus gets the exit code that its index owes, nothing is written, nothing crashes.
# Needs PENSTOCK_CORPUS (a folder with bad/index.json and good/).
. "$(dirname "$0")/lib.sh"
[ -n "${PENSTOCK_CORPUS:-}" ] && [ -f "$PENSTOCK_CORPUS/bad/index.json" ] || { echo "skipped: no corpus"; exit 77; }
bad=$PENSTOCK_CORPUS/bad good=$PENSTOCK_CORPUS/good
python3 - "$bad/index.json" >"$scratch/list" <<'P' || exit 77
import json, sys
for e in json.load(open(sys.argv[1])):
    print("|".join([e["name"], e["zkey"] or "", e["wtns"] or "", " ".join(map(str, e["exit"]))]))
P
place() { [ "$1" = self ] && echo "$bad/$2" || echo "$good/$1"; }
n=0
while IFS='|' read -r name zkey wtns exits; do
    rm -f "$scratch/p.json" "$scratch/q.json"
    vk=$good/bn128/poseidon1
    case $name in
    zkey_* | wtns_*) set -- prove --device host "$(place "$zkey" "$name")" "$(place "$wtns" "$name")" "$scratch/p.json" "$scratch/q.json" ;;
    vk_*) set -- verify "$bad/$name" "$vk/public.json" "$vk/proof.json" ;;
    public_*) set -- verify "$vk/verification_key.json" "$bad/$name" "$vk/proof.json" ;;
    bls_proof_*) vk=$good/bls12381/poseidon1; set -- verify "$vk/verification_key.json" "$vk/public.json" "$bad/$name" ;;
    proof_*) set -- verify "$vk/verification_key.json" "$vk/public.json" "$bad/$name" ;;
    *) complain "what is $name?"; continue ;;
    esac
    timeout 60 "$PENSTOCK" "$@" >"$scratch/out" 2>"$scratch/err"
    got=$?
    case " $exits " in *" $got "*) ;; *) complain "$name: exit $got, expected one of: $exits" ;; esac
    if [ $got != 0 ]; then
        [ -s "$scratch/err" ] || [ -s "$scratch/out" ] || complain "$name: not a word"
        [ -e "$scratch/p.json" ] || [ -e "$scratch/q.json" ] && complain "$name: something was written"
    fi
    [ $got = 65 ] && ! grep -qF "$name" "$scratch/err" && complain "$name: the sentence does not name the file: $(cat "$scratch/err")"
    n=$((n + 1))
done <"$scratch/list"
[ $n -ge 50 ] || complain "only $n entries"
# with the circuit at hand the row is named
expect 65 "$PENSTOCK" prove --device host --r1cs "$good/bn128/poseidon1/poseidon1.r1cs" "$good/bn128/poseidon1/poseidon1.zkey" \
    "$bad/wtns_unsat_private.wtns" "$scratch/p.json" "$scratch/q.json"
said row
# key check names section and index
expect 65 "$PENSTOCK" key check --device host "$bad/zkey_A_notoncurve.zkey"
said "point 0"
expect 65 "$PENSTOCK" key check --device host "$bad/zkey_H_notoncurve.zkey"
said "point 3"
expect 65 "$PENSTOCK" key check --device host "$bad/zkey_A_coord_ge_q.zkey"
finish
