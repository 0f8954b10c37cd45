# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# Packages, and the documentation site.

packages=$(pwd)/build/packages

# cpack_library BUILD GENERATOR LIBDIR COMPONENTS [OPTION...] makes packages of a build with the options of CMake.
cpack_library() {
  build=build/$1 generator=$2 libdir=$3 components=$4
  shift 4
  cmake --preset package -B "$build" -D CMAKE_INSTALL_PREFIX=/usr -D CMAKE_INSTALL_LIBDIR="$libdir" "$@" >/dev/null
  cmake --build "$build"
  cpack --config "$build/CPackConfig.cmake" -G "$generator" -D CPACK_COMPONENTS_ALL="$components" \
    -B "$packages/cpack" >"$build/cpack.log" 2>&1 || { cat "$build/cpack.log" && return 1; }
  find "$packages/cpack" -maxdepth 1 -type f -exec mv {} "$packages" ';'
  rm -r "$packages/cpack"
}

# Debian packages use the library folder of the architecture. The archive uses lib.
package_library() {
  multiarch=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  cpack_library package TGZ lib 'runtime;development'
  cpack_library package DEB "$multiarch" 'runtime;development'
}

# Creates the Debian package and the wheel of the library with CUDA. They have machine code for fewer architectures than
# other builds, so that they are smaller.
package_cuda() {
  if [ -z "${CUDACXX:-}" ] && ! command -v nvcc >/dev/null; then
    echo "skipped: packages with CUDA: there is no nvcc. \`./dev cuda fetch\` downloads one."
    return 0
  fi
  export CUDACXX="${CUDACXX:-$(command -v nvcc)}" CUDAARCHS='80-real;90-real;100-real;120'
  echo "Building packages with CUDA. nvcc takes minutes for the kernels of each package ..."
  cpack_library package-cuda DEB "$multiarch" runtime -D GATHER_CUDA=ON
  build_wheels "$packages" cuda
  python3 tests/package/cuda.py "$packages" || result=1
}

# Creates the archive for Windows. It contains the licences of the runtimes of GCC and MinGW-w64, which are in the DLL.
package_windows() {
  release=$(cd tests/package && python3 -c 'from versions import release; print(release())')
  folder=build/packaging/libgather-$release-windows-x86_64
  rm -rf "$folder"
  cmake --preset windows -B build/package-windows -D GATHER_TESTS=OFF -D CMAKE_INSTALL_LIBDIR=lib >/dev/null
  cmake --build build/package-windows
  cmake --install build/package-windows --strip --prefix "$folder" >build/package-windows/install.log
  "$tools/packaging/bin/python" .ci/notices.py "$folder"
  python3 .ci/archive.py "$folder" "$packages"
}

# Fails on errors and warnings. src/package/debian overrides some of them with a reason.
lint_debian() {
  lintian --allow-root --fail-on error,warning "$packages"/*.deb
}

# build_wheels OUT [TARGET...] builds the source distribution and wheels into a folder, and prints no log if this works.
build_wheels() {
  python_toolchain
  python=$tools/packaging/bin/python
  wheels_log=build/packaging/python.log
  [ -x "$python" ] || python3 -m venv "$tools/packaging"
  mkdir -p build/packaging "$1"
  "$python" -m pip install --quiet --require-hashes -r bindings/python/requirements-wheels.lock
  rm -rf build/packaging/sdist
  { "$python" -m build --no-isolation --sdist --outdir build/packaging/sdist bindings/python &&
    "$python" bindings/python/wheels.py build/packaging/sdist/*.tar.gz "$@" &&
    "$python" .ci/notices.py "$1"/*.whl; } >"$wheels_log" 2>&1 ||
    { cat "$wheels_log" && return 1; }
  mv build/packaging/sdist/*.tar.gz "$1"
}

# package_python [TARGET...]
package_python() {
  echo "Building wheels. In the first run, zig builds a C++ runtime for each platform, which takes minutes ..."
  build_wheels "$packages" "$@"
}

# Tests libgather.torch with each version of torch that the wheel has a shared object for. The first run downloads
# gigabytes.
task_torch() {
  rm -rf build/torch
  build_wheels build/torch manylinux_2_17_x86_64
  with_torch=$(dirname "$venv")/torch
  [ -x "$with_torch/bin/python" ] || python3 -m venv "$with_torch"
  "$with_torch/bin/python" -m pip install --quiet -c bindings/python/requirements-test.txt \
    -c bindings/python/requirements-frameworks.txt cffi expecttest ml_dtypes numpy pytest torch
  "$with_torch/bin/python" -B bindings/python/tests/torch_versions.py build/torch/*.whl build/torch || result=1
}

# Builds the conda packages with their recipe. The tools of this machine replace those of a channel.
package_conda() {
  python_toolchain
  log=build/packaging/conda.log
  rm -rf build/packaging/conda
  env -u CUDACXX PATH="$tools/packaging/bin:$PATH" python tests/package/conda.py build/packaging/conda >"$log" 2>&1 ||
    { cat "$log" && return 1; }
  mv build/packaging/conda/linux-*/*.conda "$packages"
}

package_rust() {
  rust_toolchain
  (cd bindings/rust && cargo package --locked --workspace --no-verify --allow-dirty --quiet \
    --target-dir "$packages/cargo")
  mv "$packages"/cargo/package/*.crate "$packages"
  rm -r "$packages/cargo"
}

# Creates the jars with the library of the archive.
package_java() {
  home=$(bindings/java/jdk.sh 22 999 javadoc) || { echo "skipped: java: there is no JDK 22 or newer" && return 0; }
  log=build/packaging/java.log
  mkdir -p build/packaging
  env JAVA_HOME="$home" mvn -q -B -f bindings/java/pom.xml package -DskipTests -Dgather.build="$packages/java" \
    -Dgather.library="$(pwd)/build/package/lib/libgather.so.1" >"$log" 2>&1 || { cat "$log" && return 1; }
  # The other two jars have the licence already.
  for kind in sources javadoc; do
    "$home/bin/jar" --update --date 2026-01-01T00:00:00Z --file "$packages"/java/*-$kind.jar \
      -C "$packages/java/release" META-INF/LICENSE
  done
  mv "$packages"/java/*.jar "$packages"
  rm -r "$packages/java"
}

packaging_tools() {
  compiler
  want g++-mingw-w64-x86-64-posix command -v "$windows_compiler"
  want dpkg-dev command -v dpkg-shlibdeps
  want maven command -v mvn
  install_missing
}

# make_packages [TARGET...] creates all packages but those for conda and with CUDA, with the wheels of the targets. The
# time of the last commit replaces all others, so that a later build is identical.
make_packages() {
  export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
  rm -rf "$packages"
  mkdir -p "$packages"
  package_library
  package_python "$@"
  package_windows
  package_rust
  package_java
  python3 bindings/go/module.py "$packages"
}

task_bundle() {
  python3 src/package/bundle/bundle.py "${1:-build/bundle/libgather}"
}

# Writes the bill of materials of all packages, and the checksums.
describe_packages() {
  rm -f "$packages/libgather.spdx.json" "$packages/SHA256SUMS"
  (cd "$packages" && set -- * && "$tools/packaging/bin/python" ../../.ci/sbom.py "$@" >libgather.spdx.json &&
    sha256sum "$@" libgather.spdx.json >SHA256SUMS)
}

# Creates all packages, and tests each kind in a minimal Debian system.
task_package() {
  packaging_tools
  want lintian command -v lintian
  want zstd command -v zstd
  install_missing
  make_packages
  package_cuda
  lint_debian || result=1
  package_conda
  describe_packages
  ls -l "$packages"
  python3 tests/package/contents.py "$packages" || result=1
  want mmdebstrap command -v mmdebstrap
  install_missing || true
  python3 tests/package/bare.py "$packages" "$@" || { [ $? = 77 ] && [ "${GATHER_STRICT:-}" != 1 ]; } || result=1
}

# Checks that packages that are built in two folders are identical. A compiler cache would replace the second build.
task_reproducible() {
  packaging_tools
  export CCACHE_DISABLE=1
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  rm -rf build/twice
  for copy in one another; do
    mkdir -p "build/twice/$copy"
    git ls-files -z --cached --others --exclude-standard | xargs -0 tar -c --ignore-failed-read 2>/dev/null |
      tar -x -C "build/twice/$copy"
    (cd "build/twice/$copy" && git init -q && packages=$(pwd)/build/packages && make_packages musllinux_1_2_x86_64)
    cp "build/twice/$copy/build/package/lib/libgather.a" "build/twice/$copy/build/packages"
  done
  identical=
  for file in build/twice/one/build/packages/*; do
    name=$(basename "$file")
    if cmp -s "$file" "build/twice/another/build/packages/$name"; then
      identical="$identical $name"
    else
      echo "differs: $name"
      result=1
    fi
  done
  echo "identical:$identical"
}

task_managers() {
  compiler
  want npm command -v npm
  install_missing
  python_toolchain
  [ -x "$tools/managers/bin/conan" ] || python3 -m venv "$tools/managers"
  "$tools/managers/bin/python" -m pip install --quiet conan==2.34.0 meson==1.12.1
  npm install --silent --prefix "$tools/managers" @bazel/bazel-linux_x64@2.1.0
  ln -sf ../node_modules/@bazel/bazel-linux_x64/bazel-2.1.0-linux-x86_64 "$tools/managers/bin/bazel"
  tests/package/managers.sh "$tools/managers/bin" build/managers || result=1
}

# The site uses the Python package of this tree for pictures and docstrings. WHEEL may name a built wheel of it.
task_site() {
  compiler
  tools_of_site
  make_site "$@" || result=1
}

tools_of_site() {
  want doxygen command -v doxygen
  install_missing
  python_toolchain && rust_toolchain && go_toolchain
}

make_site() {
  python=$tools/site/bin/python
  { [ -x "$python" ] || python3 -m venv "$tools/site"; } &&
    "$python" -m pip install --quiet -r docs/site/requirements.txt &&
    env -u CUDACXX "$python" -m pip install --quiet --force-reinstall --no-deps "${WHEEL:-./bindings/python}" &&
    "$python" docs/site/build.py build/site "$@"
}
