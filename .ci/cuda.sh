# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# The compiler of CUDA, and what needs it.

cuda=$tools/cuda/nvidia/cu13

# Uses the compiler of `./dev cuda fetch` if there is no other.
find_cuda() {
  if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null && [ -x "$cuda/bin/nvcc" ]; then
    export CUDACXX="$cuda/bin/nvcc"
  fi
}

# Succeeds if .cache/tools/cuda contains all pinned packages. The download of an older tree may lack one.
has_pinned_cuda() {
  releases=$(sed -n 's/^\([a-z_]*\)==\([0-9.]*\) .*/\1-\2.dist-info/p' src/cuda/requirements.txt)
  # shellcheck disable=SC2086 # the releases are words
  (cd "$tools/cuda" && ls -d $releases) >/dev/null 2>&1
}

fetch_cuda() {
  find_cuda
  [ "${CUDACXX:-$cuda/bin/nvcc}" = "$cuda/bin/nvcc" ] && ! command -v nvcc >/dev/null && ! has_pinned_cuda || return 0
  python_toolchain
  echo "Downloading NVIDIA's CUDA compiler and runtime into .cache/tools/cuda: 110 MB, 285 MB unpacked."
  echo "NVIDIA's proprietary licence applies. It is in the packages and in the documentation of the CUDA Toolkit."
  rm -rf "$tools/cuda.part"
  python3 -m venv "$tools/fetch"
  "$tools/fetch/bin/python" -m pip install --quiet --no-deps --require-hashes --only-binary=:all: --no-compile \
    --target "$tools/cuda.part" -r src/cuda/requirements.txt
  ln -s lib "$tools/cuda.part/nvidia/cu13/lib64" # This nvcc searches there.
  rm -rf "$tools/cuda"
  mv "$tools/cuda.part" "$tools/cuda"
  find_cuda
}

# Adds the Python packages that a machine with a GPU may lack and cannot download, for each Python that it may have.
bundle_python() {
  "$tools/fetch/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$1" -C cmake.define.GATHER_CUDA=ON ./bindings/python
  for version in 3.11 3.12 3.13; do
    "$tools/fetch/bin/python" -m pip download --quiet --only-binary=:all: --python-version "$version" --dest "$1" cffi pytest
  done
}

bundle_cuda() {
  compiler
  fetch_cuda
  want libgtest-dev pkg-config --exists gtest_main
  python_toolchain
  [ -x "$tools/fetch/bin/python" ] || python3 -m venv "$tools/fetch"
  cmake --preset cuda
  cmake --build --preset cuda --target cuda_bundle
  bundle_python build/cuda/cuda_bundle/python/wheels
  tar -czf build/cuda_bundle.tar.gz -C build/cuda cuda_bundle
  ls -l build/cuda_bundle.tar.gz
}

task_cuda() {
  case ${1:-} in
    fetch) fetch_cuda ;;
    bundle) bundle_cuda ;;
    '')
      compiler
      fetch_cuda
      test_cpp cuda
      summary cuda
      ;;
    *) misused ;;
  esac
}
