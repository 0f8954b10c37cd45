#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "conformance_sums.hpp"
#include "packed_oracle.hpp"

// Runs every recorded call on packed rows, in each form. The oracle of packed rows must have the recorded numbers, too.
namespace {

using conformance::Case;
using conformance::expect_error;
using conformance::Memory;

void set_field(const std::string& key, const std::string& value, gth_codec* codec) {
  const std::map<std::string, int32_t gth_codec::*> switches = {
      {"structure", &gth_codec::structure},     {"code", &gth_codec::code},
      {"packing", &gth_codec::packing},         {"rule", &gth_codec::rule},
      {"scale_place", &gth_codec::scale_place}, {"scale_dtype", &gth_codec::scale_dtype},
      {"zero_place", &gth_codec::zero_place},   {"zero_dtype", &gth_codec::zero_dtype}};
  const std::map<std::string, int64_t gth_codec::*> sizes = {
      {"block_values", &gth_codec::block_values}, {"block_bytes", &gth_codec::block_bytes},
      {"row_tail", &gth_codec::row_tail},         {"code_at", &gth_codec::code_at},
      {"scale_at", &gth_codec::scale_at},         {"zero_at", &gth_codec::zero_at}};
  if (switches.count(key)) {
    codec->*switches.at(key) = std::stoi(value);
  } else if (sizes.count(key)) {
    codec->*sizes.at(key) = std::stoll(value);
  } else {
    (key == "zero" ? codec->zero : codec->factor) = std::stof(value);
  }
}

// Returns the codec of a case without its operands: a name or ".", and fields.
gth_codec codec_of(const Case& test) {
  gth_codec codec = GTH_CODEC_INIT;
  gth_error err = GTH_ERROR_INIT;
  std::istringstream in(test.codec);
  std::string word;
  in >> word;
  if (word != ".") {
    EXPECT_EQ(gth_codec_named(word.c_str(), &codec, &err), GTH_OK) << test.name << ": " << err.message;
  }
  while (in >> word) {
    const size_t cut = word.find('=');
    set_field(word.substr(0, cut), word.substr(cut + 1), &codec);
  }
  return codec;
}

// The operands of a case without its output.
struct Operands {
  explicit Operands(const Case& test)
      : params(test.params),
        indices(test.indices),
        bags(test.bags),
        weights(test.weights),
        scales(test.scales),
        zeros(test.zeros),
        codec(codec_of(test)),
        options(test.options) {
    if (test.scales.dtype) codec.scales = &scales.desc;
    if (test.zeros.dtype) codec.zeros = &zeros.desc;
    params.desc.codec = &codec;
    const int32_t op = test.op == "gather_bags" ? GTH_OP_GATHER_BAGS : GTH_OP_GATHER;
    request = GTH_REQUEST(op, &params.desc, &indices.desc, nullptr, &options);
    if (test.bags.dtype) request.bags = &bags.desc;
    if (test.weights.dtype) request.weights = &weights.desc;
  }
  Operands(const Operands&) = delete;

  Memory params, indices, bags, weights, scales, zeros;
  gth_codec codec;
  gth_options options;
  gth_request request;
};

// The digest of a tensor, in which each NaN has the same bytes.
class Digest {
 public:
  void add(unsigned char byte) {
    crc_ ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc_ = crc_ >> 1 ^ (crc_ & 1 ? 0xedb88320u : 0u);
  }
  std::string bytes() const {
    const uint32_t found = ~crc_;
    std::string result;
    for (int shift = 24; shift >= 0; shift -= 8) result.push_back(static_cast<char>(found >> shift));
    return result;
  }

 private:
  uint32_t crc_ = ~0u;
};

std::string digest_of(int32_t dtype, const std::string& bytes) {
  const auto item = static_cast<size_t>(gth_dtype_size(dtype));
  Digest digest;
  for (size_t at = 0; at < bytes.size(); at += item) {
    const bool is_nan = std::isnan(packed::decode(dtype, bytes.data() + at));
    const uint32_t nan = dtype == GTH_DTYPE_FLOAT32 ? 0x7fc00000 : dtype == GTH_DTYPE_FLOAT16 ? 0x7e00 : 0x7fc0;
    for (size_t i = 0; i < item; ++i)
      digest.add(static_cast<unsigned char>(is_nan ? nan >> (8 * i) & 255 : static_cast<uint32_t>(bytes[at + i])));
  }
  return digest.bytes();
}

void expect_numbers(const Case& test, const std::string& found) {
  if (!test.has_crc) return conformance::expect_bytes(test, found);
  EXPECT_EQ(digest_of(test.params.dtype, found), test.out.bytes) << test.name;
}

size_t size_of(const Case& test) {
  int64_t size = gth_dtype_size(test.params.dtype);
  for (int64_t extent : test.out.shape) size *= extent;
  return static_cast<size_t>(size);
}

// ---- The oracle

int64_t row_of(const Case& test, const Operands& operands, int64_t i) {
  const oracle::Wide index =
      oracle::load(operands.indices.bytes.data() + i * gth_dtype_size(test.indices.dtype), test.indices.dtype);
  return oracle::select(test.options.negative, test.options.bounds, index, test.params.shape[0]);
}

std::string gathered(const Case& test, const Operands& operands) {
  const int64_t values = test.params.shape.back(), item = gth_dtype_size(test.params.dtype);
  std::string found(size_of(test), '\0');
  for (int64_t i = 0; i < test.out.shape[0]; ++i) {
    const int64_t row = row_of(test, operands, i);
    if (row < 0) continue;
    const std::vector<float> numbers = packed::decode_row(operands.params.desc, row);
    for (int64_t j = 0; j < values; ++j)
      packed::encode(test.params.dtype, numbers[static_cast<size_t>(j)], found.data() + (i * values + j) * item);
  }
  return found;
}

std::string pooled(const Case& test, const Operands& operands) {
  const int64_t values = test.params.shape.back();
  const auto border = [&](int64_t i) {
    const int64_t item = gth_dtype_size(test.bags.dtype);
    return static_cast<int64_t>(oracle::load(operands.bags.bytes.data() + i * item, test.bags.dtype));
  };
  std::string found(size_of(test), '\0');
  for (int64_t bag = 0; bag < test.out.shape[0]; ++bag) {
    std::vector<packed::Pooled> rows;
    for (int64_t k = border(bag); k < border(bag + 1); ++k) {
      const bool weighs = test.weights.dtype != 0;
      rows.push_back({row_of(test, operands, k),
                      weighs ? packed::decode(GTH_DTYPE_FLOAT32, operands.weights.bytes.data() + 4 * k) : 1});
    }
    const packed::Pooling pooling{GTH_POOL_SUM, test.weights.dtype != 0, test.options.profile == GTH_PROFILE_TORCH, 0};
    for (int64_t j = 0; j < values && !rows.empty(); ++j) {
      packed::encode(test.params.dtype, packed::pool(operands.params.desc, rows, pooling, j),
                     found.data() + (bag * values + j) * 4);
    }
  }
  return found;
}

void expect_oracle(const Case& test) {
  const Operands operands(test);
  expect_numbers(test, test.op == "gather_bags" ? pooled(test, operands) : gathered(test, operands));
}

// ---- The library

// The output of a case in memory of its size, and at least one byte.
struct Output {
  explicit Output(const Case& test) : bytes(std::max<size_t>(size_of(test), 1), '\xa5') {
    desc.dtype = test.params.dtype;
    desc.ndim = static_cast<int32_t>(test.out.shape.size());
    desc.shape = test.out.shape.data();
    desc.data = bytes.data();
  }
  Output(const Output&) = delete;

  void expect(const Case& test, int32_t status, const gth_error& err) const {
    expect_error(test, status, err);
    if (status == GTH_OK) expect_numbers(test, std::string(bytes.data(), size_of(test)));
  }

  std::vector<char> bytes;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
};

void run_into(const Case& test, int32_t threads) {
  Operands operands(test);
  Output out(test);
  operands.options.threads = threads;
  operands.request.rows = &out.desc;
  gth_error err = GTH_ERROR_INIT;
  out.expect(test, gth_run_request(nullptr, &operands.request, &err), err);
}

void run_new(const Case& test) {
  const Operands operands(test);
  gth_tensor* made = nullptr;
  gth_error err = GTH_ERROR_INIT;
  const int32_t status = gth_make(nullptr, &operands.request, &made, &err);
  expect_error(test, status, err);
  if (status) return;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(made, &desc, nullptr), GTH_OK);
  EXPECT_EQ(desc.dtype, test.params.dtype) << test.name;
  EXPECT_EQ(std::vector<int64_t>(desc.shape, desc.shape + desc.ndim), test.out.shape) << test.name;
  expect_numbers(test, std::string(static_cast<const char*>(desc.data), size_of(test)));
  EXPECT_EQ(gth_tensor_release(made), GTH_OK);
}

void run_planned(const Case& test) {
  Operands operands(test);
  Output out(test);
  operands.request.rows = &out.desc;
  gth_plan* plan = nullptr;
  gth_error err = GTH_ERROR_INIT;
  int32_t status = gth_plan_create(&operands.request, &plan, &err);
  if (!status) {
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.table = operands.params.desc.data;
    args.indices = operands.indices.desc.data;
    args.rows = out.bytes.data();
    args.bags = test.bags.dtype ? operands.bags.desc.data : nullptr;
    args.weights = test.weights.dtype ? operands.weights.desc.data : nullptr;
    status = gth_plan_run_args(nullptr, plan, &args, &err);
  }
  out.expect(test, status, err);
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

struct File {
  const char *folder, *name;
  size_t least;  // cases
};

void PrintTo(const File& file, std::ostream* out) { *out << file.folder << '/' << file.name; }

class PackedConformance : public testing::TestWithParam<File> {
 protected:
  std::vector<Case> cases() const {
    const File& file = GetParam();
    return conformance::read_file(std::string(GATHER_CASES) + "/" + file.folder + "/packed/" + file.name + ".txt");
  }
};

TEST_P(PackedConformance, OracleMatchesTheRecordedCase) {
  const std::vector<Case> found = cases();
  EXPECT_GE(found.size(), GetParam().least);
  for (const Case& test : found) expect_oracle(test);
}

TEST_P(PackedConformance, EveryFormMatchesTheRecordedCase) {
  for (const Case& test : cases()) {
    for (int32_t threads : {1, 3}) run_into(test, threads);
    run_new(test);
    run_planned(test);
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, PackedConformance,
                         testing::Values(File{".", "gguf", 70}, File{".", "ort", 30}, File{".", "torch", 30},
                                         File{".", "ml_dtypes", 22}, File{".", "bitsandbytes", 8},
                                         File{".", "formula", 15}, File{"../grid", "gguf", 14},
                                         File{"../grid", "torch", 1}, File{"../grid", "ml_dtypes", 4}),
                         [](const auto& file) {
                           return std::string(file.param.folder[1] == '.' ? "digests_of_" : "answers_of_") +
                                  file.param.name;
                         });

}  // namespace
