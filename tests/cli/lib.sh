# Sourced by the tests of the program. A scratch folder, and `expect CODE COMMAND...`, which keeps stdout and stderr in
# $scratch/out and $scratch/err.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
golden=$(cd "$(dirname "$0")" && pwd)/golden

complain() {
    echo "FAIL: $*"
    sed 's/^/    /' "$scratch/err" | head -5
    failed=1
}

expect() {
    local want=$1 got
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    got=$?
    [ "$got" = "$want" ] || complain "exit $got, not $want: $*"
}

# said TEXT: the last command's stderr holds TEXT
said() {
    grep -qF -- "$1" "$scratch/err" || complain "nothing said of \"$1\""
}

# printed TEXT: the last command's stdout holds TEXT
printed() {
    grep -qF -- "$1" "$scratch/out" || complain "not printed: \"$1\": $(head -c 300 "$scratch/out")"
}

# golden NAME: the last command's stdout is golden/NAME; PENSTOCK_REWRITE=1 writes it anew
golden() {
    local file=$golden/$1
    [ -n "${PENSTOCK_REWRITE:-}" ] && cp "$scratch/out" "$file"
    cmp -s "$scratch/out" "$file" || complain "not as $file: $(diff "$scratch/out" "$file" | head -5)"
}

# is_json: the last command's stdout is one JSON value
is_json() {
    command -v python3 >/dev/null || return 0
    python3 -m json.tool <"$scratch/out" >/dev/null || complain "not JSON: $(head -c 200 "$scratch/out")"
}

# member PATH VALUE: PATH, like gpus.0.pci, of the last command's JSON is VALUE
member() {
    command -v python3 >/dev/null || return 0
    local got
    got=$(python3 - "$scratch/out" "$1" <<'P'
import json, sys
x = json.load(open(sys.argv[1]))
for step in sys.argv[2].split("."):
    x = x[int(step)] if isinstance(x, list) else x[step]
print(json.dumps(x) if isinstance(x, (dict, list, bool, type(None))) else x)
P
    ) || got="nothing"
    [ "$got" = "$2" ] || complain "$1 is $got, not $2"
}

finish() {
    [ $failed = 0 ] && echo "all as expected"
    exit $failed
}
