#!/bin/sh
# raii_cxx14.sh COMPILER INCLUDE: a C++14 program that includes gather.hpp must get exactly one error, with the reason.
set -eu
if errors=$(echo '#include <gather/gather.hpp>' | "$1" -std=c++14 -I"$2" -x c++ -fsyntax-only - 2>&1); then
  echo "it was compiled"
  exit 1
fi
echo "$errors"
[ "$(echo "$errors" | grep -c 'error:')" = 1 ]
echo "$errors" | grep -q 'error:.*gather.hpp needs C++17'
