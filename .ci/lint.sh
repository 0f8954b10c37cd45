# shellcheck shell=sh disable=SC2154,SC2034 # ./dev sets and reads these variables
# The linters of `./dev lint`. A linter is two functions: tools_NAME finds or installs its tools, and lint_NAME checks the
# tree and changes no file. lint_NAME returns 77 if the linter cannot run on this machine.
# .pre-commit-config.yaml has the same linters.

linters="clang-format clang-tidy ruff ruff-format mypy pyright rustfmt clippy gofmt go-vet staticcheck java \
shellcheck cmake-lint generated"

# task_lint [--strict] [LINTER...]
task_lint() {
  if [ "${1:-}" = --strict ]; then
    strict "$1"
    shift
  fi
  lint "$@"
}

# lint [LINTER...] runs these linters, or all without an argument. It sets result to 1 if one fails. In a strict run, it
# also sets it if one cannot run.
lint() {
  outcome=''
  # shellcheck disable=SC2086 # the names are words
  [ $# -gt 0 ] || set -- $linters
  for linter in "$@"; do
    case " $linters " in
      *" $linter "*) ;;
      *) echo "There is no linter $linter. The linters are: $linters" && exit 2 ;;
    esac
    name=$(echo "$linter" | tr - _)
    echo "== $linter"
    if ! "tools_$name"; then
      outcome="$outcome
$linter: skipped, it cannot be installed"
      [ "${GATHER_STRICT:-}" != 1 ] || result=1
      continue
    fi
    began=$(date +%s)
    "lint_$name" && code=0 || code=$?
    case $code in
      0) verdict=passed ;;
      77) verdict="skipped, a tool is missing"
        [ "${GATHER_STRICT:-}" != 1 ] || result=1 ;;
      *) verdict=FAILED result=1 ;;
    esac
    outcome="$outcome
$linter: $verdict, $(($(date +%s) - began)) s"
  done
  echo
  echo "Lint:$outcome"
}

# Generated files keep the format of their generators.
generated='bindings/python/native/cdef.h\|bindings/rust/gather-sys/src/bindings.rs'

# files PATTERN... prints the files of the tree, including new ones, except links and deleted files. If $only has lines,
# it prints only those files of them.
files() {
  git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
    if [ -f "$file" ] && [ ! -L "$file" ]; then echo "$file"; fi
  done | if [ -n "${only:-}" ]; then grep -x -F "$only"; else cat; fi
}

# ------------------------------------------------------------------------------------ linters from the Python index

pinned=$tools/lint

pinned_linters() {
  want git command -v git
  python_toolchain || return 1
  cmp -s .ci/requirements-lint.lock "$pinned/installed" && return 0
  echo "Installing linters into .cache/tools/lint ..."
  python3 -m venv "$pinned" &&
    "$pinned/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
      -r .ci/requirements-lint.lock &&
    cp .ci/requirements-lint.lock "$pinned/installed"
}

tools_clang_format() {
  pinned_linters
}

clang_format() {
  files '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' | grep -v -x "$generated" | xargs -r "$pinned/bin/clang-format" "$@"
}

lint_clang_format() {
  clang_format --dry-run -Werror
}

tools_clang_tidy() {
  pinned_linters && compiler
}

# Checks all sources, with two exceptions. One source needs the headers of CUDA. The kernels of an instruction set may
# need another processor than this one. The flags are those that change the meaning of a source. Only the long run uses
# the static analyzer, because it takes most of the time.
lint_clang_tidy() {
  checks='-clang-analyzer-*'
  [ "${GATHER_LONG:-}" != 1 ] || checks=''
  files 'src/*.cpp' | grep -v -e '^src/cuda/runtime.cpp$' -e '_windows.cpp$' -e '^src/cpu/tiers/[a-z0-9]*\.cpp$' |
    xargs -P "$(nproc)" -I '{}' "$pinned/bin/clang-tidy" --checks="$checks" --quiet '{}' -- \
      -std=c++17 -Wall -Wextra -Iinclude -Isrc
}

tools_ruff() {
  pinned_linters
}

lint_ruff() {
  files '*.py' '*.pyi' '*.ipynb' | xargs -r "$pinned/bin/ruff" check --force-exclude --no-cache --quiet
}

tools_ruff_format() {
  pinned_linters
}

lint_ruff_format() {
  files '*.py' '*.pyi' '*.ipynb' | xargs -r "$pinned/bin/ruff" format --force-exclude --no-cache --quiet --diff
}

tools_mypy() {
  pinned_linters
}

lint_mypy() {
  "$pinned/bin/mypy" --config-file bindings/python/pyproject.toml --cache-dir build/lint/mypy \
    bindings/python/src/libgather
}

tools_pyright() {
  pinned_linters
}

# Checks that every type of the public API of the package is declared, so that no type checker has to infer one.
lint_pyright() {
  mkdir -p build/lint
  PATH="$pinned/bin:$PATH" PYTHONPATH=bindings/python/src PYRIGHT_PYTHON_IGNORE_WARNINGS=1 \
    pyright --ignoreexternal --verifytypes libgather >build/lint/pyright.log || { cat build/lint/pyright.log && return 1; }
}

tools_shellcheck() {
  pinned_linters
}

lint_shellcheck() {
  files dev .ci/run '*.sh' | xargs -r "$pinned/bin/shellcheck" -x
}

tools_cmake_lint() {
  pinned_linters
}

lint_cmake_lint() {
  files '*CMakeLists.txt' '*.cmake' | xargs -r "$pinned/bin/cmake-lint" --config-files .ci/cmake_lint.py --suppress-decorations
}

tools_generated() {
  want python3 command -v python3
  install_missing
}

# Compares the files that follow from gather.h with a new generation.
lint_generated() {
  python3 bindings/generate --check
}

# ------------------------------------------------------------------------------------------------------ Rust and Go

root=$(pwd)
header=$root/build/lint

# Creates a pkg-config package that contains only the header. It is enough, because linters link nothing.
header_package() {
  want git command -v git
  want g++ command -v cc
  want pkg-config command -v pkg-config
  install_missing || return 1
  mkdir -p "$header"
  cat >"$header/gather.pc" <<END
Name: gather
Description: the header of this tree
Version: $(sed -n 's/^version = "\(.*\)"/\1/p' bindings/rust/Cargo.toml)
Cflags: -I$root/include
END
}

tools_rustfmt() {
  want git command -v git
  want rustfmt-web command -v rustfmt
  rust_toolchain
}

rust_format() {
  files '*.rs' | grep -v -x "$generated" | xargs -r rustfmt --edition 2024 --config-path bindings/rust/rustfmt.toml "$@"
}

lint_rustfmt() {
  rust_format --check
}

tools_clippy() {
  rust_toolchain || return 1
  want rust-web-clippy cargo clippy --version
  header_package
}

# clippy_in FOLDER [OPTION...] checks the crates of a workspace.
clippy_in() (
  cd "$1" || exit
  shift
  export PKG_CONFIG_PATH="$header" CARGO_TARGET_DIR="$header/rust"
  cargo clippy --locked --workspace --all-targets "$@" --quiet -- -D warnings
)

lint_clippy() {
  clippy_in bindings/rust --all-features && clippy_in bindings/rust --no-default-features && clippy_in examples/rust
}

tools_gofmt() {
  want git command -v git
  go_toolchain
}

# Some installations of Go do not have gofmt on the path.
go_format() {
  files '*.go' | xargs -r "$(go env GOROOT)/bin/gofmt" "$@"
}

lint_gofmt() {
  unformatted=$(go_format -l)
  [ -z "$unformatted" ] || { echo "$unformatted" && return 1; }
}

tools_go_vet() {
  go_toolchain && header_package
}

# go_modules COMMAND... runs a command in the folder of each Go module.
go_modules() {
  for module in $(files '*go.mod'); do
    (cd "${module%/*}" && env PKG_CONFIG_PATH="$header" CGO_CFLAGS="-I$root/include" GOTOOLCHAIN=local \
      GOFLAGS="-buildvcs=false -tags=gather_shared" "$@" ./...) || return 1
  done
}

lint_go_vet() {
  go_modules go vet
}

staticcheck_version=v0.8.2

tools_staticcheck() {
  tools_go_vet || return 1
  go version -m "$tools/bin/staticcheck" 2>/dev/null | grep -q "honnef.co/go/tools[[:space:]]$staticcheck_version" && return 0
  echo "Building staticcheck $staticcheck_version into .cache/tools ..."
  env GOBIN="$tools/bin" GOFLAGS=-mod=mod go install "honnef.co/go/tools/cmd/staticcheck@$staticcheck_version"
}

lint_staticcheck() {
  go_modules "$tools/bin/staticcheck"
}

# --------------------------------------------------------------------------------------------------------------- Java

tools_java() {
  java_toolchain
}

# bindings/java/pom.xml names the version of ErrorProne, which needs a newer JDK than that of Debian.
lint_java() {
  home=$(bindings/java/jdk.sh 22 999 javadoc) || { echo "skipped: java: there is no JDK 22 or newer" && return 77; }
  mkdir -p build/lint
  env JAVA_HOME="$home" mvn -B -f bindings/java/pom.xml -P lint clean test-compile \
    -Dgather.build="$root/build/lint/java" >build/lint/java.log 2>&1 ||
    { grep -E '^\[(WARNING|ERROR)\]' build/lint/java.log; return 1; }
}

# ---------------------------------------------------------------------------------------------------------- formatting

# Applies all formatters, and the automatic corrections of ruff.
task_format() {
  tools_clang_format && clang_format -i
  "$pinned/bin/ruff" check --no-cache --quiet --fix --exit-zero .
  "$pinned/bin/ruff" format --no-cache --quiet .
  tools_rustfmt && rust_format
  tools_gofmt && go_format -w
}
