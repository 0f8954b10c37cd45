#!/bin/sh
# Tests the Rust crates: test.sh BUILD, where BUILD is the folder for build products. With GATHER_PREFIX set, the
# library installed there is tested too, else only the one that the crates build themselves; with GATHER_EMULATED beside
# it, the library libgather_emulated.so of a build of the tests, so are imaginary CUDA devices. What cannot run here is
# named in a line that begins with "skipped:"; with GATHER_STRICT=1 the generator of the bindings must be here. The
# linters are those of ./dev lint.
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

# with_library NAME: every test with the library that gather-sys finds in this environment.
with_library() {
  step "tests with all features, $1"
  cargo test --locked --workspace --all-features --tests --no-fail-fast -- --nocapture --quiet
  cargo test --locked --workspace --all-features --doc -- --quiet
  step "tests without features, $1"
  cargo test --locked --workspace --no-default-features -- --quiet
}

# readme SECTION: the README's program in a crate beside a checkout, run as the section says.
readme() {
  user="$build/readme/lookup"
  rm -rf "$user"
  mkdir -p "$user"
  ln -sfn "$(cd ../.. && pwd)" "$build/readme/libgather"
  python3 ../../tests/package/readme.py gather/README.md gather 'A crate of yours' "$1" >"$user/steps.sh"
  (cd "$user" && env -u LD_LIBRARY_PATH -u GATHER_DYNAMIC CARGO_TARGET_DIR="$build/readme/target" sh steps.sh \
    >steps.log 2>&1) || { cat "$user/steps.log" && return 1; }
}

# The crates as they would be published, in a folder with nothing else, used by the first program of the README.
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

# A table of 3 rows of 2 and the ids 2 and 0: the rows come out as bytes, a bad id as an error with its place.
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
    echo "a bad id was accepted"
    return 1
  fi
  echo "$message" | grep -q 'tuple 0 is 3'
}

step "bindings"
./generate.sh --check || {
  [ $? = 77 ] && [ "${GATHER_STRICT:-}" != 1 ] || exit 1
  skip "bindings compared with a fresh generation (a strict run does that)"
}

export GATHER_NO_PKG_CONFIG=1
step "a target without a C++ compiler"
if CXX_x86_64_unknown_linux_musl=no-such-compiler cargo check --locked -p gather-sys --quiet \
  --target x86_64-unknown-linux-musl >"$build/musl.log" 2>&1; then
  echo "it was built"
  exit 1
fi
grep 'C++17 compiler for x86_64-unknown-linux-musl.*no-such-compiler' "$build/musl.log" ||
  { cat "$build/musl.log" && exit 1; }

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if cargo "+$oldest" --version >/dev/null 2>&1; then
  step "build with Rust $oldest"
  cargo "+$oldest" check --locked --workspace --all-features --quiet
else
  skip "build with Rust $oldest (not here; clippy's incompatible_msrv looks for what is newer)"
fi

with_library "library of its own"

step "example lookup"
lookup

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --all-features --no-deps --quiet

step "packaged crates, alone"
packaged

step "the README's program, with the library inside"
readme 'With the library inside the program'

unset GATHER_NO_PKG_CONFIG
if [ -n "${GATHER_PREFIX:-}" ] && command -v pkg-config >/dev/null; then
  libraries=$(dirname "$(find "$GATHER_PREFIX" -name gather.pc | head -n 1)")
  export PKG_CONFIG_PATH="$libraries${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  with_library "installed library"
  step "the README's program, with the library in a folder of one's own"
  readme 'With the library in a folder of your own'
  step "installed library, linked dynamically"
  export GATHER_DYNAMIC=1
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir gather)
  export LD_LIBRARY_PATH
  cargo test --locked -p gather-sys -- --quiet
  if [ -f "${GATHER_EMULATED:-}" ]; then
    step "an imaginary CUDA device"
    preloaded="target.'cfg(all())'.runner = ['env', 'LD_PRELOAD=$GATHER_EMULATED']"
    cargo test --locked -p gather --test devices --test failing --config "$preloaded" -- --nocapture >"$build/devices.log" 2>&1 ||
      { cat "$build/devices.log" && exit 1; }
    grep 'test result' "$build/devices.log"
    if grep skipped "$build/devices.log"; then exit 1; fi
  else
    skip "an imaginary CUDA device (GATHER_EMULATED does not name the library that has it)"
  fi
else
  skip "installed library (no GATHER_PREFIX, or no pkg-config)"
fi
