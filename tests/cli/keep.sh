# Claim: `keep list' shows what is kept, `keep drop' removes it and nothing else; what is in use stays; without a mount a
# sentence says so.
. "$(dirname "$0")/lib.sh"
shm=$(mktemp -d /dev/shm/penstock-cli-XXXXXX) || exit 77
trap 'rm -rf "$scratch" "$shm"' EXIT
expect 0 "$PENSTOCK" keep list --dir "$shm"
printed "nothing is kept in $shm"
"$MAKE_KEEP" "$shm" first || complain "cannot keep anything"
mkfifo "$scratch/hold"
"$MAKE_KEEP" "$shm" second hold <"$scratch/hold" >"$scratch/held" &
holder=$!
exec 9>"$scratch/hold"
for i in $(seq 100); do [ -s "$scratch/held" ] && break; sleep 0.1; done
expect 0 "$PENSTOCK" keep list --dir "$shm"
grep -qE '^first +ready +no +292.97 KiB' "$scratch/out" || complain "first: $(cat "$scratch/out")"
grep -qE '^second +ready +yes ' "$scratch/out" || complain "second: $(cat "$scratch/out")"
expect 0 "$PENSTOCK" keep list --dir "$shm" --json
is_json
grep -q '"generation": 1' "$scratch/out" || complain "no generation"
expect 75 "$PENSTOCK" keep drop --dir "$shm" second
said "in use by another process"
expect 0 "$PENSTOCK" keep drop --dir "$shm" first
printed "dropped first"
[ -e "$shm/penstock-first.keep" ] && complain "first is still there"
exec 9>&-
wait $holder
expect 0 "$PENSTOCK" keep drop --dir "$shm" second --json
member dropped second
expect 65 "$PENSTOCK" keep drop --dir "$shm" second
said "no kept arena named second"
expect 65 "$PENSTOCK" keep drop --dir "$shm" ../x
said "is no name"
expect 65 "$PENSTOCK" keep list --dir "$shm/nowhere"
said nowhere
if ! grep -q hugetlbfs /proc/mounts; then
    expect 71 "$PENSTOCK" keep list
    said "no hugetlbfs is mounted"
    expect 71 "$PENSTOCK" keep drop x
    said "mount -t hugetlbfs"
    expect 71 "$PENSTOCK" keep list --json
    member exit 71
fi
expect 2 "$PENSTOCK" keep
expect 2 "$PENSTOCK" keep drop
expect 2 "$PENSTOCK" keep look
expect 2 "$PENSTOCK" keep list x
finish
