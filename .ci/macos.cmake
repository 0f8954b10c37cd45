# Builds for macOS on Apple silicon on another machine. zig provides the compiler and the system libraries for linking.
# The programs cannot run on the build machine, so this only tests that they compile and link.
file(GLOB zig ${CMAKE_CURRENT_LIST_DIR}/../.cache/tools/zig/lib/python3*/site-packages/ziglang/zig)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_C_COMPILER ${zig} cc -target aarch64-macos)
set(CMAKE_CXX_COMPILER ${zig} c++ -target aarch64-macos)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_ARCHITECTURES "")
