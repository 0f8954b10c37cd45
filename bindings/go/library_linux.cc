//go:build !gather_shared && !gather_static

#include "core/os/files_posix.cpp"
#include "core/os/os_linux.cpp"
#include "core/os/os_posix.cpp"
