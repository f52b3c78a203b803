#!/bin/sh
# model.sh MODEL.pml clean|found [FLAG...]
# Check a model exhaustively. clean: it must have no error; found: it must have one. LTL claims run with weak fairness.
command -v spin >/dev/null && command -v gcc >/dev/null || exit 77
model=$1 want=$2
shift 2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cp "$model" "$dir/model.pml" && cd "$dir" || exit 1
flags= finite=
for f in "$@"; do
    flags="$flags -D$f"
    case $f in FINITE) finite=1 ;; esac
done
spin $flags -a model.pml >spin.out 2>&1 || { cat spin.out; exit 1; }
if grep -q '^ltl' model.pml && [ -z "$finite" ]; then
    gcc -O1 -w -DNFAIR=5 -o pan pan.c && ./pan -a -f -m200000 >out 2>&1
else
    gcc -O1 -w -DSAFETY -o pan pan.c && ./pan -m200000 >out 2>&1
fi
grep -E 'errors:|states, stored|^pan:' out
if grep -q 'search depth too small' out || ! grep -q 'errors:' out; then
    cat out
    exit 1
fi
case $want in
clean) grep -q 'errors: 0' out ;;
found) ! grep -q 'errors: 0' out ;;
esac
