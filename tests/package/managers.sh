#!/bin/sh
# managers.sh BIN BUILD: builds the library and a project that finds it, by Conan and by Meson, and runs the project. BIN
# has conan and meson.
# shellcheck disable=SC2329 # a variable has the names of the functions
set -eu
cd "$(dirname "$0")/../.."
bin=$1
rm -rf "$2"
mkdir -p "$2"
build=$(cd "$2" && pwd)
export PATH="$bin:$PATH"

conan_project() {
  export CONAN_HOME="$build/home"
  conan profile detect
  conan create src/package/conan -s compiler.cppstd=17
  version=$(sed -n 's/^#define GTH_VERSION //p' include/gather/gather.h)
  version=$((version / 1000000)).$((version / 1000 % 1000)).$((version % 1000))
  mkdir "$build/conan"
  (cd "$build/conan" && conan install --requires="libgather/$version" -g CMakeToolchain -s compiler.cppstd=17)
  cmake -G Ninja -S tests/package/consumer -B "$build/conan/main" -D language=CXX -D CMAKE_BUILD_TYPE=Release \
    -D CMAKE_TOOLCHAIN_FILE="$build/conan/conan_toolchain.cmake"
  cmake --build "$build/conan/main"
  ctest --test-dir "$build/conan/main" --output-on-failure
}

meson_project() {
  project=$build/meson/project/subprojects
  mkdir -p "$project/libgather"
  cp tests/package/meson/meson.build tests/package/consumer/consumer.cpp "$build/meson/project"
  cp src/package/meson/gather.wrap "$project"
  cp -r include src src/package/meson/meson.build "$project/libgather"
  meson setup "$build/meson/build" "$build/meson/project" --buildtype=release
  meson test -C "$build/meson/build"
}

# The commands run in the background, because a shell ignores errors in a condition.
result=0
for manager in conan meson; do
  (set -e && "${manager}_project") >"$build/$manager.log" 2>&1 &
  if wait $!; then
    echo "$manager: a project uses the library"
  else
    tail -n 40 "$build/$manager.log"
    echo "$manager: FAILED"
    result=1
  fi
done
exit $result
