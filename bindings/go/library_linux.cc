//go:build !gather_shared && !gather_static

#include "core/os_linux.cpp"
