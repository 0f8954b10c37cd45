#!/bin/sh
# managers.sh BIN BUILD: builds the library and the project of docs/install.md that finds it, by Conan with CMake, by
# Meson and by Bazel, and runs the project. BIN has conan, meson and bazel.
# shellcheck disable=SC2329 # a variable has the names of the functions
set -eu
cd "$(dirname "$0")/../.."
bin=$1
rm -rf "$2"
mkdir -p "$2"
build=$(cd "$2" && pwd)
export PATH="$bin:$PATH"

# project LANGUAGE FILE: writes the first block of a language in docs/install.md to a file of a new project, and its program.
project() {
  mkdir -p "$(dirname "$2")"
  awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence && !found++; next } inside' docs/install.md >"$2"
  cp tests/package/consumer/consumer.cpp "$(dirname "$2")/main.cpp"
}

conan_project() {
  export CONAN_HOME="$build/home"
  conan profile detect
  conan create src/package/conan -s compiler.cppstd=17
  project ini "$build/conan/conanfile.txt"
  project cmake "$build/conan/CMakeLists.txt"
  cd "$build/conan"
  conan install . -s compiler.cppstd=17
  cmake -G Ninja -S . -B made -D CMAKE_BUILD_TYPE=Release -D CMAKE_TOOLCHAIN_FILE=conan_toolchain.cmake
  cmake --build made
  made/main
}

meson_project() {
  subprojects=$build/meson/subprojects
  project meson "$build/meson/meson.build"
  mkdir -p "$subprojects/libgather"
  cp src/package/meson/gather.wrap "$subprojects"
  cp -r include src src/package/meson/meson.build "$subprojects/libgather"
  meson setup "$build/meson/made" "$build/meson" --buildtype=release
  meson compile -C "$build/meson/made"
  "$build/meson/made/main"
}

# local_rules NAME FOLDER RULE...: makes a repository of rules that Bazel 2 has, but would download.
local_rules() {
  folder=$1/$2
  mkdir -p "$folder"
  touch "$1/WORKSPACE" "$folder/BUILD"
  shift 2
  for rule in "$@"; do echo "$rule = native.$rule"; done >"$folder/defs.bzl"
}

# Bazel 2 does not read MODULE.bazel. A WORKSPACE replaces it.
bazel_project() {
  project starlark "$build/bazel/BUILD.bazel"
  mkdir "$build/bazel/libgather"
  cp -r BUILD.bazel include src "$build/bazel/libgather"
  cd "$build/bazel"
  local_rules rules_cc cc cc_library cc_binary cc_test cc_import cc_toolchain cc_toolchain_suite
  local_rules rules_java java java_library java_binary java_import java_runtime java_toolchain java_test \
    java_package_configuration
  touch libgather/WORKSPACE
  for name in libgather rules_cc rules_java; do echo "local_repository(name = '$name', path = '$name')"; done >WORKSPACE
  # A compiler cache cannot write in the sandbox of Bazel.
  bazel --output_user_root="$build/bazel/output" --batch run -c opt --jobs=2 \
    --action_env=CCACHE_DISABLE=1 //:main
}

# The commands run in the background, because a shell ignores errors in a condition.
result=0
for manager in conan meson bazel; do
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
