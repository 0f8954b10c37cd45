#!/bin/sh
# readme.sh STAGE README: the example builds and runs with the commands beside it, and prints what is printed there.
set -eu
stage=$1 readme=$2

# The first block of a language.
block() {
  awk -v fence="\`\`\`$1" '$0 == fence && !done { inside = 1; next } /^```$/ && inside { inside = 0; done = 1 } inside' "$readme"
}

mkdir -p readme
cd readme
block c >example.c
block sh >commands.sh
block text >expected.txt
PKG_CONFIG_PATH=$stage/lib/pkgconfig LD_LIBRARY_PATH=$stage/lib sh -e commands.sh >printed.txt
diff -u expected.txt printed.txt
