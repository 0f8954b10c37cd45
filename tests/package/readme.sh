#!/bin/sh
# readme.sh LIBDIR README: the examples build and run with the commands beside them, and print what is printed there.
set -eu
libdir=$1 readme=$2

# The first block of a language.
block() {
  awk -v fence="\`\`\`$1" '
    $0 == "```" { inside = 0 }
    inside
    $0 == fence && !seen { inside = seen = 1 }' "$readme"
}

mkdir -p readme
cd readme
block c >example.c
block cpp >example.cpp
block sh >c.sh
sed 's/cc example\.c/c++ -std=c++17 example.cpp/' c.sh >cpp.sh
block text >expected.txt

export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
for language in c cpp; do
  rm -f example
  sh -e $language.sh >$language.txt
  diff -u expected.txt $language.txt
done
