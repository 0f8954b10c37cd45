#!/bin/sh
# Runs examples and compares their output: run.sh PREFIX BUILD [c] [cpp] [python] [rust] [go] [java]. The library is
# installed in PREFIX. BUILD is a folder for build products. PYTHON names an interpreter that has libgather. Without
# languages, those of every language run, but Java's only if there is a JDK. run.sh PREFIX BUILD LANGUAGE -- only
# builds the programs. With PROGRAM ARGUMENT... it runs one that was built before.
set -eu
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" && exit 2; }
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")"
java=$(../bindings/java/jdk.sh 22 || true)/bin
[ $# -gt 0 ] || { set -- c cpp python rust go && [ ! -x "$java/javac" ] || set -- "$@" java; }

pc=$(find "$prefix" -name gather.pc | head -n 1)
library=$(find "$prefix" -name 'libgather.so' | head -n 1)
export PKG_CONFIG_PATH="${pc%/*}" LD_LIBRARY_PATH="${library%/*}"

# built LANGUAGE: builds its programs in BUILD.
built() {
  case $1 in
    c | cpp)
      cmake -S "$1" -B "$build/$1" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
      cmake --build "$build/$1" >/dev/null
      ;;
    rust)
      cargo build --quiet --manifest-path rust/Cargo.toml --target-dir "$build/rust"
      ;;
    go)
      mkdir -p "$build/go"
      (cd go && GOTOOLCHAIN=local GOFLAGS="-buildvcs=false -tags=gather_shared" go build -o "$build/go/" ./...)
      ;;
    java)
      # shellcheck disable=SC2046 # the paths are words
      "$java/javac" --release 22 -nowarn -d "$build/java" java/*.java \
        $(find ../bindings/java/src/main/java/io -name '*.java')
      ;;
  esac
}

# run LANGUAGE PROGRAM ARGUMENT...: runs one program.
run() {
  language=$1 program=$2
  shift 2
  case $language in
    python) "${PYTHON:-python3}" "python/$program.py" "$@" ;;
    rust) "$build/rust/debug/$program" "$@" ;;
    java)
      "$java/java" --enable-native-access=ALL-UNNAMED -Dio.libgather.library="$library.1" -cp "$build/java" \
        "$(echo "$program" | sed 's/^./\U&/')" "$@"
      ;;
    *) "$build/$language/$program" "$@" ;;
  esac
}

if [ "${2:-}" = -- ]; then
  language=$1
  shift 2
  if [ $# = 0 ]; then built "$language"; else run "$language" "$@"; fi
  exit
fi

# A row of the codes 1 to 4, the scale 0.5 and the bias 0, and its id.
printf '\1\2\3\4\0\0\0?\0\0\0\0' >"$build/row"
printf '\0\0\0\0\0\0\0\0' >"$build/id"

for language in "$@"; do
  built "$language"
  for expected in output/*.txt; do
    program=$(basename "$expected" .txt)
    run "$language" "$program" | diff -u "$expected" - || { echo "examples: $language: $program" && exit 1; }
  done
  row=$(run "$language" rows "$build/row" rowwise8 1 4 "$build/id" 2>/dev/null | od -A n -t f4 | xargs)
  [ "$row" = '0.5 1 1.5 2' ] || { echo "examples: $language: rows: $row" && exit 1; }
  [ "$language" != c ] || "${PYTHON:-python3}" ggml/test.py "$build/c/get_rows"
  echo "examples: $language: passed"
done
