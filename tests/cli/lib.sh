# Sourced by the tests of the program. A scratch folder, and `expect CODE COMMAND...`, which keeps stdout and stderr in
# $scratch/out and $scratch/err.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

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

finish() {
    [ $failed = 0 ] && echo "all as expected"
    exit $failed
}
