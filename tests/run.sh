#!/bin/bash
# Sets up and runs the tests: installs what is missing (Debian packages), builds, runs ctest. With CI=true also a build
# without the CUDA toolkit by clang, the sanitizers, and the fuzz targets over their seeds.
set -euo pipefail
cd "$(dirname "$0")/.."
sh deploy/packages.sh test

stage() { printf '\n== %s (%d s)\n' "$1" $SECONDS; }

stage "build, release"
cmake --preset release >/dev/null
cmake --build --preset release
stage "tests, release"
ctest --preset release

if [ "${CI:-}" = true ]; then
    stage "tests, AddressSanitizer and UndefinedBehaviorSanitizer, host device"
    cmake --preset asan >/dev/null
    cmake --build --preset asan
    ctest --preset asan
    if command -v clang >/dev/null; then
        stage "build, clang, without the CUDA toolkit"
        cmake --preset host -B build/clang -DCMAKE_C_COMPILER=clang >/dev/null
        cmake --build build/clang
    fi
fi
stage done
