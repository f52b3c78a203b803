# Claim: `plan' gives recorded machines the plans that were reviewed; settings change them; for a key it says what lives
# where, as the key's header, the machine or the options have it; a key that cannot fit is one sentence and exit 71.
. "$(dirname "$0")/lib.sh"
numa=$(cd "$(dirname "$0")/../numa" && pwd)
plan() { (cd "$numa/machines" && exec "$PENSTOCK" plan "$@"); }
for m in p5en unknown vm1; do
    expect 0 plan --xml $m.xml
    golden plan-$m
done
expect 0 plan --xml p5en.xml --json --bytes-per-gpu 24GiB --keep-pages 180
member gpus.0.pages.want 24
member gpus.0.pages.got 5
member nodes.0.available_pages 20
expect 0 plan --xml unknown.xml --json
gpu=$(grep -o '"pci": "[^"]*"' "$scratch/out" | head -1 | cut -d'"' -f4)
expect 0 plan --xml unknown.xml --json --home "$gpu=1"
member gpus.0.home.from setting
member gpus.0.home.value 1
expect 0 plan --xml unknown.xml --json --measured "$gpu@1=54.9" --measured "$gpu@0=30"
member gpus.0.home.from measured
member gpus.0.home.value 1
expect 65 plan --xml p5en.xml --home 0000:ff:00.0=1
said 0000:ff:00.0
expect 65 plan --xml p5en.xml --home 0000:13:00.0=9
expect 0 plan --xml p5en.xml --page 2MiB --json
member page_bytes.value 2097152
expect 0 "$PENSTOCK" plan
printed "this machine"

# keys
key=$DATA/bn128/poseidon1/poseidon1.zkey
cp "$key" "$scratch/k.zkey"
cp "$DATA/bls12381/poseidon1/poseidon1.zkey" "$scratch/b.zkey"
cd "$scratch"
expect 0 "$PENSTOCK" plan --gpus 2 --device-memory 141GB --pinned 1GiB k.zkey
golden plan-key
expect 0 "$PENSTOCK" plan --gpus 2 --device-memory 141GB --count --json b.zkey
member curve bls12381
member counted true
member devices.1.host none
member devices.1.streamed_bytes 0
# a key is small beside a pass's ring of 256 MiB: it stays on any device that has room for it
expect 0 "$PENSTOCK" plan --gpus 1 --device-memory 1MB --json --pinned 1GiB k.zkey
member devices.0.parts.H.place device
expect 71 "$PENSTOCK" plan --gpus 1 --device-memory 4KiB k.zkey
said "k.zkey on cuda:0"
said "this key needs"
expect 0 "$PENSTOCK" plan --xml "$numa/machines/p5en.xml" --device-memory 20MB --json k.zkey
member devices.7.pci 0000:b4:00.0
member devices.0.pinned_bytes $((50 << 30))
expect 65 "$PENSTOCK" plan --gpus 1 --device-memory 1GB "$DATA/bn128/mult/mult.wtns"
said mult.wtns
expect 65 "$PENSTOCK" plan --gpus 1 --device-memory 1GB none.zkey
said none.zkey
tree=$("$UNPACK_TREE" evidence)
expect 0 "$PENSTOCK" plan --sysfs "$tree"
[ -s "$scratch/err" ] && complain "talk beside the plan"
printed "6 pages of 1 GiB can be had"
rm -rf "$tree"
for bad in "--gpus 0" "--gpus 2" "--page 4KiB" "--home x" "--measured x@1" "--measured x@1=-3" "--keep-pages -1" \
    "--bytes-per-gpu lots" "--full-share 0" "--full-share 101" "--count" "--pinned 1GiB"; do
    # shellcheck disable=SC2086
    expect 2 "$PENSTOCK" plan $bad
done
expect 2 "$PENSTOCK" plan --gpus 1 --device-memory 1GB --xml x.xml k.zkey
expect 2 "$PENSTOCK" plan k.zkey k.zkey
finish
