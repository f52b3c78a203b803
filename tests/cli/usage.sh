# Claim: wrong arguments are exit 2 with a sentence, help goes to stdout with examples, JSON is JSON.
. "$(dirname "$0")/lib.sh"
k=$DATA/bn128/mult
expect 2 "$PENSTOCK"
said Usage
expect 2 "$PENSTOCK" nonsense
said 'unknown command "nonsense"'
expect 0 "$PENSTOCK" --help
grep -q verify "$scratch/out" || complain "--help lists no commands"
expect 0 "$PENSTOCK" --version
for c in prove verify setup key; do
    expect 2 "$PENSTOCK" $c
    said need
    expect 2 "$PENSTOCK" $c --no-such-option
    expect 0 "$PENSTOCK" $c --help
    grep -q Examples: "$scratch/out" || complain "$c --help has no examples"
    expect 2 "$PENSTOCK" $c a b c d e f
done
for c in topo plan doctor keep bench; do
    expect 2 "$PENSTOCK" $c --no-such-option
    expect 0 "$PENSTOCK" $c --help
    grep -q Examples: "$scratch/out" || complain "$c --help has no examples"
done
expect 2 "$PENSTOCK" prove --threads 0 a b
expect 2 "$PENSTOCK" prove --threads 2x a b
expect 2 "$PENSTOCK" prove --device-memory 0 a b
expect 2 "$PENSTOCK" prove --device-memory 8XiB a b
expect 2 "$PENSTOCK" setup --seed -1 a b c
expect 2 "$PENSTOCK" key look "$k/mult.zkey"
expect 69 "$PENSTOCK" prove --device cuda:77 "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
[ -e "$scratch/p.json" ] && complain "a missing device was replaced"
expect 2 "$PENSTOCK" prove --device quantum "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
expect 65 "$PENSTOCK" prove --device host no.zkey "$k/mult.wtns"
said no.zkey
expect 65 "$PENSTOCK" verify no.json no.json no.json
# auto says what it took and why; --quiet does not
expect 0 "$PENSTOCK" prove "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
said "penstock: device host: "
expect 0 "$PENSTOCK" prove --quiet --device auto "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
[ -s "$scratch/err" ] && complain "--quiet talks"
expect 0 "$PENSTOCK" prove --device host "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
grep -q "device host" "$scratch/err" && complain "a named device needs no reason"
expect 0 "$PENSTOCK" setup "$k/mult.r1cs" "$scratch/k.zkey" "$scratch/k.vk"
said "penstock: device host: "
json() { python3 -m json.tool <"$scratch/out" >/dev/null || complain "not JSON: $(head -c 200 "$scratch/out")"; }
if command -v python3 >/dev/null; then
    expect 0 "$PENSTOCK" prove --json --device host "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
    json
    expect 0 "$PENSTOCK" verify --json "$k/verification_key.json" "$scratch/q.json" "$scratch/p.json"
    json
    expect 0 "$PENSTOCK" key info --json "$k/mult.zkey"
    json
    expect 65 "$PENSTOCK" key info --json "$k/mult.wtns"
    json
fi
finish
