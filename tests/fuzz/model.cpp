#include "model.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "../cpp/random_operands.hpp"

namespace fuzz {
namespace {

constexpr int32_t I = GTH_OPERAND_INDICES, X = GTH_OPERAND_OPTIONS;

// ---- the table of profiles, from the documentation of the systems

enum IndexTypes : uint8_t { any_integer, int32_64, int16_32_64, int64_only };
enum ParamsTypes : uint8_t { everything, numbers, of_tensorflow, of_tensorflow_gpu, of_onnx };

struct Profile {
  int32_t negative[3], bounds, fill, extents;
  ParamsTypes params;
  IndexTypes indices, nd_indices;
};

constexpr int32_t no = GTH_NEGATIVE_REJECT, wrap = GTH_NEGATIVE_WRAP;
constexpr int32_t zero = GTH_FILL_ZERO;
constexpr int32_t equal = GTH_EXTENTS_EQUAL, prefix = GTH_EXTENTS_PREFIX, broadcast = GTH_EXTENTS_BROADCAST;

constexpr Profile profiles[] = {
    {{no, no, no}, GTH_BOUNDS_ERROR, zero, equal, everything, any_integer, any_integer},
    {{no, no, no}, GTH_BOUNDS_ERROR, zero, equal, of_tensorflow, int16_32_64, int16_32_64},
    {{no, no, no}, GTH_BOUNDS_FILL, zero, equal, of_tensorflow_gpu, int32_64, int32_64},
    {{wrap, wrap, wrap}, GTH_BOUNDS_ERROR, zero, prefix, of_onnx, int32_64, int64_only},
    {{wrap, wrap, wrap}, GTH_BOUNDS_ERROR, zero, prefix, of_onnx, int32_64, int64_only},
    {{wrap, wrap, wrap}, GTH_BOUNDS_ERROR, zero, broadcast, everything, any_integer, any_integer},
    {{wrap, wrap, wrap}, GTH_BOUNDS_MODULO, zero, broadcast, everything, any_integer, any_integer},
    {{no, no, no}, GTH_BOUNDS_CLAMP, zero, broadcast, everything, any_integer, any_integer},
    {{no, wrap, no}, GTH_BOUNDS_ERROR, zero, prefix, numbers, int32_64, int32_64},
    {{wrap, wrap, wrap}, GTH_BOUNDS_FILL, GTH_FILL_BY_DTYPE, broadcast, numbers, any_integer, any_integer},
    {{no, wrap, wrap}, GTH_BOUNDS_CLAMP, zero, broadcast, numbers, any_integer, any_integer},
};

bool is_onnx(int32_t profile) { return profile == GTH_PROFILE_ONNX || profile == GTH_PROFILE_ORT; }

// The opsets that define each operation. ONNX has no scatter along an axis, so the definitions of Gather are used.
const std::vector<int32_t>& definitions_of(Op op) {
  static const std::vector<int32_t> of[] = {{1, 11, 13}, {11, 12, 13},     {11, 13},
                                            {1, 11, 13}, {11, 13, 16, 18}, {11, 13, 16, 18}};
  return of[static_cast<int32_t>(is_gradient(op) ? gather_of(op) : op)];
}

// Returns the newest definition of an operation up to the opset. For a rejected opset, returns the newest definition.
int32_t definition_of(Op op, int32_t opset) {
  const std::vector<int32_t>& known = definitions_of(op);
  const auto above = std::upper_bound(known.begin(), known.end(), opset);
  return above == known.begin() ? known.back() : above[-1];
}

bool is_float8(int32_t dtype) { return dtype >= GTH_DTYPE_FLOAT8_E3M4 && dtype <= GTH_DTYPE_FLOAT8_E8M0FNU; }

bool allows_params(ParamsTypes types, int32_t dtype, int32_t definition) {
  const bool in_tensorflow = !is_float8(dtype) || dtype == GTH_DTYPE_FLOAT8_E4M3FN || dtype == GTH_DTYPE_FLOAT8_E5M2;
  switch (types) {
    case everything:
    case numbers: return true;
    case of_tensorflow:
    case of_tensorflow_gpu: return in_tensorflow;
    case of_onnx: return !is_float8(dtype) && (dtype != GTH_DTYPE_BFLOAT16 || definition >= 13);
  }
  return false;
}

bool is_integer(int32_t dtype) {
  for (const int32_t each : oracle::index_dtypes) {
    if (each == dtype) return true;
  }
  return false;
}

bool allows_indices(IndexTypes types, int32_t dtype) {
  const bool in_32_64 = dtype == GTH_DTYPE_INT32 || dtype == GTH_DTYPE_INT64;
  switch (types) {
    case any_integer: return true;
    case int32_64: return in_32_64;
    case int16_32_64: return in_32_64 || dtype == GTH_DTYPE_INT16;
    case int64_only: return dtype == GTH_DTYPE_INT64;
  }
  return false;
}

bool takes_reduction(int32_t dtype, int32_t reduction) {
  if (reduction == GTH_REDUCTION_NONE || gth_dtype_size(dtype) == 0) return true;
  const bool is_extreme = reduction == GTH_REDUCTION_MAX || reduction == GTH_REDUCTION_MIN;
  if (dtype == GTH_DTYPE_BOOL && reduction == GTH_REDUCTION_MEAN) return false;
  return !is_float8(dtype) && (!oracle::is_complex(dtype) || !is_extreme);
}

// ---- the checks of a request, stage by stage

struct Predictor {
  const Op named;
  const Tensor &p, &i;
  const Tensor* o;
  const Options& options;
  Prediction& prediction;
  const Op op = gather_of(named);
  const bool is_scatter = scatters(named);  // the table is written
  const bool has_scatter_rules =
      is_scatter && !is_gradient(named);  // options have the meaning that they have for scatters
  const int32_t P = is_scatter ? GTH_OPERAND_TARGET : GTH_OPERAND_PARAMS;
  const int32_t O = is_scatter ? GTH_OPERAND_UPDATES : GTH_OPERAND_OUT;
  const gth_options& x = options.fields;
  const Profile* profile = profiles;
  int32_t definition = 0;  // opset of ONNX, or 0 for none

  void add(Stage stage, int32_t status, int32_t operand, int32_t dim = -1, int64_t what = 0, int64_t bound = 0,
           uint8_t known = all_fields) {
    prediction.faults.push_back({stage, status, operand, dim, what, bound, known});
  }
  void add_option(Stage stage, int32_t status, size_t field, int64_t what, uint8_t known = component | value) {
    add(stage, status, X, static_cast<int32_t>(field), what, 0, known);
  }

  void pointers() {
    if (p.is_null) add(Stage::pointers, GTH_E_NULL, P);
    if (i.is_null) add(Stage::pointers, GTH_E_NULL, I);
    if (o && o->is_null) add(Stage::pointers, GTH_E_NULL, O);
  }

  void switches() {
    if (options.is_null) return;
    const auto size = static_cast<int64_t>(x.size);
    if (x.size < sizeof x || x.size > 4096 || x.size % 4) {
      return add(Stage::structs, GTH_E_VERSION, X, 0, size, sizeof x, component | value);
    }
    if (options.has_tail) add(Stage::structs, GTH_E_VERSION, X, sizeof x, size, 0, component | value);
    const struct {
      size_t field;
      int32_t value, highest;
    } fields[] = {{offsetof(gth_options, has_axis), x.has_axis, 1},
                  {offsetof(gth_options, profile), x.profile, 10},
                  {offsetof(gth_options, negative), x.negative, 2},
                  {offsetof(gth_options, bounds), x.bounds, GTH_BOUNDS_ERROR_PARTIAL},
                  {offsetof(gth_options, fill), x.fill, 3},
                  {offsetof(gth_options, extents), x.extents, 3},
                  {offsetof(gth_options, reduction), x.reduction, has_scatter_rules ? 6 : 0},
                  {offsetof(gth_options, accumulate), x.accumulate, is_scatter ? 3 : 0},
                  {offsetof(gth_options, has_padding_index), x.has_padding_index, 1},
                  {offsetof(gth_options, initial), x.initial, has_scatter_rules ? 2 : 0},
                  {offsetof(gth_options, order), x.order, is_scatter ? 2 : 0},
                  {offsetof(gth_options, threads), x.threads, INT32_MAX}};
    for (const auto& each : fields) {
      if (each.value < 0 || each.value > each.highest) {
        add(Stage::structs, GTH_E_VERSION, X, static_cast<int32_t>(each.field), each.value, each.highest,
            each.highest ? all_fields : component | value);
      }
    }
    if (has_scatter_rules && x.bounds == GTH_BOUNDS_FILL) {
      add_option(Stage::structs, GTH_E_VERSION, offsetof(gth_options, bounds), x.bounds);
    }
    if (x.padding_index && !x.has_padding_index) {
      add(Stage::structs, GTH_E_VERSION, X, offsetof(gth_options, padding_index), x.padding_index, 0,
          component | value);
    }
    if (x.reserved) add_option(Stage::structs, GTH_E_VERSION, offsetof(gth_options, reserved), x.reserved);
    if (x.out_dtype) {
      add_option(Stage::structs, GTH_E_VERSION, offsetof(gth_options, out_dtype), x.out_dtype, component);
    }
  }

  void structs() {
    predict_struct(p, P, &prediction.faults);
    predict_struct(i, I, &prediction.faults);
    if (o) predict_struct(*o, O, &prediction.faults);
    switches();
  }

  // Resolves the options. Precondition: their values are valid.
  void settle() {
    const gth_options& given = x;
    profile = &profiles[given.profile];
    definition = is_onnx(given.profile) ? definition_of(named, given.opset ? given.opset : INT32_MAX) : 0;
    oracle::ScatterProblem& problem = prediction.problem;
    problem.is_nd = op == Op::gather_nd;
    problem.is_elements = op == Op::gather_elements;
    problem.negative = given.negative ? given.negative : profile->negative[static_cast<int32_t>(op)];
    if (!given.negative && given.profile == GTH_PROFILE_ONNX && op == Op::gather && definition == 1) {
      problem.negative = no;
    }
    // x.at[] wraps negative indices in every mode. A scatter out of bounds has nothing to fill.
    if (!given.negative && has_scatter_rules && given.profile == GTH_PROFILE_JAX_CLIP) problem.negative = wrap;
    problem.bounds = given.bounds ? given.bounds : profile->bounds;
    if (problem.bounds == GTH_BOUNDS_ERROR_PARTIAL) problem.bounds = GTH_BOUNDS_ERROR;
    if (is_scatter && problem.bounds == GTH_BOUNDS_FILL) problem.bounds = GTH_BOUNDS_SKIP;
    settle_reduction();
    const int32_t extents = given.extents               ? given.extents
                            : op == Op::gather_elements ? profile->extents
                                                        : int32_t{equal};
    problem.extents = static_cast<oracle::Extents>(extents);
    const int32_t fill = given.fill ? given.fill : profile->fill;
    const uint64_t by_dtype[2] = {gth_dtype_size(p.dtype) ? oracle::fill_of(p.dtype) : 0, 0};
    if (fill == GTH_FILL_VALUE) std::memcpy(problem.fill, given.fill_value, sizeof problem.fill);
    if (fill == GTH_FILL_BY_DTYPE) std::memcpy(problem.fill, by_dtype, sizeof problem.fill);
    // The rules of ONNX Runtime and torch for rank 0.
    const bool is_torch = given.profile == GTH_PROFILE_TORCH && op == Op::gather_elements;
    const bool scalar = (p.ndim == 0 && given.profile != 0) || (i.ndim == 0 && is_torch);
    problem.has_padding = given.has_padding_index != 0;
    problem.padding = given.padding_index;
    const bool fills = problem.bounds == GTH_BOUNDS_FILL || problem.has_padding;
    const bool small_nan = is_float8(p.dtype) && fill == GTH_FILL_BY_DTYPE && fills;
    prediction.unpredicted = small_nan || scalar || (given.profile == GTH_PROFILE_ORT && is_gather_nd());
  }

  void settle_reduction() {
    oracle::ScatterProblem& problem = prediction.problem;
    problem.reduction = is_gradient(named) ? GTH_REDUCTION_ADD : x.reduction ? x.reduction : GTH_REDUCTION_NONE;
    const int32_t usual = op == Op::gather_elements && x.profile == GTH_PROFILE_TORCH ? GTH_ACCUMULATE_FLOAT32 : 0;
    const bool sums =
        problem.reduces() && problem.reduction != GTH_REDUCTION_MAX && problem.reduction != GTH_REDUCTION_MIN;
    const int32_t accumulate = x.accumulate ? x.accumulate : usual;
    problem.in_float32 = sums && oracle::is_half(p.dtype) && accumulate >= GTH_ACCUMULATE_FLOAT32;
    problem.in_float64 = sums && p.dtype == GTH_DTYPE_FLOAT32 && accumulate == GTH_ACCUMULATE_FLOAT64;
    problem.starts_with_update = x.initial == GTH_INITIAL_UPDATE;
  }

  void defined_reduction() {
    if (!definition || !has_scatter_rules) return;
    const int32_t highest = definition >= 18 || named == Op::scatter ? GTH_REDUCTION_MIN
                            : definition >= 16                       ? GTH_REDUCTION_MUL
                                                                     : GTH_REDUCTION_NONE;
    if (prediction.problem.reduction <= highest) return;
    add(Stage::opset, GTH_E_VERSION, X, offsetof(gth_options, reduction), prediction.problem.reduction, highest);
  }

  void dtypes() {
    if (p.dtype == GTH_DTYPE_STRING) add(Stage::form, GTH_E_UNSUPPORTED, P, -1, p.dtype, 0, value);
    if (!gth_dtype_size(p.dtype) || !allows_params(profile->params, p.dtype, definition)) {
      add(Stage::dtypes, GTH_E_DTYPE, P, -1, p.dtype);
    }
    const IndexTypes types = op == Op::gather_nd ? profile->nd_indices : profile->indices;
    if (!is_integer(i.dtype) || !allows_indices(types, i.dtype)) add(Stage::dtypes, GTH_E_DTYPE, I, -1, i.dtype);
    if (!takes_reduction(p.dtype, prediction.problem.reduction)) add(Stage::dtypes, GTH_E_DTYPE, P, -1, p.dtype);
    if (o && o->dtype != p.dtype) add(Stage::dtypes, GTH_E_DTYPE, O, -1, o->dtype, p.dtype);
    const bool has_fill_dtype = x.fill == GTH_FILL_VALUE && x.fill_dtype && p.dtype != GTH_DTYPE_STRING;
    if (has_fill_dtype && x.fill_dtype != p.dtype) {
      add(Stage::dtypes, GTH_E_DTYPE, X, offsetof(gth_options, fill_dtype), x.fill_dtype, p.dtype);
    }
    const int32_t first = definitions_of(named).front();
    if (definition && x.opset != 0 && x.opset < first) {
      return add(Stage::opset, GTH_E_VERSION, X, offsetof(gth_options, opset), x.opset, first);
    }
    defined_reduction();
  }

  void rank_of(const Tensor& tensor, int32_t operand, Stage stage) {
    if (tensor.ndim < 0 || tensor.ndim > GTH_MAX_NDIM) {
      add(stage, GTH_E_RANK, operand, -1, tensor.ndim, GTH_MAX_NDIM);
    } else if (tensor.ndim > 0 && !tensor.has_shape) {
      add(stage, GTH_E_NULL, operand);
    }
  }

  void ranks() {
    rank_of(p, P, Stage::ranks);
    rank_of(i, I, Stage::ranks);
    if (!prediction.is_sound(Stage::attributes)) return;
    if (p.ndim < 1) add(Stage::ranks, GTH_E_RANK, P, -1, 0, 1);
    if (i.ndim < 1 && op == Op::gather_nd) add(Stage::ranks, GTH_E_RANK, I, -1, 0, 1);
    if (i.ndim != p.ndim && op == Op::gather_elements) add(Stage::ranks, GTH_E_RANK, I, -1, i.ndim, p.ndim);
  }

  // Returns true for gather_nd and its gradient.
  bool is_gather_nd() const { return op == Op::gather_nd && !has_scatter_rules; }

  static bool is_within(int64_t number, int64_t low, int64_t end) { return number >= low && number < end; }

  void attributes() {
    constexpr size_t axis_field = offsetof(gth_options, axis), batch_field = offsetof(gth_options, batch_dims);
    const int64_t r = p.ndim, q = i.ndim, b = x.batch_dims;
    const auto bad_axis = [&] { add_option(Stage::attributes, GTH_E_AXIS, axis_field, x.axis); };
    const auto bad_batch = [&] { add_option(Stage::attributes, GTH_E_BATCH, batch_field, b); };
    if (!x.has_axis && x.axis) bad_axis();
    if (x.has_axis && op == Op::gather_nd) bad_axis();
    if (x.has_axis && op != Op::gather_nd && !is_within(x.axis, -r, r)) bad_axis();
    const bool in_onnx = is_gather_nd() && definition > 11;
    const bool has_batch = op != Op::gather_elements && (definition == 0 || in_onnx);
    if (b && !has_batch) bad_batch();
    if (op == Op::gather && !is_within(b, -q, q + 1)) bad_batch();
    if (op == Op::gather_nd && !is_within(b, 0, std::min(q, r))) bad_batch();
    if (!prediction.is_sound(Stage::shapes)) return;
    oracle::ElementsProblem& problem = prediction.problem;
    problem.batch = op == Op::gather && b < 0 ? b + q : b;
    problem.axis = op == Op::gather_nd ? b : x.has_axis ? x.axis : op == Op::gather ? b : 0;
    if (problem.batch >= r || !is_within(problem.axis, -r, r)) return bad_batch();
    const int64_t axis = problem.axis;  // as given, also if only batch_dims sets it
    if (axis < 0) problem.axis += r;
    if (problem.axis < problem.batch) add_option(Stage::attributes, GTH_E_AXIS, axis_field, axis);
  }

  void extents_of(const Tensor& tensor, int32_t operand) {
    for (int32_t d = 0; d < tensor.ndim; ++d) {
      const int64_t extent = tensor.shape[static_cast<size_t>(d)];
      if (extent < 0) return add(Stage::shapes, GTH_E_SHAPE, operand, d, extent);
    }
  }

  void components() {
    if (op != Op::gather_nd) return;
    const int64_t k = i.shape.back(), most = p.ndim - prediction.problem.batch;
    const int32_t last = i.ndim - 1;
    prediction.problem.components = k;
    if (k < 0 || k > most) add(Stage::shapes, GTH_E_SHAPE, I, last, k, most, component | value);
    if (k == 0 && x.profile == GTH_PROFILE_ONNX) add(Stage::shapes, GTH_E_SHAPE, I, last, 0, 0, component | value);
  }

  void agreement() {
    oracle::ElementsProblem& problem = prediction.problem;
    if (op == Op::gather_elements) {
      problem.params.shape = p.shape;
      problem.indices.shape = i.shape;
      const oracle::Disagreement found = oracle::first_disagreement(problem);
      if (found.dim >= 0) add(Stage::shapes, GTH_E_SHAPE, I, found.dim, found.indices, found.params);
      return;
    }
    for (size_t d = 0; d < static_cast<size_t>(problem.batch); ++d) {
      if (p.shape[d] == i.shape[d]) continue;
      return add(Stage::shapes, GTH_E_BATCH, I, static_cast<int32_t>(d), i.shape[d], p.shape[d]);
    }
  }

  // Returns true if updates are the last dims of the rows. The model does not compute their result.
  bool are_repeated(const Shape& shape) const {
    const bool repeats = x.profile == 0 || (x.profile >= GTH_PROFILE_NUMPY_RAISE && x.profile != GTH_PROFILE_TORCH);
    const auto rank = static_cast<size_t>(std::max(o->ndim, 0));
    return has_scatter_rules && repeats && rank < shape.size() &&
           std::equal(o->shape.begin(), o->shape.begin() + static_cast<int64_t>(rank),
                      shape.end() - static_cast<int64_t>(rank));
  }

  void output() {
    oracle::ElementsProblem& problem = prediction.problem;
    problem.params.shape = p.shape;
    problem.indices.shape = i.shape;
    problem.out.shape = shape_of(op, problem);
    const Shape& shape = problem.out.shape;
    const auto rank = static_cast<int32_t>(shape.size());
    if (rank > GTH_MAX_NDIM) add(Stage::out_rank, GTH_E_RANK, O, -1, rank, GTH_MAX_NDIM);
    if (!o || !prediction.is_sound(Stage::out_shape)) return;
    rank_of(*o, O, Stage::out_shape);
    if (!prediction.is_sound(Stage::sizes)) return;
    if (are_repeated(shape)) {
      prediction.unpredicted = true;
      return;
    }
    if (o->ndim != rank) return add(Stage::out_shape, GTH_E_RANK, O, -1, o->ndim, rank);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (o->shape[d] == shape[d]) continue;
      return add(Stage::out_shape, GTH_E_SHAPE, O, static_cast<int32_t>(d), o->shape[d], shape[d]);
    }
  }

  void size_of(const Shape& shape, int64_t item, int32_t operand) {
    Wide size = item;
    for (int64_t extent : shape) {
      size *= std::max<int64_t>(extent, 1);
      if (size > INT64_MAX) return add(Stage::sizes, GTH_E_SIZE, operand, -1, 0, INT64_MAX, limit);
    }
  }

  // Returns the described output, or a dense one.
  Tensor output_or_dense() const {
    if (o) return *o;
    Tensor dense;
    dense.dtype = p.dtype;
    dense.shape = prediction.problem.out.shape;
    dense.ndim = static_cast<int32_t>(dense.shape.size());
    return dense;
  }

  void operand_of(const Tensor& tensor, int32_t operand, oracle::Operand* operand_of_problem, Reach* reach) {
    oracle::Operand& result = *operand_of_problem;
    result.dtype = tensor.dtype;
    result.item = gth_dtype_size(operand == O ? p.dtype : tensor.dtype);
    result.shape = tensor.shape;
    result.strides = strides_of(tensor, result.item);
    result.offset = tensor.offset;
    *reach = reach_of(tensor, result.item, result.strides);
    predict_memory(tensor, operand, *reach, &prediction.faults);
    if (!reach->empty) return;
    std::fill(result.strides.begin(), result.strides.end(), 0);  // no element uses a stride
    result.offset = 0;
  }

  void strides() {
    operand_of(p, P, &prediction.problem.params, &prediction.params);
    operand_of(i, I, &prediction.problem.indices, &prediction.indices);
    const Tensor out = output_or_dense();
    operand_of(out, O, &prediction.problem.out, &prediction.out);
    const Tensor& written = is_scatter ? p : out;
    const oracle::Operand& target = is_scatter ? prediction.problem.params : prediction.problem.out;
    const bool is_empty = is_scatter ? prediction.params.empty : prediction.out.empty;
    if (!is_empty) predict_overlap(written, is_scatter ? P : O, target.item, target.strides, &prediction.faults);
  }

  void device_of(const Tensor& tensor, int32_t operand) {
    const int32_t device = tensor.device;
    if (device != 0 && device != GTH_DEVICE_CPU && device != GTH_DEVICE_CUDA_HOST) {
      add(Stage::devices, GTH_E_DEVICE, operand, -1, device, 0, value);
      if (is_scatter || x.has_padding_index) add(Stage::devices, GTH_E_UNSUPPORTED, P, -1, 0, 0, only_operand);
    }
  }

  static bool overlap(uintptr_t a, const Reach& a_reach, uintptr_t b, const Reach& b_reach) {
    if (a_reach.empty || b_reach.empty) return false;
    const Wide a_at = static_cast<int64_t>(a), b_at = static_cast<int64_t>(b);
    return a_at + a_reach.low < b_at + b_reach.high && b_at + b_reach.low < a_at + a_reach.high;
  }

  void memory() {
    const Tensor* written = is_scatter ? &p : o;
    const int32_t writes = is_scatter ? P : O;
    if (written && written->flags & GTH_TENSOR_READONLY) add(Stage::memory, GTH_E_READONLY, writes);
    const bool reads_indices = prediction.problem.components > 0 && !prediction.indices.empty;
    // A gradient also writes elements that no index selects.
    if (is_gradient(named) && !p.has_data && !prediction.params.empty) add(Stage::memory, GTH_E_NULL, P);
    if (prediction.out.empty) {
      prediction.may_need_null = reads_indices && !i.has_data;
      return;
    }
    if (!p.has_data && !prediction.params.empty) add(Stage::memory, GTH_E_NULL, P);
    if (!i.has_data && reads_indices) add(Stage::memory, GTH_E_NULL, I);
    if (!o) return;
    if (!o->has_data) add(Stage::memory, GTH_E_NULL, O);
    const Reach& reach = is_scatter ? prediction.params : prediction.out;
    if (overlap(o->data, prediction.out, p.data, prediction.params)) {
      add(Stage::memory, GTH_E_ALIAS, writes, -1, is_scatter ? O : P);
    }
    if (reads_indices && overlap(written->data, reach, i.data, prediction.indices)) {
      add(Stage::memory, GTH_E_ALIAS, writes, -1, I);
    }
  }

  void all() {
    pointers();
    if (!prediction.is_sound(Stage::structs)) return;
    structs();
    if (!prediction.is_sound(Stage::form)) return;
    settle();
    dtypes();
    if (!prediction.is_sound(Stage::ranks)) return;
    ranks();
    if (!prediction.is_sound(Stage::attributes)) return;
    attributes();
    if (!prediction.is_sound(Stage::shapes)) return;
    extents_of(p, P);
    extents_of(i, I);
    components();
    if (!prediction.is_sound(Stage::out_rank)) return;
    agreement();
    if (!prediction.is_sound(Stage::out_rank)) return;
    output();
    if (!prediction.is_sound(Stage::sizes)) return;
    size_of(p.shape, gth_dtype_size(p.dtype), P);
    size_of(i.shape, gth_dtype_size(i.dtype), I);
    size_of(prediction.problem.out.shape, gth_dtype_size(p.dtype), O);
    if (!prediction.is_sound(Stage::strides)) return;
    strides();
    device_of(p, P);
    device_of(i, I);
    if (o) device_of(*o, O);
    if (prediction.is_sound(Stage::devices)) memory();
  }
};

const char* differing_field(const Fault& fault, const gth_error& error) {
  if (error.operand != fault.operand) return "operand";
  if (fault.known & component && error.component != fault.component) return "component";
  if (fault.known & value && error.value != fault.value) return "value";
  if (fault.known & limit && error.limit != fault.limit) return "limit";
  if (error.position != -1) return "position";
  return nullptr;
}

Wide magnitude(int64_t stride) { return stride < 0 ? -Wide{stride} : Wide{stride}; }

}  // namespace

Shape shape_of(Op op, const oracle::ElementsProblem& problem) {
  return gather_of(op) == Op::gather_elements ? oracle::elements_shape(problem) : oracle::output_shape(problem);
}

oracle::ScatterAnswer answer(Op op, const oracle::ScatterProblem& problem) {
  if (scatters(op)) return oracle::solve_scatter(problem);
  return {op == Op::gather_elements ? oracle::solve_elements(problem) : oracle::solve(problem), {}};
}

Shape strides_of(const Tensor& tensor, int64_t item) {
  if (tensor.has_strides) return tensor.strides;
  Shape strides(tensor.shape.size());
  for (size_t d = strides.size(); d-- > 0;) {
    strides[d] = item;
    if (__builtin_mul_overflow(item, std::max<int64_t>(tensor.shape[d], 1), &item)) item = INT64_MAX;
  }
  return strides;
}

Reach reach_of(const Tensor& tensor, int64_t item, const Shape& strides) {
  Reach reach{tensor.offset, Wide{tensor.offset} + item, false};
  for (size_t d = 0; d < strides.size(); ++d) {
    if (tensor.shape[d] == 0) return {};
    const Wide span = (Wide{tensor.shape[d]} - 1) * strides[d];
    (span < 0 ? reach.low : reach.high) += span;
  }
  return reach;
}

void predict_struct(const Tensor& tensor, int32_t operand, std::vector<Fault>* faults) {
  constexpr uint32_t known = sizeof(gth_tensor_desc);
  if (tensor.size < known || tensor.size > 4096 || tensor.size % 4) {
    faults->push_back({Stage::structs, GTH_E_VERSION, operand, 0, tensor.size, known, component | value});
    return;
  }
  if (tensor.has_tail) faults->push_back({Stage::structs, GTH_E_VERSION, operand, known, 0, 0, component});
  if (tensor.flags & ~uint32_t{GTH_TENSOR_READONLY}) {
    faults->push_back({Stage::structs, GTH_E_VERSION, operand, -1, tensor.flags, GTH_TENSOR_READONLY, value | limit});
  }
  if (tensor.has_codec && operand == GTH_OPERAND_PARAMS) {
    faults->push_back({Stage::structs, GTH_E_VERSION, GTH_OPERAND_CODEC, 0, 0, sizeof(gth_codec), component | value});
  } else if (tensor.has_codec) {
    faults->push_back({Stage::structs, GTH_E_UNSUPPORTED, operand, -1, 0, 0, only_operand});
  }
}

void predict_memory(const Tensor& tensor, int32_t operand, const Reach& reach, std::vector<Fault>* faults) {
  const auto add = [&](Wide reached) {
    const bool fits = reached >= INT64_MIN && reached <= INT64_MAX;
    const uint8_t known = fits ? value | limit : only_operand;
    faults->push_back({Stage::strides, GTH_E_STRIDE, operand, -1, static_cast<int64_t>(reached), tensor.extent, known});
  };
  if (tensor.extent < 0) {
    faults->push_back({Stage::strides, GTH_E_STRIDE, operand, -1, 0, 0, only_operand});
    return;
  }
  if (reach.empty) return;
  if (reach.low < 0) add(reach.low);
  if (reach.high > (tensor.extent ? tensor.extent : INT64_MAX)) add(reach.high);
}

// Considers the dims with more than one element in the order of |stride|. Each stride must be at least the byte range
// of all smaller dims.
void predict_overlap(const Tensor& tensor, int32_t operand, int64_t item, const Shape& strides,
                     std::vector<Fault>* faults) {
  std::vector<size_t> order;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (tensor.shape[d] > 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return magnitude(strides[a]) < magnitude(strides[b]); });
  Wide span = item;
  for (size_t d : order) {
    if (magnitude(strides[d]) < span) {
      faults->push_back({Stage::strides, GTH_E_STRIDE, operand, -1, strides[d], 0, only_operand});
      return;
    }
    span += magnitude(strides[d]) * (Wide{tensor.shape[d]} - 1);
  }
}

bool Prediction::is_sound(Stage before) const {
  return std::none_of(faults.begin(), faults.end(), [&](const Fault& fault) { return fault.stage < before; });
}

const char* Prediction::object_to(int32_t status, const gth_error& error, Stage from) const {
  Stage first = Stage::values;
  for (const Fault& fault : faults) {
    if (fault.stage >= from) first = std::min(first, fault.stage);
  }
  const char* objection = "status";
  for (const Fault& fault : faults) {
    if (fault.stage != first || fault.status != status) continue;
    objection = differing_field(fault, error);
    // The header does not specify this component, so any value is accepted.
    if (!objection) return nullptr;
  }
  return objection;
}

Prediction predict(Op op, const Tensor& params, const Tensor& indices, const Tensor* out, const Options& options) {
  Prediction prediction;
  static const Options defaults;
  const Options& effective = options.is_null ? defaults : options;
  Predictor{op, params, indices, out, effective, prediction}.all();
  return prediction;
}

}  // namespace fuzz
