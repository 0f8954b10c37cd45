#include "request.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

#include "../cpp/random_operands.hpp"

namespace fuzz {
namespace {

constexpr int32_t all_dtypes[] = {GTH_DTYPE_FLOAT32,     GTH_DTYPE_INT8,        GTH_DTYPE_INT16,
                                  GTH_DTYPE_INT64,       GTH_DTYPE_COMPLEX128,  GTH_DTYPE_BOOL,
                                  GTH_DTYPE_BFLOAT16,    GTH_DTYPE_FLOAT16,     GTH_DTYPE_UINT64,
                                  GTH_DTYPE_FLOAT8_E4M3, GTH_DTYPE_FLOAT8_E5M2, GTH_DTYPE_COMPLEX64};

int64_t number_of_dtype(Input& input) {
  static constexpr int64_t others[] = {0, -1, 1, 4, 7, 9, 65536, 65537, 33, 256, 65535, GTH_DTYPE_FLOAT8_E8M0FNU};
  return input.rarely(4) ? static_cast<int32_t>(input.number()) : input.pick(others);
}

uint32_t hostile_size(Input& input) {
  static constexpr uint32_t sizes[] = {0, 3, 4, 76, 79, 81, 82, 84, 96, 4096, 4100, 1u << 31, UINT32_MAX};
  return input.pick(sizes);
}

// Returns a value for a signed or unsigned index dtype.
int64_t index_value(Input& input, int64_t size) {
  static constexpr int64_t beyond[] = {0,         -1,        1,         INT8_MIN,  INT8_MAX,
                                       UINT8_MAX, INT16_MIN, INT32_MAX, INT64_MAX, INT64_MIN};
  if (!input.rarely(8)) return size > 0 ? input.below(256) % size : 0;
  const int64_t off = input.pick(beyond);
  return input.rarely(3) ? off : static_cast<int64_t>(static_cast<uint64_t>(size) + static_cast<uint64_t>(off));
}

// Strides of 0 make many elements from a few bytes. Larger shapes are not enumerated.
int64_t most_elements() { return memory().uses_large ? 32768 : 4096; }
bool is_few(const Shape& shape) { return count_of(shape) <= most_elements(); }

// Returns a number from 1 to `most`. Small numbers are as frequent as large ones.
int64_t up_to(int64_t most, Input& input) {
  const int64_t shift = input.below(17), number = input.below(256) * 256 + input.below(256);
  return 1 + (number * 2 >> shift) % std::max<int64_t>(most, 1);
}

void put_struct(const Pages& pages, uint32_t size, const void* fields, size_t known, bool has_tail, char** at) {
  // If the size is invalid, memory beyond the size field need not exist. Structs are aligned.
  const bool is_size = size >= known && size <= 4096 && size % 4 == 0;
  const size_t bytes = is_size ? (size + 7) / 8 * 8 : 8;
  *at = pages.place(bytes);
  std::memset(*at, 0, bytes);
  std::memcpy(*at, fields, std::min(bytes, known));
  if (has_tail && bytes > known) (*at)[size - 1] = 1;
}

// Returns an extent of indices, of which each selects `slice` elements.
int64_t index_extent(int64_t slice, Input& input) {
  return memory().uses_large ? up_to(most_elements() / std::max<int64_t>(slice, 1), input) : extent_from(input);
}

// Returns the number of elements without the dims from `first` to `end`.
int64_t count_of_slice(Shape shape, int64_t first, int64_t end) {
  shape.erase(shape.begin() + first, shape.begin() + end);
  return static_cast<int64_t>(count_of(shape));
}

// Adds dims to the shape of indices. With large pages, the first one may have many elements.
void push_extents(int64_t dims, int64_t slice, Input& input, Shape* shape) {
  for (int64_t d = 0; d < dims; ++d) shape->push_back(d == 0 ? index_extent(slice, input) : extent_from(input));
}

}  // namespace

Memory& memory() {
  static Memory& all = *new Memory;
  return all;
}

const Pages& data_pages(int which) { return memory().uses_large ? memory().large[which] : memory().data[which]; }

Wide count_of(const Shape& shape) {
  Wide count = 1;
  for (int64_t extent : shape) count = std::min<Wide>(count * extent, INT64_MAX);
  return count;
}

int64_t extent_from(Input& input) {
  const uint8_t byte = input.byte();
  if (byte < 200) return 1 + byte % 5;
  return byte < 225 ? 0 : byte - 220;
}

int32_t dtype_from(Input& input) { return input.pick(all_dtypes); }

void lay_out(Input& input, bool is_output, int64_t item, Tensor* tensor) {
  const size_t rank = tensor->shape.size();
  tensor->has_strides = input.rarely(2);
  tensor->offset = input.rarely(3) ? input.below(9) : 0;
  if (!tensor->has_strides) return;
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  if (input.rarely(2)) {
    for (size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[static_cast<size_t>(input.below(int64_t(d)))]);
  }
  tensor->strides.assign(rank, 0);
  int64_t span = item, low = 0;
  for (size_t d : order) {
    const int64_t steps = std::max<int64_t>(tensor->shape[d], 1) - 1;
    int64_t& stride = tensor->strides[d];
    stride = span + (input.rarely(5) ? input.below(4) : 0);
    if (!is_output && input.rarely(12)) stride = 0;
    if (input.rarely(6)) stride = -stride;
    span += std::abs(stride) * steps;
    if (stride < 0) low -= stride * steps;
  }
  tensor->offset += low;
}

// Chooses the shape of params. With large pages, the first or last dim has up to 100,000 elements.
void Request::choose_params(Input& input, int64_t rank) {
  Tensor& p = operands[params_at];
  for (int64_t d = 0; d < rank; ++d) p.shape.push_back(extent_from(input));
  if (!memory().uses_large) return;
  const int64_t room = static_cast<int64_t>(data_pages(params_at).size()) / gth_dtype_size(p.dtype);
  int64_t& large = input.rarely(2) ? p.shape.back() : p.shape.front();
  large = 1;
  large =
      up_to(std::min<int64_t>(100'000, room / std::max<int64_t>(1, static_cast<int64_t>(count_of(p.shape)))), input);
}

void Request::choose_shapes(Input& input) {
  const int64_t r = 1 + input.below(4);
  Tensor &p = operands[params_at], &i = operands[indices_at];
  choose_params(input, r);
  const int64_t tuple_dims = input.below(3);
  switch (gather_of(op)) {
    case Op::gather_elements:
      axis_ = input.below(r);
      i.shape = p.shape;
      i.shape[static_cast<size_t>(axis_)] = index_extent(count_of_slice(p.shape, axis_, axis_ + 1), input);
      break;
    case Op::gather_nd:
      batch_ = axis_ = input.rarely(3) ? input.below(r) : 0;
      components_ = input.below(r - batch_ + 1);
      i.shape.assign(p.shape.begin(), p.shape.begin() + batch_);
      push_extents(tuple_dims, count_of_slice(p.shape, batch_, batch_ + components_), input, &i.shape);
      i.shape.push_back(components_);
      break;
    default:
      batch_ = input.rarely(3) ? input.below(r) : 0;
      axis_ = batch_ + input.below(r - batch_);
      i.shape.assign(p.shape.begin(), p.shape.begin() + batch_);
      push_extents(tuple_dims, count_of_slice(p.shape, axis_, axis_ + 1), input, &i.shape);
  }
  oracle::ElementsProblem problem;
  problem.is_nd = gather_of(op) == Op::gather_nd;
  problem.batch = batch_;
  problem.axis = axis_;
  problem.components = components_;
  problem.params.shape = p.shape;
  problem.indices.shape = i.shape;
  operands[out_at].shape = shape_of(op, problem);
}

void Request::choose_options(Input& input) {
  gth_options& x = options.fields;
  options.is_null = batch_ == 0 && axis_ == 0 && input.rarely(6);
  x.batch_dims = batch_;
  x.has_axis = gather_of(op) != Op::gather_nd && axis_ != batch_;
  if (x.has_axis) x.axis = axis_;
  if (input.rarely(4)) x.profile = static_cast<int32_t>(input.below(11));
  if (x.profile && input.rarely(3)) x.opset = static_cast<int32_t>(input.below(16));
  x.negative = static_cast<int32_t>(input.below(3));
  x.bounds = static_cast<int32_t>(input.below(7));
  x.fill = static_cast<int32_t>(input.below(4));
  x.threads = static_cast<int32_t>(input.below(4));
  if (gather_of(op) == Op::gather_elements) x.extents = static_cast<int32_t>(input.below(4));
  if (x.fill == GTH_FILL_VALUE) x.fill_value[0] = input.word();
  x.fill_dtype = x.fill_value[0] % 2 ? params().dtype : 0;
  if (input.rarely(4)) {
    x.has_padding_index = 1;
    x.padding_index = input.rarely(4) ? input.number() : input.below(8) - 4;
  }
  if (!scatters(op)) return;
  if (!is_gradient(op)) {
    if (x.bounds == GTH_BOUNDS_FILL) x.bounds = GTH_BOUNDS_SKIP;
    x.reduction = static_cast<int32_t>(input.below(7));
    if (input.rarely(3)) x.initial = static_cast<int32_t>(input.below(3));
  }
  x.accumulate = static_cast<int32_t>(input.below(4));
  x.order = static_cast<int32_t>(input.below(3));
}

void Request::damage_tensor(Input& input, Tensor* tensor) {
  const auto one_of = [&](Shape* shape, int64_t otherwise) {
    if (shape->empty()) return;
    int64_t& target = (*shape)[static_cast<size_t>(input.below(static_cast<int64_t>(shape->size())))];
    target = input.rarely(2) ? input.number() : otherwise;
  };
  switch (input.below(16)) {
    case 0: return one_of(&tensor->shape, input.below(7));
    case 1: {
      if (!tensor->has_strides)
        tensor->strides = strides_of(*tensor, std::max<int64_t>(gth_dtype_size(tensor->dtype), 1));
      tensor->has_strides = true;
      return one_of(&tensor->strides, input.below(64) - 32);
    }
    case 2: tensor->dtype = static_cast<int32_t>(number_of_dtype(input)); return;
    case 3: tensor->ndim = static_cast<int32_t>(input.rarely(2) ? input.number() : input.below(70)); break;
    case 4: tensor->offset = input.number(); return;
    case 5: tensor->extent = input.number(); return;
    case 6: tensor->extent = input.below(256); return;
    case 7: tensor->size = hostile_size(input); return;
    case 8:
      tensor->size = 96;
      tensor->has_tail = input.rarely(2);
      return;
    case 9: tensor->flags = input.rarely(2) ? static_cast<uint32_t>(input.word()) : GTH_TENSOR_READONLY; return;
    case 10: tensor->has_codec = true; return;
    case 11: tensor->is_null = true; return;
    case 12: tensor->has_shape = false; return;
    case 13: tensor->has_data = false; return;
    case 14: tensor->device = static_cast<int32_t>(input.rarely(2) ? input.number() : input.below(20)); return;
    case 15: {
      const int64_t extra = input.rarely(2) ? input.number() : extent_from(input);
      tensor->shape.insert(tensor->shape.begin(), extra);
      if (tensor->ndim < INT32_MAX) ++tensor->ndim;
      tensor->has_strides = false;
    }
  }
  const auto rank = static_cast<size_t>(std::clamp<int32_t>(tensor->ndim, 0, GTH_MAX_NDIM));
  tensor->shape.resize(rank, 1);
  tensor->strides.resize(rank, 1);
}

void Request::damage_options(Input& input) {
  gth_options& x = options.fields;
  options.is_null = false;
  const auto small = [&] { return static_cast<int32_t>(input.rarely(2) ? input.number() : input.below(16) - 4); };
  switch (input.below(22)) {
    case 0:
      x.axis = input.rarely(2) ? input.number() : input.below(12) - 6;
      x.has_axis = 1;
      return;
    case 1: x.batch_dims = input.rarely(2) ? input.number() : input.below(12) - 6; return;
    case 2: x.has_axis = small(); return;
    case 3: x.profile = small(); return;
    case 4: x.opset = small(); return;
    case 5: x.negative = small(); return;
    case 6: x.bounds = small(); return;
    case 7: x.fill = small(); return;
    case 8: x.threads = small(); return;
    case 9: x.extents = small(); return;
    case 10: x.out_dtype = small(); return;
    case 11: x.size = hostile_size(input); return;
    case 12:
      x.size = 136;
      options.has_tail = input.rarely(2);
      return;
    case 13: x.axis = input.number(); return;
    case 14: x.reduction = small(); return;
    case 15: x.accumulate = small(); return;
    case 16: x.has_padding_index = small(); return;
    case 17: x.padding_index = input.number(); return;
    case 18: x.initial = small(); return;
    case 19: x.fill_dtype = small(); return;
    case 20: x.order = small(); return;
    case 21: x.reserved = small(); return;
  }
}

void Request::damage(Input& input) {
  const uint8_t byte = input.byte();
  const int damages = byte < 128 ? 0 : byte < 224 ? 1 : 2;
  for (int each = 0; each < damages; ++each) {
    const int64_t where = input.below(4);
    where < 3 ? damage_tensor(input, &operands[where]) : damage_options(input);
  }
}

Request::Request(Op what, Input& input, bool damaged) : op(what) {
  if (memory().uses_large) operands[params_at].dtype = dtype_from(input);
  choose_shapes(input);
  if (!memory().uses_large) operands[params_at].dtype = dtype_from(input);
  operands[out_at].dtype = operands[params_at].dtype;
  operands[indices_at].dtype = input.rarely(2) ? input.pick(oracle::index_dtypes) : GTH_DTYPE_INT64;
  choose_options(input);
  for (Tensor& each : operands) {
    each.ndim = static_cast<int32_t>(each.shape.size());
    lay_out(input, &each == &operands[written()], gth_dtype_size(each.dtype), &each);
  }
  if (damaged) damage(input);
}

void Request::place_tensor(Input& input, int which) {
  Tensor& tensor = operands[which];
  const Pages& pages = data_pages(which);
  pages.paint(input.byte());
  tensor.data = reinterpret_cast<uintptr_t>(pages.end());  // an inaccessible address
  const bool has_dims = tensor.ndim >= 0 && tensor.ndim <= GTH_MAX_NDIM;
  const auto is_negative = [](int64_t extent) { return extent < 0; };
  if (!has_dims || std::any_of(tensor.shape.begin(), tensor.shape.end(), is_negative)) return;
  const int64_t item = std::max<int64_t>(gth_dtype_size(tensor.dtype), 1);
  Wide size = item;
  for (int64_t each : tensor.shape) size = std::min<Wide>(size * std::max<int64_t>(each, 1), Wide{1} << 64);
  const Reach reach = size > INT64_MAX ? Reach{} : reach_of(tensor, item, strides_of(tensor, item));
  fits_[which] = size <= INT64_MAX && reach.high - reach.low <= static_cast<Wide>(data_pages(which).size());
  if (reach.empty || !fits_[which]) return;
  const bool low = input.rarely(4);
  const Wide at = low ? static_cast<Wide>(reinterpret_cast<uintptr_t>(pages.first())) - reach.low
                      : static_cast<Wide>(reinterpret_cast<uintptr_t>(pages.end())) - reach.high;
  tensor.data = static_cast<uintptr_t>(at);
  tensor.has_data &= tensor.data != 0;
}

bool Request::place_apart(Input& input) {
  place_tensor(input, params_at);
  place_tensor(input, out_at);
  return fits_[params_at] && fits_[out_at];
}

bool Request::place_ids(int64_t rows, Input& input) {
  Tensor table;
  table.dtype = GTH_DTYPE_UINT8;
  table.ndim = 1;
  table.shape = {rows};
  operands[params_at] = table;
  place_tensor(input, indices_at);
  const Prediction found = predict(op, params(), indices(), nullptr, options);
  if (!found.is_sound(Stage::values)) return true;
  if (!fits_[indices_at] || !is_few(indices().shape)) return false;
  fill_indices(found, input);
  return true;
}

void Request::damage_tensors(Input& input) {
  if (input.byte() >= 128) damage_tensor(input, &operands[input.rarely(2) ? params_at : out_at]);
}

// Returns true if a tensor with elements lies in one of the pages, but not in its own.
bool Request::is_in_pages(Which which, const Reach& reach) const {
  const Wide at = static_cast<int64_t>(operands[which].data);
  constexpr Which each[] = {params_at, indices_at, out_at};
  return std::any_of(std::begin(each), std::end(each), [&](Which other) {
    const Pages& pages = data_pages(other);
    const auto first = static_cast<Wide>(reinterpret_cast<uintptr_t>(pages.first()));
    const auto end = static_cast<Wide>(reinterpret_cast<uintptr_t>(pages.end()));
    return at + reach.low >= first && at + reach.high <= end;
  });
}

// Usually leaves each operand in its own pages. The output or the indices may start anywhere in params, or at its end.
// All operands may also be in the pages of params, without a byte between them.
void Request::place_elsewhere(Input& input) {
  const int64_t how = input.below(16);
  if (how < 13) return;
  const auto end = reinterpret_cast<uintptr_t>(data_pages(params_at).end());
  if (how > 13) {
    const Which moved = how == 15 ? out_at : indices_at;
    operands[moved].data = end - static_cast<uintptr_t>(input.below(256)) * 4;
    fits_[moved] &= operands[moved].offset == 0;
    if (!fits_[indices_at]) return;
    const int64_t item = std::max<int64_t>(gth_dtype_size(indices().dtype), 1);
    const Reach reach = reach_of(indices(), item, strides_of(indices(), item));
    fits_[indices_at] = reach.empty || is_in_pages(indices_at, reach);
    return;
  }
  const Prediction found = prediction();
  if (!found.is_sound(Stage::memory) || found.params.empty || found.out.empty || found.indices.empty) return;
  const Reach reaches[] = {found.params, found.indices, found.out};
  Wide total = 0;
  for (const Reach& each : reaches) total += each.high - each.low;
  if (total > static_cast<Wide>(data_pages(params_at).size())) return;
  Wide upper = static_cast<Wide>(end);
  for (const Which which : {params_at, out_at, indices_at}) {
    operands[which].data = static_cast<uintptr_t>(upper - reaches[which].high);
    upper -= reaches[which].high - reaches[which].low;
  }
}

bool Request::place(Input& input) {
  for (int which = params_at; which <= out_at; ++which) place_tensor(input, which);
  place_elsewhere(input);
  const Prediction found = prediction();
  if (!found.is_sound(Stage::memory)) return true;
  if (!has_inputs() || !fits_[out_at] || !is_few(out().shape)) return false;
  if (operands[out_at].data != 0 && !found.out.empty && !is_in_pages(out_at, found.out)) return false;
  fill_numbers(found, input);
  fill_indices(found, input);
  return true;
}

// Complex numbers that are reduced have integer parts, because implementations round products of other numbers
// differently.
void Request::fill_numbers(const Prediction& found, Input& input) {
  if (!oracle::is_complex(params().dtype) || !found.problem.reduces()) return;
  const auto fill = [&](const Tensor& tensor, const oracle::Operand& operand, const Reach& reach) {
    if (reach.empty || !tensor.has_data) return;
    oracle::for_each_element(operand, [&](int64_t at, const Shape&) {
      char* to = reinterpret_cast<char*>(tensor.data + static_cast<uintptr_t>(at));
      for (int64_t part = 0; part < 2; ++part, to += operand.item / 2) {
        const auto number = static_cast<double>(input.below(7) - 3);
        operand.item == 8 ? oracle::write_as(to, static_cast<float>(number)) : oracle::write_as(to, number);
      }
    });
  };
  fill(params(), found.problem.params, found.params);
  fill(out(), found.problem.out, found.out);
}

// Stores values at the places that the strides select. If several elements share bytes, the last value remains.
void Request::fill_indices(const Prediction& found, Input& input) {
  const oracle::Operand& x = found.problem.indices;
  if (found.indices.empty || !indices().has_data) return;
  if (!is_few(x.shape)) return;
  if (memory().uses_large) return fill_many_indices(found, input);
  oracle::for_each_element(x, [&](int64_t at, const Shape& where) {
    const auto dim = static_cast<size_t>(found.problem.axis + (found.problem.is_nd ? where.back() : 0));
    const int64_t value = index_value(input, dim < params().shape.size() ? params().shape[dim] : 1);
    std::memcpy(reinterpret_cast<char*>(indices().data + static_cast<uintptr_t>(at)), &value,
                static_cast<size_t>(x.item));
  });
}

// The input has too few bytes for this many indices, so it selects a sequence of random numbers, and how often an index
// is out of bounds.
void Request::fill_many_indices(const Prediction& found, Input& input) {
  static constexpr uint64_t rarities[] = {0, 0, 0, 0, 2, 16, 256, 4096};
  const oracle::Operand& x = found.problem.indices;
  const uint64_t rarity = input.pick(rarities);
  std::mt19937_64 random(input.word());
  oracle::for_each_element(x, [&](int64_t at, const Shape& where) {
    const auto dim = static_cast<size_t>(found.problem.axis + (found.problem.is_nd ? where.back() : 0));
    const int64_t size = dim < params().shape.size() ? params().shape[dim] : 1;
    const bool is_beyond = rarity > 0 && random() % rarity == 0;
    int64_t value = size > 0 ? static_cast<int64_t>(random() % static_cast<uint64_t>(size)) : 0;
    if (is_beyond) value = random() % 2 ? size : -size - 1;
    std::memcpy(reinterpret_cast<char*>(indices().data + static_cast<uintptr_t>(at)), &value,
                static_cast<size_t>(x.item));
  });
}

const char* Request::first_written(const Prediction& prediction) const {
  const auto low = static_cast<int64_t>(reach_written(prediction).low);
  return reinterpret_cast<const char*>(operands[written()].data + static_cast<uintptr_t>(low));
}

void Request::load(Prediction* prediction, std::initializer_list<Which> loaded) const {
  oracle::Operand* targets[] = {&prediction->problem.params, &prediction->problem.indices, &prediction->problem.out};
  const Reach reaches[] = {prediction->params, prediction->indices, prediction->out};
  for (const Which which : loaded) {
    const Reach& reach = reaches[which];
    if (reach.empty) continue;
    const auto low = static_cast<int64_t>(reach.low);
    const char* from = reinterpret_cast<const char*>(operands[which].data + static_cast<uintptr_t>(low));
    targets[which]->offset -= low;
    if (!operands[which].has_data) continue;
    targets[which]->memory.assign(from, from + static_cast<int64_t>(reach.high - reach.low));
    // A gradient adds to zeros.
    if (!is_gradient(op) || which != params_at) continue;
    oracle::Operand& table = *targets[which];
    oracle::for_each_element(table, [&](int64_t at, const Shape&) {
      std::memset(table.memory.data() + at, 0, static_cast<size_t>(table.item));
    });
  }
}

const gth_tensor_desc* Request::desc(Which which) const {
  const Tensor& tensor = operands[which];
  if (tensor.is_null) return nullptr;
  const bool has_dims = tensor.ndim > 0 && tensor.ndim <= GTH_MAX_NDIM;
  const size_t bytes = has_dims ? tensor.shape.size() * sizeof(int64_t) : 0;
  gth_tensor_desc fields = GTH_TENSOR_DESC_INIT;
  fields.size = tensor.size;
  fields.dtype = tensor.dtype;
  fields.device = tensor.device;
  fields.ndim = tensor.ndim;
  fields.flags = tensor.flags;
  fields.data = tensor.has_data ? reinterpret_cast<const void*>(tensor.data) : nullptr;
  const char* shape = memory().shapes[which].put(tensor.shape.data(), bytes);
  fields.shape = tensor.has_shape ? reinterpret_cast<const int64_t*>(shape) : nullptr;
  if (tensor.has_strides) {
    fields.strides = reinterpret_cast<const int64_t*>(memory().strides[which].put(tensor.strides.data(), bytes));
  }
  static const gth_codec unknown{};  // The target `packed` has valid codecs.
  fields.codec = tensor.has_codec ? &unknown : nullptr;
  fields.offset = tensor.offset;
  fields.extent = tensor.extent;
  char* at;
  put_struct(memory().structs[which], tensor.size, &fields, sizeof fields, tensor.has_tail, &at);
  return reinterpret_cast<const gth_tensor_desc*>(at);
}

const gth_options* Request::given_options() const {
  if (options.is_null) return nullptr;
  char* at;
  put_struct(memory().options, options.fields.size, &options.fields, sizeof options.fields, options.has_tail, &at);
  return reinterpret_cast<const gth_options*>(at);
}

namespace {

std::vector<std::vector<char>>& spare() {
  static std::vector<std::vector<char>> all;
  return all;
}

}  // namespace

Copy::Copy() {
  if (spare().empty()) return;
  bytes.swap(spare().back());
  spare().pop_back();
}

Copy::Copy(const Copy& other) : Copy() { bytes = other.bytes; }

Copy::~Copy() { spare().push_back(std::move(bytes)); }

Image::Image() {
  for (int which = params_at; which <= out_at; ++which) {
    pages_[which].bytes.assign(data_pages(which).first(), data_pages(which).end());
  }
}

void Image::write(const char* to, const char* from, size_t bytes) {
  for (int which = params_at; which <= out_at; ++which) {
    const Pages& pages = data_pages(which);
    if (to >= pages.first() && to + bytes <= pages.end())
      std::memcpy(pages_[which].bytes.data() + (to - pages.first()), from, bytes);
  }
}

void Image::accept(const char* at, size_t bytes) { write(at, at, bytes); }

void Image::accept(const Request& request, const Prediction& prediction) {
  const Reach& reach = request.reach_written(prediction);
  if (!reach.empty) accept(request.first_written(prediction), static_cast<size_t>(reach.high - reach.low));
}

void Image::expect(const Request& request, const Prediction& prediction, const oracle::ScatterAnswer& answer) {
  if (request.reach_written(prediction).empty) return;
  const char* to = request.first_written(prediction);
  const auto is_same = [&] {
    return oracle::is_same_target(prediction.problem, answer, {to, to + answer.memory.size()});
  };
  if (scatters(request.op) && is_same()) return accept(request, prediction);
  write(to, answer.memory.data(), answer.memory.size());
}

void Image::expect_zeros(const Request& request, const Prediction& prediction) {
  if (prediction.params.empty) return;
  const oracle::Bytes& zeros = prediction.problem.params.memory;
  write(request.first_written(prediction), zeros.data(), zeros.size());
}

const char* Image::differing() const {
  static constexpr const char* names[] = {"bytes of params", "bytes of indices", "bytes of the output or around it"};
  for (int which = params_at; which <= out_at; ++which) {
    if (std::memcmp(pages_[which].bytes.data(), data_pages(which).first(), pages_[which].bytes.size()) != 0)
      return names[which];
  }
  return nullptr;
}

void Image::restore(int which) const {
  std::memcpy(data_pages(which).first(), pages_[which].bytes.data(), pages_[which].bytes.size());
}

gth_error* fresh_error() {
  gth_error error;
  std::memset(&error, '#', sizeof error);
  error.size = sizeof error;
  return reinterpret_cast<gth_error*>(memory().error.put(&error, sizeof error));
}

void expect_whole_error(int32_t status, const gth_error& error) {
  require(error.status == status, "the error has another status than the call");
  require(error.size == sizeof error, "the size of the error was written");
  if (status == GTH_OK) {
    const char* rest = reinterpret_cast<const char*>(&error.operand);
    const char* end = reinterpret_cast<const char*>(&error + 1);
    require(std::all_of(rest, end, [](char each) { return each == '#'; }),
            "more than the status was written on GTH_OK");
    return;
  }
  require(error.native == 0 && error.sequence == 0 && error.count == 0, "numbers of a device on the CPU");
  require(error.message[0] != '\0', "no message");
  require(std::memchr(error.message, 0, sizeof error.message) != nullptr, "the message does not end");
}

}  // namespace fuzz
