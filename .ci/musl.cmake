# Builds for Linux with musl on x86-64, with zig. The programs need musl's loader, and no other library of the system.
file(GLOB zig ${CMAKE_CURRENT_LIST_DIR}/../.cache/tools/zig/lib/python3*/site-packages/ziglang/zig)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER ${zig} cc -target x86_64-linux-musl)
set(CMAKE_CXX_COMPILER ${zig} c++ -target x86_64-linux-musl)
set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic)  # for programs that load the library themselves
# GCC's __builtin_cpu_supports, because zig has none.
execute_process(COMMAND gcc -print-libgcc-file-name OUTPUT_VARIABLE libgcc OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ar x ${libgcc} cpuinfo.o WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_CXX_STANDARD_LIBRARIES ${CMAKE_BINARY_DIR}/cpuinfo.o)
# Libraries of the build machine must not be found.
set(CMAKE_FIND_ROOT_PATH /usr/lib/musl)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
