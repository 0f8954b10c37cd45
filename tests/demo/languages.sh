#!/bin/sh
# Runs the same lookup from C, Rust, Python, Go and Java: languages.sh PREFIX BUILD. The library is installed in PREFIX,
# and BUILD is a folder for build products. It prints the time of a call in each language, and tests that all write the
# same bytes. PYTHON names an interpreter that has libgather. Languages without a toolchain are listed.
set -eu
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
root=$(pwd)
data=$build/data
mkdir -p "$data"
result=0

# The table of the word vectors if there is one, or else a table of random vectors.
table=$root/build/demo/tests/demo/data/table.f32
if [ ! -f "$table" ]; then
  table=$data/table.f32
  [ -f "$table" ] || python3 -c 'import array, sys
array.array("f", (i % 8191 for i in range(20000 * 100))).tofile(open(sys.argv[1], "wb"))' "$table"
fi
python3 -c 'import array, os, sys
rows = os.path.getsize(sys.argv[1]) // 400
array.array("q", (i * 7919 % rows for i in range(64))).tofile(open(sys.argv[2], "wb"))
array.array("q", [0, rows, 1]).tofile(open(sys.argv[3], "wb"))' "$table" "$data/ids" "$data/bad_ids"

# lookup LANGUAGE COMMAND...: runs the command on the valid ids and on the invalid ones.
lookup() {
  language=$1
  shift
  if ! "$@" "$table" 100 "$data/ids" >"$data/$language" 2>"$data/log"; then
    cat "$data/log"
    result=1
    return
  fi
  same='the same bytes as C'
  cmp -s "$data/C" "$data/$language" || { same='OTHER BYTES THAN C' && result=1; }
  [ "$language" != C ] || same="$(wc -c <"$data/C") bytes"
  printf '  %-7s %s, %s\n' "$language" "$(tail -n 1 "$data/log")" "$same"
  ! "$@" "$table" 100 "$data/bad_ids" >/dev/null 2>"$data/log" || { echo "  $language took a bad id" && result=1; }
  printf '          bad id: %s\n' "$(tail -n 1 "$data/log")"
}

pc=$(find "$prefix" -name gather.pc | head -n 1)
library=$(dirname "$(find "$prefix" -name libgather.so | head -n 1)")
export PKG_CONFIG_PATH="${pc%/*}"

echo "The same lookup, 64 rows of 100 floats, from each language:"
# shellcheck disable=SC2046 # the flags are words
cc -O2 -o "$build/rows" tests/demo/rows.c $(pkg-config --cflags --libs gather) -Wl,-rpath,"$library"
lookup C "$build/rows"
if command -v cargo >/dev/null; then
  (cd bindings/rust && LD_LIBRARY_PATH=$library CARGO_TARGET_DIR=$build/rust cargo build --locked --quiet --release --example lookup)
  lookup Rust env LD_LIBRARY_PATH="$library" "$build/rust/release/examples/lookup" --calls 1000
else
  echo "  Rust    skipped: no cargo"
fi
if "${PYTHON:-python3}" -c 'import libgather' 2>/dev/null; then
  lookup Python "${PYTHON:-python3}" bindings/python/examples/lookup.py
else
  echo "  Python  skipped: libgather is not installed"
fi
if command -v go >/dev/null; then
  (cd bindings/go && GOTOOLCHAIN=local GOFLAGS="-buildvcs=false -tags=gather_shared" go build -o "$build/lookup_go" ./examples/lookup)
  lookup Go env LD_LIBRARY_PATH="$library" "$build/lookup_go"
else
  echo "  Go      skipped: no go"
fi
if home=$(bindings/java/jdk.sh 22); then
  # shellcheck disable=SC2046 # the paths are words
  "$home/bin/javac" --release 22 -nowarn -d "$build/java" bindings/java/examples/Lookup.java \
    $(find bindings/java/src/main/java/io -name '*.java')
  lookup Java "$home/bin/java" --enable-native-access=ALL-UNNAMED -Dio.libgather.library="$library/libgather.so.1" \
    -cp "$build/java" Lookup
else
  echo "  Java    skipped: no JDK 22 or newer"
fi
exit $result
