// Shows the meanings of an id out of bounds. An error names the position of the id, and the output is unchanged.
#include <cstdio>
#include <gather/gather.hpp>
#include <vector>

namespace {

std::vector<float> look_up(int64_t id, const gather::Options& options = {}) {
  static const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  const std::vector<int64_t> ids = {0, id};
  std::vector<float> rows(4);
  gather::gather_into({table, {4, 2}}, ids, {rows, {2, 2}}, options);
  return {rows[2], rows[3]};
}

void show(const char* what, const std::vector<float>& row) { std::printf("%s: %g %g\n", what, row[0], row[1]); }

}  // namespace

int main() {
  try {
    look_up(4);
  } catch (const gather::IndexError& error) {
    std::printf("refused: id %d at position %d, of %d rows\n", static_cast<int>(error.value()),
                static_cast<int>(error.position()), static_cast<int>(error.limit()));
  }
  show("from the end", look_up(-1, gather::Options().negative(gather::Negative::wrap)));
  show("clamped", look_up(9, gather::Options().bounds(gather::Bounds::clamp)));
  show("filled", look_up(9, gather::Options().fill_value(-1.0F)));
}
