#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gather/gather.h"

// Reads the conformance cases. tests/conformance/README.md describes their format.
namespace conformance {

struct TensorText {
  int32_t dtype = 0;
  std::vector<int64_t> shape, strides;  // strides empty: dense
  int64_t offset = 0;
  std::string bytes;                 // memory, or all strings concatenated
  std::vector<int64_t> string_ends;  // dtype string: the offsets, starting with 0
};

struct Case {
  std::string name, op, difference, system;
  gth_options options = GTH_OPTIONS_INIT;
  TensorText params, indices, out;
  TensorText updates;                // of a scatter, whose target is params
  TensorText bags, weights;          // of gather_bags, with dtype 0 if they are absent
  std::string codec;                 // of packed params: a name or ".", and fields
  TensorText scales, zeros;          // of the codec, with dtype 0 if they are absent
  bool has_crc = false;              // out has the digest of the output instead of its bytes
  gth_error error = GTH_ERROR_INIT;  // status GTH_OK: out holds the recorded output
};

inline const std::map<std::string, int32_t>& numbers() {
  static const std::map<std::string, int32_t> table = [] {
    std::map<std::string, int32_t> all = {{"equal", GTH_EXTENTS_EQUAL},
                                          {"prefix", GTH_EXTENTS_PREFIX},
                                          {"broadcast", GTH_EXTENTS_BROADCAST},
                                          {"reject", GTH_NEGATIVE_REJECT},
                                          {"wrap", GTH_NEGATIVE_WRAP},
                                          {"error", GTH_BOUNDS_ERROR},
                                          {"fill", GTH_BOUNDS_FILL},
                                          {"clamp", GTH_BOUNDS_CLAMP},
                                          {"modulo", GTH_BOUNDS_MODULO},
                                          {"skip", GTH_BOUNDS_SKIP},
                                          {"error_partial", GTH_BOUNDS_ERROR_PARTIAL},
                                          {"zero", GTH_FILL_ZERO},
                                          {"value", GTH_FILL_VALUE},
                                          {"by_dtype", GTH_FILL_BY_DTYPE},
                                          {"none", GTH_OPERAND_NONE},
                                          {"params", GTH_OPERAND_PARAMS},
                                          {"indices", GTH_OPERAND_INDICES},
                                          {"out", GTH_OPERAND_OUT},
                                          {"options", GTH_OPERAND_OPTIONS},
                                          {"target", GTH_OPERAND_TARGET},
                                          {"updates", GTH_OPERAND_UPDATES},
                                          {"bags", GTH_OPERAND_BAGS},
                                          {"weights", GTH_OPERAND_WEIGHTS},
                                          {"reduction none", GTH_REDUCTION_NONE},
                                          {"reduction add", GTH_REDUCTION_ADD},
                                          {"reduction mul", GTH_REDUCTION_MUL},
                                          {"reduction max", GTH_REDUCTION_MAX},
                                          {"reduction min", GTH_REDUCTION_MIN},
                                          {"reduction mean", GTH_REDUCTION_MEAN},
                                          {"initial target", GTH_INITIAL_TARGET},
                                          {"initial update", GTH_INITIAL_UPDATE},
                                          {"accumulate dtype", GTH_ACCUMULATE_DTYPE},
                                          {"accumulate float32", GTH_ACCUMULATE_FLOAT32},
                                          {"accumulate float64", GTH_ACCUMULATE_FLOAT64},
                                          {"offsets", GTH_BAGS_OFFSETS},
                                          {"starts", GTH_BAGS_STARTS},
                                          {"lengths", GTH_BAGS_LENGTHS},
                                          {"segments", GTH_BAGS_SEGMENTS},
                                          {"dense", GTH_BAGS_DENSE},
                                          {"pool sum", GTH_POOL_SUM},
                                          {"pool mean", GTH_POOL_MEAN},
                                          {"pool sqrtn", GTH_POOL_SQRTN},
                                          {"pool max", GTH_POOL_MAX},
                                          {"pool min", GTH_POOL_MIN},
                                          {"empty zero", GTH_EMPTY_ZERO},
                                          {"empty fill", GTH_EMPTY_FILL},
                                          {"empty error", GTH_EMPTY_ERROR},
                                          {"tensorflow", GTH_PROFILE_TENSORFLOW},
                                          {"tensorflow_gpu", GTH_PROFILE_TENSORFLOW_GPU},
                                          {"onnx", GTH_PROFILE_ONNX},
                                          {"ort", GTH_PROFILE_ORT},
                                          {"numpy_raise", GTH_PROFILE_NUMPY_RAISE},
                                          {"numpy_wrap", GTH_PROFILE_NUMPY_WRAP},
                                          {"numpy_clip", GTH_PROFILE_NUMPY_CLIP},
                                          {"torch", GTH_PROFILE_TORCH},
                                          {"jax_fill", GTH_PROFILE_JAX_FILL},
                                          {"jax_clip", GTH_PROFILE_JAX_CLIP}};
    for (int32_t status = GTH_E_IO; status < 0; ++status) all[gth_status_name(status) + 6] = status;
    for (int32_t dtype = 1; dtype <= GTH_DTYPE_STRING; ++dtype) {
      if (gth_dtype_size(dtype) > 0 || dtype == GTH_DTYPE_STRING) all[gth_dtype_name(dtype)] = dtype;
    }
    return all;
  }();
  return table;
}

inline std::vector<int64_t> read_numbers(const std::string& text) {
  std::vector<int64_t> result;
  std::istringstream in(text == "." ? "" : text);
  for (std::string part; std::getline(in, part, ',');) result.push_back(std::stoll(part));
  return result;
}

inline std::string read_hex(const std::string& text) {
  std::string bytes;
  if (text == "." || text == "-") return bytes;
  for (size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

inline void read_bytes(const std::string& text, TensorText* tensor) {
  if (tensor->dtype != GTH_DTYPE_STRING) {
    tensor->bytes = read_hex(text);
    return;
  }
  tensor->string_ends = {0};
  std::istringstream in(text == "." ? "" : text);
  for (std::string part; std::getline(in, part, ',');) {
    tensor->bytes += read_hex(part);
    tensor->string_ends.push_back(static_cast<int64_t>(tensor->bytes.size()));
  }
}

inline TensorText read_tensor(std::istream& in, bool has_layout) {
  TensorText tensor;
  std::string dtype, shape, layout = ".", bytes;
  in >> dtype >> shape;
  if (has_layout) in >> layout;
  in >> bytes;
  tensor.dtype = numbers().at(dtype);
  tensor.shape = read_numbers(shape);
  if (layout != ".") {
    const size_t cut = layout.find(";strides=");
    tensor.offset = std::stoll(layout.substr(7));  // after "offset="
    tensor.strides = read_numbers(layout.substr(cut + 9));
  }
  read_bytes(bytes, &tensor);
  return tensor;
}

inline void read_expect(std::istream& in, Case* out) {
  std::string kind, status, operand, flags;
  in >> kind;
  if (kind == "ok" || kind == "crc") {
    out->out = read_tensor(in, false);
    out->has_crc = kind == "crc";
    return;
  }
  in >> status >> operand >> out->error.component >> out->error.position >> out->error.value >> out->error.limit >>
      flags;
  out->error.status = numbers().at(status);
  out->error.operand = numbers().at(operand);
  if (flags.find("wrap") != std::string::npos) out->error.flags |= GTH_ERROR_WRAP;
  if (flags.find("unsigned") != std::string::npos) out->error.flags |= GTH_ERROR_UNSIGNED;
}

inline void read_line(const std::string& key, std::istream& in, Case* out) {
  gth_options& options = out->options;
  std::string word;
  if (key == "params" || key == "target")
    out->params = read_tensor(in, true);
  else if (key == "indices")
    out->indices = read_tensor(in, true);
  else if (key == "updates")
    out->updates = read_tensor(in, true);
  else if (key == "bags")
    out->bags = read_tensor(in, true);
  else if (key == "weights")
    out->weights = read_tensor(in, true);
  else if (key == "scales")
    out->scales = read_tensor(in, true);
  else if (key == "zeros")
    out->zeros = read_tensor(in, true);
  else if (key == "codec")
    std::getline(in >> std::ws, out->codec);
  else if (key == "bag_count")
    in >> options.bag_count;
  else if (key == "expect")
    read_expect(in, out);
  else if (key == "system")
    std::getline(in >> std::ws, out->system);
  else if (key == "axis") {
    in >> options.axis;
    options.has_axis = 1;
  } else if (key == "padding_index") {
    in >> options.padding_index;
    options.has_padding_index = 1;
  } else if (key == "batch_dims")
    in >> options.batch_dims;
  else if (key == "opset")
    in >> options.opset;
  else if (in >> word; key == "op")
    out->op = word;
  else if (key == "difference")
    out->difference = word;
  else if (key == "profile")
    options.profile = numbers().at(word);
  else if (key == "negative")
    options.negative = numbers().at(word);
  else if (key == "bounds")
    options.bounds = numbers().at(word);
  else if (key == "fill")
    options.fill = numbers().at(word);
  else if (key == "extents")
    options.extents = numbers().at(word);
  else if (key == "reduction")
    options.reduction = numbers().at("reduction " + word);
  else if (key == "accumulate")
    options.accumulate = numbers().at("accumulate " + word);
  else if (key == "initial")
    options.initial = numbers().at("initial " + word);
  else if (key == "bag_format")
    options.bag_format = numbers().at(word);
  else if (key == "pool")
    options.pool = numbers().at("pool " + word);
  else if (key == "empty")
    options.empty = numbers().at("empty " + word);
  else if (key == "fill_value")
    word = read_hex(word), word.copy(reinterpret_cast<char*>(options.fill_value), 16);
}

// All files of cases, relative to the folder.
constexpr const char* files[] = {"none",
                                 "tensorflow",
                                 "tensorflow_gpu",
                                 "onnx",
                                 "ort",
                                 "numpy_raise",
                                 "numpy_wrap",
                                 "numpy_clip",
                                 "torch",
                                 "jax_fill",
                                 "jax_clip",
                                 "random",
                                 "elements/none",
                                 "elements/tensorflow",
                                 "elements/tensorflow_gpu",
                                 "elements/onnx",
                                 "elements/ort",
                                 "elements/numpy_raise",
                                 "elements/numpy_wrap",
                                 "elements/numpy_clip",
                                 "elements/torch",
                                 "elements/jax_fill",
                                 "elements/jax_clip",
                                 "elements/random"};

// Returns the files of the grid, relative to its folder. Each profile has one for each of these operations.
inline std::vector<const char*> grid_files() {
  std::vector<const char*> found;
  for (const char* file : files) {
    const std::string name(file);
    if (name.find("none") == name.npos && name.find("random") == name.npos) found.push_back(file);
  }
  return found;
}

// Returns the name of a file as the name of a test.
inline std::string test_name(std::string file) {
  for (char& each : file) each = each == '/' ? '_' : each;
  return file;
}

inline std::vector<Case> read_file(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("there is no " + path + ": build the target conformance_cases");
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string key;
    if (line.empty() || line[0] == '#' || !(in >> key)) continue;
    if (key == "case") {
      cases.emplace_back();
      in >> cases.back().name;
    } else {
      read_line(key, in, &cases.back());
    }
  }
  return cases;
}

}  // namespace conformance
