#!/bin/sh
# Large keys, made where they are used, and proofs with them: on the GPU and on the host, each verified.
#
#     gpu_keys.sh BIN WORK [CURVE:LOG:KIND ...]      KIND: field or bits; default bn128:22:field bn128:24:field
#
# BIN holds penstock and make_circuit, WORK needs 15 GB for 2^24 (memory-backed: /dev/shm). DEVICE=cuda:0, TIMES=2,
# HOST=1 (0: no proof on the host). For every circuit one table: seconds of each stage, their sum, and the wall time of
# the whole process, which has the start of program and driver on top.
set -eu
bin=$1 work=$2
shift 2
[ $# -gt 0 ] || set -- bn128:22:field bn128:24:field
mkdir -p "$work"

now() { date +%s.%N; }
since() { echo "$1 $(now)" | awk '{printf "%.2f", $2 - $1}'; }

# The JSON of `prove` as one row
row() {
    awk -v label="$1" -v wall="$2" '{
        text = text $0
    } END {
        n = split("open load compute fold verify write", name, " ")
        printf "%-10s", label
        for (i = 1; i <= n; i++) {
            if (!match(text, "\"" name[i] "\": *[0-9.eE+-]+")) { print "no stage " name[i]; exit 1 }
            v = substr(text, RSTART, RLENGTH); sub(/.*: */, "", v)
            printf " %9.3f", v; sum += v
        }
        printf " %9.3f %9.3f\n", sum, wall
    }' "$3"
}

for spec in "$@"; do
    curve=${spec%%:*} rest=${spec#*:}
    log=${rest%%:*} kind=${rest#*:} flag=
    [ "$kind" = bits ] && flag=--bits
    c=$work/$curve$log$kind
    t=$(now); "$bin/make_circuit" --curve "$curve" --seed 7 $flag "$log" "$c.r1cs" "$c.wtns"; made=$(since "$t")
    t=$(now); "$bin/penstock" setup -q --device "${DEVICE:-cuda:0}" --seed 7 "$c.r1cs" "$c.zkey" "$c.vk.json" 2>/dev/null
    echo "$curve 2^$log $kind: circuit $made s, setup on ${DEVICE:-cuda:0} $(since "$t") s, key $(stat -c %s "$c.zkey") bytes"
    rm "$c.r1cs"
    printf '%-10s %9s %9s %9s %9s %9s %9s %9s %9s\n' device open load compute fold verify write sum process
    devices="${DEVICE:-cuda:0}"
    [ "${HOST:-1}" = 0 ] || devices="$devices host"
    for d in $devices; do
        for i in $(seq "${TIMES:-2}"); do
            t=$(now)
            "$bin/penstock" prove --json --device "$d" "$c.zkey" "$c.wtns" "$c.proof.json" "$c.public.json" >"$c.out"
            row "$d" "$(since "$t")" "$c.out"
            "$bin/penstock" verify "$c.vk.json" "$c.public.json" "$c.proof.json" >/dev/null
            [ "$d" = host ] && break
        done
    done
    rm -f "$c".*
done
