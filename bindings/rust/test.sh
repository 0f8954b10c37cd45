#!/bin/sh
# Tests the Rust crates: test.sh BUILD, where BUILD is the folder for build products.
# The tests use the library that the crates build. If GATHER_PREFIX is set, they also use the library that is installed
# there. If GATHER_EMULATED is also the path of libgather_emulated.so from a build of the tests, tests on emulated CUDA
# devices run too. A line that begins with "skipped:" names each test that cannot run here. With GATHER_STRICT=1 the
# generator of the bindings must be installed. ./dev lint runs the linters.
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

# with_library NAME: runs every test with the library that gather-sys finds in this environment.
with_library() {
  step "tests with all features, $1"
  cargo test --locked --workspace --all-features --tests --no-fail-fast -- --nocapture --quiet
  cargo test --locked --workspace --all-features --doc -- --quiet
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

# Unpacks the published crates in an empty folder, and runs the first program of the README with them.
packaged() {
  alone="$build/alone"
  rm -rf "$alone" "$build/package"
  mkdir -p "$alone/user/src"
  cargo package --locked --workspace --no-verify --allow-dirty --quiet --target-dir "$build" 2>"$build/package.log" ||
    { cat "$build/package.log" && return 1; }
  for crate in "$build"/package/*.crate; do
    tar xzf "$crate" -C "$alone"
  done
  mv "$alone"/gather-sys-* "$alone/gather-sys"
  mv "$alone"/gather-[0-9]* "$alone/gather"
  cp Cargo.lock "$alone/user/"
  cat >"$alone/user/Cargo.toml" <<'END'
[package]
name = "user"
version = "1.0.0"
edition = "2024"

[dependencies]
gather = { path = "../gather" }

[patch.crates-io]
gather-sys = { path = "../gather-sys" }
END
  awk '/^```rust/ { inside = 1; next } /^```/ && inside { exit } inside' gather/README.md >"$alone/user/src/main.rs"
  (cd "$alone/user" && env GATHER_NO_PKG_CONFIG=1 CARGO_TARGET_DIR="$alone/target" cargo run --quiet)
}

# Runs the example with a table of 3 rows of 2 and the ids 2 and 0. It must write the rows as bytes. For an invalid id
# it must print an error with the position.
lookup() {
  data="$build/lookup"
  mkdir -p "$data"
  printf 'aaaabbbbccccddddeeeeffff' >"$data/table"
  printf '\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$data/ids"
  printf '\3\0\0\0\0\0\0\0' >"$data/bad"
  printf 'eeeeffffaaaabbbb' >"$data/expected"
  cargo build --locked -p gather --example lookup --quiet
  "$CARGO_TARGET_DIR/debug/examples/lookup" --calls 10 "$data/table" 2 "$data/ids" >"$data/rows"
  cmp "$data/rows" "$data/expected"
  if message=$("$CARGO_TARGET_DIR/debug/examples/lookup" "$data/table" 2 "$data/bad" 2>&1); then
    echo "an invalid id was accepted"
    return 1
  fi
  echo "$message" | grep -q 'tuple 0 is 3'
}

step "bindings"
./generate.sh --check || {
  [ $? = 77 ] && [ "${GATHER_STRICT:-}" != 1 ] || exit 1
  skip "the comparison of the bindings with gather.h (only a strict run requires it)"
}

export GATHER_NO_PKG_CONFIG=1
step "a target without a C++ compiler"
if CXX_x86_64_unknown_linux_musl=no-such-compiler cargo check --locked -p gather-sys --quiet \
  --target x86_64-unknown-linux-musl >"$build/musl.log" 2>&1; then
  echo "the build succeeded"
  exit 1
fi
grep 'C++17 compiler for x86_64-unknown-linux-musl.*no-such-compiler' "$build/musl.log" ||
  { cat "$build/musl.log" && exit 1; }

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if cargo "+$oldest" --version >/dev/null 2>&1; then
  step "build with Rust $oldest"
  cargo "+$oldest" check --locked --workspace --all-features --quiet
else
  skip "build with Rust $oldest (not installed; clippy's lint incompatible_msrv finds newer functions)"
fi

with_library "library of the crate"

step "example lookup"
lookup

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --all-features --no-deps --quiet

step "packaged crates"
packaged

step "the README's program, linked statically"
readme 'Link the library statically'

unset GATHER_NO_PKG_CONFIG
if [ -n "${GATHER_PREFIX:-}" ] && command -v pkg-config >/dev/null; then
  libraries=$(dirname "$(find "$GATHER_PREFIX" -name gather.pc | head -n 1)")
  export PKG_CONFIG_PATH="$libraries${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  with_library "installed library"
  step "the README's program, with an installed shared library"
  readme 'Link an installed shared library'
  step "installed library, linked dynamically"
  export GATHER_DYNAMIC=1
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir gather)
  export LD_LIBRARY_PATH
  cargo test --locked -p gather-sys -- --quiet
  if [ -f "${GATHER_EMULATED:-}" ]; then
    step "an emulated CUDA device"
    preloaded="target.'cfg(all())'.runner = ['env', 'LD_PRELOAD=$GATHER_EMULATED']"
    cargo test --locked -p gather --test devices --test failing --config "$preloaded" -- --nocapture >"$build/devices.log" 2>&1 ||
      { cat "$build/devices.log" && exit 1; }
    grep 'test result' "$build/devices.log"
    if grep skipped "$build/devices.log"; then exit 1; fi
  else
    skip "an emulated CUDA device (GATHER_EMULATED is not the path of a library)"
  fi
else
  skip "installed library (GATHER_PREFIX is not set, or pkg-config is missing)"
fi
