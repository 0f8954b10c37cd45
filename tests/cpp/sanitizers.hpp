#pragma once

// Tests that cannot run under a sanitizer are left out of that build, or run with less work. Other builds run them in
// full.
#ifdef __SANITIZE_THREAD__
#define GATHER_TSAN 1
#else
#define GATHER_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || GATHER_TSAN
#define GATHER_SANITIZED 1
#else
#define GATHER_SANITIZED 0
#endif
