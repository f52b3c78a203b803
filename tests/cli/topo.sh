# Claim: `topo' draws recorded machines as reviewed, in text, ASCII, SVG and JSON; an unreadable one is one sentence and
# exit 65; an SVG appears whole or not at all.
. "$(dirname "$0")/lib.sh"
numa=$(cd "$(dirname "$0")/../numa" && pwd)
export LC_ALL=C.UTF-8
topo() { (cd "$numa/machines" && exec "$PENSTOCK" topo "$@"); }
for m in p5en dgx2 snc4 vm1 unknown; do
    expect 0 topo --xml $m.xml
    golden topo-$m
    expect 0 topo --xml $m.xml --json
    is_json
    member origin $m.xml
done
expect 0 topo --xml p5en.xml --json
member gpus.7.uplink 3
member nodes.1.distances '[21, 10]'
member limits.schema 1
expect 0 topo --xml vm1.xml --ascii
cp "$scratch/out" "$scratch/ascii"
LC_ALL=C expect 0 topo --xml vm1.xml
cmp -s "$scratch/out" "$scratch/ascii" || complain "the locale C is not drawn in ASCII"
grep -q '[^ -~]' "$scratch/out" && complain "more than ASCII"
# a recorded tree has free pages
tree=$("$UNPACK_TREE" evidence)
expect 0 "$PENSTOCK" topo --sysfs "$tree"
printed "2 taken, 6 free"
printed "CPUs offline: 3"
expect 0 "$PENSTOCK" topo --sysfs "$tree" --json
member nodes.0.pages.0.free 6
rm -rf "$tree"
# pictures
expect 0 topo --xml p5en.xml --svg "$scratch/m.svg"
[ -s "$scratch/out" ] && complain "the tree is printed beside --svg FILE"
grep -q '</svg>' "$scratch/m.svg" || complain "no picture"
expect 0 topo --xml p5en.xml --svg -
cmp -s "$scratch/out" "$scratch/m.svg" || complain "--svg - is another picture"
expect 73 topo --xml p5en.xml --svg "$scratch/nowhere/m.svg"
said nowhere
expect 2 topo --json --svg -
# this machine, whatever it is
expect 0 "$PENSTOCK" topo
printed "this machine"
expect 0 "$PENSTOCK" topo --json
is_json
# what cannot be read
expect 65 topo --xml nothing.xml
said nothing.xml
expect 65 topo --xml generate.py
said "not an hwloc XML file"
expect 65 topo --xml .
said "--sysfs takes folders"
expect 65 topo --sysfs vm1.xml
said "no folder"
expect 65 topo --sysfs .
said "sys/"
expect 65 topo --xml nothing.xml --json
member exit 65
expect 2 topo --xml vm1.xml --sysfs .
expect 2 topo more
finish
