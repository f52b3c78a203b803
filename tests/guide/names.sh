#!/bin/sh
# Every test that the guide of faults names exists: a function of the tests, or a test's or program's own name.
# Usage: names.sh SOURCE_DIR
cd "$1" || exit 1
bad=0
n=0
for name in $(grep -o '`[a-z0-9_]*`' deploy/guide/faults.md | tr -d '`' | sort -u); do
    case $name in
    test_* | fault_* | stress_* | guest_* | example_* | bench_* | soak) ;;
    *) continue ;;
    esac
    n=$((n + 1))
    rest=${name#bench_partition_}
    [ -f "perf/bench/$name.c" ] && continue
    grep -rqE "void $name\(void|(penstock_test|add_executable|penstock_bench)\($name |NAME $name$|NAME $name |partition_test\($rest " \
        tests deploy/guide/examples perf/bench && continue
    # lists of names in foreach()
    grep -rqwE "foreach\(.*$name.*\)" tests deploy/guide/examples && continue
    echo "deploy/guide/faults.md names $name, which is no test"
    bad=1
done
[ "$n" -gt 60 ] || { echo "only $n tests are named"; bad=1; }
exit $bad
