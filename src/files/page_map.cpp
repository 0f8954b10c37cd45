#include "files/page_map.hpp"

namespace gather::files {

PageMap::~PageMap() {
  if (memory_) core::unmap_file(memory_, bytes_);
  if (seen_) core::deallocate_pages(seen_, static_cast<size_t>(words()) * sizeof(uint64_t));
}

int32_t PageMap::open(core::FileHandle file, const core::FileRange& range, bool small_pages, int64_t* missing) {
  const int64_t page = core::page_bytes();
  page_log2_ = __builtin_ctzll(static_cast<uint64_t>(page));
  skipped_ = range.offset % page;
  bytes_ = range.bytes + skipped_;
  pages_ = (bytes_ - 1) / page + 1;
  *missing = 0;
  if (int32_t native = core::map_file(file, {range.offset - skipped_, bytes_}, small_pages, &memory_)) return native;
  const int64_t bytes = words() * int64_t{sizeof(uint64_t)};
  seen_ = static_cast<std::atomic<uint64_t>*>(core::allocate_pages(static_cast<size_t>(bytes)));
  if (!seen_) *missing = bytes;
  return 0;
}

void PageMap::note_seen(const core::PageRange& range) {
  const int64_t last = page_of(range.first + range.bytes - 1);
  for (int64_t i = page_of(range.first); i <= last; ++i) {
    seen_[i / 64].fetch_or(uint64_t{1} << (i % 64), std::memory_order_relaxed);
  }
}

void PageMap::release() {
  for (int64_t i = 0; i < words(); ++i) seen_[i].store(0, std::memory_order_relaxed);
  core::release_pages(memory_, bytes_);
}

}  // namespace gather::files
