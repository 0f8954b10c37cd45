#!/bin/sh
# Usage: googletest.sh source|none CMAKE GENERATOR SOURCE
# Configures without an installed GoogleTest. If its sources exist, there are tests. Otherwise AUTO builds no tests and
# states this in one line, and ON fails with the same reason.
set -eu
have=$1 cmake=$2 generator=$3 source=$4
work=$PWD/googletest-$have
rm -rf "$work"
mkdir -p "$work"

sources=/usr/src/googletest
[ "$have" = source ] || sources=$work/nowhere
if [ "$have" = source ] && [ ! -d "$sources" ]; then
  echo "skipped: there is no $sources"
  exit 77
fi

configure() {
  "$cmake" -G "$generator" -S "$source" -B "$work/$1" -DGATHER_TESTS="$1" -DGATHER_CUDA=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DGATHER_GOOGLETEST="$sources" >"$work/$1.log" 2>&1
}

require() {
  "$@" || { cat "$work"/*.log && exit 1; }
}

require configure AUTO
if [ "$have" = source ]; then
  require grep -q 'add_test' "$work/AUTO/tests/package/CTestTestfile.cmake"
  exit 0
fi
require grep -qxF -e '-- Tests: none, there is no GoogleTest (Debian: libgtest-dev)' "$work/AUTO.log"
[ ! -e "$work/AUTO/tests/package" ]
if configure ON; then
  echo "ON was accepted"
  exit 1
fi
require grep -q 'GATHER_TESTS is ON, but there is no GoogleTest' "$work/ON.log"
