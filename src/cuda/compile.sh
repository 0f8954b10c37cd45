#!/bin/sh
# compile.sh COMMAND...: runs nvcc with its source named from here on. It writes the name into the object, and where a
# library was built is nobody's business.
set -eu
for word; do
  shift
  case $word in
    /*.cu) word=$(realpath --relative-to=. "$word") ;;
  esac
  set -- "$@" "$word"
done
exec "$@"
