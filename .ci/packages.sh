# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# Packages, and the documentation site.

packages=$(pwd)/build/packages

# Debian packages use the library folder of the architecture. The archive uses lib.
package_library() {
  multiarch=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  for kind in "TGZ lib" "DEB $multiarch"; do
    cmake --preset package -D CMAKE_INSTALL_PREFIX=/usr -D CMAKE_INSTALL_LIBDIR="${kind#* }" >/dev/null
    cmake --build --preset package
    cpack --config build/package/CPackConfig.cmake -G "${kind%% *}" -B "$packages/cpack" >build/package/cpack.log 2>&1 ||
      { cat build/package/cpack.log && return 1; }
  done
  mv "$packages"/cpack/*.deb "$packages"/cpack/*.tar.gz "$packages"
  rm -r "$packages/cpack"
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
  "$python" -m pip install --quiet -r bindings/python/requirements-wheels.txt
  rm -rf build/packaging/sdist
  { "$python" -m build --no-isolation --sdist --outdir build/packaging/sdist bindings/python &&
    env -u CUDACXX "$python" bindings/python/wheels.py build/packaging/sdist/*.tar.gz "$@"; } >"$wheels_log" 2>&1 ||
    { cat "$wheels_log" && return 1; }
  mv build/packaging/sdist/*.tar.gz "$1"
}

package_python() {
  echo "Building wheels. In the first run, zig builds a C++ runtime for each platform, which takes minutes ..."
  build_wheels "$packages"
}

# Tests libgather.torch with each version of torch that the wheel has a shared object for. The first run downloads
# gigabytes.
task_torch() {
  rm -rf build/torch
  build_wheels build/torch manylinux_2_17_x86_64
  with_torch=$(dirname "$venv")/torch
  [ -x "$with_torch/bin/python" ] || python3 -m venv "$with_torch"
  "$with_torch/bin/python" -m pip install --quiet -c bindings/python/requirements-test.txt \
    -c bindings/python/requirements-peers.txt cffi expecttest ml_dtypes numpy pytest torch
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
  mv "$packages"/java/*.jar "$packages"
  rm -r "$packages/java"
}

# Creates all packages, and tests each kind in a minimal Debian system.
task_package() {
  compiler
  want dpkg-dev command -v dpkg-shlibdeps
  want lintian command -v lintian
  want maven command -v mvn
  want g++-mingw-w64-x86-64-posix command -v "$windows_compiler"
  install_missing
  rm -rf "$packages"
  mkdir -p "$packages"
  package_library
  lint_debian || result=1
  package_python
  package_conda
  package_rust
  package_java
  python3 bindings/go/module.py "$packages"
  (cd "$packages" && set -- * && python3 ../../src/package/sbom.py "$@" >libgather.spdx.json &&
    sha256sum "$@" libgather.spdx.json >SHA256SUMS)
  ls -l "$packages"
  want mmdebstrap command -v mmdebstrap
  install_missing || true
  python3 tests/package/bare.py "$packages" "$@" || { [ $? = 77 ] && [ "${GATHER_STRICT:-}" != 1 ]; } || result=1
}

task_managers() {
  compiler
  python_toolchain
  [ -x "$tools/managers/bin/conan" ] || python3 -m venv "$tools/managers"
  "$tools/managers/bin/python" -m pip install --quiet conan==2.34.0 meson==1.12.1
  tests/package/managers.sh "$tools/managers/bin" build/managers || result=1
}

# The site uses the Python package of this tree for pictures and docstrings. WHEEL may name a built wheel of it.
task_site() {
  compiler
  want doxygen command -v doxygen
  install_missing
  python_toolchain
  rust_toolchain
  go_toolchain
  python=$tools/site/bin/python
  [ -x "$python" ] || python3 -m venv "$tools/site"
  "$python" -m pip install --quiet -r docs/site/requirements.txt
  env -u CUDACXX "$python" -m pip install --quiet --force-reinstall --no-deps "${WHEEL:-./bindings/python}"
  "$python" docs/site/build.py build/site "$@" || result=1
}
