#pragma once

// Marks a function with a large stack frame. If it were inlined, its caller would keep that frame during its other
// calls, and the thread of the caller may have a small stack.
#define GATHER_NOINLINE __attribute__((noinline))
