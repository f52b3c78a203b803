# Claim: `doctor' prints the findings of a recorded machine as reviewed, --quiet leaves out what is ok, JSON says the
# same, and the exit code is the worst finding's.
. "$(dirname "$0")/lib.sh"
numa=$(cd "$(dirname "$0")/../numa" && pwd)
doctor() { (cd "$numa/machines" && exec "$PENSTOCK" doctor "$@"); }
expect 0 doctor --xml p5en.xml
golden doctor-p5en
expect 0 doctor --xml p5en.xml --json
member exit 0
member worst unknown
expect 0 doctor --xml vm1.xml
golden doctor-vm1
expect 0 doctor --xml vm1.xml --quiet
grep -q '^ok' "$scratch/out" && complain "--quiet prints what is ok"
printed "could not be read"
# a recorded tree: GPUs and no driver, and then huge pages from CMA too
tree=$("$UNPACK_TREE" evidence)
expect 69 "$PENSTOCK" doctor --sysfs "$tree"
printed "no driver is loaded"
printed "modprobe nvidia"
expect 69 "$PENSTOCK" doctor --sysfs "$tree" --json
member exit 69
member worst fail
echo "quiet hugetlb_cma=8G" >"$tree/proc/cmdline"
expect 71 "$PENSTOCK" doctor --sysfs "$tree" -q
printed hugetlb_cma
rm "$tree/proc/cmdline"
mkdir -p "$tree/proc/driver/nvidia"
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Release Build" >"$tree/proc/driver/nvidia/version"
expect 1 "$PENSTOCK" doctor --sysfs "$tree"
printed 580.65.06
grep -q '^ *-> ' "$scratch/out" || complain "a warning without a repair"
rm -rf "$tree"
# this machine: any grade, but a grade
"$PENSTOCK" doctor --json >"$scratch/out" 2>"$scratch/err"
code=$?
member exit $code
expect 65 doctor --xml nothing.xml
said nothing.xml
expect 2 doctor more
finish
