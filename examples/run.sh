#!/bin/sh
# Runs examples and compares their output: run.sh PREFIX BUILD [c] [cpp] [python] [rust] [go] [java]. The library is
# installed in PREFIX. BUILD is a folder for build products. PYTHON names an interpreter that has libgather. Without
# languages, those of every language run, but Java's only if there is a JDK. With PROGRAM, the output of that program is
# printed and not compared.
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

# run LANGUAGE PROGRAM: runs one program.
run() {
  case $1 in
    python) "${PYTHON:-python3}" "python/$2.py" ;;
    rust) "$build/rust/debug/$2" ;;
    java)
      "$java/java" --enable-native-access=ALL-UNNAMED -Dio.libgather.library="$library.1" -cp "$build/java" \
        "$(echo "$2" | sed 's/^./\U&/')"
      ;;
    *) "$build/$1/$2" ;;
  esac
}

for language in "$@"; do
  built "$language"
  if [ -n "${PROGRAM:-}" ]; then
    run "$language" "$PROGRAM"
    continue
  fi
  for expected in output/*.txt; do
    program=$(basename "$expected" .txt)
    run "$language" "$program" | diff -u "$expected" - || { echo "examples: $language: $program" && exit 1; }
  done
  echo "examples: $language: passed"
done
