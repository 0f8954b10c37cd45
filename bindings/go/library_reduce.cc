//go:build !gather_shared && !gather_static

// A product that is added is rounded first.
#pragma GCC optimize("fp-contract=off")

#include "cpu/reduce.cpp"
