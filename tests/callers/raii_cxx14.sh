#!/bin/sh
# raii_cxx14.sh COMPILER INCLUDE: a program of C++14 that includes gather.hpp is refused with one error that says why.
set -eu
if errors=$(echo '#include <gather/gather.hpp>' | "$1" -std=c++14 -I"$2" -x c++ -fsyntax-only - 2>&1); then
  echo "it was compiled"
  exit 1
fi
echo "$errors"
[ "$(echo "$errors" | grep -c 'error:')" = 1 ]
echo "$errors" | grep -q 'error:.*gather.hpp needs C++17'
