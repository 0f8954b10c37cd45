#!/bin/sh
# test.sh PREFIX BUILD: runs every test of the Java binding with the libgather that is installed in PREFIX. BUILD is a
# folder for build products. JAVA_HOME names a JDK of version 24 or newer, or a Java with tools/javac. If it is not set,
# the script searches /usr/lib/jvm. Exits with 77 if there is no such JDK, no Maven, or no registry. GATHER_TENSORFLOW=0
# skips the comparison with TensorFlow, which fetches 250 MB, and the example of DJL, which fetches 120 MB.
set -eu
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
cd "$(dirname "$0")"
library=$(find "$prefix" -name libgather.so.1 | head -n 1)
temp=$(mktemp -d)
trap 'umount "$temp/noexec" 2>/dev/null || true; rm -rf "$temp"' EXIT

step() { echo "java: $*"; }
skip() { echo "skipped: java: $*"; }

home=$(./jdk.sh 24) || { skip "there is no JDK 24 or newer" && exit 77; }
command -v mvn >/dev/null || { skip "Maven is not installed" && exit 77; }
export JAVA_HOME="$home"
java=$home/bin/java
native=--enable-native-access=ALL-UNNAMED

# A Java with tools/javac has neither javadoc nor jar, and no compiler for the process of Maven.
options=''
[ -x "$home/bin/javadoc" ] || options='-Dmaven.compiler.fork=true -Dmaven.javadoc.skip=true'

# shellcheck disable=SC2086 # the options are words
maven() { mvn -q -B $options "$@" -Dgather.library="$library" >"$build/maven.log" 2>&1; }

step "tests with $("$home/bin/javac" -version)"
if ! maven package -Dgather.build="$build/first"; then
  if grep -q 'Could not transfer artifact\|Unknown host' "$build/maven.log"; then
    skip "Maven cannot fetch its plugins" && exit 77
  fi
  grep -v '^WARNING' "$build/maven.log" | tail -n 60
  exit 1
fi
grep -E '^(conformance|memory|collector)' "$build/maven.log" |
  awk '/^conformance/ { cases += $3; total += $5; files++; next } { print }
       END { printf "conformance: %d of %d cases of %d files passed\n", cases, total, files }'
python3 - "$build/first/surefire-reports" <<'END'
import pathlib, re, sys
tests = skipped = 0
for report in pathlib.Path(sys.argv[1]).glob("TEST-*.xml"):
    suite = re.search(r"<testsuite .*?>", report.read_text(), re.DOTALL)[0]
    tests += int(re.search(r'\btests="(\d+)"', suite)[1])
    skipped += int(re.search(r'\bskipped="(\d+)"', suite)[1])
print(f"java: {tests - skipped} tests passed, {skipped} skipped")
END

step "a second build writes the same jars"
maven package -DskipTests -Dgather.build="$build/second"
for jar in "$build"/first/*.jar "$build"/first/bom.json; do
  cmp "$jar" "$build/second/$(basename "$jar")"
done

jar=$build/first/libgather-0.1.0.jar
natives=$build/first/libgather-0.1.0-linux-$(uname -m).jar
[ -s "$build/first/libgather-0.1.0-sources.jar" ]

step "the jar has classes for Java 22 and for Java 17"
unzip -Z1 "$jar" >"$temp/list"
grep -qx 'META-INF/versions/22/io/libgather/internal/Gth.class' "$temp/list"
grep -qx 'META-INF/versions/22/module-info.class' "$temp/list"
grep -qx 'io/libgather/Gather.class' "$temp/list"
if [ -x "$home/bin/javadoc" ]; then
  "$home/bin/jar" --validate --file "$jar"
  [ -s "$build/first/libgather-0.1.0-javadoc.jar" ]
else
  skip "this Java has no javadoc and cannot validate a jar"
fi

# The program of the README.
mkdir -p "$temp/user"
awk '/^```java/ { inside = 1; next } /^```/ && inside { exit } inside' README.md >"$temp/user/Lookup.java"
awk '/^```text/ { inside = 1; next } /^```/ && inside { exit } inside' README.md >"$temp/expected"
"$home/bin/javac" -source 17 -target 17 -Xlint:-options -cp "$jar" -d "$temp/user" "$temp/user/Lookup.java"
# The snippets of the README, in one method.
{
  echo 'import io.libgather.*; import java.lang.foreign.MemorySegment;'
  echo 'class Snippets { static void run(float[] table, long[] ids, float[] rows) {'
  awk '/^```java/ { inside = ++count > 1; next } /^```/ { inside = 0 } inside' README.md
  echo '} }'
} >"$temp/user/Snippets.java"
"$home/bin/javac" --release 22 -cp "$jar" -d "$temp/user" "$temp/user/Snippets.java"
export XDG_CACHE_HOME="$temp/cache"

# passes COMMAND...: the program prints the output that the README has.
passes() {
  if "$@" >"$temp/output" 2>"$temp/errors" && cmp "$temp/expected" "$temp/output"; then return 0; fi
  cat "$temp/errors"
  return 1
}

# fails TEXT COMMAND...: the program fails, and prints a text that matches TEXT.
fails() {
  text=$1
  shift
  if "$@" >"$temp/output" 2>&1; then echo "no error" && return 1; fi
  grep -q "$text" "$temp/output" || { cat "$temp/output" && return 1; }
  grep "$text" "$temp/output" | head -n 1
}

step "the library of the natives jar, extracted once"
passes "$java" $native -cp "$jar:$natives:$temp/user" Lookup
extracted=$(find "$temp/cache" -name '*.so')
before=$(stat -c %Y.%i "$extracted")
passes "$java" $native -cp "$jar:$natives:$temp/user" Lookup
[ "$before" = "$(stat -c %Y.%i "$extracted")" ]

step "a cache that is empty or relative is that of the home"
for cache in '' relative; do
  (cd "$temp" && XDG_CACHE_HOME=$cache passes "$java" $native -Duser.home="$temp/home" \
    -cp "$jar:$natives:$temp/user" Lookup)
  [ -n "$(find "$temp/home/.cache/libgather" -name '*.so')" ]
  [ ! -e "$temp/relative" ] && [ ! -e "$temp/libgather" ]
  rm -r "${temp:?}/home"
done

step "a copy with another hash is replaced"
chmod u+w "$extracted"
echo changed >>"$extracted"
passes "$java" $native -cp "$jar:$natives:$temp/user" Lookup
unzip -p "$natives" "META-INF/libgather/linux-$(uname -m)/libgather.so" | cmp - "$extracted"

step "a natives jar whose library has another hash is refused"
mkdir -p "$temp/changed"
(cd "$temp/changed" && unzip -q "$natives" && echo changed >>META-INF/libgather/linux-"$(uname -m)"/libgather.so)
rm -r "$temp/cache"
fails 'has the hash .* instead of' "$java" $native -cp "$jar:$temp/changed:$temp/user" Lookup

step "a module"
mkdir -p "$temp/module/src" "$temp/module/classes"
echo 'module user { requires io.libgather; }' >"$temp/module/src/module-info.java"
{ echo 'package user;' && cat "$temp/user/Lookup.java"; } >"$temp/module/src/Lookup.java"
"$home/bin/javac" -p "$jar" -d "$temp/module/classes" "$temp/module/src/"*.java
passes "$java" --enable-native-access=io.libgather -p "$jar:$temp/module/classes" -cp "$natives" -m user/user.Lookup
[ ! -s "$temp/errors" ] || { cat "$temp/errors" && exit 1; }

step "the properties for an own library and for a directory"
passes "$java" $native -Dio.libgather.library="$library" -cp "$jar:$temp/user" Lookup
passes "$java" $native -Dio.libgather.directory="$temp/own" -cp "$jar:$natives:$temp/user" Lookup
[ -n "$(find "$temp/own" -name '*.so')" ]
fails 'the property io.libgather.library names it' \
  "$java" $native -Dio.libgather.library=/nonexistent.so -cp "$jar:$temp/user" Lookup

step "directories without execution"
mkdir "$temp/noexec"
if mount -t tmpfs -o noexec tmpfs "$temp/noexec" 2>/dev/null; then
  XDG_CACHE_HOME="$temp/noexec" passes "$java" $native -cp "$jar:$natives:$temp/user" Lookup
  fails 'must allow execution (-Dio.libgather.directory=DIRECTORY)' \
    "$java" $native -Dio.libgather.directory="$temp/noexec" -cp "$jar:$natives:$temp/user" Lookup
  fails 'must allow execution' env XDG_CACHE_HOME="$temp/noexec" \
    "$java" $native -Djava.io.tmpdir="$temp/noexec" -cp "$jar:$natives:$temp/user" Lookup
  XDG_CACHE_HOME="$temp/noexec" passes "$java" $native -Djava.io.tmpdir="$temp/noexec" \
    -Dio.libgather.directory="$temp/own" -cp "$jar:$natives:$temp/user" Lookup
else
  skip "a file system with noexec cannot be mounted here"
fi

step "no library"
fails 'libgather is not found. Add the artifact' "$java" $native -cp "$jar:$temp/user" Lookup

step "a library of another ABI"
if command -v cc >/dev/null; then
  echo 'unsigned gth_abi_version(void) { return 2; }' | cc -shared -fPIC -x c - -o "$temp/other.so"
  fails 'has ABI 2, and this version of libgather for Java needs ABI 1' \
    "$java" $native -Dio.libgather.library="$temp/other.so" -cp "$jar:$temp/user" Lookup
else
  skip "there is no C compiler for a library of another ABI"
fi

step "native access is denied"
fails 'Start Java with --enable-native-access=io.libgather' \
  "$java" --illegal-native-access=deny -cp "$jar:$natives:$temp/user" Lookup

step "the library is unloaded with its classes and loaded again"
"$home/bin/javac" -d "$temp/user" src/test/programs/Reload.java
"$java" $native -cp "$temp/user" -Dio.libgather.library="$library" Reload "$jar"

if old=$(./jdk.sh 17 21 java); then
  step "Java 17 to 21: $old"
  fails 'UnsupportedOperationException: libgather needs Java 22 or newer' "$old/bin/java" -cp "$jar:$temp/user" Lookup
else
  skip "there is no Java of a version from 17 to 21"
fi

step "one source, compiled for TensorFlow and for libgather, prints the same bytes"
if [ "${GATHER_TENSORFLOW:-}" = 0 ]; then
  skip "the comparison with TensorFlow (GATHER_TENSORFLOW is 0)"
elif ! maven -f src/tensorflow/pom.xml dependency:copy-dependencies -DoutputDirectory="$build/tensorflow"; then
  skip "the comparison with TensorFlow: its artifacts cannot be fetched"
else
  mkdir -p "$temp/theirs" "$temp/ours"
  sed -E 's/^import org\.tensorflow\.(.*\.)?(\w+);/import io.libgather.tf.\2;/' src/tensorflow/Lookups.java \
    >"$temp/ours/Lookups.java"
  "$home/bin/javac" -cp "$build/tensorflow/*" -d "$temp/theirs" src/tensorflow/Lookups.java
  "$home/bin/javac" -cp "$jar" -d "$temp/ours" "$temp/ours/Lookups.java"
  TF_CPP_MIN_LOG_LEVEL=3 "$java" -cp "$build/tensorflow/*:$temp/theirs" Lookups >"$temp/theirs.txt" 2>"$temp/errors" ||
    { cat "$temp/errors" && exit 1; }
  "$java" $native -cp "$jar:$natives:$temp/ours" Lookups >"$temp/ours.txt"
  diff -u "$temp/theirs.txt" "$temp/ours.txt"
  echo "$(wc -l <"$temp/ours.txt") lines are equal"
fi

# DJL unpacks the library of PyTorch into a folder.
if [ "${GATHER_TENSORFLOW:-}" != 0 ]; then
  step "the example of DJL"
  maven -f ../../examples/java/djl/pom.xml dependency:copy-dependencies -DoutputDirectory="$build/djl" ||
    { cat "$build/maven.log" && exit 1; }
  "$home/bin/javac" -Xlint:all -cp "$jar:$build/djl/*" -d "$temp/djl" ../../examples/java/djl/DjlRows.java
  DJL_CACHE_DIR="$temp/cache" DJL_OFFLINE=true "$java" $native -cp "$jar:$natives:$build/djl/*:$temp/djl" DjlRows \
    2>"$temp/errors" || { cat "$temp/errors" && exit 1; }
fi

echo "java: all checks passed"
