# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# Builds and runs what contributors need each day: the demo, the tests, the benchmarks.

task_demo() {
  compiler
  want npm command -v npm
  install_missing || echo "Without npm the demo uses generated words."
  cmake --workflow --preset demo
  demo_languages
}

demo_languages() {
  want pkg-config command -v pkg-config
  install_missing
  stage_library demo
  python_toolchain && demo_python
  rust_toolchain || true
  go_toolchain || true
  bindings/java/jdk.sh 22 >/dev/null || java_toolchain || true
  echo
  PYTHON=$(pwd)/build/languages/venv/bin/python python3 \
    tests/demo/languages.py "$stage" build/languages build/demo/tests/demo/data
}

# Installs the Python package of the tree in a virtual environment for the demo.
demo_python() {
  python3 -m venv build/languages/venv
  env -u CUDACXX build/languages/venv/bin/python -m pip install --quiet ./bindings/python
}

# Uses the Python of the tests if it exists, because it has NumPy and the package. The Python of ./dev peers also has
# torch.
task_bench() {
  compiler
  [ ! -x "$venv/bin/python3" ] || PATH=$venv/bin:$PATH
  cmake --workflow --preset bench
  with_torch=$(dirname "$venv")/peers/bin/python3
  [ ! -x "$with_torch" ] || "$with_torch" tests/bench requests
}

# overhead [--check] [--write FILE]
task_overhead() {
  compiler
  want pkg-config command -v pkg-config
  install_missing
  cmake --workflow --preset release >/dev/null
  stage_library release
  rust_toolchain || true
  go_toolchain || true
  PYTHON=${PYTHON:-$venv/bin/python}
  [ -x "$PYTHON" ] || PYTHON=python3
  export PYTHON
  python3 tests/overhead "$stage" build/overhead "$@"
}

# Computes the conformance cases for builds whose programs do not run on this processor.
make_cases() {
  cmake --preset test >/dev/null
  cmake --build --preset test --target conformance_cases
}

# test_cpp PRESET... runs all of the presets, and sets result to 1 if one fails.
test_cpp() {
  compiler
  want pkg-config command -v pkg-config
  want libgtest-dev pkg-config --exists gtest_main
  want abigail-tools command -v abidiff
  install_missing
  for preset in "$@"; do
    rm -f "build/$preset/ctest.log" "build/$preset/junit.xml"
    preset_began=$(date +%s)
    cmake --workflow --preset "$preset" || result=1
    echo "== $preset: $(($(date +%s) - preset_began)) s"
  done
}

# summary PRESET... prints the results and the skipped tests of the presets. It returns the status of the task.
summary() {
  echo
  python3 tests/summary.py "$@" || result=1
  return "$result"
}

task_test() {
  strict "$@"
  compiler
  # Some tests of the library use other languages. They are skipped without these.
  want python3-cffi python3 -c 'import cffi'
  python_toolchain || true
  rust_toolchain || true
  go_toolchain || true
  java_toolchain || true
  # A Python that is not that of the system does not find the packages of the system.
  python3 -c 'import cffi' 2>/dev/null || python3 -m pip install --quiet cffi || true
  # With AUTO, the tests of the kernels would be missing if nvcc is missing or does not work.
  [ "${GATHER_STRICT:-}" != 1 ] || { begin_frameworks && cmake --preset test -D GATHER_CUDA=ON; }
  test_cpp test asan
  test_bindings
  summary test asan
}

# task_asan [bindings]
task_asan() {
  [ -n "${1:-}" ] || test_cpp asan
  asan_bindings
  [ -n "${1:-}" ] || summary asan
}
