//go:build !gather_shared && !gather_static

// Numbers that do not fit wrap around here.
#pragma GCC optimize("wrapv")

#include "cpu/tiers/avx2.cpp"
