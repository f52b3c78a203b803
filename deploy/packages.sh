#!/bin/sh
# Installs the Debian packages that building (and, with "test", testing) needs. Nothing is asked, nothing is removed;
# what is there already is left alone. Used by deploy/quickstart.sh and tests/run.sh.
set -eu
build="gcc libc6-dev cmake ninja-build pkg-config libjansson-dev libssl-dev libhwloc-dev libnuma-dev liburcu-dev \
libhugetlbfs-dev liburing-dev scdoc"
test="libcmocka-dev g++ spin relacy-dev"
case ${1:-build} in
build) want=$build ;;
test) want="$build $test" ;;
*)
    echo "usage: packages.sh [build|test]" >&2
    exit 2
    ;;
esac
missing=
for p in $want; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
