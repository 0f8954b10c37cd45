#include <cstdlib>

#include "../cpp/conformance_file.hpp"
#include "device_test.hpp"

// Runs every recorded case on the device. Bytes and error fields must equal those of the CPU, for data of every
// alignment.
namespace {

using conformance::Case;
using conformance::TensorText;
using device::Bytes;
using device::Error;
using device::Memory;

int32_t operation(const Case& test) {
  return test.op == "gather" ? GTH_OP_GATHER : test.op == "gather_nd" ? GTH_OP_GATHER_ND : GTH_OP_GATHER_ELEMENTS;
}

// A tensor of a case in device memory.
struct Operand {
  Operand(const TensorText& text, int64_t shift) : memory(Bytes(text.bytes.begin(), text.bytes.end()), shift) {
    desc.dtype = text.dtype;
    desc.device = GTH_DEVICE_CUDA;
    desc.ndim = static_cast<int32_t>(text.shape.size());
    desc.shape = text.shape.data();
    desc.strides = text.strides.empty() ? nullptr : text.strides.data();
    desc.offset = text.offset;
    desc.data = memory.data();
    desc.extent = static_cast<int64_t>(text.bytes.size());
  }
  Memory memory;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
};

gth_request request_of(const Case& test, const gth_tensor_desc& params, const gth_tensor_desc& indices) {
  return GTH_REQUEST(operation(test), &params, &indices, nullptr, &test.options);
}

// Sets the shape of the output, also for a failing case, so that the call fails by its index. Returns false if there is
// no shape.
bool find_shape(const Case& test, const Operand& params, const Operand& indices, device::Shape* shape, int64_t* bytes) {
  *shape = test.out.shape;
  *bytes = static_cast<int64_t>(test.out.bytes.size());
  if (test.error.status == GTH_OK) return true;
  int64_t extents[GTH_MAX_NDIM];
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  const gth_request request = request_of(test, params.desc, indices.desc);
  const int32_t status = gth_infer(&request, &rows, GTH_MAX_NDIM, extents, nullptr);
  *bytes = 16;
  if (status) return status != GTH_E_SIZE;
  shape->assign(extents, extents + rows.ndim);
  int64_t size = gth_dtype_size(test.params.dtype);
  for (int64_t extent : *shape) {
    if (__builtin_mul_overflow(size, extent, &size)) size = INT64_MAX;
  }
  *bytes = size > (1 << 20) ? 16 : std::max<int64_t>(size, 1);
  return true;
}

void expect_error(const Case& test, int32_t status, const gth_error& error) {
  facts::expect_fields(status, error,
                       {test.error.status, test.error.operand, test.error.component, test.error.position,
                        test.error.value, test.error.limit, test.error.flags});
}

class Replay {
 public:
  Replay(const Case& test, const device::Context& context, int64_t shift)
      : test_(test), context_(context), shift_(shift), params_(test.params, shift), indices_(test.indices, shift) {}

  void run() {
    device::Shape shape;
    int64_t bytes;
    if (!find_shape(test_, params_, indices_, &shape, &bytes)) return;
    out_ = std::make_unique<Memory>(bytes, shift_);
    out_desc_ = device::describe_on_device(test_.params.dtype, shape, out_->data());
    describe();
    if (shift_ % 2 == 0) plan();
    if (shift_ == 0) allocate();
  }

 private:
  // Compares the result of a call that writes out_.
  void expect_outcome(int32_t status, const gth_error& error) {
    const bool by_data = test_.error.status == GTH_E_INDEX && test_.error.operand == GTH_OPERAND_INDICES;
    if (test_.error.status != GTH_OK && !by_data) {
      expect_error(test_, status, error);
    } else {
      EXPECT_EQ(status, GTH_OK) << error.message;
      if (status == GTH_OK) expect_taken(error.sequence);
    }
    const Bytes expected = test_.error.status ? Bytes(out_->get().size(), device::poison)
                                              : Bytes(test_.out.bytes.begin(), test_.out.bytes.end());
    EXPECT_TRUE(out_->get() == expected) << "bytes differ";
  }

  void expect_taken(int64_t sequence) {
    Error taken;
    const int32_t status = gth_context_take_error(context_.get(), &taken);
    expect_error(test_, status, taken);
    if (status == GTH_OK) return;
    EXPECT_EQ(taken.count, 1u);
    EXPECT_EQ(taken.sequence, sequence);
  }

  void describe() {
    out_->fill(device::poison);
    Error error;
    const int32_t status =
        gth_run(context_.get(), operation(test_), &params_.desc, &indices_.desc, &out_desc_, &test_.options, &error);
    expect_outcome(status, error);
  }

  void plan() {
    out_->fill(device::poison);
    gth_plan* plan = nullptr;
    Error error;
    const gth_request request = request_of(test_, params_.desc, indices_.desc);
    int32_t status = gth_plan_create(&request, &plan, &error);
    if (!status) {
      status =
          gth_plan_run(context_.get(), plan, GTH_OPEN, params_.desc.data, indices_.desc.data, out_->data(), &error);
    }
    expect_outcome(status, error);
    EXPECT_EQ(gth_plan_release(plan), GTH_OK);
  }

  // A new output has zeros where a caller's output is unchanged.
  void expect_allocated(gth_tensor* out) {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    ASSERT_EQ(gth_tensor_describe(out, &desc, nullptr), GTH_OK);
    EXPECT_EQ(desc.device, GTH_DEVICE_CUDA);
    Bytes found(static_cast<size_t>(desc.extent));
    if (!found.empty()) device::copy(found.data(), desc.data, desc.extent);
    if (test_.error.status) {
      EXPECT_TRUE(found == Bytes(found.size(), 0)) << "the failed call's new output is not zero";
      return;
    }
    ASSERT_EQ(found.size(), test_.out.bytes.size());
    const bool skips = test_.options.bounds == GTH_BOUNDS_SKIP;
    for (size_t i = 0; i < found.size(); ++i) {
      const bool left_alone = skips && test_.out.bytes[i] == device::poison && found[i] == 0;
      EXPECT_TRUE(left_alone || found[i] == test_.out.bytes[i]) << "byte " << i;
    }
  }

  void allocate() {
    gth_tensor *params = nullptr, *indices = nullptr, *out = nullptr;
    Error error;
    int32_t status = gth_tensor_borrow(&params_.desc, &params, &error);
    if (!status) status = gth_tensor_borrow(&indices_.desc, &indices, &error);
    if (!status) {  // otherwise the tensor itself is rejected
      const gth_tensor_desc p = GTH_TENSOR_DESC_HANDLE(params), i = GTH_TENSOR_DESC_HANDLE(indices);
      status = device::make(context_.get(), operation(test_), p, i, &test_.options, &out, &error);
      const bool by_data = test_.error.status == GTH_E_INDEX && test_.error.operand == GTH_OPERAND_INDICES;
      if (by_data || test_.error.status == GTH_OK) {
        EXPECT_EQ(status, GTH_OK) << error.message;
        expect_taken(error.sequence);
        if (out) expect_allocated(out);
      } else {
        expect_error(test_, status, error);
        EXPECT_EQ(out, nullptr);
      }
    }
    EXPECT_EQ(gth_tensor_release(out), GTH_OK);
    EXPECT_EQ(gth_tensor_release(indices), GTH_OK);
    EXPECT_EQ(gth_tensor_release(params), GTH_OK);
  }

  const Case& test_;
  const device::Context& context_;
  int64_t shift_;
  Operand params_, indices_;
  std::unique_ptr<Memory> out_;
  gth_tensor_desc out_desc_;
};

std::string cases_folder() {
  const char* given = std::getenv("GATHER_CONFORMANCE_CASES");
  return given ? given : GATHER_CASES;
}

// Returns the distances of data from a multiple of 256 bytes for a case. GATHER_ONE_SHIFT selects one for each case,
// because a checker of memory accesses makes calls slow.
std::vector<int64_t> shifts_of(size_t number) {
  const std::vector<int64_t> all = {0, 1, 2, 4, 8};
  return std::getenv("GATHER_ONE_SHIFT") ? std::vector<int64_t>{all[number % all.size()]} : all;
}

class Conformance : public device::DeviceTest, public testing::WithParamInterface<const char*> {};

TEST_P(Conformance, EveryCase) {
  const std::vector<Case> cases = conformance::read_file(cases_folder() + "/" + GetParam() + ".txt");
  ASSERT_GT(cases.size(), 100u);
  const device::Context context;
  size_t failed = 0, number = 0;
  for (const Case& test : cases) {
    if (test.params.dtype == GTH_DTYPE_STRING) continue;  // refused
    SCOPED_TRACE(test.name);
    for (const int64_t shift : shifts_of(number++)) {
      Replay(test, context, shift).run();
      device::forget_described();
    }
    if (HasFailure() && ++failed > 5) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, Conformance, testing::ValuesIn(conformance::files),
                         [](const auto& file) { return conformance::test_name(file.param); });

}  // namespace
