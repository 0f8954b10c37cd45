#!/bin/sh
# Tests the Python package as users get it. Builds the source distribution and from it the wheel, installs the wheel into
# a virtual environment under BUILD, and runs the tests there. Skipped tests are listed with the reason.
#
#     test.sh BUILD [PYTEST ARGUMENTS]
#
# PYTHON names the interpreter (python3). VENV names the folder of the virtual environment (BUILD/python/venv). ALSO=NAME
# also installs requirements-NAME.txt: `frameworks` (torch, TensorFlow, JAX, pandas, polars), or `peers`, which adds Dask
# and Ray. They take gigabytes. EACH=1 runs each file of tests in its own process, two at once. The arguments are then
# files.
# WHEEL names a wheel to test instead of a new one. GATHER_EMULATED names libgather_emulated.so of a test build. Arrays on
# devices are then tested on its emulated CUDA devices.
set -eu

[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)/python
shift
mkdir -p "$build"

export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
venv=${VENV:-$build/venv}
python=$venv/bin/python
[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$python" -m pip install --quiet -r "$here/requirements-test.txt"
[ -z "${ALSO:-}" ] || "$python" -m pip install --quiet -r "$here/requirements-$ALSO.txt"

if [ -z "${WHEEL:-}" ]; then
  rm -rf "$build/dist"
  "$python" -m build --no-isolation --outdir "$build/dist" "$here" >"$build/build.log" 2>&1 ||
    { cat "$build/build.log" && exit 1; }
  WHEEL=$(echo "$build"/dist/*.whl)
fi
"$python" -m pip install --quiet --force-reinstall --no-deps "$WHEEL"

tests() {
  "$python" -m pytest -c "$here/pyproject.toml" --rootdir "$here" -p no:cacheprovider -q -rs "$@"
}

export LIBGATHER_WHEEL="$WHEEL"
cd "$build"
if [ "${EACH:-}" != 1 ]; then
  tests "$here/tests" "$@"
  exit
fi

# Runs the files that have not begun yet, and writes the output and the status of each. Most tests of JAX compile small
# programs. Only the long run, and test_jax.py, compile them with all optimizations, which takes half as long again.
run_files() {
  for file in "$@"; do
    mkdir "each/$file" 2>/dev/null || continue
    quick=0
    case ${GATHER_LONG:-0}$file in 0test_jax_*) quick=1 ;; esac
    status=0
    JAX_DISABLE_MOST_OPTIMIZATIONS=$quick tests "$here/tests/$file" >"each/$file/log" 2>&1 || status=$?
    echo $status >"each/$file/status"
  done
}

[ $# -gt 0 ] || set -- "$here"/tests/test_*.py
# In reverse order, because the longest file is among the last.
# shellcheck disable=SC2046 # names of files are words
set -- $(for file in "$@"; do echo "${file##*/}"; done | sort -r)
rm -rf each && mkdir each
run_files "$@" &
run_files "$@"
wait
result=0
for file in "$@"; do
  echo "== $file"
  cat "each/$file/log"
  # pytest exits with 5 if it finds no test in a file, because one `importorskip` skips all of them.
  case $(cat "each/$file/status") in 0 | 5) ;; *) result=1 ;; esac
done
exit $result
