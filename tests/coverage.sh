#!/bin/bash
# Line coverage by the whole test suite: one line for each file and for each folder. Fails when prover or cuda/math is
# below 90 %.
#
#   coverage.sh           build, run the tests, report
#   coverage.sh --gaps    the same, then every line of those two folders that no test reached
#
# PENSTOCK_CORPUS=DIR as in CONTRIBUTING.md. What stays uncovered and why stands there too. The report alone, over what
# has run already: COVERAGE_ONLY_REPORT=1.
set -euo pipefail
cd "$(dirname "$0")/.."
least=90
must='prover cuda/math'

if [ -z "${COVERAGE_ONLY_REPORT:-}" ]; then
    cmake --preset cov ${PENSTOCK_CORPUS:+-DPENSTOCK_CORPUS="$PENSTOCK_CORPUS"} >/dev/null
    nice cmake --build --preset cov
    find build/cov -name '*.gcda' -delete
    nice ctest --preset cov
fi
# Paths in the notes may be relative to the build folder (ccache writes them so).
lcov --quiet --capture --base-directory "$PWD/build/cov" --directory build/cov --output-file build/cov/all.info \
    2>build/cov/lcov.log
lcov --quiet --extract build/cov/all.info "$PWD/*" --output-file build/cov/tree.info 2>>build/cov/lcov.log
lcov --quiet --remove build/cov/tree.info '*/tests/*' '*/build/*' '*/perf/bench/*' '*/examples/*' \
    --output-file build/cov/own.info 2>>build/cov/lcov.log

awk -v root="$PWD/" -v least=$least -v must="$must" '
    /^SF:/ { file = substr($0, 4); sub(root, "", file); folder = file; sub("/[^/]*$", "", folder) }
    /^DA:/ { split(substr($0, 4), da, ","); files[file]++; folders[folder]++
             if (da[2] > 0) { file_hit[file]++; folder_hit[folder]++ } }
    END {
        for (f in files) printf "file   %6.1f %%  %5d of %5d  %s\n", 100 * file_hit[f] / files[f], file_hit[f], files[f], f | "sort -k6"
        close("sort -k6")
        for (f in folders) printf "folder %6.1f %%  %5d of %5d  %s\n", 100 * folder_hit[f] / folders[f], folder_hit[f], folders[f], f | "sort -k6"
        close("sort -k6")
        n = split(must, m, " ")
        for (i = 1; i <= n; i++)
            if (!(m[i] in folders) || 100 * folder_hit[m[i]] < least * folders[m[i]]) {
                printf "%s: below %d %%\n", m[i], least
                bad = 1
            }
        exit bad
    }' build/cov/own.info

if [ "${1:-}" = --gaps ]; then
    awk -v root="$PWD/" '
        /^SF:/ { file = substr($0, 4); sub(root, "", file); wanted = file ~ /^(prover|cuda\/math)\/[^\/]*$/ }
        wanted && /^DA:[0-9]+,0/ { split(substr($0, 4), da, ","); print file ":" da[1] }' build/cov/own.info |
        while IFS=: read -r file line; do
            printf '%s:%s:%s\n' "$file" "$line" "$(sed -n "${line}p" "$file")"
        done
fi
