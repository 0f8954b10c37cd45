#include "forms.hpp"

// Gathers whose output may be partly written after an error: new tensors, and bounds = error_partial. Large ones read
// their indices once.
namespace {

using device::Bytes;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Tensor;
using facts::Facts;
using forms::Call;
using forms::Operand;
using forms::Random;

// A call of `tuples` tuples with each way of copying rows and of loading indices.
struct Form {
  const char* name;
  int32_t op, dtype, index;
  Shape params;
  int64_t axis, batch, tuples;
};

constexpr int64_t many = device::in_front;

const Form all_forms[] = {
    {"rows of 16 bytes", GTH_OP_GATHER, GTH_DTYPE_COMPLEX128, GTH_DTYPE_INT64, {7, 3}, 0, 0, many},
    {"rows of 16 bytes, int32", GTH_OP_GATHER, GTH_DTYPE_FLOAT32, GTH_DTYPE_INT32, {7, 8}, 0, 0, many},
    {"rows of 8 bytes", GTH_OP_GATHER, GTH_DTYPE_FLOAT64, GTH_DTYPE_INT64, {7}, 0, 0, many},
    {"rows of 24 bytes", GTH_OP_GATHER, GTH_DTYPE_FLOAT64, GTH_DTYPE_INT32, {7, 3}, 0, 0, many},
    {"rows of 12 bytes", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {7, 3}, 0, 0, many},
    {"rows of 6 bytes", GTH_OP_GATHER, GTH_DTYPE_FLOAT16, GTH_DTYPE_INT64, {7, 3}, 0, 0, many},
    {"rows of 3 bytes", GTH_OP_GATHER, GTH_DTYPE_INT8, GTH_DTYPE_INT64, {7, 3}, 0, 0, many},
    {"words", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {7, 5}, 0, 0, many},
    {"unaligned", GTH_OP_GATHER, GTH_DTYPE_INT8, GTH_DTYPE_INT32, {7, 17}, 0, 0, many},
    {"elements of 4 bytes", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {7}, 0, 0, many},
    {"elements of 2 bytes", GTH_OP_GATHER, GTH_DTYPE_FLOAT16, GTH_DTYPE_INT32, {7}, 0, 0, many},
    {"elements of 1 byte", GTH_OP_GATHER, GTH_DTYPE_INT8, GTH_DTYPE_UINT32, {7}, 0, 0, many},
    {"indices of 2 bytes", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT16, {7, 8}, 0, 0, many},
    {"axis 1", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {3, 7, 2}, 1, 0, many},
    {"axis 1, elements", GTH_OP_GATHER, GTH_DTYPE_INT8, GTH_DTYPE_INT32, {3, 7}, 1, 0, many},
    {"batches", GTH_OP_GATHER, GTH_DTYPE_FLOAT32, GTH_DTYPE_INT64, {3, 7, 4}, 1, 1, many},
    {"batches, axis 2", GTH_OP_GATHER, GTH_DTYPE_FLOAT32, GTH_DTYPE_INT64, {3, 2, 7, 4}, 2, 1, many},
    {"axis 1, rows of 8 bytes", GTH_OP_GATHER, GTH_DTYPE_FLOAT64, GTH_DTYPE_INT64, {3, 7}, 1, 0, many},
    {"axis 1, elements of 4 bytes", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT32, {3, 7}, 1, 0, many},
    {"axis 1, elements of 2 bytes", GTH_OP_GATHER, GTH_DTYPE_FLOAT16, GTH_DTYPE_INT64, {3, 7}, 1, 0, many},
    {"tuples of 2, elements", GTH_OP_GATHER_ND, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {3, 7}, 0, 0, many},
    {"tuples of 2", GTH_OP_GATHER_ND, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {3, 7, 4}, 0, 0, many},
    {"tuples of 9", GTH_OP_GATHER_ND, GTH_DTYPE_INT32, GTH_DTYPE_INT32, {2, 2, 2, 2, 2, 2, 2, 2, 2}, 0, 0, many},
    {"few tuples", GTH_OP_GATHER, GTH_DTYPE_INT32, GTH_DTYPE_INT64, {7, 8}, 0, 0, device::most_inside},
};

void fill_dense(Random& random, Operand* operand) {
  int64_t bytes = gth_dtype_size(operand->dtype);
  for (const int64_t extent : operand->shape) bytes *= extent;
  operand->bytes.resize(static_cast<size_t>(bytes));
  for (char& each : operand->bytes) each = static_cast<char>(random.bits());
}

// A call with valid indices.
class Large : public Call {
 public:
  explicit Large(const Form& form) {
    const auto axis = static_cast<std::ptrdiff_t>(form.axis), batch = static_cast<std::ptrdiff_t>(form.batch);
    is_nd = form.op == GTH_OP_GATHER_ND;
    op = form.op;
    const int64_t components = is_nd ? static_cast<int64_t>(form.params.size() > 8 ? 9 : 2) : 1;
    options.batch_dims = form.batch;
    options.has_axis = is_nd ? 0 : 1;
    options.axis = form.axis;
    params.dtype = out.dtype = form.dtype;
    params.shape = form.params;
    indices.dtype = form.index;
    indices.shape.assign(form.params.begin(), form.params.begin() + batch);
    indices.shape.push_back(form.tuples);
    out.shape.assign(form.params.begin(), form.params.begin() + axis);
    out.shape.push_back(form.tuples);
    out.shape.insert(out.shape.end(), form.params.begin() + axis + components, form.params.end());
    if (is_nd) indices.shape.push_back(components);
    Random random(11);
    for (Operand* each : {&params, &indices, &out}) fill_dense(random, each);
    for (int64_t at = 0; at < count(); ++at) {
      set(at, random.below(form.params[static_cast<size_t>(form.axis + (is_nd ? at % components : 0))]));
    }
  }

  int64_t count() const { return static_cast<int64_t>(indices.bytes.size()) / gth_dtype_size(indices.dtype); }
  void set(int64_t at, int64_t value) {
    const auto item = static_cast<size_t>(gth_dtype_size(indices.dtype));
    std::memcpy(indices.bytes.data() + static_cast<size_t>(at) * item, &value, item);
  }

  // Runs the call on the CPU with these bounds. Returns the facts of its error.
  Facts on_cpu(int32_t bounds, Bytes* rows) const {
    gth_options chosen = options;
    chosen.bounds = bounds;
    const gth_tensor_desc p = params.desc(params.bytes.data(), GTH_DEVICE_CPU),
                          i = indices.desc(indices.bytes.data(), GTH_DEVICE_CPU),
                          o = out.desc(rows->data(), GTH_DEVICE_CPU);
    Error error;
    const int32_t status = gth_run(nullptr, op, &p, &i, &o, &chosen, &error);
    return {status,
            error.operand,
            error.component,
            error.position,
            error.value,
            error.limit,
            error.flags & ~uint32_t{GTH_ERROR_CUT}};
  }

  // Gathers into a new tensor on the device. It has zeros after an error.
  void expect_new(const Context& context) const {
    Bytes expected(out.bytes.size(), 0);
    const Facts facts = on_cpu(GTH_BOUNDS_ERROR, &expected);
    const Memory table(params.bytes), ids(indices.bytes);
    Tensor made;
    Error error;
    ASSERT_EQ(device::make(context.get(), op, params.desc(table.data(), GTH_DEVICE_CUDA),
                           indices.desc(ids.data(), GTH_DEVICE_CUDA), &options, made.out(), &error),
              GTH_OK)
        << error.message;
    context.expect_taken(facts, 1, error.sequence);
    Bytes found(expected.size());
    device::copy(found.data(), made.desc().data, static_cast<int64_t>(found.size()));
    EXPECT_TRUE(found == expected) << "bytes differ";
  }

  // Gathers into given memory on the device. After an error, rows are gathered or unchanged.
  void expect_partial(const Context& context) const {
    Bytes gathered = out.bytes, scratch = out.bytes;
    const Facts facts = on_cpu(GTH_BOUNDS_ERROR, &scratch);
    on_cpu(GTH_BOUNDS_SKIP, &gathered);
    const Memory table(params.bytes), ids(indices.bytes), rows(out.bytes);
    gth_options chosen = options;
    chosen.bounds = GTH_BOUNDS_ERROR_PARTIAL;
    const gth_tensor_desc p = params.desc(table.data(), GTH_DEVICE_CUDA), i = indices.desc(ids.data(), GTH_DEVICE_CUDA),
                          o = out.desc(rows.data(), GTH_DEVICE_CUDA);
    Error error;
    ASSERT_EQ(gth_run(context.get(), op, &p, &i, &o, &chosen, &error), GTH_OK) << error.message;
    context.expect_taken(facts, 1, error.sequence);
    const Bytes found = rows.get();
    if (facts.status == GTH_OK) {
      EXPECT_TRUE(found == gathered) << "bytes differ";
      return;
    }
    int64_t others = 0;
    for (size_t at = 0; at < found.size(); ++at) others += found[at] != gathered[at] && found[at] != out.bytes[at];
    EXPECT_EQ(others, 0) << "bytes are neither gathered nor unchanged";
  }
};

class NewOutputs : public device::DeviceTest {};

// The first invalid index is reported. The next call is correct.
TEST_F(NewOutputs, OfEveryForm) {
  const Context context;
  for (const Form& form : all_forms) {
    SCOPED_TRACE(form.name);
    const Large good(form);
    good.expect_new(context);
    good.expect_partial(context);
    for (const int64_t at : {int64_t{0}, good.count() / 2, good.count() - 1}) {
      Large bad(form);
      bad.set(at, 100);
      if (at == 0) bad.set(bad.count() - 2, 101);
      bad.expect_new(context);
      bad.expect_partial(context);
      good.expect_new(context);
    }
    device::forget_described();
  }
}

// A graph reads its indices anew in every launch.
TEST_F(NewOutputs, InGraphs) {
  const device::Stream stream;
  const Context context(stream.get());
  device::Lookup lookup(9, 5, many);
  const std::vector<int64_t> rows(static_cast<size_t>(many), 4);
  std::vector<int64_t> bad = rows;
  bad[3000] = -1;
  const gth_options options = device::with_bounds(GTH_BOUNDS_ERROR_PARTIAL);
  lookup.pick(rows);
  const device::Captured captured(stream, [&] { lookup.enqueue(context, &options); });
  for (const bool is_bad : {false, true, false, true, true, false}) {
    lookup.pick(is_bad ? bad : rows);
    lookup.clear();
    captured.launch();
    context.expect_taken(is_bad ? Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3000, -1, 9} : Facts{GTH_OK});
    if (!is_bad) lookup.expect_rows(rows);
  }
}

}  // namespace
