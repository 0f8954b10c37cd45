#pragma once

#include <cstdint>

#include "files/table.hpp"

// Reads rows of a table. A function for several rows first asks the system for all of them, so that the disk works on
// many rows at once. In all functions, a row has `bytes` bytes, and n is at most requested_rows.
namespace gather::files {

// A row, or a part of one: its first byte in the table, and where it goes.
struct Wanted {
  int64_t at;
  char* to;
};

// Bytes that could not be read.
struct Failure {
  int64_t segment;
  core::FileRange range;
  int32_t native;  // 0: the file ends
};

// Asks the system for rows, and does not wait.
void request(const Table& table, const Wanted* rows, int64_t n, int64_t bytes);

// Loads the pages of rows into the maps of a table. Other segments need nothing. Returns n, or the number of the first
// row that failed.
int64_t bring(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure);

// Copies rows. Returns n, or the number of the first row that failed.
int64_t read(const Table& table, const Wanted* rows, int64_t n, int64_t bytes, Failure* failure);

}  // namespace gather::files
