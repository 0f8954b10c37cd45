#!/bin/sh
# readme.sh BUILD README: installs a build into a folder of one's own as the README says, and builds and runs its examples
# as it says. Where they print something else than it says, or do not run, this fails.
set -eu
build=$1 readme=$2
here=$(cd "$(dirname "$0")" && pwd)

rm -rf readme
mkdir -p readme/home readme/build
ln -s "$build" readme/build/release
cd readme
python3 "$here/readme.py" "$readme" Example 'In a folder of your own' >steps.sh
env -u LD_LIBRARY_PATH -u PKG_CONFIG_PATH HOME="$PWD/home" sh steps.sh >steps.log 2>&1 || { cat steps.log && exit 1; }
