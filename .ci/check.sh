# shellcheck shell=sh disable=SC2034,SC2046,SC2086,SC2154 # ./dev and lint.sh share variables, names are words
# `./dev check FILE...`: builds what changed files belong to, runs the tests that cover them, and lints them. It is for
# the time between two edits: `.ci/run` decides.

# task_covers FILE... prints the test programs in C++ that cover the files.
task_covers() {
  python3 .ci/covers.py "$@"
}

# check_programs PROGRAM...: builds test programs and runs their tests.
check_programs() {
  compiler
  [ -f build/test/CMakeCache.txt ] || cmake --preset test
  cmake --build --preset test --target "$@" || { result=1 && return; }
  GATHER_CASES=20000 ctest --preset test -R "^($(echo "$@" | tr ' ' '|'))\." || result=1
}

# Other tests of ctest: check_tests EXPRESSION.
check_tests() {
  [ -f build/test/CMakeCache.txt ] || { compiler && cmake --preset test; }
  ctest --preset test -R "$1" || result=1
}

# Runs the tests that take seconds, and the changed ones. They use the Python sources of the tree, and the compiled parts
# of the package of the last ./dev test or ./dev bindings. A change of compiled parts needs ./dev bindings python.
check_python() {
  installed=$(find "$venv" -path '*/site-packages/libgather' -prune 2>/dev/null)
  [ -n "$installed" ] || { test_one_language python && return; }
  rm -rf build/check/python
  mkdir -p build/check/python
  cp -r bindings/python/src/libgather build/check/python/
  (cd "$installed" && tar -c -- *.so*) | tar -x -C build/check/python/libgather
  quick='arrays messages hostile values switches fill empty take put plans elements scatters tensors results partition'
  PYTHONPATH=$(pwd)/build/check/python "$venv/bin/python" -m pytest -c bindings/python/pyproject.toml -q -x \
    -p no:cacheprovider $(unique $(printf 'bindings/python/tests/test_%s.py ' $quick) $changed_tests) || result=1
}

test_one_language() {
  build_for_bindings
  test_bindings "$1"
}

# check_rust and check_go use the library of the last ./dev test or ./dev bindings.
check_rust() {
  [ -d "$stage" ] || { test_one_language rust && return; }
  package=$(dirname "$(find "$stage" -name gather.pc)")
  (cd bindings/rust && PKG_CONFIG_PATH=$package LD_LIBRARY_PATH=${package%/pkgconfig} GATHER_DYNAMIC=1 \
    CARGO_TARGET_DIR="$here/build/bindings/rust/target" \
    cargo test --locked -p gather --all-features --lib --tests -- --quiet) || result=1
}

check_go() {
  [ -d "$stage" ] || { test_one_language go && return; }
  go_toolchain
  package=$(dirname "$(find "$stage" -name gather.pc)")
  (cd bindings/go && PKG_CONFIG_PATH=$package LD_LIBRARY_PATH=${package%/pkgconfig} GOTOOLCHAIN=local \
    GOFLAGS="-buildvcs=false -tags=gather_shared" go test -short .) || result=1
}

# linters_of FILE: prints the linters of a file.
linters_of() {
  case $1 in
    src/*.cpp) echo clang-format clang-tidy ;;
    *.c | *.h | *.cpp | *.hpp | *.cu) echo clang-format ;;
    bindings/python/src/*.py) echo ruff ruff-format mypy ;;
    *.py) echo ruff ruff-format ;;
    *.rs) echo rustfmt clippy ;;
    *.go) echo gofmt go-vet ;;
    *.sh | dev | .ci/run) echo shellcheck ;;
    *CMakeLists.txt | *.cmake) echo cmake-lint ;;
  esac
}

# task_check FILE...: paths relative to the root of the repository.
task_check() {
  check_began=$(date +%s)
  here=$(pwd)
  tasks=''
  linted=''
  changed_tests=''
  for file in "$@"; do
    [ -f "$file" ] || { echo "There is no file $file." && exit 2; }
    linted="$linted $(linters_of "$file")"
    case $file in
      bindings/python/tests/test_*.py) tasks="$tasks check_python" changed_tests="$changed_tests $file" ;;
      bindings/python/*.py) tasks="$tasks check_python" ;;
      bindings/python/native/*) tasks="$tasks test_one_language:python" ;;
      bindings/rust/*) tasks="$tasks check_rust" ;;
      bindings/go/*) tasks="$tasks check_go" ;;
      bindings/java/*) tasks="$tasks test_one_language:java" ;;
      tests/mutate/*) tasks="$tasks check_tests:^mutants" ;;
      *.md | tests/*.py | src/*) tasks="$tasks check_tests:^documents" ;;
    esac
  done
  programs=$(task_covers "$@")
  [ -z "$programs" ] || check_programs $programs
  for task in $(unique $tasks); do
    case $task in
      *:*) "${task%%:*}" "${task#*:}" ;;
      *) "$task" ;;
    esac
  done
  only=$(printf '%s\n' "$@")
  linted=$(unique $linted)
  [ -z "$linted" ] || lint $linted
  echo "check: $([ $result = 0 ] && echo passed || echo FAILED), $(($(date +%s) - check_began)) s"
}

unique() {
  printf '%s\n' "$@" | sort -u
}
