#pragma once

#include <cstdint>

#include "cuda/runtime.hpp"

// Functions on streams, those of callers and those of the library.
namespace gather::cuda {

// The streams with fixed handles. The legacy stream is ordered after earlier work of the per-thread streams of its
// device.
inline bool is_legacy(runtime::Stream stream) { return reinterpret_cast<uintptr_t>(stream) <= 1; }
inline bool is_per_thread(runtime::Stream stream) { return reinterpret_cast<uintptr_t>(stream) == 2; }
inline runtime::Stream legacy_stream() { return reinterpret_cast<runtime::Stream>(uintptr_t{1}); }

// Returns true if the stream is being captured, or cannot be queried or used because of a capture.
bool is_captured(runtime::Stream stream);

// Records an event after the work that the stream has been given. Returns CUDA's error number.
int mark(runtime::Stream stream, runtime::Event* event);

// Orders the future work of `later` after the earlier work of `earlier`. Returns CUDA's error number.
int follow(runtime::Stream later, runtime::Stream earlier);

}  // namespace gather::cuda
