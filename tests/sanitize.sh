#!/bin/bash
# The whole suite under one of the checkers: builds the preset, runs its tests, says how long that took.
#
#   sanitize.sh asan|tsan|valgrind [ctest arguments]
#
# PENSTOCK_CORPUS=DIR as in CONTRIBUTING.md. The presets tsan and valgrind set PENSTOCK_TEST_SLOWER (tests/slower.h).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?asan, tsan or valgrind}
shift
run=
case $preset in
asan) ;;
tsan) run='setarch -R' ;; # gcc 12's runtime cannot map its shadow where newer kernels put the program
valgrind) # models have no program of ours in them
    command -v valgrind >/dev/null || { echo "sanitize.sh: needs valgrind"; exit 77; }
    set -- -LE model "$@" ;;
*) echo "sanitize.sh: asan, tsan or valgrind, not $preset" >&2; exit 2 ;;
esac
cmake --preset "$preset" ${PENSTOCK_CORPUS:+-DPENSTOCK_CORPUS="$PENSTOCK_CORPUS"} >/dev/null
nice cmake --build --preset "$preset"
SECONDS=0
status=0
nice $run ctest --preset "$preset" "$@" || status=$?
echo "$preset: ${SECONDS} s, exit $status"
exit $status
