# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# The tests of the bindings.

# stage_library PRESET installs the library of a preset into build/stage for the bindings.
stage_library() {
  rm -rf "$stage"
  cmake --install "build/$1" --prefix "$stage" >/dev/null
}

# binding NAME RUNNER TOOLCHAIN COMMAND... runs the tests of one binding, and writes their output to a log. They are
# skipped if TOOLCHAIN fails or the command exits with 77. In a strict run, only the skipped tests of
# .ci/allowed_skips.txt may be in the log.
binding() {
  name=$1
  runner=$2
  toolchain=$3
  shift 3
  began=$(date +%s)
  log=build/bindings/$(echo "$name" | tr 'A-Z ' 'a-z_').log
  code=77
  if $toolchain; then
    "$@" >"$log.part" 2>&1 && code=0 || code=$?
    mv "$log.part" "$log"
    echo
    echo "== $name"
    cat "$log"
    [ $code != 0 ] || python3 .ci/skips.py "$runner" "$log" || code=$?
  fi
  case $code in
    0) verdict=passed ;;
    77) verdict='skipped, its toolchain cannot be installed'
      [ "${GATHER_STRICT:-}" != 1 ] || { [ -f "$log" ] && python3 .ci/skips.py "$runner" "$log"; } || result=1 ;;
    *) verdict=FAILED
      result=1 ;;
  esac
  outcome="$outcome
$name: $verdict, $(($(date +%s) - began)) s"
}

# Installs the frameworks in the background while the library is built, because they have gigabytes.
begin_frameworks() {
  python_toolchain || return 0
  with_frameworks=$(dirname "$venv")/frameworks
  mkdir -p build/bindings
  { { [ -x "$with_frameworks/bin/python" ] || python3 -m venv "$with_frameworks"; } &&
    "$with_frameworks/bin/python" -m pip install --quiet --disable-pip-version-check \
      -r bindings/python/requirements-test.txt -r bindings/python/requirements-frameworks.txt; } \
    >build/bindings/install.log 2>&1 &
  installed=$!
}

# Starts the tests of Python in the background, because they use one thread for minutes. In a strict run, those with
# frameworks follow. end_python prints their output.
begin_python() {
  python_toolchain || return 0
  [ -z "${installed:-}" ] || wait "$installed" || cat build/bindings/install.log
  {
    in_background python test_python
    [ "${GATHER_STRICT:-}" != 1 ] || in_background frameworks test_frameworks
  } &
  python_tests=$!
}

# in_background NAME COMMAND... writes the output and the status of a command to files.
in_background() {
  part=$1
  shift
  "$@" >"build/bindings/$part.part" 2>&1 && code=0 || code=$?
  echo "$code" >"build/bindings/$part.code"
}

# end_python NAME waits for the tests of Python, prints the output of a part, and returns its status.
end_python() {
  wait "$python_tests" || true
  cat "build/bindings/$1.part"
  return "$(cat "build/bindings/$1.code")"
}

# Bindings build the library without CUDA, which takes less time.
test_python() {
  env -u CUDACXX VENV="$venv" bindings/python/test.sh build/bindings
}

# Prints the path of the wheel that the tests of Python have built.
built_wheel() {
  echo "$(pwd)"/build/bindings/python/dist/*.whl
}

# Prints the files of tests of which the tests of Python skipped a part because a framework is missing.
skipped_files() {
  expression=$(sed -n 's/^pytest frameworks //p' .ci/allowed_skips.txt | paste -s -d '|')
  grep -E "^SKIPPED .*($expression)" build/bindings/python.part | grep -o 'test_[a-z_]*\.py' | sort -u
}

# Runs the files of tests that need the frameworks. Each file has its own process, because some of these libraries cannot
# be loaded together.
test_frameworks() {
  # shellcheck disable=SC2046 # the names are words
  env -u CUDACXX VENV="$(dirname "$venv")/frameworks" ALSO=frameworks EACH=1 \
    WHEEL="$(built_wheel)" bindings/python/test.sh build/frameworks $(skipped_files)
}

# Compares the skipped tests with those that a run with the frameworks allows.
frameworks() {
  export ALSO=frameworks
  binding "Python with frameworks" pytest python_toolchain end_python frameworks
  unset ALSO
}

# Builds what the tests of the bindings need: the library, and the one with an emulated CUDA device.
build_for_bindings() {
  compiler
  want libgtest-dev pkg-config --exists gtest_main
  install_missing
  cmake --preset test
  cmake --build --preset test --target gather gather_static gather_emulated conformance_cases
}

# A new language needs its toolchain above, its name here, and a line like that of Go in test_bindings.
every_language='python rust go java'

# test_bindings [LANGUAGE...] runs the tests of all bindings, or of some, with the library of the preset test.
test_bindings() {
  outcome=''
  languages=${*:-$every_language}
  want pkg-config command -v pkg-config
  install_missing || true
  # This library has an emulated CUDA device.
  GATHER_EMULATED=$(pwd)/build/test/lib/libgather_emulated.so
  export GATHER_EMULATED
  mkdir -p build/bindings
  stage_library test || { result=1 && return; }
  ! tests_language python || begin_python
  ! tests_language rust || binding Rust cargo rust_toolchain_and_generator env -u CUDACXX GATHER_PREFIX="$stage" \
    bindings/rust/test.sh build/bindings/rust
  ! tests_language go || binding Go go go_toolchain bindings/go/test.sh "$stage"
  ! tests_language java || binding Java java java_toolchain env GATHER_TENSORFLOW="${GATHER_LONG:-0}" \
    bindings/java/test.sh "$stage" build/bindings/java
  ! tests_language python || binding Python pytest python_toolchain end_python python
  ! tests_language python || [ "${GATHER_STRICT:-}" != 1 ] || frameworks
  [ $# -gt 0 ] || test_languages_together
  echo
  echo "Bindings:$outcome"
}

tests_language() {
  case " $languages " in *" $1 "*) ;; *) return 1 ;; esac
}

# Runs the examples, and compares the bindings with each other.
test_languages_together() {
  examples=$(pwd)/build/bindings/examples
  binding "Examples in Python" pytest python_toolchain env PYTHON="$venv/bin/python" \
    examples/run.sh "$stage" "$examples" python
  binding "Examples in Rust" cargo rust_toolchain examples/run.sh "$stage" "$examples" rust
  binding "Examples in Go" go go_toolchain examples/run.sh "$stage" "$examples" go
  binding "Examples in Java" java java_toolchain examples/run.sh "$stage" "$examples" java
  binding "Columns of pyarrow" pytest python_toolchain "$venv/bin/python" -B tests/conformance/columns.py \
    build/test/lib/libgather.so --cases 500
  binding "Equal bindings" pytest python_toolchain python3 bindings/parity.py --check
  binding "Equal mistakes" pytest python_toolchain env PYTHON="$venv/bin/python" \
    python3 tests/mistakes.py --check "$stage" "$examples"
  [ "${GATHER_STRICT:-}" != 1 ] || binding "Site" pytest tools_of_site site
}

# Makes the documentation site with the wheel that the tests of Python have built.
site() {
  WHEEL=$(built_wheel)
  make_site
}

# task_bindings [LANGUAGE...]
task_bindings() {
  build_for_bindings
  test_bindings "$@"
}

# Runs calls in every language with a library that has one more operation, profile and option. Only the long run builds
# it.
task_variant() {
  compiler
  python_toolchain
  python=$venv/bin/python
  [ -x "$python" ] || python3 -m venv "$venv"
  "$python" -m pip install --quiet -r bindings/python/requirements-test.txt
  "$python" -B tests/variant build/variant || result=1
}

# Runs every case of tests/conformance again in the systems that have answered it, in the versions that it records. These
# systems need gigabytes.
task_recorded() {
  python_toolchain
  python=$(dirname "$venv")/record/bin/python
  [ -x "$python" ] || python3 -m venv "$(dirname "$venv")/record"
  "$python" -m pip install --quiet -r tests/conformance/record/requirements.txt
  for part in record record.scatter record.gradient record.bags record.packed; do
    echo "== $part"
    (cd tests/conformance && "$python" -B -m "$part" --check) || result=1
  done
}

# Runs each file of tests of Python with the large libraries in its own process, because some of these libraries cannot
# be loaded together, and some keep memory until the process ends.
task_peers() {
  build_for_bindings
  python_toolchain
  want libopenmpi-dev command -v mpicc
  want openmpi-bin command -v mpirun
  install_missing || true
  mkdir -p build/peers
  GATHER_EMULATED=$(pwd)/build/test/lib/libgather_emulated.so
  export GATHER_EMULATED
  env -u CUDACXX VENV="$(dirname "$venv")/peers" ALSO=peers EACH=1 GATHER_LARGE=1 \
    bindings/python/test.sh build/peers "$@" >build/peers/log 2>&1 || result=1
  cat build/peers/log
  ALSO=peers python3 .ci/skips.py pytest build/peers/log || result=1
}

# Runs the tests of pandas and pyarrow, and repeats each of their takes by libgather. Compares random calls of
# libgather.torch with torch.
task_own() {
  python_toolchain
  with_peers=$(dirname "$venv")/peers
  env -u CUDACXX VENV="$with_peers" ALSO=peers bindings/python/test.sh build/own -k package || result=1
  # The test that is left out compares the file of a warning, which is that of the checked take.
  # shellcheck disable=SC2046 # the names are words
  PYTHONPATH=tests/peers "$with_peers/bin/python" -m pytest -q -p no:cacheprovider -p checked_takes --tb=short \
    -k 'not test_take_assigns_floating_point_dtype' \
    --pyargs $(printf 'pandas.tests.%s ' arrays extension frame indexes indexing series test_algos test_take) \
    pyarrow.tests.test_compute || result=1
  "$with_peers/bin/python" -m libgather.torch.build || result=1
  "$with_peers/bin/python" tests/peers/random_torch.py 2000 "${GATHER_SEED:-1}" || result=1
}

# This takes minutes and covers little that ./dev test does not cover, so only the long run has it.
asan_bindings() {
  outcome=''
  export GATHER_SANITIZED=1
  compiler
  cmake --preset asan
  cmake --build --preset asan --target gather gather_static
  cmake --install build/asan --prefix build/asan/stage >/dev/null
  mkdir -p build/bindings
  set -- env VENV="$(dirname "$venv")/asan" bindings/asan.sh build/asan/stage build/bindings/asan
  binding "Python with ASan" pytest python_toolchain "$@" python
  binding "Rust with ASan" cargo rust_toolchain "$@" rust
  binding "Go with ASan" go go_toolchain "$@" go
  echo
  echo "Bindings:$outcome"
}
