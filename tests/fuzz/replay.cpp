#include <dirent.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Runs a fuzz target without a fuzzer: replay [--random COUNT [--seed SEED]] [FILE | FOLDER]... It runs the bytes of
// each file, and then random bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Runs all files of a folder, or one file. Uses C functions, because the memory sanitizer does not instrument the C++
// library.
int64_t run_path(const char* path) {
  if (DIR* folder = opendir(path)) {
    int64_t count = 0;
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] == '.') continue;
      char inside[4096];
      std::snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
      count += run_path(inside);
    }
    closedir(folder);
    return count;
  }
  std::FILE* file = std::fopen(path, "rb");
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path);
    std::exit(2);
  }
  static uint8_t bytes[1 << 16];
  const size_t size = std::fread(bytes, 1, sizeof bytes, file);
  std::fclose(file);
  LLVMFuzzerTestOneInput(bytes, size);
  return 1;
}

// The splitmix64 generator.
uint64_t next(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// If REPLAY_TRACE is set, prints the number of each input. A failure can then be repeated: --random 1 --seed NUMBER.
void run_random(int64_t count, uint64_t seed) {
  for (int64_t i = 0; i < count; ++i) {
    uint64_t state = seed + static_cast<uint64_t>(i);
    uint8_t bytes[256];
    const size_t size = next(&state) % (sizeof bytes + 1);
    for (size_t at = 0; at < size; ++at) bytes[at] = static_cast<uint8_t>(next(&state) >> 56);
    if (std::getenv("REPLAY_TRACE"))
      std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed + static_cast<uint64_t>(i)));
    LLVMFuzzerTestOneInput(bytes, size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int64_t count = 0, files = 0;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--random") == 0 && i + 1 < argc) {
      count = std::atoll(argv[++i]);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      files += run_path(argv[i]);
    }
  }
  run_random(count, seed);
  std::printf("%lld files, %lld random inputs\n", static_cast<long long>(files), static_cast<long long>(count));
  return 0;
}
