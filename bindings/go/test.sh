#!/bin/sh
# test.sh PREFIX: runs the tests of the Go binding with the libgather that is installed in PREFIX. If GATHER_EMULATED is
# the path of libgather_emulated.so from a build of the tests, tests on emulated CUDA devices run too. With
# GATHER_LONG=1, the tests also run with -race, with cgocheck2 and with the other ways to link the library, and the
# programs of the README run. Exits with 77 if Go is missing or too old. ./dev lint runs the linters.
set -eu
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")"
here=$(pwd)
temp=$(mktemp -d)
trap 'chmod -R u+w "$temp"; rm -rf "$temp"' EXIT

emulated=${GATHER_EMULATED:-}
unset GATHER_EMULATED

result=0
skip() { echo "skipped: $*"; }

if ! command -v go >/dev/null; then
  skip "go: not installed"
  exit 77
fi
version=$(go env GOVERSION | sed 's/^go//')
if [ "$(printf '%s\n' 1.24 "$version" | sort -V | head -n 1)" != 1.24 ]; then
  skip "go: $version is older than 1.24"
  exit 77
fi

pc=$(find "$prefix" -name gather.pc | head -n 1)
archive=$(find "$prefix" -name libgather.a | head -n 1)
library=$(find "$prefix" -name libgather.so | head -n 1)
export PKG_CONFIG_PATH="${pc%/*}"
sources=$(find ../../src ../../include -type f | sort | xargs cat | sha256sum | cut -d ' ' -f 1)
export GOTOOLCHAIN=local CGO_ENABLED=1 CGO_CXXFLAGS="-O2 -DGATHER_SOURCES=$sources"
export GOFLAGS="-buildvcs=false -tags=gather_shared"
# The build cache of Go depends on the files of a package and the flags, but not on included files. So the flags have
# their digests.
CGO_CFLAGS="-O2 -g -DGATHER_HEADER=$(sha256sum <"$(find "$prefix" -name gather.h)" | cut -d ' ' -f 1)"
export CGO_CFLAGS
shared="LD_LIBRARY_PATH=${library%/*}"

step() { echo "== $*"; }

# tests NAME COMMAND...: runs go test, and prints the numbers of tests, the skipped tests and the failures.
tests() {
  name=$1
  shift
  step "$name"
  if "$@" >"$temp/log" 2>&1; then
    grep -E '^(conformance|overhead:)' "$temp/log" || true
    awk -f "$here/results.awk" "$temp/log"
  else
    grep -v -E '^=== |--- PASS|^PASS|^ok' "$temp/log" | tail -n 60
    echo "failed: $name"
    result=1
  fi
}

# user NAME SECTION [VARIABLE=VALUE]: runs the program of the README in a folder next to a checkout, as the section
# describes.
user() {
  mkdir -p "$temp/$1"
  [ -e "$temp/libgather" ] || ln -s "$here/../.." "$temp/libgather"
  cd "$temp/$1"
  readme=$here/README.md
  python3 "$here/../../tests/package/readme.py" "$readme:gather for Go" "$readme:Use it in a module" "$readme:$2" \
    >steps.sh
  shift 2
  env GOFLAGS=-buildvcs=false "$@" sh steps.sh >steps.log 2>&1 || { cat steps.log && exit 1; }
}

expect_output() {
  "$@" >"$temp/output"
  diff -u "$temp/lookup/expected.txt" "$temp/output"
}

# The tests with random calls, and those with the Arrow library of Go, are separate modules.
printf 'go 1.24\nuse %s\nuse %s/property\nuse %s/arrowgo\n' "$here" "$here" "$here" >"$temp/go.work"
export GOWORK="$temp/go.work"

tests "go test" env "$shared" go test -count=1 -v ./... ./property/... ./arrowgo/...
# In the gate, only the tests that need this library run with it.
needs_emulated='OnAnEmulatedDevice|EveryAllocationFails'
[ "${GATHER_LONG:-}" != 1 ] || needs_emulated=.
if [ -f "$emulated" ]; then
  tests "go test on an emulated CUDA device" env "$shared" GATHER_EMULATED="$emulated" \
    go test -exec "env LD_PRELOAD=$emulated" -run "$needs_emulated" -count=1 -short -v .
else
  skip "go test on an emulated CUDA device: GATHER_EMULATED is not the path of a library"
fi

step "names that a shared library with the package exports"
mkdir "$temp/exports"
cat >"$temp/exports/main.go" <<'END'
package main

import "C"

import "libgather.io/gather"

//export release
func release() *C.char { return C.CString(gather.Version()) }

func main() {}
END
printf 'module exports\n\ngo 1.24\n\nrequire libgather.io/gather v0.0.0\n\nreplace libgather.io/gather => %s\n' "$here" \
  >"$temp/exports/go.mod"
GOWORK=off go build -C "$temp/exports" -buildmode=c-shared -o exports.so .
nm -D --defined-only "$temp/exports/exports.so" >"$temp/exported"
grep -q ' release$' "$temp/exported"
if grep -E 'gather_go_|gth_' "$temp/exported"; then
  echo "failed: these C functions must not be visible"
  result=1
fi

step "without cgo"
if CGO_ENABLED=0 go build . >"$temp/log" 2>&1; then
  echo "failed: the build succeeded"
  exit 1
fi
cat "$temp/log"
[ "$(grep -c '\.go:' "$temp/log")" = 1 ] # The compiler prints exactly one error.
grep -q 'set_CGO_ENABLED_1' "$temp/log"

finish() {
  [ $result = 0 ] && echo "go: all checks passed"
  exit $result
}

[ "${GATHER_LONG:-}" = 1 ] || finish

tests "go test -race" env "$shared" go test -race -count=1 -short -v ./...
tests "go test with cgocheck2" env "$shared" GOEXPERIMENT=cgocheck2 go test -count=1 -short -v ./...

export GOWORK=off
step "the README's program, with a library that is installed system-wide"
user systemwide 'Use a library that is installed system-wide' "$shared" # LD_LIBRARY_PATH stands for the system's folders.
step "the README's program, with a library in another folder"
user lookup 'Use a library that is installed in another folder'
if [ -e go.sum ]; then
  echo "failed: the module of a user depends on $(cat go.sum)"
  exit 1
fi

step "with -mod=vendor"
go mod vendor
go build -mod=vendor -o vendored .
expect_output env "$shared" ./vendored
rm -r vendor

step "with a library of another ABI"
mkdir -p "$temp/other"
node=$(objdump -T "$library" | awk '$NF == "gth_abi_version" { gsub(/[()]/, "", $(NF - 1)); print $(NF - 1) }')
functions=$(objdump -T "$library" | awk '$NF ~ /^gth_/ { print $NF }' | sort -u)
for function in $functions; do
  case $function in
    gth_abi_version) echo "unsigned $function(void) { return 2; }" ;;
    *) echo "int $function(void) { return -23; }" ;;
  esac
done >"$temp/other/stub.c"
echo "$node { *; };" >"$temp/other/stub.map"
cc -shared -fPIC -Wl,-soname,libgather.so.1 -Wl,--version-script="$temp/other/stub.map" "$temp/other/stub.c" \
  -o "$temp/other/libgather.so.1"
go build -o shared .
LD_LIBRARY_PATH="$temp/other" ./shared >"$temp/output"
cat "$temp/output"
grep -q 'ABI 2.*ABI 1' "$temp/output"

if [ -n "$archive" ]; then
  step "against the static archive"
  user archive 'Use the installed archive'
  go build -tags gather_static -o static .
  expect_output env -u LD_LIBRARY_PATH ./static
  if ldd ./static | grep libgather; then
    echo "failed: the static program needs libgather.so"
    exit 1
  fi
  cd "$here"
  go vet -tags gather_static ./...
  tests "go test -tags gather_static" env -u LD_LIBRARY_PATH go test -tags gather_static -count=1 -short -v .
else
  skip "gather_static: no libgather.a in $prefix"
fi
step "with the library compiled into the program"
cd "$temp"
(unset PKG_CONFIG_PATH && user inside 'Compile the library into the program')
cd "$here"
tests "go test with the library compiled into the program" env -u PKG_CONFIG_PATH GOFLAGS=-buildvcs=false go test -count=1 -short -v .

step "the published module, from a module proxy, vendored"
python3 module.py "$temp/published" --proxy
(
  mkdir "$temp/published/user"
  cp "$temp/inside/main.go" "$temp/published/user"
  cd "$temp/published/user"
  export GOFLAGS="-buildvcs=false -modcacherw" CGO_CXXFLAGS='' CGO_CFLAGS='' GOMODCACHE="$temp/modules"
  export GOPROXY="file://$temp/published/proxy" GONOSUMDB=libgather.io GOTOOLCHAIN=local
  unset PKG_CONFIG_PATH
  go mod init lookup 2>/dev/null
  go get libgather.io/gather@latest
  go mod vendor
  go build -mod=vendor -o vendored .
  expect_output ./vendored
)

finish
