# Builds for macOS on Apple's processors elsewhere, with the compiler and the interface of the system that zig brings.
# Nothing that comes out can be run here: that it compiles and links is all that is known.
file(GLOB zig ${CMAKE_CURRENT_LIST_DIR}/../.cache/tools/zig/lib/python3*/site-packages/ziglang/zig)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_C_COMPILER ${zig} cc -target aarch64-macos)
set(CMAKE_CXX_COMPILER ${zig} c++ -target aarch64-macos)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_ARCHITECTURES "")
