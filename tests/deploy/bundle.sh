# Claim: the bundle holds all that its programs need but glibc and the driver (every DT_NEEDED of every file resolves
# inside the tree or is on the list), finds it relative to itself wherever it lies, with the licence of each library, and
# is the same archive each time.
set -u
command -v dpkg-query >/dev/null && command -v readelf >/dev/null || { echo "skipped: needs dpkg and binutils"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
complain() { echo "FAIL: $*"; failed=1; }
sh "$TOP/deploy/bundle.sh" "$BUILD" "$scratch/one" || exit 1
sh "$TOP/deploy/bundle.sh" "$BUILD" "$scratch/two" || exit 1
archive=$(ls "$scratch"/one/*.tar.gz)
cmp -s "$archive" "$scratch/two/$(basename "$archive")" || complain "the same build gave two archives"
mkdir "$scratch/three"
tar -C "$scratch/three" -xf "$archive"
tree=$scratch/three/elsewhere
mv "$scratch/three/$(basename "$archive" .tar.gz)" "$tree"
rm -rf "$scratch/one" "$scratch/two"

allowed='^(ld-linux.*\.so\.[0-9]|libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1)$'
n=0
for file in "$tree"/bin/* "$tree"/libexec/penstock/* "$tree"/lib/*; do
    readelf -h "$file" >/dev/null 2>&1 || { complain "$file is no ELF file"; continue; }
    n=$((n + 1))
    readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$scratch/needed"
    while read -r lib; do
        [ -e "$tree/lib/$lib" ] || [[ $lib =~ $allowed ]] || complain "${file#"$tree"/} needs $lib"
    done <"$scratch/needed"
    path=$(readelf -d "$file" | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]/\2/p')
    case ${file#"$tree"/} in
    bin/*) [ "$path" = '$ORIGIN/../lib' ] || complain "$file looks for libraries in \"$path\"" ;;
    libexec/*) [ "$path" = '$ORIGIN/../../lib' ] || complain "$file looks for libraries in \"$path\"" ;;
    lib/*) [ -z "$path" ] || [[ $path == \$ORIGIN* ]] || complain "$file looks for libraries in \"$path\"" ;;
    esac
    # RPATH, not RUNPATH: it holds for what the libraries need, too
    readelf -d "$file" | grep -q '(RUNPATH)' && complain "$file has a RUNPATH"
    readelf -S "$file" | grep -q '\.symtab' && complain "$file is not stripped"
    readelf -V "$file" 2>/dev/null | grep -oE 'GLIBC_2\.[0-9]+' | sort -t. -k2 -n | tail -1 | {
        read -r version && [ "${version#GLIBC_2.}" -gt 36 ] && echo "$file needs $version" >>"$scratch/new"
    }
done
[ -s "$scratch/new" ] && complain "glibc later than 2.36: $(cat "$scratch/new")"
[ $n -ge 9 ] || complain "only $n files"
for lib in libjansson liburcu-memb liburing libhugetlbfs libcrypto libhwloc libnuma; do
    ls "$tree/lib/$lib"* >/dev/null 2>&1 || complain "$lib is missing"
done
for lib in "$tree"/lib/*; do
    # what the loader takes is what lies here
    grep -rqs . "$tree/share/doc/penstock/licences" || complain "no licences"
    LD_TRACE_LOADED_OBJECTS=1 "$tree/bin/penstock" | grep -F "$(basename "$lib") => " | grep -vF "$tree/" && complain "$lib is taken from the system"
done
[ "$(ls "$tree/share/doc/penstock/licences" | wc -l)" -ge 8 ] || complain "licences: $(ls "$tree/share/doc/penstock/licences")"
[ "$CUDA" = ON ] && { [ -x "$tree/libexec/penstock/test_gpu" ] || complain "no GPU tests in it"; }
[ -f "$tree/share/bash-completion/completions/penstock" ] || complain "no completion"
# it works there, with an empty environment, and finds nothing wrong with itself
env -i PATH=/usr/bin:/bin sh "$tree/check.sh" --checks >"$scratch/out" 2>&1 || { complain "check.sh"; tail -30 "$scratch/out"; }
grep -q '^keys, proofs, refusals, 8 circuits *host *ok (32)$' "$scratch/out" || complain "the table has no proofs"
# a broken tree is told
printf 'x' >>"$tree/share/penstock/circuits/bn128/mult/verification_key.json"
env -i PATH=/usr/bin:/bin sh "$tree/check.sh" --checks >"$scratch/out" 2>&1 && complain "a broken key passes"
grep -q '^keys, proofs, refusals, 8 circuits *host *FAILED ([12] of 32)$' "$scratch/out" || complain "no failure in the table"
env -i "$tree/bin/penstock" bench | grep -E '^  (pool|link|prove) ' | grep -q 'not in this build' && complain "the bundle's benchmarks are not found"
[ $failed = 0 ] && echo "all as expected"
exit $failed
