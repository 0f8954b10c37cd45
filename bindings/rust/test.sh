#!/bin/sh
# Tests the Rust crates: test.sh BUILD, where BUILD is the folder for build products.
# The tests use the library that is installed in GATHER_PREFIX. If GATHER_EMULATED is also the path of
# libgather_emulated.so from a build of the tests, tests on emulated CUDA devices run too. With GATHER_LONG=1, or without
# GATHER_PREFIX, the tests also use the library that the crates build, and run without features. With GATHER_LONG=1,
# the programs of the README run too, and the generated bindings are compared. A line that begins with "skipped:" names
# each test that does not run. ./dev lint runs the linters, and clippy finds functions that the oldest supported Rust
# does not have.
set -eu
build=${1:?usage: test.sh BUILD}
mkdir -p "$build"
build=$(cd "$build" && pwd)
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="$build/target"

step() {
  echo "rust: $*"
}

skip() {
  echo "skipped: rust $*"
}

is_long() {
  [ "${GATHER_LONG:-}" = 1 ]
}

# with_library NAME: runs every test with the library that gather-sys finds in this environment.
with_library() {
  step "tests with all features, $1"
  cargo test --locked --workspace --all-features --tests --no-fail-fast -- --nocapture --quiet
  cargo test --locked --workspace --all-features --doc -- --quiet
  is_long || return 0
  step "tests without features, $1"
  cargo test --locked --workspace --no-default-features -- --quiet
}

# readme SECTION: runs the program of the README as its section describes, in a crate next to a checkout.
readme() {
  user="$build/readme/lookup"
  rm -rf "$user"
  mkdir -p "$user"
  ln -sfn "$(cd ../.. && pwd)" "$build/readme/libgather"
  readme=gather/README.md
  python3 ../../tests/package/readme.py $readme:gather "$readme:Use it in a crate" "$readme:$1" >"$user/steps.sh"
  (cd "$user" && env -u LD_LIBRARY_PATH -u GATHER_DYNAMIC CARGO_TARGET_DIR="$build/readme/target" sh steps.sh \
    >steps.log 2>&1) || { cat "$user/steps.log" && return 1; }
}

# Packages the crates, whose metadata must be complete. CMake must find all sources of the library in them. With
# GATHER_LONG=1, runs the first program of the README with them in an empty folder, by the steps of docs/install.md. This
# compiles the library.
packaged() {
  alone="$build/alone"
  rm -rf "$alone" "$build/package"
  mkdir -p "$alone/user"
  cargo package --locked --workspace --no-verify --allow-dirty --target-dir "$build" 2>"$build/package.log" ||
    { cat "$build/package.log" && return 1; }
  if grep '^warning: manifest' "$build/package.log"; then return 1; fi
  cp "$build"/package/*.crate "$alone"
  if ! is_long; then
    tar -xzf "$alone"/gather-sys-*.crate -C "$alone"
    cmake -S "$alone"/gather-sys-*/libgather -B "$alone/cmake" \
      -D GATHER_CUDA=OFF -D GATHER_TESTS=OFF -D GATHER_DEMO=OFF >"$alone/cmake.log" 2>&1 ||
      { cat "$alone/cmake.log" && return 1; }
    skip "a program with the packaged crates (only with GATHER_LONG=1)"
    return
  fi
  python3 ../../tests/package/readme.py gather/README.md:gather "../../docs/install.md:From the crates" >"$alone/user/steps.sh"
  (cd "$alone/user" && env GATHER_NO_PKG_CONFIG=1 CARGO_TARGET_DIR="$alone/target" sh steps.sh >steps.log 2>&1) ||
    { cat "$alone/user/steps.log" && return 1; }
}

documentation() {
  step "documentation"
  RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --all-features --no-deps --quiet
}

# Checks the message of the build script.
without_compiler() {
  if CXX_x86_64_unknown_linux_musl=no-such-compiler cargo check --locked -p gather-sys --quiet \
    --target x86_64-unknown-linux-musl >"$build/musl.log" 2>&1; then
    echo "the build succeeded"
    return 1
  fi
  grep 'C++17 compiler for x86_64-unknown-linux-musl.*no-such-compiler' "$build/musl.log" ||
    { cat "$build/musl.log" && return 1; }
}

emulated_device() {
  preloaded="target.'cfg(all())'.runner = ['env', 'LD_PRELOAD=$GATHER_EMULATED']"
  cargo test --locked -p gather --test devices --test failing --config "$preloaded" -- --nocapture >"$build/devices.log" 2>&1 ||
    { cat "$build/devices.log" && return 1; }
  grep 'test result' "$build/devices.log"
  if grep skipped "$build/devices.log"; then return 1; fi
}

if is_long; then
  step "generated bindings"
  ./generate.sh --check
else
  skip "the comparison of the bindings with gather.h (only with GATHER_LONG=1)"
fi

export GATHER_NO_PKG_CONFIG=1
if is_long; then
  step "a target without a C++ compiler"
  without_compiler
fi
if is_long || [ -z "${GATHER_PREFIX:-}" ]; then
  with_library "library of the crate"
fi

# The Python package of ONNX Runtime has its library.
onnxruntime_example() {
  runtime="$build/onnxruntime"
  [ -d "$runtime" ] || python3 -m pip install --quiet --no-deps --target "$runtime" onnxruntime==1.32.0
  (cd ../../examples/rust/onnxruntime && CARGO_TARGET_DIR="$build/ort" \
    ORT_DYLIB_PATH=$(ls "$runtime"/onnxruntime/capi/libonnxruntime.so.*) cargo run --locked --quiet)
}

if is_long; then
  step "the example of ONNX Runtime"
  onnxruntime_example
  step "the example of candle"
  (cd ../../examples/rust/candle && CARGO_TARGET_DIR="$build/candle" cargo run --locked --quiet)
fi

step "packaged crates"
packaged

if is_long; then
  step "the README's program, linked statically"
  readme 'Link the library statically'
fi

unset GATHER_NO_PKG_CONFIG
if [ -z "${GATHER_PREFIX:-}" ] || ! command -v pkg-config >/dev/null; then
  documentation
  skip "installed library (GATHER_PREFIX is not set, or pkg-config is missing)"
  exit
fi
libraries=$(dirname "$(find "$GATHER_PREFIX" -name gather.pc | head -n 1)")
export PKG_CONFIG_PATH="$libraries${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
if is_long; then
  with_library "installed library, linked statically"
  step "the README's program, with an installed shared library"
  readme 'Link an installed shared library'
fi
export GATHER_DYNAMIC=1
LD_LIBRARY_PATH=$(pkg-config --variable=libdir gather)
export LD_LIBRARY_PATH
documentation # with the installed library, because its build script would otherwise build one
with_library "installed library, linked dynamically"
if [ -f "${GATHER_EMULATED:-}" ]; then
  step "an emulated CUDA device"
  emulated_device
else
  skip "an emulated CUDA device (GATHER_EMULATED is not the path of a library)"
fi
