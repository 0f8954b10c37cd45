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

int mark_uncaptured(runtime::Stream stream, runtime::Event* event) {
  if (const int code = mark(stream, event)) return code;
  if (!is_captured(stream)) return 0;
  runtime::destroy_event(*event);
  return runtime::code::captured_event;
}

namespace {

int follow_marked(runtime::Stream later, runtime::Event event) {
  const int code = runtime::wait_event(later, event);
  runtime::destroy_event(event);
  return code;
}

}  // namespace

int follow(runtime::Stream later, runtime::Stream earlier) {
  runtime::Event event = nullptr;
  const int code = mark(earlier, &event);
  return code ? code : follow_marked(later, event);
}

int follow_uncaptured(runtime::Stream later, runtime::Stream earlier) {
  runtime::Event event = nullptr;
  const int code = is_captured(earlier) ? runtime::code::captured_event : mark_uncaptured(earlier, &event);
  return code ? code : follow_marked(later, event);
}

}  // namespace gather::cuda
