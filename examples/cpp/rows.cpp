// Gathers rows of a file: rows TABLE CODEC COUNT DIM IDS. rows.c describes the arguments.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <gather/gather.hpp>
#include <iterator>
#include <string>
#include <vector>

namespace {

std::vector<uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  file.exceptions(std::ios::badbit | std::ios::failbit);
  return {std::istreambuf_iterator<char>(file), {}};
}

void lookup(char** argv) {
  const std::vector<uint8_t> table = read(argv[1]), ids = read(argv[5]);
  const std::string codec = argv[2];
  const int64_t count = std::stoll(argv[3]), dim = std::stoll(argv[4]), picked = static_cast<int64_t>(ids.size() / 8);
  std::vector<float> rows(static_cast<size_t>(picked * dim));

  gather::Packed packed;
  if (codec != "float32") packed = gather::Packed(codec.c_str(), table, {count, dim});
  const auto params =
      codec != "float32" ? gather::View(packed) : gather::View(table.data(), GTH_DTYPE_FLOAT32, {count, dim});
  using Seconds = std::chrono::duration<double>;
  Seconds fastest = Seconds::max();  // Other programs disturbed the fastest call least.
  for (int call = 0; call < 50; call++) {
    const auto begin = std::chrono::steady_clock::now();
    gather::gather_into(params, {ids.data(), GTH_DTYPE_INT64, {picked}}, {rows, {picked, dim}});
    fastest = std::min<Seconds>(fastest, std::chrono::steady_clock::now() - begin);
  }
  std::fwrite(rows.data(), sizeof(float), rows.size(), stdout);
  std::fprintf(stderr, "%.0f\n", static_cast<double>(picked) / fastest.count());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 6) lookup(argv);
  return argc == 6 ? 0 : 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "rows: %s\n", error.what());
  return 1;
}
