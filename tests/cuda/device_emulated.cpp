#include <cstring>

#include "device.hpp"
#include "emulation/emulation.hpp"

namespace device {

const char* why_not() { return nullptr; }
int count() { return 2; }
bool is_emulated() { return true; }

void* allocate(int64_t bytes) { return gth_emulation_allocate(bytes); }
void* allocate_on(int device, int64_t bytes) { return gth_emulation_allocate_on(device, bytes); }
void deallocate(void* memory) { gth_emulation_free(memory); }
void* allocate_host(int64_t bytes) { return gth_emulation_allocate_host(bytes); }
void deallocate_host(void* memory) { gth_emulation_free(memory); }
void* allocate_managed(int64_t bytes) { return gth_emulation_allocate_managed(bytes); }
void copy(void* to, const void* from, int64_t bytes) {
  if (bytes) std::memcpy(to, from, static_cast<size_t>(bytes));
}
void fill(void* memory, int value, int64_t bytes) {
  if (bytes) std::memset(memory, value, static_cast<size_t>(bytes));
}

CUstream_st* make_stream() { return gth_emulation_make_stream(0); }
CUstream_st* make_stream_on(int device) { return gth_emulation_make_stream(device); }
void destroy(CUstream_st* stream) { gth_emulation_destroy_stream(stream); }
int synchronize(CUstream_st* stream) { return gth_emulation_synchronize(stream); }

void hold(CUstream_st* stream) { gth_emulation_hold(stream); }

void begin_capture(CUstream_st* stream, Mode mode) {
  gth_emulation_begin_capture_in(stream, static_cast<int32_t>(mode));
}
Graph end_capture(CUstream_st* stream) { return gth_emulation_end_capture(stream); }
void launch(Graph graph, CUstream_st* stream) { gth_emulation_launch(graph, stream); }
void destroy_graph(Graph graph) { gth_emulation_destroy_graph(graph); }

int current() { return gth_emulation_current(); }
bool is_entered() { return gth_emulation_current() >= 0; }

void describe(const void* memory, int64_t bytes) { gth_emulation_describe(memory, bytes); }
void forget_described() { gth_emulation_forget_described(); }
int64_t violations() { return gth_emulation_violations(); }

}  // namespace device
