#!/bin/sh
# Claim: each recorded machine loads in hwloc's own lstopo without a word on stderr, and the folder stays below 1 MiB.
# Skipped (77) without lstopo.
folder=$1
command -v lstopo-no-graphics >/dev/null || { echo "lstopo-no-graphics is missing"; exit 77; }
bad=0
for file in "$folder"/*.xml; do
    said=$(lstopo-no-graphics -i "$file" --of console 2>&1 >/dev/null)
    rc=$?
    [ $rc -eq 0 ] && [ -z "$said" ] || { echo "$file: exit $rc: $said"; bad=1; }
done
bytes=$(cat "$folder"/*.xml | wc -c)
[ "$bytes" -lt 1048576 ] || { echo "$bytes bytes of machines"; bad=1; }
exit $bad
