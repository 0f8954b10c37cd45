#include "api/string_output.hpp"

#include <new>

namespace gather::api {
namespace {

// One storage that consists of the two buffers of strings.
class StringsStorage final : public Storage {
 public:
  StringsStorage(Storage* offsets, Storage* bytes) : offsets_(offsets), bytes_(bytes) {}

 private:
  ~StringsStorage() override {
    offsets_->release();
    bytes_->release();
  }

  Storage* offsets_;
  Storage* bytes_;
};

}  // namespace

int32_t make_string_output(const gth_tensor_desc& desc, const core::Strings& strings, bool binary, Storage* offsets,
                           Storage* bytes, gth_tensor** out, const Error& error) {
  StringsStorage* storage = new (std::nothrow) StringsStorage(offsets, bytes);
  if (!storage) {
    bytes->release();
    return fail_memory(sizeof(StringsStorage), error);
  }
  offsets->retain();
  const int32_t status = make_string_tensor(desc, strings, binary, storage, out, error);
  if (status) storage->release();
  return status;
}

}  // namespace gather::api
