#pragma once

#include <cstddef>
#include <cstdint>

// The files of the operating system: files_posix.cpp and files_windows.cpp. No function here allocates memory. Some are
// cancellation points. Functions that can fail return 0, or errno (Windows: the number of GetLastError).
namespace gather::core {

typedef intptr_t FileHandle;  // a descriptor, or a HANDLE of Windows

// Opens a file for random reads. A name that is no regular file is refused.
int32_t open_file(const char* path, FileHandle* file);
int32_t duplicate_file(int64_t given, FileHandle* file);
void close_file(FileHandle file);
// Finds the size of a regular file.
int32_t measure_file(FileHandle file, int64_t* bytes);

// Writes the message of an error number to `text`.
void describe_system_error(int32_t number, char* text, size_t size);

// Bytes of a file.
struct FileRange {
  int64_t offset, bytes;
};

// Reads bytes. *done is less than range.bytes if the file ends before them.
int32_t read_file(FileHandle file, const FileRange& range, char* to, int64_t* done);

// Reads bytes that the system has in memory: all of them, or it would have to wait for some, or the system has no such
// reads of this file.
enum class Cached : uint8_t { all, some, unknown };
Cached read_cached(FileHandle file, const FileRange& range, char* to);

// Asks the system to load bytes into memory, and does not wait for them.
void request_file(FileHandle file, const FileRange& range);

// ---- Maps. Systems without them read files.

bool has_file_maps();
int64_t page_bytes();

// Maps bytes of a file for random reads. The offset is a multiple of page_bytes(). With `small_pages`, reading a page
// maps less than 2 MiB.
int32_t map_file(FileHandle file, const FileRange& range, bool small_pages, char** memory);
void unmap_file(char* memory, int64_t bytes);

// Pages of a map.
struct PageRange {
  char* first;
  size_t bytes;
};

// Asks the system to load pages, and does not wait for them.
void request_pages(const PageRange* ranges, int64_t count);
// Maps pages, and waits for them. *done receives the number of ranges before the first one that failed. Without such a
// call of the system it does nothing: the first access loads a page.
int32_t populate_pages(const PageRange* ranges, int64_t count, int64_t* done);
// Removes pages from the memory of the process. They stay in the page cache.
void release_pages(char* memory, int64_t bytes);

// Returns the mapped memory of files in this process, or -1 if it is unknown.
int64_t resident_file_bytes();

}  // namespace gather::core
