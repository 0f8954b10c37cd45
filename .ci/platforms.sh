# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# Builds for other processors and systems.

# The emulator does not support fork in a process with threads. Tests with fork need a real machine.
task_aarch64() {
  want g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++
  want qemu-user command -v qemu-aarch64
  want googletest test -d /usr/src/googletest
  make_cases
  test_cpp aarch64
  summary aarch64
}

# zig contains a compiler and the system libraries for each system.
zig_version=0.17.0
zig_toolchain() {
  python_toolchain
  ! has_distribution "$tools/zig" ziglang "$zig_version" || return 0
  echo "Installing zig $zig_version into .cache/tools/zig ..."
  python3 -m venv "$tools/zig" && "$tools/zig/bin/python" -m pip install --quiet "ziglang==$zig_version"
}

# The loader of musl runs the programs. Three tests do not run. Each file contains a C++ library of zig, so an exception of
# a program has another type in the library. zig inlines calls that a test counts. musl does not unmap closed libraries.
task_musl() {
  want musl test -e /lib/ld-musl-x86_64.so.1
  want googletest test -d /usr/src/googletest
  install_missing
  zig_toolchain
  make_cases
  test_cpp musl
  summary musl
}

task_macos() {
  compiler
  want llvm-19 command -v llvm-nm-19
  install_missing
  zig_toolchain
  cmake --workflow --preset macos
  llvm-nm-19 --defined-only --extern-only build/macos/lib/libgather.dylib | sed -n 's/.* _\(gth_.*\)/\1/p' | sort \
    >build/macos/functions.txt
  sort tests/abi/symbols.txt | diff - build/macos/functions.txt
  echo "linked, with $(wc -l <build/macos/functions.txt) functions"
}
