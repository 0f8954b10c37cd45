#!/bin/sh
# Tests the Python package as users get it: builds the source distribution, builds the wheel from that, installs it into
# a virtual environment under BUILD, and runs the tests there. What is skipped is listed with its reason.
#
#     test.sh BUILD [PYTEST ARGUMENTS]
#
# PYTHON names the interpreter (python3). With PEERS=1 torch, TensorFlow and JAX are installed and tested against, too;
# that is some gigabytes. WHEEL names a wheel to be tested instead of building one. GATHER_EMULATED names the library
# libgather_emulated.so of a build of the tests: arrays on devices are then tested on its imaginary CUDA devices.
set -eu

[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)/python
shift
mkdir -p "$build"

export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
python=$build/venv/bin/python
[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$build/venv"
"$python" -m pip install --quiet -r "$here/requirements-test.txt"
[ -z "${PEERS:-}" ] || "$python" -m pip install --quiet -r "$here/requirements-peers.txt"

if [ -z "${WHEEL:-}" ]; then
  rm -rf "$build/dist"
  "$python" -m build --no-isolation --outdir "$build/dist" "$here" >"$build/build.log" 2>&1 ||
    { cat "$build/build.log" && exit 1; }
  WHEEL=$(echo "$build"/dist/*.whl)
fi
"$python" -m pip install --quiet --force-reinstall --no-deps "$WHEEL"

cd "$build"
LIBGATHER_WHEEL=$WHEEL exec "$python" -m pytest -c "$here/pyproject.toml" --rootdir "$here" -p no:cacheprovider -q -rs \
  "$here/tests" "$@"
