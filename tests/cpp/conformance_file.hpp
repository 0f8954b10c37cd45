#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "cases.h"

// The conformance cases in types of C++.
namespace conformance {

struct TensorText {
  explicit TensorText(const conformance_tensor& text)
      : dtype(text.desc.dtype),
        shape(text.desc.shape, text.desc.shape + text.desc.ndim),
        offset(text.desc.offset),
        bytes(static_cast<const char*>(text.desc.data), static_cast<size_t>(text.desc.extent)) {
    if (text.desc.strides) strides.assign(text.desc.strides, text.desc.strides + text.desc.ndim);
    if (text.string_offsets) string_ends.assign(text.string_offsets, text.string_offsets + text.string_count + 1);
  }

  int32_t dtype;                        // 0: there is no such tensor
  std::vector<int64_t> shape, strides;  // strides empty: dense
  int64_t offset;
  std::string bytes;                 // memory, or all strings concatenated
  std::vector<int64_t> string_ends;  // dtype string: the offsets, starting with 0
};

struct Case {
  explicit Case(const conformance_case& text)
      : name(text.name),
        op(text.op_name),
        codec(text.codec ? text.codec : ""),
        options(text.options),
        error(text.error),
        has_crc(text.has_crc != 0),
        params(text.params),
        indices(text.indices),
        updates(text.updates),
        bags(text.bags),
        weights(text.weights),
        scales(text.scales),
        zeros(text.zeros),
        out(text.out) {}

  std::string name, op, codec;
  gth_options options;
  gth_error error;  // status GTH_OK: out holds the recorded output
  bool has_crc;     // out has the digest of the output instead of its bytes
  TensorText params, indices, updates, bags, weights, scales, zeros, out;  // params: or the target
};

#define GATHER_PROFILES(folder)                                                                                   \
  folder "none", folder "tensorflow", folder "tensorflow_gpu", folder "onnx", folder "ort", folder "numpy_raise", \
      folder "numpy_wrap", folder "numpy_clip", folder "torch", folder "jax_fill", folder "jax_clip", folder "random"

// All files of cases, relative to the folder.
constexpr const char* files[] = {GATHER_PROFILES(""), GATHER_PROFILES("elements/")};

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
  conformance_file file;
  conformance_read(path.c_str(), &file);
  const std::vector<Case> cases(file.cases, file.cases + file.count);
  const std::string error = file.error;
  conformance_free(&file);
  if (!error.empty()) throw std::runtime_error(error);
  return cases;
}

}  // namespace conformance
