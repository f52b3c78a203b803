# Claim: the man page and the completion know every long option that --help prints, and no other.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
for c in prove verify setup key topo plan doctor keep bench; do
    "$PENSTOCK" $c --help >"$scratch/out" 2>"$scratch/err"
    grep -oE -- '--[a-z][a-z0-9-]+' "$scratch/out" | sort -u | grep -vxE -- '--(help|usage)' >"$scratch/help"
    grep -ohE -- '\*--[a-z][a-z0-9-]+' "$top/deploy/man/penstock-$c.1.scd" "$top/deploy/man/penstock.1.scd" | tr -d '*' | sort -u >"$scratch/man"
    while read -r option; do
        grep -qxF -- "$option" "$scratch/man" || complain "$c $option is not in the man page"
        grep -qF -- "$option" "$top/deploy/completion/penstock.bash" || complain "$c $option is not completed"
    done <"$scratch/help"
    grep -ohE -- '\*--[a-z][a-z0-9-]+' "$top/deploy/man/penstock-$c.1.scd" | tr -d '*' | sort -u | grep -vx -- --help | while read -r option; do
        grep -qxF -- "$option" "$scratch/help" || echo "$c: the man page tells of $option, --help does not"
    done >"$scratch/more"
    [ -s "$scratch/more" ] && complain "$(cat "$scratch/more")"
done
. "$top/deploy/completion/penstock.bash"
set +u
COMP_WORDS=(penstock ver) COMP_CWORD=1
_penstock
[ "${COMPREPLY[*]}" = verify ] || complain "ver completes to ${COMPREPLY[*]}"
COMP_WORDS=(penstock key ch) COMP_CWORD=2
_penstock
[ "${COMPREPLY[*]}" = check ] || complain "key ch completes to ${COMPREPLY[*]}"
COMP_WORDS=(penstock keep dr) COMP_CWORD=2
_penstock
[ "${COMPREPLY[*]}" = drop ] || complain "keep dr completes to ${COMPREPLY[*]}"
COMP_WORDS=(penstock bench po) COMP_CWORD=2
_penstock
[ "${COMPREPLY[*]}" = pool ] || complain "bench po completes to ${COMPREPLY[*]}"
COMP_WORDS=(penstock plan --dev) COMP_CWORD=2
_penstock
[ "${COMPREPLY[*]}" = --device-memory ] || complain "plan --dev completes to ${COMPREPLY[*]}"
finish
