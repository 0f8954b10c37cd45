#include "cuda/streams.hpp"

namespace gather::cuda {

bool is_captured(runtime::Stream stream) {
  bool capturing = false;
  return runtime::means_capture(runtime::is_capturing(stream, &capturing)) || capturing;
}

int mark(runtime::Stream stream, runtime::Event* event) {
  if (const int code = runtime::create_event(stream, event)) return code;
  const int code = runtime::record_event(*event, stream);
  if (code) runtime::destroy_event(*event);
  return code;
}

int follow(runtime::Stream later, runtime::Stream earlier) {
  runtime::Event event = nullptr;
  int code = mark(earlier, &event);
  if (code) return code;
  code = runtime::wait_event(later, event);
  runtime::destroy_event(event);
  return code;
}

}  // namespace gather::cuda
