#!/bin/sh
# glibc.sh VERSION FILE...: fails if a program or a library needs a newer glibc than VERSION.
set -eu
floor=$1
shift
for file; do
  needed=$(objdump -T "$file" | sed -n 's/.*GLIBC_\([0-9][0-9.]*\).*/\1/p' | sort -V | tail -n 1)
  newest=$(printf '%s\n' "$needed" "$floor" | sort -V | tail -n 1)
  echo "$file needs glibc $needed"
  [ "$newest" = "$floor" ] || exit 1
done
