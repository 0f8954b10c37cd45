#pragma once

// Memory and files of the system.
#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef far
#undef near
#else
#include <sys/mman.h>
#include <unistd.h>
#endif
