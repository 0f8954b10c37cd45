#define _WIN32_WINNT 0x0602
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <algorithm>
#include <cstdint>

#include "core/os/files.hpp"

namespace gather::core {
namespace {

HANDLE handle_of(FileHandle file) { return reinterpret_cast<HANDLE>(file); }

int32_t last_error() { return static_cast<int32_t>(GetLastError()); }

// A path in UTF-16, of at most 32,767 characters as Windows has them.
class WidePath {
 public:
  explicit WidePath(const char* path) {
    const int wanted = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
    if (wanted <= 0) return;
    text_ = static_cast<wchar_t*>(HeapAlloc(GetProcessHeap(), 0, static_cast<size_t>(wanted) * sizeof(wchar_t)));
    if (text_) MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, text_, wanted);
  }
  WidePath(const WidePath&) = delete;
  WidePath& operator=(const WidePath&) = delete;
  ~WidePath() {
    if (text_) HeapFree(GetProcessHeap(), 0, text_);
  }
  const wchar_t* text() const { return text_; }

 private:
  wchar_t* text_ = nullptr;
};

}  // namespace

int32_t open_file(const char* path, FileHandle* file) {
  const WidePath wide(path);
  if (!wide.text()) return ERROR_INVALID_NAME;
  const DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE opened =
      CreateFileW(wide.text(), GENERIC_READ, shared, nullptr, OPEN_EXISTING, FILE_FLAG_RANDOM_ACCESS, nullptr);
  if (opened == INVALID_HANDLE_VALUE) return last_error();
  *file = reinterpret_cast<FileHandle>(opened);
  return 0;
}

int32_t duplicate_file(int64_t given, FileHandle* file) {
  HANDLE copy;
  const HANDLE process = GetCurrentProcess();
  if (!DuplicateHandle(process, handle_of(static_cast<FileHandle>(given)), process, &copy, 0, FALSE,
                       DUPLICATE_SAME_ACCESS)) {
    return last_error();
  }
  *file = reinterpret_cast<FileHandle>(copy);
  return 0;
}

void close_file(FileHandle file) { CloseHandle(handle_of(file)); }

int32_t measure_file(FileHandle file, int64_t* bytes) {
  LARGE_INTEGER size;
  if (GetFileType(handle_of(file)) != FILE_TYPE_DISK) return ERROR_INVALID_PARAMETER;
  if (!GetFileSizeEx(handle_of(file), &size)) return last_error();
  *bytes = size.QuadPart;
  return 0;
}

void describe_system_error(int32_t number, char* text, size_t size) {
  const DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
  const DWORD n =
      FormatMessageA(flags, nullptr, static_cast<DWORD>(number), 0, text, static_cast<DWORD>(size), nullptr);
  text[std::min<size_t>(n, size - 1)] = 0;
}

int32_t read_file(FileHandle file, const FileRange& range, char* to, int64_t* done) {
  for (*done = 0; *done < range.bytes;) {
    const auto offset = static_cast<uint64_t>(range.offset + *done);
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(offset);
    at.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD n = 0;
    const auto wanted = static_cast<DWORD>(std::min<int64_t>(range.bytes - *done, 1 << 30));
    if (!ReadFile(handle_of(file), to + *done, wanted, &n, &at)) {
      const int32_t failed = last_error();
      return failed == ERROR_HANDLE_EOF ? 0 : failed;
    }
    if (n == 0) return 0;
    *done += n;
  }
  return 0;
}

Cached read_cached(FileHandle, const FileRange&, char*) { return Cached::unknown; }
void request_file(FileHandle, const FileRange&) {}

// ---- Maps

bool has_file_maps() { return false; }
int64_t page_bytes() { return 4096; }
int32_t map_file(FileHandle, const FileRange&, bool, char**) { return ERROR_NOT_SUPPORTED; }
void unmap_file(char*, int64_t) {}
void request_pages(const PageRange*, int64_t) {}
int32_t populate_pages(const PageRange*, int64_t count, int64_t* done) {
  *done = count;
  return 0;
}
void release_pages(char*, int64_t) {}
int64_t resident_file_bytes() { return -1; }

}  // namespace gather::core
