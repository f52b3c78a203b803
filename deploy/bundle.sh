#!/bin/sh
# Makes an archive of a build that runs on any x86-64 Linux with glibc 2.36 or later, without our packages: the program,
# its benchmarks and GPU tests, every shared library that they need but glibc's and the driver's, their licences, man
# pages, completion, small circuits, and check.sh, which checks and measures the machine it is taken to.
#
#     bundle.sh BUILD_DIR [OUT_DIR]        penstock-VERSION-SYSTEM.tar.gz, and its tree beside it
#
# The same build gives the same archive, byte for byte (times are the last commit's, or SOURCE_DATE_EPOCH).
set -eu
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: bundle.sh BUILD_DIR [OUT_DIR]" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
[ -f "$build/cmake_install.cmake" ] || { echo "bundle.sh: $1 is no build folder" >&2; exit 65; }
mkdir -p "${2:-.}"
out=$(cd "${2:-.}" && pwd)
version=$("$build/engine/penstock" --version | cut -d' ' -f2)
name=penstock-$version-$(uname -s | tr A-Z a-z)-$(uname -m)
tree=$out/$name
most_bytes=62914560 # 60 MiB, what the archive may have: it is carried by hand

rm -rf "$tree"
cmake --install "$build" --prefix "$tree" --strip >/dev/null
cmake --install "$build" --prefix "$tree" --strip --component bundle >/dev/null
mkdir -p "$tree/lib" "$tree/share/penstock/circuits" "$tree/share/doc/penstock/licences"

# What glibc and the NVIDIA driver bring stays theirs: a libc of ours would not fit the machine's loader.
is_system() {
    case $1 in
    linux-vdso.so.* | ld-linux*.so.* | libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | libcuda.so* | libnvidia*) return 0 ;;
    esac
    return 1
}
programs() { find "$tree/bin" "$tree/libexec" -type f -perm -u+x 2>/dev/null | sort; }
licence_of() {
    local real package
    real=$(readlink -f "$1")
    package=$(dpkg-query -S "$real" "${real#/usr}" 2>/dev/null | head -1 | cut -d: -f1)
    if [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ]; then
        echo "bundle.sh: no licence found for $1" >&2
        exit 65
    fi
    cp -L "/usr/share/doc/$package/copyright" "$tree/share/doc/penstock/licences/$package"
}
# ldd also finds what the libraries need; lines: NAME => PATH (ADDRESS)
for program in $(programs); do
    ldd "$program" | sed -n 's/^[[:space:]]*\([^ ]*\) => \([^ ]*\) .*/\1 \2/p'
done | sort -u >"$tree/needed"
while read -r lib path; do
    is_system "$lib" && continue
    [ "$path" = not ] && { echo "bundle.sh: $lib is nowhere" >&2; exit 65; }
    case $path in "$tree"/*) continue ;; esac
    install -m 644 "$(readlink -f "$path")" "$tree/lib/$lib"
    strip --strip-unneeded "$tree/lib/$lib"
    licence_of "$path"
done <"$tree/needed"
rm "$tree/needed"

cp "$top/LICENSE" "$tree/share/doc/penstock/LICENSE"
cp "$top/README.md" "$tree/share/doc/penstock/README.md"
for curve in bn128 bls12381; do
    for circuit in mult linear nopub poseidon1; do
        mkdir -p "$tree/share/penstock/circuits/$curve"
        cp -R "$top/tests/data/$curve/$circuit" "$tree/share/penstock/circuits/$curve/"
    done
done
install -m 755 "$top/deploy/check.sh" "$tree/check.sh"
find "$tree" -type d -exec chmod 755 {} +

epoch=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)}
tar -C "$out" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$name" | gzip -9n >"$tree.tar.gz"
bytes=$(stat -c %s "$tree.tar.gz")
if [ "$bytes" -gt $most_bytes ]; then
    echo "bundle.sh: $tree.tar.gz has $bytes bytes, more than $most_bytes" >&2
    exit 73
fi
echo "$tree.tar.gz ($((bytes / 1024)) KiB)"
