#pragma once

#include <cstdint>

#include "cuda/runtime.hpp"

// What the library does with streams, whosever they are.
namespace gather::cuda {

// The streams that have numbers. The legacy one comes after all that the streams per thread of its device have been given.
inline bool is_legacy(runtime::Stream stream) { return reinterpret_cast<uintptr_t>(stream) <= 1; }
inline bool is_per_thread(runtime::Stream stream) { return reinterpret_cast<uintptr_t>(stream) == 2; }
inline runtime::Stream legacy_stream() { return reinterpret_cast<runtime::Stream>(uintptr_t{1}); }

// Whether it is being captured, or cannot be asked or used because of a capture.
bool is_captured(runtime::Stream stream);

// Puts a mark behind what the stream has been given. CUDA's number of the error.
int mark(runtime::Stream stream, runtime::Event* event);

// As mark, of a stream that was not being captured a moment ago. Another thread may begin that at any moment: a mark that
// has become a part of a capture is no mark, for to wait for it would join the capture, and to ask after it would spoil it.
int mark_uncaptured(runtime::Stream stream, runtime::Event* event);

// What `later` is given from now on comes after what `earlier` has been given so far. CUDA's number of the error.
int follow(runtime::Stream later, runtime::Stream earlier);
int follow_uncaptured(runtime::Stream later, runtime::Stream earlier);

}  // namespace gather::cuda
