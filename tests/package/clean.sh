#!/bin/sh
# Usage: clean.sh DEV
# Tests that `./dev clean` keeps the tools, the virtual environments and the compiler cache in .cache, and that
# `./dev clean --all` removes them.
set -eu
rm -rf clean
mkdir -p clean/build/test clean/.cache/tools
cp -r "$1" "$(dirname "$1")/.ci" clean

# `./dev help` prints the help. The shell then has the folders.
environment=$(cd clean && sh -c '. ./dev >/dev/null && echo "$venv"' ./dev help)
case $environment in
  */.cache/*) ;;
  *) echo "./dev clean removes the virtual environment $environment" && exit 1 ;;
esac

clean/dev clean
[ ! -e clean/build ] && [ -d clean/.cache/tools ]
mkdir clean/build
clean/dev clean --all
[ "$(ls -A clean)" = '.ci
dev' ]
