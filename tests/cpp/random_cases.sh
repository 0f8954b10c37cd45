#!/bin/sh
# Usage: random_cases.sh PROGRAM CASES [--write]
# Compares the random cases in the folder CASES with those that PROGRAM writes for the same seed. With --write, replaces
# them.
set -eu
seed=20261124 count=400
if [ "${3:-}" = --write ]; then
  exec "$1" "$2" $seed $count
fi
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
"$1" "$temp" $seed $count
for file in random elements/random scatter/random gradient/random; do
  cmp "$temp/$file.txt" "$2/$file.txt"
done
