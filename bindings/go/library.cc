//go:build !gather_shared && !gather_static

// This file is the library as one source. cgo compiles the files of this folder and links them into the program. In a
// checkout this file includes the sources of the tree. In the published module it contains their full text. Sources for
// one system or one instruction set are in separate files of this folder.

#if defined(__clang__)
#error "the library is compiled here by GCC: set CC=gcc and CXX=g++, or install it and build with -tags gather_shared"
#endif

// The AVX2 and AVX-512 kernels are in other packages. The symbols are weak, because cgo first links only this package, as
// a test.
namespace gather::cpu {
struct Tier;
struct PoolingTier;
extern const Tier avx2_tier __attribute__((weak));
extern const PoolingTier avx512_pooling __attribute__((weak));
}  // namespace gather::cpu

#include "cuda/stub.cpp"
#include "sources.inc"
