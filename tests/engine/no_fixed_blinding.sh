#!/bin/sh
# Claim: what is installed has no way to fix the blinding. The same look finds it in the test program.
# usage: no_fixed_blinding.sh PENSTOCK PENSTOCK_FIXED
set -eu
if grep -q PENSTOCK_TEST_R "$1" || nm -a "$1" | grep -q blinding_fixed; then
    echo "$1 can fix r and s"
    exit 1
fi
grep -q PENSTOCK_TEST_R "$2"
nm -a "$2" | grep -q blinding_fixed
