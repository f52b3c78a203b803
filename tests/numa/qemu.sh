#!/bin/sh
# Run a program inside a guest with several NUMA nodes, software emulation, Debian packages only:
#     qemu.sh MACHINE PROGRAM [ARGUMENT...]        exit: the program's, 77 when something is missing, 70 when the guest dies
# MACHINE
#     two-socket  2 nodes, distance 21, 1 GiB pages 1+1. Display devices (1234:1111) as GPU stand-ins: one on node 0, two with an
#                 NVMe behind one switch on node 1, one on a root bus that names no node (numa_node -1)
#     four-node   2 sockets of 2 nodes (distances 12 and 21), 1 GiB pages 1+1+1+1, stand-ins on nodes 0 and 3
# The program runs as root with its shared libraries copied in; GUEST_MACHINE names the machine, /sys/fs/cgroup is cgroup v2,
# /tmp is a ramdisk. Its standard output and error come out here; times go to standard error.
# Settings: GUEST_KERNEL (a vmlinuz), GUEST_CACHE (a folder), GUEST_SECONDS (limit, 300), GUEST_FILES (more files, to /t),
# GUEST_APPEND (more kernel arguments), GUEST_ACCEL (tcg,thread=multi).
# Needs: qemu-system-x86 busybox-static cpio, and apt-get once for the kernel (downloaded and unpacked, not installed).
set -u
machine=${1:?machine} program=${2:?program}
shift 2
cache=${GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/penstock-qemu}
skip() { echo "qemu.sh: $1" >&2; exit 77; }

for need in qemu-system-x86_64 busybox cpio gzip ldd timeout; do
    command -v $need >/dev/null || skip "$need is missing"
done
ldd "$(command -v busybox)" >/dev/null 2>&1 && skip "busybox is not static (busybox-static)"

# The cloud kernel boots in 22 s where the full one needs 31; NVMe is built in.
find_kernel() {
    [ -n "${GUEST_KERNEL:-}" ] && { echo "$GUEST_KERNEL"; return; }
    mkdir -p "$cache" || return
    found=$(ls "$cache"/boot/vmlinuz-* 2>/dev/null | head -1)
    [ -n "$found" ] && { echo "$found"; return; }
    package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
    [ -n "$package" ] || return
    (cd "$cache" && apt-get download -q "$package" >/dev/null 2>&1 && dpkg-deb -x "$package"*.deb . && rm -f "$package"*.deb)
    ls "$cache"/boot/vmlinuz-* 2>/dev/null | head -1
}
kernel=$(find_kernel)
[ -f "$kernel" ] || skip "no kernel (apt-get download linux-image-cloud-amd64 failed; set GUEST_KERNEL)"

work=$(mktemp -d "${TMPDIR:-/tmp}/penstock-qemu-XXXXXX") || exit 70
trap 'rm -rf "$work"' EXIT INT TERM

# --- initial ramdisk: busybox, the program, its libraries -------------------------------------------------------------
root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/t"
cp "$(command -v busybox)" "$root/bin/busybox"
copy_in() {
    cp "$1" "$root/t/" || exit 70
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
        mkdir -p "$root$(dirname "$lib")"
        cp -Lu "$lib" "$root$lib"
    done
}
copy_in "$program"
for file in ${GUEST_FILES:-}; do
    copy_in "$file"
done
quoted="/t/$(basename "$program")"
for argument in "$@"; do
    quoted="$quoted '$(printf %s "$argument" | sed "s/'/'\\\\''/g")'"
done
cat > "$root/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp GUEST_MACHINE=$machine
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev; mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
read up rest < /proc/uptime
echo; echo "@@guest up \$up"
cd /tmp; $quoted 2>&1
code=\$?
echo; echo "@@guest exit \$code"
poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd" || exit 70

# --- the machines -----------------------------------------------------------------------------------------------------
# 4 GiB per node: with 3 the node below the PCI hole holds no free aligned 1 GiB. Only what is touched takes host memory.
node() { # id MiB cpus
    echo "-object memory-backend-ram,id=m$1,size=${2}M -numa node,nodeid=$1,memdev=m$1,cpus=$3"
}
distance() { echo "-numa dist,src=$1,dst=$2,val=$3"; }
bus() { # id bus_nr [node]
    echo "-device pxb-pcie,id=$1,bus_nr=$2,bus=pcie.0${3:+,numa_node=$3}"
}
port() { echo "-device pcie-root-port,id=$1,bus=$2,chassis=$3,slot=1"; }
gpu() { echo "-device bochs-display,bus=$1"; }
case $machine in
two-socket)
    truncate -s 64M "$work/nvme.img"
    set -- -smp 4,sockets=2,cores=2 -m 8192M $(node 0 4096 0-1) $(node 1 4096 2-3) $(distance 0 1 21) \
        $(bus pxb0 0x40 0) $(bus pxb1 0x80 1) $(bus pxb2 0xc0) \
        $(port rp0 pxb0 10) $(port rp1 pxb1 11) $(port rp2 pxb2 12) \
        -device x3130-upstream,id=up1,bus=rp1 \
        -device xio3130-downstream,id=dn0,bus=up1,chassis=20,slot=1 -device xio3130-downstream,id=dn1,bus=up1,chassis=21,slot=2 \
        -device xio3130-downstream,id=dn2,bus=up1,chassis=22,slot=3 \
        $(gpu rp0) $(gpu dn0) $(gpu dn1) $(gpu rp2) \
        -drive "file=$work/nvme.img,if=none,id=nv0,format=raw" -device nvme,drive=nv0,serial=n0,bus=dn2
    pages=0:1,1:1 ;;
four-node)
    set -- -smp 4,sockets=2,cores=2 -m 16384M $(node 0 4096 0) $(node 1 4096 1) $(node 2 4096 2) $(node 3 4096 3) \
        $(distance 0 1 12) $(distance 2 3 12) $(distance 0 2 21) $(distance 0 3 21) $(distance 1 2 21) $(distance 1 3 21) \
        $(bus pxb0 0x40 0) $(bus pxb1 0x80 3) $(port rp0 pxb0 10) $(port rp1 pxb1 11) $(gpu rp0) $(gpu rp1)
    pages=0:1,1:1,2:1,3:1 ;;
*)
    echo "qemu.sh: $machine: unknown machine (two-socket, four-node)" >&2
    exit 2 ;;
esac

# --- run --------------------------------------------------------------------------------------------------------------
# nokaslr: a kernel placed at random in node 0 sometimes leaves no free aligned 1 GiB there.
started=$(date +%s)
timeout "${GUEST_SECONDS:-300}" qemu-system-x86_64 -machine q35 -accel "${GUEST_ACCEL:-tcg,thread=multi}" -cpu max "$@" \
    -kernel "$kernel" -initrd "$work/initrd" \
    -append "console=ttyS0 panic=-1 quiet nokaslr hugepagesz=1G hugepages=$pages ${GUEST_APPEND:-}" \
    -display none -vga none -nic none -no-reboot -serial stdio -monitor none </dev/null 2>"$work/qemu.err" |
    tr -d '\r' | tee "$work/console" |
    awk '/^@@guest up/ {on = 1; next}
         /^@@guest exit/ {if (have && held != "") print held; on = have = 0} # the empty line is ours
         on {if (have) print held; held = $0; have = 1; fflush()}
         END {if (on && have) print held}'
took=$(($(date +%s) - started))
up=$(sed -n 's/^@@guest up //p' "$work/console" | head -1)
code=$(sed -n 's/^@@guest exit //p' "$work/console" | tail -1)
echo "qemu.sh: $machine: ${up:-no} s to user space (guest clock), $took s in all" >&2
if [ -z "$code" ]; then
    echo "qemu.sh: the guest ended without an exit code; its last words:" >&2
    cat "$work/console" "$work/qemu.err" | tail -n 5 >&2
    exit 70
fi
exit "$code"
