#!/bin/sh
# Usage: clean.sh DEV
# Tests that `./dev clean` keeps the tools and the compiler cache in .cache, and `./dev clean --all` removes them.
set -eu
rm -rf clean
mkdir -p clean/build/test clean/.cache/tools
cp "$1" clean/dev
clean/dev clean
[ ! -e clean/build ] && [ -d clean/.cache/tools ]
mkdir clean/build
clean/dev clean --all
[ "$(ls -A clean)" = dev ]
