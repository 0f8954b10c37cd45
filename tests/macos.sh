#!/bin/sh
# Builds, tests and inspects the library on a Mac, and prints the results with their date. Run it and commit its output:
#
#     brew install cmake ninja googletest python
#     tests/macos.sh 2>&1 | tee .ci/results/mac.txt
set -eu
cd "$(dirname "$0")/.."
build=build/mac
# These tests need nothing of Linux. The others link parts of the library for Linux, or read /proc.
programs='alignment bags columns conformance elements gradient index_values infer operands partition plans
  rank_shape_attributes run_short scatter scatter_conformance scatter_oracle structs threads'

title() {
  printf '\n== %s\n' "$*"
}

title machine
date -u '+%Y-%m-%d %H:%M UTC'
sw_vers
sysctl -n machdep.cpu.brand_string hw.ncpu
c++ --version | head -n 1
git describe --always --dirty --abbrev=12

title build
cmake -G Ninja -S . -B $build -D CMAKE_BUILD_TYPE=Release -D GATHER_CUDA=OFF -D GATHER_TESTS=ON >/dev/null
# shellcheck disable=SC2086 # the programs are words
cmake --build $build --target gather gather_static lookup $programs | tail -n 1

title tests
# shellcheck disable=SC2086
ctest --test-dir $build -j 4 --timeout 600 -R "^($(echo $programs | tr ' ' '|'))\." | tail -n 25

title install names
otool -L $build/lib/libgather.1.dylib

title exports
nm -gU $build/lib/libgather.1.dylib | sed 's/.* _//' | sort >$build/functions.txt
sort tests/abi/symbols.txt | diff - $build/functions.txt
wc -l <$build/functions.txt

title wheel
python3 -m venv $build/venv
$build/venv/bin/pip wheel --quiet --no-deps --wheel-dir $build/wheel bindings/python
$build/venv/bin/pip install --quiet $build/wheel/*.whl
$build/venv/bin/python -c 'import libgather; print(libgather.gather([1.5, 2.5, 3.5], [2, 0]))'
ls $build/wheel

title demo
cmake --build $build --target demo
