#!/bin/sh
# compile.sh COMMAND...: runs nvcc with a source path relative to this folder, because nvcc writes the path into the
# object. So the object does not contain the path of the build machine.
set -eu
for word; do
  shift
  case $word in
    /*.cu) word=$(realpath --relative-to=. "$word") ;;
  esac
  set -- "$@" "$word"
done
exec "$@"
