#!/bin/sh
# Runs the tests of the bindings with a library that is built with the address and undefined-behaviour sanitizers. A leak
# is a failure. The tests of resident memory do not run, because these sanitizers keep freed memory for a while.
#
#     asan.sh PREFIX BUILD [python] [rust] [go]
#
# PREFIX has such a library (cmake --preset asan). BUILD is a folder for build products. VENV names the folder of the
# virtual environment (BUILD/python).
set -eu

[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- python rust go

libraries=$(dirname "$(find "$prefix" -name gather.pc)")
export PKG_CONFIG_PATH="$libraries" PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
libraries=${libraries%/pkgconfig}

# A leak is attributed to the caller of malloc only, not to the whole stack. The interpreter would otherwise be in every
# stack trace.
suppressions=$build/suppressions
cat >"$suppressions" <<'END'
# The interpreter and cffi do not release all objects when they end.
leak:/python3
leak:libpython3
leak:_cffi_backend
END

# sanitized COMMAND...: runs a program that is built without the sanitizers. They are loaded first, and so is libstdc++,
# because the sanitizers search its functions for exceptions when they start.
sanitized() {
  preload=''
  for name in asan ubsan stdc++; do
    preload="$preload $(cc -print-file-name=lib$name.so)"
  done
  env LD_PRELOAD="$preload" "$@"
}

settings=allocator_may_return_null=1:quarantine_size_mb=1:malloc_context_size=2
export ASAN_OPTIONS=$settings GATHER_SANITIZED=1
export LSAN_OPTIONS="suppressions=$suppressions:print_suppressions=0"

# must_fail COMMAND...: fails if the leak of the command is not found. The other results would then prove nothing.
must_fail() {
  if "$@" >"$build/log" 2>&1 || ! grep -q LeakSanitizer "$build/log"; then
    cat "$build/log"
    echo "a leak was not found"
    return 1
  fi
}

python() {
  venv=${VENV:-$build/python}
  python=$venv/bin/python
  [ -x "$python" ] || "${PYTHON:-python3}" -m venv "$venv"
  "$python" -m pip install --quiet -r "$here/python/requirements-test.txt"
  flags='-g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'
  rm -rf "$build/wheel"
  env CFLAGS="$flags" CXXFLAGS="$flags" LDFLAGS="$flags" "$python" -m build --no-isolation --wheel \
    -Cinstall.strip=false --outdir "$build/wheel" "$here/python" >"$build/log" 2>&1 || { cat "$build/log" && return 1; }
  "$python" -m pip install --quiet --force-reinstall --no-deps "$build"/wheel/*.whl
  export PYTHONMALLOC=malloc
  must_fail sanitized "$python" -c 'import ctypes; ctypes.CDLL(None).malloc(1)'
  # The tests of documents and packages do not use the library, and the C++ tests read the same files of cases.
  cd "$build"
  tests=$here/python/tests
  sanitized "$python" -m pytest -c "$here/python/pyproject.toml" --rootdir "$here/python" -p no:cacheprovider -q -rs \
    --ignore "$tests/test_package.py" --ignore "$tests/test_cuda_package.py" --ignore "$tests/test_documents.py" \
    --ignore "$tests/test_conformance.py" "$tests"
}

rust() {
  cat >"$build/leak.c" <<'END'
#include <stdlib.h>
int main(void) { return !malloc(1); }
END
  cc -O0 "$build/leak.c" -o "$build/leak"
  must_fail sanitized "$build/leak"
  cd "$here/rust"
  export CARGO_TARGET_DIR="$build/rust" GATHER_DYNAMIC=1
  programs=$(cargo test --locked --workspace --all-features --tests --no-run --message-format json 2>"$build/log" |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p') || { cat "$build/log" && return 1; }
  for program in $programs; do
    echo "rust: ${program##*/}"
    (cd gather && sanitized env LD_LIBRARY_PATH="$libraries" "$program" --nocapture --quiet)
  done
}

go() {
  mkdir -p "$build/leak.go"
  cat >"$build/leak.go/main.go" <<'END'
package main

// #include <stdlib.h>
import "C"

func main() { C.malloc(1) }
END
  export GOTOOLCHAIN=local GOFLAGS="-buildvcs=false -tags=gather_shared"
  must_fail command go run -asan "$build/leak.go/main.go"
  for module in "$here/go" "$here/go/property"; do
    cd "$module"
    # With -asan the compiler inlines less, so other functions allocate.
    env LD_LIBRARY_PATH="$libraries" go test -asan -count=1 -short -v -skip AllocateNothing ./... \
      >"$build/log" 2>&1 || { cat "$build/log" && return 1; }
    awk -f "$here/go/results.awk" "$build/log"
  done
}

for language in "$@"; do
  echo "== $language"
  ("$language")
done
