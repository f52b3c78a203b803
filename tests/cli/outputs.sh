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
# inputs through pipes; one that nobody writes is an empty file, not a wait
mkfifo "$scratch/in"
expect 65 "$PENSTOCK" prove -q --device host "$k/mult.zkey" "$scratch/in" "$scratch/p.json" "$scratch/q.json"
said empty
expect 0 bash -c '"$1" prove -q --device host <(cat "$2.zkey") <(cat "$2.wtns") "$3/p.json" "$3/q.json"' - "$PENSTOCK" "$k/mult" "$scratch"
# a key that is cut, after its header was read or before
head -c -100 "$k/mult.zkey" >"$scratch/cut.zkey"
expect 65 "$PENSTOCK" prove -q --device host "$scratch/cut.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
said truncated
expect 0 "$PENSTOCK" prove --json --pages 4k --device host "$k/mult.zkey" "$k/mult.wtns" "$scratch/p.json" "$scratch/q.json"
grep -q '"pages": "4 KiB pages"' "$scratch/out" || complain "other pages than asked for"
expect 2 "$PENSTOCK" prove --pages 3M "$k/mult.zkey" "$k/mult.wtns"
(cd "$scratch" && mkdir d && cd d && "$PENSTOCK" prove -q --device host "$k/mult.zkey" "$k/mult.wtns" && [ -s proof.json ] && [ -s public.json ]) || complain "default names"
finish
