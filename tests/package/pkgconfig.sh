#!/bin/sh
# Usage: pkgconfig.sh LIBDIR shared|static COMPILER SOURCE
# Builds a program with only the flags of gather.pc, and runs it.
set -eu
libdir=$1 linkage=$2 compiler=$3 source=$4
program=$(basename "$source" | tr . _)_$linkage

case $linkage in
  shared) static='' ;;
  static) static=-static ;;
esac
export PKG_CONFIG_PATH="$libdir/pkgconfig"
# shellcheck disable=SC2046,SC2086 # the flags are words
"$compiler" $static "$source" -o "$program" $(pkg-config --cflags --libs ${static:+--static} gather)
LD_LIBRARY_PATH=$libdir "./$program"
