#!/bin/sh
# test.sh PREFIX: every test of the Go binding, against a libgather installed in PREFIX.
# With GATHER_EMULATED, the library libgather_emulated.so of a build of the tests, on imaginary CUDA devices too.
# Ends with 77 where there is no Go to run it. The linters are those of ./dev lint.
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
# Go keeps what it has compiled by the packages' own files and the flags: what they include is in the flags, by its digest.
CGO_CFLAGS="-O2 -g -DGATHER_HEADER=$(sha256sum <"$(find "$prefix" -name gather.h)" | cut -d ' ' -f 1)"
export CGO_CFLAGS
shared="LD_LIBRARY_PATH=${library%/*}"

step() { echo "== $*"; }

# tests NAME COMMAND...: runs go test, prints what it counted and what it skipped, and its failures.
tests() {
  name=$1
  shift
  step "$name"
  if "$@" >"$temp/log" 2>&1; then
    grep -E '^(conformance|overhead:)|--- SKIP' "$temp/log" | sed 's/.*--- SKIP:/skipped:/' || true
    echo "$(grep -c -- '^--- PASS' "$temp/log") tests passed"
  else
    grep -v -E '^=== |--- PASS|^PASS|^ok' "$temp/log" | tail -n 60
    echo "failed: $name"
    result=1
  fi
}

# user NAME SECTION [VARIABLE=VALUE]: a folder with a checkout beside it, where the README's program is run as the section
# says.
user() {
  mkdir -p "$temp/$1"
  [ -e "$temp/libgather" ] || ln -s "$here/../.." "$temp/libgather"
  cd "$temp/$1"
  python3 "$here/../../tests/package/readme.py" "$here/README.md" 'gather for Go' 'A module of yours' "$2" >steps.sh
  shift 2
  env GOFLAGS=-buildvcs=false "$@" sh steps.sh >steps.log 2>&1 || { cat steps.log && exit 1; }
}

expect_output() {
  "$@" >"$temp/output"
  diff -u "$temp/lookup/expected.txt" "$temp/output"
}

# The random calls are a module beside this one.
printf 'go 1.24\nuse %s\nuse %s/property\n' "$here" "$here" >"$temp/go.work"
export GOWORK="$temp/go.work"

tests "go test" env "$shared" go test -count=1 -v ./...
if env "$shared" go test -race -count=1 -run NONE . >"$temp/race" 2>&1; then
  tests "go test -race" env "$shared" go test -race -count=1 -short -v ./...
else
  skip "go test -race: $(tail -n 1 "$temp/race")"
fi
if env "$shared" GOEXPERIMENT=cgocheck2 go vet . >"$temp/cgocheck2" 2>&1; then
  tests "go test with cgocheck2" env "$shared" GOEXPERIMENT=cgocheck2 go test -count=1 -short -v ./...
else
  skip "cgocheck2: $(tail -n 1 "$temp/cgocheck2")"
fi
if [ -f "$emulated" ]; then
  tests "go test on an imaginary CUDA device" env "$shared" GATHER_EMULATED="$emulated" \
    go test -exec "env LD_PRELOAD=$emulated" -count=1 -short -v .
else
  skip "go test on an imaginary CUDA device: GATHER_EMULATED does not name the library that has it"
fi

step "without cgo"
if CGO_ENABLED=0 go build . >"$temp/log" 2>&1; then
  echo "failed: it was built"
  exit 1
fi
cat "$temp/log"
[ "$(grep -c '\.go:' "$temp/log")" = 1 ] # one error, which says why
grep -q 'set_CGO_ENABLED_1' "$temp/log"

export GOWORK=off
step "the README's program, with the library installed for everyone"
user everyone 'With the library installed for everyone' "$shared" # as if the loader knew of it
step "the README's program, with the library in a folder of one's own"
user lookup 'With the library in a folder of your own'
if [ -e go.sum ]; then
  echo "failed: a user has to answer for $(cat go.sum)"
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
  user archive 'With the installed archive'
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
step "with the library inside"
cd "$temp"
(unset PKG_CONFIG_PATH && user inside 'With the library inside the program')
cd "$here"
tests "go test with the library inside" env -u PKG_CONFIG_PATH GOFLAGS=-buildvcs=false go test -count=1 -short -v .

step "the module as it is published, alone and vendored"
python3 module.py "$temp/published"
(
  cd "$temp/published"
  python3 -m zipfile -e gather-*.zip .
  mkdir -p user
  cp "$temp/inside/main.go" user
  cd user
  export GOFLAGS=-buildvcs=false CGO_CXXFLAGS='' CGO_CFLAGS=''
  unset PKG_CONFIG_PATH
  go mod init lookup 2>/dev/null
  go mod edit -require=libgather/gather@v0.0.0 -replace=libgather/gather="$(echo ../libgather/gather@*)"
  go mod tidy
  go mod vendor
  go build -mod=vendor -o vendored .
  expect_output ./vendored
)

[ $result = 0 ] && echo "go: all checks passed"
exit $result
