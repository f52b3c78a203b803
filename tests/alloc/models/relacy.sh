#!/bin/sh
# relacy.sh SCHEDULES: build and run the harness; it plants its own faults.
command -v g++ >/dev/null && echo '#include <relacy/relacy.hpp>' | g++ -w -E -x c++ - >/dev/null 2>&1 || exit 77
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
g++ -std=c++11 -O1 -w -o "$dir/harness" relacy.cpp || exit 1
"$dir/harness" "$1" >"$dir/out" 2>&1
rc=$?
grep -E '^(iterations|DATA RACE|USER ASSERT|right|WRONG)' "$dir/out"
exit $rc
