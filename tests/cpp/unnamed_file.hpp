#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "system.hpp"

// Files that are gone when their last descriptor (Windows: handle) is closed.
namespace unnamed {

#if defined(_WIN32)
inline int64_t make_file(const std::vector<char>& bytes) {
  char folder[MAX_PATH], path[MAX_PATH];
  EXPECT_NE(GetTempPathA(MAX_PATH, folder), 0u);
  EXPECT_NE(GetTempFileNameA(folder, "gth", 0, path), 0u);
  const HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                  CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  EXPECT_NE(file, INVALID_HANDLE_VALUE) << path;
  DWORD written = 0;
  EXPECT_TRUE(WriteFile(file, bytes.data(), static_cast<DWORD>(bytes.size()), &written, nullptr));
  EXPECT_EQ(written, bytes.size());
  return reinterpret_cast<intptr_t>(file);
}

inline void close_file(int64_t file) { CloseHandle(reinterpret_cast<HANDLE>(static_cast<intptr_t>(file))); }
#else
inline int64_t make_file(const std::vector<char>& bytes) {
  const int file = memfd_create("table", MFD_CLOEXEC);
  EXPECT_GE(file, 0);
  EXPECT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return file;
}

inline void close_file(int64_t file) { close(static_cast<int>(file)); }
#endif

}  // namespace unnamed
