#!/bin/sh
# Claim: includes point one way. Order: perf < numa < alloc < cuda < prover < engine; perf/bench and tests stand above
# all, and nothing includes them. Only cuda/ knows CUDA.
bad=0
seen="perf/bench tests"
for dir in engine prover cuda alloc numa perf; do
    [ -d "$dir" ] || continue
    for up in $seen; do
        grep -rnE "^ *#include \"$up/" "$dir" --include='*.[ch]' --include='*.cu' --include='*.cuh' --exclude-dir=bench && bad=1
    done
    seen="$seen $dir"
done
for dir in engine prover alloc numa perf; do
    [ -d "$dir" ] && grep -rnE '^ *#include [<"](cuda|cuda_runtime|nvml)[a-z_]*\.h' "$dir" --exclude-dir=bench && bad=1
done
exit $bad
