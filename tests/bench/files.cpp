// Times gathers of random rows of a table in files, beside other ways to read them, in one process and in turn:
//   pread        one thread
//   pread x 16   a pool of 16 threads that wait between calls
//   io_uring     256 buffered reads at once
//   direct       256 reads at once that bypass the page cache
//   memory       gth_gather from a map of the caller, of 64 or 256 MiB (warm only)
//
// Usage: files FOLDER [ROUNDS] [warm]
// FOLDER receives four files of 1.25 GiB, if it does not have them. Prints Markdown: microseconds for a row, medians of
// the rounds. "Cold" means that the files were removed from the page cache before each call.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gather/gather.h"

namespace {

constexpr int64_t file_count = 4, file_bytes = int64_t{1280} << 20, head = 4096, block = 4096;
constexpr int64_t warm_bytes = int64_t{64} << 20;  // of each file, among which warm calls draw

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

// ---- The files

struct Files {
  std::vector<std::string> paths;
  int buffered[file_count], direct[file_count];
  int64_t row = 0, rows_each = 0;

  explicit Files(const std::string& folder) {
    std::vector<char> chunk(1 << 20);
    std::mt19937_64 random(1);
    for (int64_t i = 0; i < file_count; ++i) {
      paths.push_back(folder + "/rows" + std::to_string(i));
      const int file = open(paths.back().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      require(file >= 0, paths.back().c_str());
      for (int64_t at = lseek(file, 0, SEEK_END); at < file_bytes + head + block; at += 1 << 20) {
        for (size_t k = 0; k < chunk.size(); k += 8) {
          const uint64_t bits = random();
          std::memcpy(chunk.data() + k, &bits, 8);
        }
        require(pwrite(file, chunk.data(), chunk.size(), at) == 1 << 20, "write");
      }
      fdatasync(file);
      buffered[i] = file;
      direct[i] = open(paths.back().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
      require(direct[i] >= 0, "O_DIRECT");
    }
  }

  void set_row(int64_t bytes) { row = bytes, rows_each = file_bytes / bytes; }
  int64_t rows() const { return file_count * rows_each; }
  int file_of(int64_t id) const { return static_cast<int>(id / rows_each); }
  int64_t offset_of(int64_t id) const { return head + id % rows_each * row; }

  void leave_cache() const {
    for (const int file : buffered) posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  }
  void expect_random() const {
    for (const int file : buffered) posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  }
};

// The ids of a call, and its output.
struct Call {
  std::vector<int64_t> ids;
  std::vector<char> out;
};

// ---- The other ways

void read_rows(const Files& files, Call* call, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    const int64_t id = call->ids[static_cast<size_t>(i)];
    const ssize_t n = pread(files.buffered[files.file_of(id)], call->out.data() + i * files.row,
                            static_cast<size_t>(files.row), files.offset_of(id));
    require(n == files.row, "pread");
  }
}

class Pool {
 public:
  explicit Pool(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      ends_ = true;
      ++turn_;
    }
    started_.notify_all();
    for (std::thread& each : threads_) each.join();
  }

  void read(const Files& files, Call* call) {
    const auto n = static_cast<int64_t>(call->ids.size());
    const int64_t step = std::clamp<int64_t>(n / static_cast<int64_t>(threads_.size() * 8), 1, 16);
    next_ = 0;
    body_ = [this, &files, call, n, step] {
      for (int64_t i; (i = next_.fetch_add(step)) < n;) read_rows(files, call, i, std::min(n, i + step));
    };
    std::unique_lock<std::mutex> lock(mutex_);
    busy_ = threads_.size();
    ++turn_;
    started_.notify_all();
    finished_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void work() {
    for (int64_t seen = 0;;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        started_.wait(lock, [&] { return turn_ != seen; });
        seen = turn_;
        if (ends_) return;
      }
      body_();
      const std::lock_guard<std::mutex> guard(mutex_);
      if (--busy_ == 0) finished_.notify_one();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable started_, finished_;
  std::function<void()> body_;
  std::atomic<int64_t> next_{0};
  size_t busy_ = 0;
  int64_t turn_ = 0;
  bool ends_ = false;
};

class Ring {
 public:
  static constexpr unsigned depth = 256;

  Ring() {
    io_uring_params params{};
    ring_ = static_cast<int>(syscall(SYS_io_uring_setup, depth, &params));
    if (ring_ < 0) return;
    const size_t bytes = std::max(params.sq_off.array + params.sq_entries * sizeof(unsigned),
                                  params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
    char* const rings = map(bytes, IORING_OFF_SQ_RING);
    entries_ = reinterpret_cast<io_uring_sqe*>(map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    tail_ = reinterpret_cast<std::atomic<unsigned>*>(rings + params.sq_off.tail);
    mask_ = *reinterpret_cast<unsigned*>(rings + params.sq_off.ring_mask);
    order_ = reinterpret_cast<unsigned*>(rings + params.sq_off.array);
    done_head_ = reinterpret_cast<std::atomic<unsigned>*>(rings + params.cq_off.head);
    done_tail_ = reinterpret_cast<std::atomic<unsigned>*>(rings + params.cq_off.tail);
    done_mask_ = *reinterpret_cast<unsigned*>(rings + params.cq_off.ring_mask);
    done_ = reinterpret_cast<io_uring_cqe*>(rings + params.cq_off.cqes);
    bounce_ = static_cast<char*>(std::aligned_alloc(block, depth * slot_bytes));
  }
  bool exists() const { return ring_ >= 0; }

  void read(const Files& files, bool is_direct, Call* call) {
    const auto n = static_cast<int64_t>(call->ids.size());
    std::vector<unsigned> free_slots;
    int64_t row_of[depth];
    for (unsigned i = 0; i < depth; ++i) free_slots.push_back(i);
    for (int64_t next = 0, finished = 0; finished < n;) {
      unsigned submitted = 0, tail = tail_->load(std::memory_order_relaxed);
      for (; next < n && !free_slots.empty(); ++next, ++tail, ++submitted) {
        const unsigned slot = free_slots.back();
        free_slots.pop_back();
        row_of[slot] = next;
        prepare(files, is_direct, *call, next, slot, &entries_[tail & mask_]);
        order_[tail & mask_] = tail & mask_;
      }
      tail_->store(tail, std::memory_order_release);
      const auto flying = static_cast<unsigned>(depth - free_slots.size());
      const unsigned wanted = std::max(1u, std::min(flying, 32u) / (next < n ? 4 : 1));
      require(syscall(SYS_io_uring_enter, ring_, submitted, wanted, IORING_ENTER_GETEVENTS, nullptr, 0) >= 0, "enter");
      unsigned at = done_head_->load(std::memory_order_relaxed);
      for (const unsigned end = done_tail_->load(std::memory_order_acquire); at != end; ++at, ++finished) {
        const io_uring_cqe& done = done_[at & done_mask_];
        const auto slot = static_cast<unsigned>(done.user_data);
        const int64_t i = row_of[slot], offset = files.offset_of(call->ids[static_cast<size_t>(i)]);
        require(done.res >= (is_direct ? offset % sector + files.row : files.row), "io_uring");
        if (is_direct) {
          std::memcpy(call->out.data() + i * files.row, bounce_ + slot * slot_bytes + offset % sector,
                      static_cast<size_t>(files.row));
        }
        free_slots.push_back(slot);
      }
      done_head_->store(at, std::memory_order_release);
    }
  }

 private:
  static constexpr int64_t sector = 512, slot_bytes = 8192;

  char* map(size_t bytes, long long at) const {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, at);
    require(memory != MAP_FAILED, "mmap");
    return static_cast<char*>(memory);
  }

  void prepare(const Files& files, bool is_direct, const Call& call, int64_t i, unsigned slot,
               io_uring_sqe* entry) const {
    const int64_t id = call.ids[static_cast<size_t>(i)], offset = files.offset_of(id);
    const int64_t before = is_direct ? offset % sector : 0, bytes = before + files.row;
    char* const to = is_direct ? bounce_ + slot * slot_bytes : const_cast<char*>(call.out.data()) + i * files.row;
    *entry = io_uring_sqe{};
    entry->opcode = IORING_OP_READ;
    entry->fd = (is_direct ? files.direct : files.buffered)[files.file_of(id)];
    entry->addr = reinterpret_cast<uintptr_t>(to);
    entry->len = static_cast<unsigned>(is_direct ? (bytes + sector - 1) / sector * sector : bytes);
    entry->off = static_cast<uint64_t>(offset - before);
    entry->user_data = slot;
  }

  int ring_ = -1;
  io_uring_sqe* entries_ = nullptr;
  io_uring_cqe* done_ = nullptr;
  std::atomic<unsigned>*tail_ = nullptr, *done_head_ = nullptr, *done_tail_ = nullptr;
  unsigned *order_ = nullptr, mask_ = 0, done_mask_ = 0;
  char* bounce_ = nullptr;
};

// ---- Our ways

class Table {
 public:
  // `count` segments: one in each file, or one of file 0. With `memory`, the segments are there.
  Table(const Files& files, int64_t count, int32_t mode, int64_t resident, const char* const* memory = nullptr) {
    std::vector<gth_segment> segments(static_cast<size_t>(count), GTH_SEGMENT_INIT);
    std::vector<const gth_segment*> pointers;
    for (int64_t i = 0; i < count; ++i) {
      gth_segment& each = segments[static_cast<size_t>(i)];
      if (memory) each.data = memory[i];
      if (!memory) each.path = files.paths[static_cast<size_t>(i)].c_str();
      each.offset = head;
      each.rows = files.rows_each;
      pointers.push_back(&each);
    }
    gth_files_options options = GTH_FILES_OPTIONS_INIT;
    options.mode = mode;
    options.resident = resident;
    const int64_t shape[] = {count * files.rows_each, files.row};
    const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_UINT8, 2, shape, nullptr);
    gth_error error = GTH_ERROR_INIT;
    const int32_t status = gth_tensor_open(nullptr, &desc, count, pointers.data(), &options, &tensor_, &error);
    require(status == GTH_OK, error.message);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { gth_tensor_release(tensor_); }

  void read(Call* call, int64_t row) const {
    const auto n = static_cast<int64_t>(call->ids.size());
    const int64_t shape[] = {n, row};
    const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor_);
    const gth_tensor_desc ids = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &n, call->ids.data());
    const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_UINT8, 2, shape, call->out.data());
    require(gth_gather(nullptr, &table, &ids, &out, nullptr, nullptr) == GTH_OK, "gather");
  }

 private:
  gth_tensor* tensor_ = nullptr;
};

// ---- Measuring

struct Way {
  const char* name;
  std::function<void(Call*)> read;
  int64_t files, span;        // It draws ids among the first `span` rows of each of some files.
  std::vector<double> times;  // microseconds for a row
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void draw(const Files& files, const Way& way, std::mt19937_64* random, Call* call) {
  for (int64_t& id : call->ids) {
    const auto drawn = static_cast<int64_t>((*random)() % static_cast<uint64_t>(way.files * way.span));
    id = drawn / way.span * files.rows_each + drawn % way.span;
  }
}

void check(const Files& files, const char* name, const Call& call) {
  Call expected = call;
  read_rows(files, &expected, 0, static_cast<int64_t>(expected.ids.size()));
  if (expected.out == call.out) return;
  std::fprintf(stderr, "%s: other rows\n", name);
  std::exit(1);
}

void measure(const Files& files, int64_t n, int rounds, bool is_cold, std::vector<Way>* ways) {
  static std::mt19937_64 random(7);
  Call call{std::vector<int64_t>(static_cast<size_t>(n)), std::vector<char>(static_cast<size_t>(n * files.row))};
  const int repeats = is_cold ? (n <= 64 ? 16 : n <= 256 ? 4 : 1) : n <= 256 ? 64 : 4;
  for (int round = 0; round < rounds; ++round) {
    for (size_t k = 0; k < ways->size(); ++k) {
      Way& way = (*ways)[(k + static_cast<size_t>(round)) % ways->size()];
      double spent = 0;
      for (int i = 0; i < repeats; ++i) {
        draw(files, way, &random, &call);
        if (is_cold) files.leave_cache();
        if (!is_cold && i == 0) way.read(&call);
        const double start = seconds();
        way.read(&call);
        spent += seconds() - start;
      }
      check(files, way.name, call);
      way.times.push_back(spent / repeats / static_cast<double>(n) * 1e6);
    }
  }
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print_line(int64_t row, int64_t n, std::vector<Way>* ways) {
  std::printf("| %lld | %lld |", static_cast<long long>(row), static_cast<long long>(n));
  for (Way& way : *ways) {
    std::printf(" %.3g |", median(way.times));
    way.times.clear();
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_head(const char* title, const std::vector<Way>& ways) {
  std::printf("\n%s\n\n| row, bytes | rows |", title);
  for (const Way& way : ways) std::printf(" %s |", way.name);
  std::printf("\n|---|---|");
  for (size_t i = 0; i < ways.size(); ++i) std::printf("---|");
  std::printf("\n");
}

// Reads the beginning of each file, so that the system has it in memory.
void warm_up(const Files& files) {
  std::vector<char> chunk(1 << 20);
  for (const int file : files.buffered) {
    const int64_t bytes = (file == files.buffered[0] ? file_count : 1) * warm_bytes + (2 << 20);
    for (int64_t at = 0; at < bytes; at += 1 << 20) require(pread(file, chunk.data(), chunk.size(), at) > 0, "pread");
  }
}

void measure_cold(Files* files, Pool* pool, Ring* ring, int rounds) {
  for (const int64_t row : {160, 264, 1024, 4096}) {
    files->set_row(row);
    const Table read(*files, file_count, GTH_FILES_READ, 0), map(*files, file_count, GTH_FILES_MAP, 0);
    const int64_t all = files->rows_each;
    std::vector<Way> ways = {{"read", [&](Call* call) { read.read(call, row); }, file_count, all, {}},
                             {"map", [&](Call* call) { map.read(call, row); }, file_count, all, {}},
                             {"pread x 16", [&](Call* call) { pool->read(*files, call); }, file_count, all, {}}};
    if (ring->exists()) {
      ways.push_back({"io_uring", [&](Call* call) { ring->read(*files, false, call); }, file_count, all, {}});
      ways.push_back({"direct", [&](Call* call) { ring->read(*files, true, call); }, file_count, all, {}});
    }
    if (row == 160) print_head("Cold", ways);
    for (const int64_t n : {1, 18, 256, 4096, 32768}) {
      measure(*files, n, rounds, true, &ways);
      print_line(row, n, &ways);
    }
  }
}

// Reads all rows among which a warm call draws, so that a map has seen their pages.
void read_all(const Files& files, int64_t count, const Table& table) {
  const int64_t span = warm_bytes / files.row;
  Call call{{}, std::vector<char>(static_cast<size_t>(span * files.row))};
  for (int64_t file = 0; file < count; ++file) {
    call.ids.clear();
    for (int64_t i = 0; i < span; ++i) call.ids.push_back(file * files.rows_each + i);
    table.read(&call, files.row);
  }
}

// The map of a process must have the same page size as that of the library, so `memory` is a map too.
void measure_warm(Files* files, int rounds) {
  warm_up(*files);
  const char* memory[file_count];
  for (int64_t i = 0; i < file_count; ++i) {
    void* const mapped = mmap(nullptr, file_bytes + head, PROT_READ, MAP_SHARED, files->buffered[i], 0);
    require(mapped != MAP_FAILED, "mmap");
    memory[i] = static_cast<const char*>(mapped);
  }
  for (const int64_t row : {160, 264, 1024, 4096}) {
    files->set_row(row);
    const Table read(*files, file_count, GTH_FILES_READ, 0), one(*files, 1, GTH_FILES_MAP, 0);
    const Table four(*files, file_count, GTH_FILES_MAP, 0), pieces(*files, file_count, 0, 0, memory);
    const auto plain = [&](Call* call) {
      const auto n = static_cast<int64_t>(call->ids.size());
      const int64_t shape[] = {files->rows_each, row}, out_shape[] = {n, row};
      const gth_tensor_desc table = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_UINT8, 2, shape, memory[0] + head);
      const gth_tensor_desc ids = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &n, call->ids.data());
      const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_UINT8, 2, out_shape, call->out.data());
      require(gth_gather(nullptr, &table, &ids, &out, nullptr, nullptr) == GTH_OK, "gather");
    };
    const int64_t span = warm_bytes / row;
    std::vector<Way> ways = {{"memory", plain, 1, span, {}},
                             {"map", [&](Call* call) { one.read(call, row); }, 1, span, {}},
                             {"memory, 256 MiB", plain, 1, span * file_count, {}},
                             {"map, 4 files", [&](Call* call) { four.read(call, row); }, file_count, span, {}},
                             {"memory, 4 pieces", [&](Call* call) { pieces.read(call, row); }, file_count, span, {}},
                             {"read", [&](Call* call) { read.read(call, row); }, file_count, span, {}},
                             {"pread",
                              [&](Call* call) { read_rows(*files, call, 0, static_cast<int64_t>(call->ids.size())); },
                              file_count,
                              span,
                              {}}};
    for (const Table* each : {&one, &four}) read_all(*files, each == &one ? 1 : file_count, *each);
    if (row == 160) print_head("Warm", ways);
    for (const int64_t n : {1, 18, 256, 4096, 32768}) {
      measure(*files, n, rounds, false, &ways);
      print_line(row, n, &ways);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: files FOLDER [ROUNDS] [warm]\n");
    return 2;
  }
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 7;
  Files files(arguments[1]);
  files.expect_random();
  utsname system;
  uname(&system);
  double load[1] = {0};
  getloadavg(load, 1);
  std::printf("%s %s, load %.1f, %d rounds\n", system.sysname, system.release, load[0], rounds);
  Pool pool(16);
  Ring ring;
  if (count < 4) measure_cold(&files, &pool, &ring, rounds);
  measure_warm(&files, rounds);
  return 0;
}
