#!/bin/sh
# run.sh rust|go LIBDIR SOURCE KEY WITNESS [CUDART]: build the example of that language against LIBDIR/libpenstock.a and let it
# prove. Exit 77: no compiler, or a sanitized archive that it could not link.
set -eu
language=$1 lib=$2 source=$3 key=$4 witness=$5 cudart=${6:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
libs="-ljansson -lcrypto -lurcu-memb -luring -lhugetlbfs -lnuma -lhwloc -lpthread -lm"
[ -z "$cudart" ] || libs="$cudart -lstdc++ -lrt -ldl $libs" # a library with the CUDA device
nm "$lib/libpenstock.a" 2>/dev/null | grep -qE '__(asan|tsan|gcov)_init' && exit 77
case $language in
rust)
    command -v rustc >/dev/null || exit 77
    rustc -O -o "$out/prove" "$source/deploy/guide/examples/prove.rs" -L "$lib" -l static=penstock \
        -C "link-args=$libs"
    ;;
go)
    command -v go >/dev/null || exit 77
    export CGO_ENABLED=1 GOCACHE="$out/cache" GO111MODULE=off GOFLAGS=-p=2
    export CGO_CFLAGS="-I$source/engine/include -I$source/perf/include" CGO_LDFLAGS="-L$lib -lpenstock $libs"
    go build -o "$out/prove" "$source/deploy/guide/examples/prove.go"
    ;;
esac
"$out/prove" "$key" "$witness" >"$out/proof.json"
grep -q '"pi_a"' "$out/proof.json"
if "$out/prove" "$key" /no/such.wtns 2>"$out/err"; then exit 1; fi
grep -q '/no/such.wtns' "$out/err"
