#pragma once

// What a test cannot be under a sanitizer is left out of that build, or is less there; every other build has it.
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
