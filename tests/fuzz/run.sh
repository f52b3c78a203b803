#!/bin/sh
# Fuzz every parser: run.sh CPU_SECONDS [TARGET...]   (targets: zkey wtns r1cs proof public vk verify)
# Builds with the preset `fuzz`, grows a corpus in build/fuzz/corpus, leaves what breaks a claim in tests/fuzz/findings,
# and adds one line per target to tests/fuzz/LOG. Exit 1 when something was found.
set -eu
seconds=${1:?usage: run.sh CPU_SECONDS [TARGET...]}
shift
[ $# -gt 0 ] || set -- zkey wtns r1cs proof public vk verify
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/fuzz
cd "$root"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j"${JOBS:-2}" --target $(printf 'fuzz_%s ' "$@") >/dev/null
commit=$(git rev-parse --short HEAD)

endings() { # the seeds of a target, as its own table names them
    case $1 in
    zkey | wtns | r1cs) echo "*.$1" ;;
    proof | verify) echo "*proof.json *_torsion.json" ;;
    public) echo "*public.json public_*.json" ;;
    vk) echo "verification_key.json" ;;
    esac
}

cpu_seconds() { # user and system time of a process; fails when it is gone
    [ -r "/proc/$1/stat" ] || return 1
    set -- $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) && [ "$1" != Z ] || return 1
    shift 11
    echo $((($1 + $2) / $(getconf CLK_TCK)))
}

found=0
for target in "$@"; do
    corpus=$build/corpus/$target
    mkdir -p "$corpus" "$here/findings/$target"
    set -f
    for ending in $(endings "$target"); do
        find tests/data -name "$ending" -size -100k | while read -r seed; do
            cp "$seed" "$corpus/seed_$(echo "$seed" | cksum | cut -d' ' -f1)"
        done
    done
    set +f
    before=$(find "$here/findings/$target" -type f | wc -l)
    log=$build/fuzz_$target.log
    "$build/tests/fuzz/fuzz_$target" -max_len=16384 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$here/findings/$target/" "$corpus" "$here/findings/$target" >"$log" 2>&1 &
    # libFuzzer counts wall time only; at SIGUSR1 it ends with its figures
    while spent=$(cpu_seconds $!) && [ "$spent" -lt "$seconds" ]; do sleep 2; done
    kill -USR1 $! 2>/dev/null || true
    wait $! || true
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    after=$(find "$here/findings/$target" -type f | wc -l)
    [ "$after" -eq "$before" ] || found=1
    printf '%-7s %s %s %5s cpu s %10s runs, %5s edges, %s new findings\n' "$target" "$(date -u +%Y-%m-%d)" "$commit" \
        "$seconds" "${runs:-?}" "${cover:-?}" "$((after - before))" | tee -a "$here/LOG"
    rmdir "$here/findings/$target" 2>/dev/null || true
done
rmdir "$here/findings" 2>/dev/null || true
exit $found
