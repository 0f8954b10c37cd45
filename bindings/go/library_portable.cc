//go:build !gather_shared && !gather_static

// The kernels rely on signed overflow that wraps around.
#pragma GCC optimize("wrapv")

#include "cpu/tiers/portable.cpp"
