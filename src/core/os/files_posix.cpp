#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "core/os/files.hpp"

#ifdef GATHER_TESTING
#include "core/os/testing.hpp"
#endif

namespace gather::core {
namespace {

// Returns the number of bytes that a call may process, or -1 with errno if it has to fail. It differs from `bytes` in
// tests only.
ssize_t admitted(size_t bytes) {
#ifdef GATHER_TESTING
  return static_cast<ssize_t>(testing_limits_file_call(static_cast<int64_t>(bytes)));
#else
  return static_cast<ssize_t>(bytes);
#endif
}

int32_t refuse_others(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return 0;
  return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
}

// Readahead would read megabytes around each row.
void expect_random_reads(int file) {
#if defined(__linux__)
  posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
#else
  fcntl(file, F_RDAHEAD, 0);
#endif
}

// Opens a file. It repeats the call after a signal. A named pipe would wait for a writer without O_NONBLOCK, which has no
// effect on regular files.
int open_again(const char* path) {
  for (;;) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 || errno != EINTR) return file;
  }
}

// The two forms of strerror_r: a status and the buffer, or the text.
[[maybe_unused]] const char* text_of(int, const char* buffer) { return buffer; }
[[maybe_unused]] const char* text_of(const char* text, const char*) { return text; }

}  // namespace

int32_t open_file(const char* path, FileHandle* file) {
  if (admitted(1) < 0) return errno;
  const int opened = open_again(path);
  if (opened < 0) return errno;
  expect_random_reads(opened);
  *file = opened;
  return 0;
}

// Readahead belongs to the open file, which a duplicate shares with the caller. So the file is opened again if possible.
int32_t duplicate_file(int64_t given, FileHandle* file) {
  if (given < 0 || given > INT32_MAX) return EBADF;
  const int descriptor = static_cast<int>(given), flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_ACCMODE) == O_WRONLY) return EBADF;
  char path[48];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int copy = open_again(path);
  if (copy >= 0) {
    expect_random_reads(copy);
  } else {
    copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  }
  if (copy < 0) return errno;
  *file = copy;
  return 0;
}

void close_file(FileHandle file) { close(static_cast<int>(file)); }

int32_t measure_file(FileHandle file, int64_t* bytes) {
  struct stat status;
  if (admitted(1) < 0 || fstat(static_cast<int>(file), &status) != 0) return errno;
  *bytes = status.st_size;
  return refuse_others(status);
}

void describe_system_error(int32_t number, char* text, size_t size) {
  char buffer[128] = "";
  std::snprintf(text, size, "%s", text_of(strerror_r(number, buffer, sizeof buffer), buffer));
}

int32_t read_file(FileHandle file, const FileRange& range, char* to, int64_t* done) {
  *done = 0;
  while (*done < range.bytes) {
    const ssize_t wanted = admitted(static_cast<size_t>(range.bytes - *done));
    const ssize_t n =
        wanted < 0 ? -1 : pread(static_cast<int>(file), to + *done, static_cast<size_t>(wanted), range.offset + *done);
    if (n == 0) return 0;
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) *done += n;
  }
  return 0;
}

#if defined(__linux__)

// The C library of old systems has no function for it, and old kernels and some file systems have no such reads.
Cached read_cached(FileHandle file, const FileRange& range, char* to) {
  constexpr int no_wait = 8;  // RWF_NOWAIT
#ifndef SYS_preadv2
  constexpr long SYS_preadv2 = 327;
#endif
  const ssize_t wanted = admitted(static_cast<size_t>(range.bytes));
  if (wanted != range.bytes) return Cached::some;
  const iovec into{to, static_cast<size_t>(range.bytes)};
  const long n = syscall(SYS_preadv2, static_cast<long>(file), &into, 1L, static_cast<long>(range.offset), 0L, no_wait);
  if (n == range.bytes) return Cached::all;
  return n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) ? Cached::unknown : Cached::some;
}

void request_file(FileHandle file, const FileRange& range) {
  posix_fadvise(static_cast<int>(file), range.offset, range.bytes, POSIX_FADV_WILLNEED);
}

#else

Cached read_cached(FileHandle, const FileRange&, char*) { return Cached::unknown; }

void request_file(FileHandle file, const FileRange& range) {
  radvisory advice{range.offset, static_cast<int>(std::min<int64_t>(range.bytes, INT32_MAX))};
  fcntl(static_cast<int>(file), F_RDADVISE, &advice);
}

#endif

// ---- Maps

bool has_file_maps() { return true; }

int64_t page_bytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

namespace {

constexpr size_t huge_page = size_t{2} << 20;

// Reserves addresses for a map whose first address differs from the offset in the file modulo 2 MiB. Large folios of the
// page cache cannot become huge pages there. MADV_NOHUGEPAGE does not have this effect.
char* reserve_small_pages(size_t bytes, int64_t offset) {
  const auto page = static_cast<size_t>(page_bytes());
  const size_t used = (bytes + page - 1) / page * page, all = used + 2 * huge_page;
  void* const room = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(room);
  const bool is_congruent = reinterpret_cast<uintptr_t>(begin) % huge_page == static_cast<size_t>(offset) % huge_page;
  const size_t skipped = is_congruent ? page : 0;
  if (skipped) munmap(begin, skipped);
  munmap(begin + skipped + used, all - skipped - used);
  return begin + skipped;
}

}  // namespace

int32_t map_file(FileHandle file, const FileRange& range, bool small_pages, char** memory) {
  const auto bytes = static_cast<size_t>(range.bytes);
  if (admitted(1) < 0) return errno;
  char* const reserved = small_pages ? reserve_small_pages(bytes, range.offset) : nullptr;
  if (small_pages && !reserved) return errno;
  void* const first =
      mmap(reserved, bytes, PROT_READ, MAP_SHARED | (reserved ? MAP_FIXED : 0), static_cast<int>(file), range.offset);
  if (first == MAP_FAILED) {
    const int32_t failed = errno;
    if (reserved) munmap(reserved, bytes);
    return failed;
  }
  madvise(first, bytes, MADV_RANDOM);
  *memory = static_cast<char*>(first);
  return 0;
}

void unmap_file(char* memory, int64_t bytes) { munmap(memory, static_cast<size_t>(bytes)); }

namespace {

static_assert(sizeof(PageRange) == sizeof(iovec), "ranges of pages are passed to the system");

#if defined(__linux__)

constexpr int populate_read = 22;  // MADV_POPULATE_READ, since Linux 5.14

// Gives advice on many ranges of this process with one call, which Linux has since 6.14. Returns the number of ranges
// before the first one that failed, or -1 if the system has no such call.
int64_t advise_at_once(const PageRange* ranges, int64_t count, int advice) {
#ifndef SYS_process_madvise
  constexpr long SYS_process_madvise = 440;
#endif
  constexpr int this_process = -10000;  // PIDFD_SELF
  static std::atomic<bool> is_absent{false};
  if (is_absent.load(std::memory_order_relaxed)) return -1;
  int64_t done = 0;
  while (done < count) {
    const ssize_t bytes = syscall(SYS_process_madvise, static_cast<long>(this_process), ranges + done,
                                  static_cast<long>(count - done), static_cast<long>(advice), 0L);
    if (bytes < 0 && (errno == EBADF || errno == ENOSYS || errno == EPERM || errno == ESRCH)) {
      is_absent.store(true, std::memory_order_relaxed);
      return -1;
    }
    if (bytes <= 0) break;  // The caller repeats the range, to find its error.
    for (auto left = static_cast<size_t>(bytes); done < count && left >= ranges[done].bytes; ++done)
      left -= ranges[done].bytes;
    if (done < count) break;  // A part of a range was done.
  }
  return done;
}

#else

constexpr int populate_read = -1;
int64_t advise_at_once(const PageRange*, int64_t, int) { return -1; }

#endif

// Gives advice on one range. Returns 0 or an error.
int32_t advise(const PageRange& range, int advice) {
  for (;;) {
    if (madvise(range.first, range.bytes, advice) == 0) return 0;
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
}

}  // namespace

void request_pages(const PageRange* ranges, int64_t count) {
  const int64_t done = std::max<int64_t>(advise_at_once(ranges, count, MADV_WILLNEED), 0);
  for (int64_t i = done; i < count; ++i) madvise(ranges[i].first, ranges[i].bytes, MADV_WILLNEED);
}

int32_t populate_pages(const PageRange* ranges, int64_t count, int64_t* done) {
  *done = 0;
  if (admitted(1) < 0) return errno;
  *done = count;
  if (populate_read < 0) return 0;
  for (int64_t i = std::max<int64_t>(advise_at_once(ranges, count, populate_read), 0); i < count; ++i) {
    const int32_t failed = advise(ranges[i], populate_read);
    if (failed == EINVAL) return 0;  // an older system
    if (failed == 0) continue;
    *done = i;
    return failed;
  }
  return 0;
}

void release_pages(char* memory, int64_t bytes) { madvise(memory, static_cast<size_t>(bytes), MADV_DONTNEED); }

int64_t resident_file_bytes() {
#if defined(__linux__)
  char text[128];
  const int file = open_again("/proc/self/statm");
  if (file < 0) return -1;
  const ssize_t n = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(n, 0)] = 0;
  long long all = 0, resident = 0, shared = 0;
  return std::sscanf(text, "%lld %lld %lld", &all, &resident, &shared) == 3 ? shared * page_bytes() : -1;
#else
  return -1;
#endif
}

}  // namespace gather::core
