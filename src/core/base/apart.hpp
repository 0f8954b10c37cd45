#pragma once

// A function that needs much of the stack, of which a caller's thread may have little. Inlined, it would hold that room while
// its caller calls others.
#define GATHER_APART __attribute__((noinline))
