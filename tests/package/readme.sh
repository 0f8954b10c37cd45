#!/bin/sh
# Usage: readme.sh BUILD ROOT
# Installs a build into a folder as docs/install.md describes, and builds and runs the examples of README.md. Fails if
# an example does not run, or does not print the text in README.md.
set -eu
build=$1 root=$2
here=$(cd "$(dirname "$0")" && pwd)

rm -rf readme
mkdir -p readme/home readme/build
ln -s "$build" readme/build/release
cd readme
python3 "$here/readme.py" "$root/README.md:Example" "$root/docs/install.md:In a folder of your own" >steps.sh
env -u LD_LIBRARY_PATH -u PKG_CONFIG_PATH HOME="$PWD/home" sh steps.sh >steps.log 2>&1 || { cat steps.log && exit 1; }
