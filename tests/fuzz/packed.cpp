#include <algorithm>
#include <cmath>
#include <vector>

#include "../cpp/oracle.hpp"
#include "../cpp/packed_oracle.hpp"
#include "input.hpp"
#include "pages.hpp"
#include "surroundings.hpp"

// Gathers and bags of packed rows with any codec, compared with the oracle of packed rows. A codec whose rows have a
// size must be accepted, and another one must be refused. All operands, and the codec itself, are between guard pages.
// Some descriptions are malformed.
namespace {

using namespace fuzz;
using packed::bits_of, packed::has_nibbles, packed::part_dtypes;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, f16 = GTH_DTYPE_FLOAT16, bf16 = GTH_DTYPE_BFLOAT16;
constexpr int32_t outputs[] = {f32, f16, bf16};
constexpr int32_t index_dtypes[] = {GTH_DTYPE_INT64, GTH_DTYPE_INT8, GTH_DTYPE_UINT64, GTH_DTYPE_INT32};
constexpr size_t page_bytes = size_t{1} << 16;
constexpr int64_t ids = 5;  // two bags have 2 and 3 of them

// Memory, shape and strides of a description.
struct Operand {
  Pages pages{page_bytes};
  int64_t shape[GTH_MAX_NDIM] = {}, strides[GTH_MAX_NDIM] = {};
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;

  // Describes a dense matrix of `bytes` bytes.
  void make(int32_t dtype, int64_t first, int64_t second, int64_t bytes, bool low) {
    shape[0] = first;
    shape[1] = second;
    desc = GTH_TENSOR_DESC_INIT;
    desc.dtype = dtype;
    desc.ndim = 2;
    desc.shape = shape;
    desc.extent = bytes;
    desc.data = pages.place(static_cast<size_t>(bytes), low);
    pages.paint(static_cast<uint8_t>(dtype + first));
  }
  std::vector<char> image() const { return {pages.first(), pages.end()}; }
};

// The memory of all calls.
struct Memory {
  Operand table, scales, zeros, indices, bags, out;
  Pages codec{4096}, entries{4096};
};

struct Call {
  Memory* memory;
  gth_codec* codec;
  gth_options options = GTH_OPTIONS_INIT;
  int32_t op = GTH_OP_GATHER, dtype = f32;
  int64_t rows = 0, values = 0, row_bytes = 0;
  int32_t validity = GTH_OK;  // of the codec

  int64_t block() const { return codec->block_values > 0 ? std::min(codec->block_values, values) : values; }
  int64_t blocks() const { return block() ? (values + block() - 1) / block() : 0; }
  int64_t out_rows() const { return op == GTH_OP_GATHER_BAGS ? 2 : ids; }
};

// ---- Drawing

int64_t draw_values(Input& input) {
  switch (input.below(4)) {
    case 0: return 1 + input.below(80);
    case 1: return 32 * (1 + input.below(40));
    case 2: return 256 * (1 + input.below(5));
    default: return 5 * input.below(256);
  }
}

void draw_part(Input& input, int64_t types, int32_t* place, int32_t* dtype, int64_t* at) {
  *place = static_cast<int32_t>(input.below(4));
  *dtype = *place ? part_dtypes[input.below(types)] : 0;
  *at = input.below(5);
}

// Makes most codecs valid: an order that the codes have, and bytes for all that a block or a tail contains.
void repair(Call* call) {
  gth_codec& codec = *call->codec;
  const int64_t bits = bits_of(codec.code);
  if (bits == 8) codec.packing = 0;
  if (bits == 2) codec.packing &= 1;
  if (bits == 5) codec.packing = GTH_PACKING_HALVES;
  if (codec.packing == GTH_PACKING_HALVES) {
    codec.block_values = 32;
    call->values = std::max<int64_t>(1, call->values / 32) * 32;
  }
  const bool is_sized =
      codec.block_bytes || codec.scale_place == GTH_PLACE_BLOCK || codec.zero_place == GTH_PLACE_BLOCK;
  if (codec.scale_place == GTH_PLACE_TAIL || codec.zero_place == GTH_PLACE_TAIL) codec.row_tail += 12;
  const int64_t block = call->block();
  if (is_sized) {
    codec.block_bytes = codec.code_at + (block * bits + 7) / 8 + 12;
    call->values = std::max<int64_t>(1, call->values / std::max<int64_t>(block, 1)) * block;
    codec.block_values = block;
    return;
  }
  codec.code_at = 0;
  if (bits != 5) call->values = call->values / 8 * 8;
  if (bits != 5 && codec.packing != GTH_PACKING_HALVES && block % 8 != 0) codec.block_values = 8 * bits;
}

void draw_codec(Input& input, Call* call) {
  gth_codec& codec = *call->codec;
  codec = GTH_CODEC_INIT;
  call->values = draw_values(input);
  if (input.rarely(4)) {
    constexpr int64_t blocks[] = {0, 256, 256, 256, 256, 256, 256, 32, 64};
    codec.structure = static_cast<int32_t>(1 + input.below(8));
    if (!input.rarely(8)) call->values = (1 + input.below(6)) * blocks[codec.structure];
    if (codec.structure == GTH_CODEC_NVFP4) codec.factor = static_cast<float>(input.below(4)) / 3;
  } else {
    constexpr int64_t sizes[] = {0, 32, 16, 64, 1, 3, 128, 256};
    codec.code = static_cast<int32_t>(1 + input.below(10));
    codec.packing = static_cast<int32_t>(input.below(3));
    codec.rule = static_cast<int32_t>(input.below(2));
    draw_part(input, packed::scale_dtype_count, &codec.scale_place, &codec.scale_dtype, &codec.scale_at);
    draw_part(input, int64_t{std::size(part_dtypes)}, &codec.zero_place, &codec.zero_dtype, &codec.zero_at);
    codec.zero = static_cast<float>(input.below(256) - 128) / 3;
    codec.factor = static_cast<float>(input.below(8)) / 7;
    codec.block_values = input.pick(sizes);
    codec.block_bytes = input.rarely(2) ? input.below(256) : 0;
    codec.row_tail = input.below(6);
    codec.code_at = input.below(5);
    if (!input.rarely(6)) repair(call);
  }
  if (!input.rarely(8)) return;
  // Any number in a field.
  int32_t* const switches[] = {&codec.structure,   &codec.code,        &codec.packing,
                               &codec.rule,        &codec.scale_place, &codec.zero_place,
                               &codec.scale_dtype, &codec.zero_dtype,  &codec.reserved};
  int64_t* const sizes[] = {&codec.block_values, &codec.block_bytes, &codec.row_tail,
                            &codec.code_at,      &codec.scale_at,    &codec.zero_at};
  if (input.rarely(2)) {
    *input.pick(sizes) = input.number();
  } else {
    *input.pick(switches) = static_cast<int32_t>(input.number());
  }
}

// Makes an operand of the codec, with a number for each block, row or column, or for the table.
const gth_tensor_desc* make_part(Input& input, const Call& call, int32_t place, int32_t* dtype, Operand* out) {
  if (place != GTH_PLACE_OPERAND) return nullptr;
  const bool shares = has_nibbles(*dtype);
  const int32_t type = shares ? GTH_DTYPE_UINT8 : *dtype ? *dtype : f32;
  const int64_t blocks = call.blocks(), last = shares ? blocks / 2 + blocks % 2 : blocks;
  const int64_t form = input.below(shares && blocks > 2 ? 2 : 4);
  const int64_t first = form & 1 ? 1 : call.rows, second = form & 2 ? 1 : last;
  const int64_t bytes = first * second * std::max<int64_t>(gth_dtype_size(type), 1);
  if (bytes > static_cast<int64_t>(page_bytes)) return nullptr;
  out->make(type, first, second, bytes, input.rarely(3));
  if (!shares && input.rarely(3)) *dtype = 0;
  return &out->desc;
}

void draw_table(Input& input, Call* call) {
  Operand& table = call->memory->table;
  const bool has_gaps = input.rarely(2);
  const int64_t step = call->row_bytes + (has_gaps ? input.below(8) : 0);
  const bool is_reversed = has_gaps && input.rarely(2);
  const int64_t span = step * std::max<int64_t>(call->rows - 1, 0);
  table.make(call->dtype, call->rows, call->values, span + call->row_bytes, input.rarely(3));
  table.strides[0] = is_reversed ? -step : step;
  table.strides[1] = 0;
  if (has_gaps) table.desc.strides = table.strides;
  if (is_reversed) table.desc.offset = span;
  table.desc.codec = call->codec;
}

void draw_indices(Input& input, Call* call) {
  Operand& indices = call->memory->indices;
  const int32_t dtype = input.pick(index_dtypes);
  const int64_t item = gth_dtype_size(dtype);
  indices.make(dtype, ids, 1, ids * item, false);
  indices.desc.ndim = call->op == GTH_OP_GATHER_ND ? 2 : 1;
  for (int64_t i = 0; i < ids; ++i) {
    const int64_t value = input.rarely(12) ? input.number() : input.below(call->rows + 1) - 1;
    std::memcpy(static_cast<char*>(const_cast<void*>(indices.desc.data)) + i * item, &value, static_cast<size_t>(item));
  }
  Operand& bags = call->memory->bags;
  const int64_t borders[] = {0, 2, ids};
  bags.make(GTH_DTYPE_INT64, 3, 1, sizeof borders, false);
  bags.desc.ndim = 1;
  std::memcpy(const_cast<void*>(bags.desc.data), borders, sizeof borders);
}

// ---- The expected result

int64_t row_of(const Call& call, int64_t i) {
  const gth_tensor_desc& indices = call.memory->indices.desc;
  const char* const at = static_cast<const char*>(indices.data) + i * gth_dtype_size(indices.dtype);
  return oracle::select(call.options.negative, call.options.bounds, oracle::load(at, indices.dtype), call.rows);
}

// Returns the first id out of bounds, or -1.
int64_t first_bad(const Call& call) {
  const bool is_total = call.options.bounds == GTH_BOUNDS_FILL || call.options.bounds == GTH_BOUNDS_SKIP;
  for (int64_t i = 0; i < ids && !is_total; ++i) {
    if (row_of(call, i) < 0) return i;
  }
  return -1;
}

float number_of(const Call& call, int64_t row, int64_t j) {
  const gth_tensor_desc& table = call.memory->table.desc;
  return packed::terms_of(*call.codec, packed::row_of(table, row), j).value;
}

float pooled(const Call& call, int64_t bag, int64_t j) {
  std::vector<packed::Pooled> rows;
  for (int64_t i = bag ? 2 : 0; i < (bag ? ids : 2); ++i) {
    const int64_t row = row_of(call, i);
    if (row >= 0 || call.options.bounds == GTH_BOUNDS_FILL) rows.push_back({row < 0 ? -1 : row, 1});
  }
  const packed::Pooling pooling{call.options.pool ? call.options.pool : GTH_POOL_SUM, false, false, 0};
  return rows.empty() ? 0 : packed::pool(call.memory->table.desc, rows, pooling, j);
}

void expect_output(const Call& call, const std::vector<char>& before, const char* form) {
  const Operand& out = call.memory->out;
  const int64_t item = gth_dtype_size(call.dtype);
  std::vector<char> expected = before;
  const auto first = static_cast<size_t>(static_cast<const char*>(out.desc.data) - out.pages.first());
  for (int64_t i = 0; i < call.out_rows(); ++i) {
    const int64_t row = call.op == GTH_OP_GATHER_BAGS ? 0 : row_of(call, i);
    for (int64_t j = 0; j < call.values; ++j) {
      const size_t at = first + static_cast<size_t>((i * call.values + j) * item);
      char bytes[4] = {};
      if (call.op == GTH_OP_GATHER_BAGS) packed::encode(call.dtype, pooled(call, i, j), bytes);
      if (call.op != GTH_OP_GATHER_BAGS && row >= 0) packed::encode(call.dtype, number_of(call, row, j), bytes);
      if (row < 0 && call.options.bounds == GTH_BOUNDS_SKIP) continue;
      const char* const found = out.pages.first() + at;
      const bool is_equal = packed::is_same(call.dtype, found, bytes);
      std::memcpy(expected.data() + at, is_equal ? found : bytes, static_cast<size_t>(item));
      if (!is_equal) {
        fail("%s: number %lld of row %lld is %g, expected %g", form, static_cast<long long>(j),
             static_cast<long long>(i), static_cast<double>(packed::decode(call.dtype, found)),
             static_cast<double>(packed::decode(call.dtype, bytes)));
      }
    }
  }
  require(out.image() == expected, "bytes outside of the output");
}

void restore(const Call& call, const std::vector<char>& before) {
  std::copy(before.begin(), before.end(), call.memory->out.pages.first());
}

void expect(const Call& call, const char* form, int32_t status, const std::vector<char>& before,
            const gth_error& error) {
  tally().count(status);
  const int64_t bad = first_bad(call);
  if (status != (bad < 0 ? GTH_OK : GTH_E_INDEX)) fail("%s: %s: %s", form, gth_status_name(status), error.message);
  if (status == GTH_OK) {
    expect_output(call, before, form);
  } else {
    require(error.position == bad, "the position of an invalid index");
    require(call.memory->out.image() == before, "an error wrote to the output");
  }
  restore(call, before);
}

// ---- Forms

void run_valid(const Call& call, const gth_request& request) {
  const std::vector<char> before = call.memory->out.image();
  gth_error error = GTH_ERROR_INIT;
  expect(call, "run", gth_run_request(Surroundings::context(), &request, &error), before, error);
  gth_plan* plan = nullptr;
  require(gth_plan_create(&request, &plan, &error) == GTH_OK, "a plan");
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.table = request.table->data;
  args.indices = request.indices->data;
  args.rows = const_cast<void*>(request.rows->data);
  args.bags = request.bags ? request.bags->data : nullptr;
  args.scales = call.codec->scales ? call.codec->scales->data : nullptr;
  expect(call, "plan", gth_plan_run_args(Surroundings::context(), plan, &args, &error), before, error);
  require(gth_plan_release(plan) == GTH_OK, "release of a plan");
  gth_tensor* table = nullptr;
  require(gth_tensor_borrow(request.table, &table, &error) == GTH_OK, "a tensor");
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(table);
  gth_request by_handle = request;
  by_handle.table = &named;
  expect(call, "handle", gth_run_request(Surroundings::context(), &by_handle, &error), before, error);
  by_handle.rows = nullptr;
  gth_tensor* made = nullptr;
  const int32_t status = gth_make(Surroundings::context(), &by_handle, &made, &error);
  require(status == (first_bad(call) < 0 ? GTH_OK : GTH_E_INDEX), "a new tensor");
  require(gth_tensor_release(made) == GTH_OK && gth_tensor_release(table) == GTH_OK, "release of tensors");
}

// Changes a description. Extents of memory stay true.
void damage(Input& input, Call* call) {
  Memory& memory = *call->memory;
  Operand* const operands[] = {&memory.table, &memory.scales, &memory.zeros, &memory.out, &memory.indices};
  Operand& operand = *input.pick(operands);
  gth_tensor_desc& desc = operand.desc;
  switch (input.below(9)) {
    case 0: operand.shape[input.below(2)] = input.number(); return;
    case 1: operand.strides[input.below(2)] = input.number(), desc.strides = operand.strides; return;
    case 2: desc.offset = input.number(); return;
    case 3: desc.ndim = static_cast<int32_t>(input.number()); return;
    case 4: desc.dtype = static_cast<int32_t>(input.number()); return;
    case 5: desc.data = nullptr; return;
    case 6: call->codec->scales = input.rarely(2) ? &memory.scales.desc : nullptr; return;
    case 7: call->codec->size = static_cast<uint32_t>(input.below(static_cast<int64_t>(sizeof(gth_codec)))); return;
    default: desc.codec = desc.codec ? nullptr : call->codec;
  }
}

void run_damaged(const Call& call, const gth_request& request) {
  const std::vector<char> before = call.memory->out.image();
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_run_request(Surroundings::context(), &request, &error);
  tally().count(status);
  require(status <= 0 && status != GTH_E_INTERNAL && status != GTH_E_RACE, "the status of a malformed request");
  require(status == GTH_OK || call.memory->out.image() == before, "an error wrote to the output");
  restore(call, before);
  gth_tensor* table = nullptr;
  const int32_t borrowed = gth_tensor_borrow(request.table, &table, &error);
  require((borrowed == GTH_OK) == (table != nullptr) && gth_tensor_release(table) == GTH_OK, "a malformed tensor");
}

// A codec is refused with the same status by each function.
void run_refused(const Call& call, const gth_request& request) {
  const std::vector<char> before = call.memory->out.image();
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_run_request(Surroundings::context(), &request, &error);
  tally().count(status);
  if (status == GTH_OK) fail("a codec without a size of rows is accepted");
  require(call.memory->out.image() == before, "an error wrote to the output");
}

Memory& memory() {
  static Memory* const made = new Memory;
  return *made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int32_t operations[] = {GTH_OP_GATHER, GTH_OP_GATHER_ND, GTH_OP_GATHER_BAGS};
  Input input(data, size);
  Call call;
  call.memory = &memory();
  call.codec = reinterpret_cast<gth_codec*>(call.memory->codec.place(sizeof(gth_codec)));
  call.op = input.pick(operations);
  call.dtype = input.pick(outputs);
  call.rows = 1 + input.below(4);
  draw_codec(input, &call);
  gth_codec& codec = *call.codec;
  call.memory->entries.paint(3);
  float entries[16];
  for (int i = 0; i < 16; ++i) entries[i] = static_cast<float>(i * i - 90) / 7;
  if (codec.code == GTH_CODE_TABLE4)
    codec.code_table = reinterpret_cast<const float*>(call.memory->entries.put(entries, sizeof entries));
  call.validity = gth_codec_row_bytes(&codec, call.values, &call.row_bytes, nullptr);
  if (call.validity == GTH_OK) {
    if (call.row_bytes != packed::row_bytes(codec, call.values))
      fail("a row of %lld bytes", static_cast<long long>(call.row_bytes));
    if (call.row_bytes > 12000) return 0;
  } else {
    call.row_bytes = 64;
  }
  const bool has_parts = codec.structure == GTH_CODEC_BLOCKS;
  codec.scales = make_part(input, call, has_parts ? codec.scale_place : 0, &codec.scale_dtype, &call.memory->scales);
  codec.zeros = make_part(input, call, has_parts ? codec.zero_place : 0, &codec.zero_dtype, &call.memory->zeros);
  const bool lacks_part = has_parts && ((codec.scale_place == GTH_PLACE_OPERAND && !codec.scales) ||
                                        (codec.zero_place == GTH_PLACE_OPERAND && !codec.zeros));
  draw_table(input, &call);
  draw_indices(input, &call);
  call.options.bounds = static_cast<int32_t>(input.below(6));
  call.options.negative = static_cast<int32_t>(input.below(3));
  if (call.op == GTH_OP_GATHER_BAGS) call.options.pool = static_cast<int32_t>(input.below(6));
  call.options.threads = static_cast<int32_t>(input.below(4));
  const int64_t bytes = call.out_rows() * call.values * gth_dtype_size(call.dtype);
  call.memory->out.make(call.dtype, call.out_rows(), call.values, bytes, input.rarely(3));
  const Surroundings surroundings(input.below(4));
  gth_request request =
      GTH_REQUEST(call.op, &call.memory->table.desc, &call.memory->indices.desc, &call.memory->out.desc, &call.options);
  if (call.op == GTH_OP_GATHER_BAGS) request.bags = &call.memory->bags.desc;
  const bool is_damaged = input.byte() >= 192;
  if (is_damaged || lacks_part) {
    if (is_damaged) damage(input, &call);
    run_damaged(call, request);
  } else if (call.validity != GTH_OK) {
    run_refused(call, request);
  } else {
    run_valid(call, request);
  }
  return 0;
}
