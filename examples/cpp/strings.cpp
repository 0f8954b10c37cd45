// Gathers strings by id. The strings are one buffer of bytes, and offsets at which they begin and end.
#include <gather/gather.hpp>
#include <iostream>
#include <vector>

int main() {
  const std::string_view bytes = "zeroonetwothree";
  const std::vector<int64_t> offsets = {0, 4, 7, 10, 15}, ids = {3, 1};
  const gather::Tensor words = gather::Tensor::from_strings(offsets.data(), bytes, {4});
  const gather::Tensor found = gather::gather(words, gather::Tensor::borrow(ids));
  for (const std::string_view word : found.strings()) std::cout << word << "\n";
}
