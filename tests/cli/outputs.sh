# Claim: outputs appear together or not at all, and failures leave what was there.
. "$(dirname "$0")/lib.sh"
k=$DATA/bn128/mult
prove() { "$PENSTOCK" prove -q --device host "$k/mult.zkey" "$k/mult.wtns" "$@"; }
expect 0 prove "$scratch/p.json" "$scratch/q.json"
cp "$scratch/p.json" "$scratch/before"
expect 73 prove "$scratch/nowhere/p.json" "$scratch/q.json"
said nowhere
expect 73 prove "$scratch/p.json" "$scratch"
cmp -s "$scratch/p.json" "$scratch/before" || complain "the old proof is gone though the new one failed"
[ "$(ls "$scratch" | sort | tr '\n' ' ')" = "before err out p.json q.json " ] || complain "left behind: $(ls "$scratch")"
if [ -c /dev/full ]; then
    expect 73 prove "$scratch/p.json" /dev/full
    cmp -s "$scratch/p.json" "$scratch/before" || complain "a full disk lost the old proof"
fi
expect 0 prove - "$scratch/q.json"
grep -q pi_a "$scratch/out" || complain "- is not standard output"
mkfifo "$scratch/fifo"
timeout 30 cat "$scratch/fifo" >"$scratch/through" &
expect 0 prove "$scratch/fifo" "$scratch/q.json"
wait
grep -q pi_a "$scratch/through" || complain "nothing came through the pipe"
(cd "$scratch" && mkdir d && cd d && "$PENSTOCK" prove -q --device host "$k/mult.zkey" "$k/mult.wtns" && [ -s proof.json ] && [ -s public.json ]) || complain "default names"
finish
