//go:build !gather_shared && !gather_static

// The kernels rely on signed overflow that wraps around, and on products that are rounded before they are added.
#pragma GCC optimize("wrapv", "fp-contract=off")

#include "cpu/tiers/avx512.cpp"
