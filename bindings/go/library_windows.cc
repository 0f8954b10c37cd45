//go:build !gather_shared && !gather_static

#include "core/os/files_windows.cpp"
#include "core/os/os_windows.cpp"
