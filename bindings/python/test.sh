#!/bin/sh
# Tests the Python package as users get it. Builds the source distribution and from it the wheel, installs the wheel into
# a virtual environment under BUILD, and runs the tests there. Skipped tests are listed with the reason.
#
#     test.sh BUILD [PYTEST ARGUMENTS]
#
# PYTHON names the interpreter (python3). PEERS=1 also installs torch, TensorFlow and JAX for the tests, which takes some
# gigabytes. WHEEL names a wheel to test instead of a new one. GATHER_EMULATED names libgather_emulated.so of a test
# build. Arrays on devices are then tested on its emulated CUDA devices.
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
