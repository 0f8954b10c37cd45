#include "columns/column.hpp"

#include <new>

#include "columns/check.hpp"
#include "core/base/checked.hpp"

namespace gather::columns {

Column::~Column() {
  for (int64_t i = 0; i < count_ && owns_; ++i) {
    if (chunks_[i].release) chunks_[i].release(chunks_ + i);
  }
  if (is_allocated_) core::deallocate(chunks_);
  if (kept_schema_.release) kept_schema_.release(&kept_schema_);
}

int32_t Column::create(const ArrowSchema& schema, int64_t count, ArrowArray* const* chunks, Column** out,
                       Trouble* trouble) {
  Column* const column = new (std::nothrow) Column;
  if (!column || !column->borrowed_.allocate(count)) {
    delete column;
    return trouble->fail_memory(count * int64_t{sizeof(ArrowArray)});
  }
  column->chunks_ = column->borrowed_.data();
  column->count_ = count;
  for (int64_t i = 0; i < count; ++i) column->chunks_[i] = *chunks[i];
  const int32_t status = column->read(schema, trouble);
  if (status) column->release();
  if (!status) *out = column;
  return status;
}

int32_t Column::create_from(const ArrowSchema& schema, int64_t count, ArrowArray* chunks, Column** out,
                            Trouble* trouble) {
  Column* const column = new (std::nothrow) Column;
  if (!column) {
    for (int64_t i = 0; i < count; ++i) chunks[i].release(chunks + i);
    core::deallocate(chunks);
    return trouble->fail_memory(sizeof(Column));
  }
  column->chunks_ = chunks;
  column->count_ = count;
  column->is_allocated_ = column->owns_ = true;
  const int32_t status = column->read(schema, trouble);
  if (status) column->release();
  if (!status) *out = column;
  return status;
}

void Column::keep_schema(const ArrowSchema& copy) {
  kept_schema_ = copy;
  schema_ = &kept_schema_;
}

void Column::adopt(ArrowArray* const* chunks) {
  owns_ = true;
  for (int64_t i = 0; i < count_; ++i) {
    if (!chunks[i]->release) chunks_[i].release = nullptr;  // The caller has passed the same struct twice.
    chunks[i]->release = nullptr;
  }
}

int32_t Column::read(const ArrowSchema& schema, Trouble* trouble) {
  schema_ = &schema;
  const int32_t status = types_.read(schema, trouble);
  return status ? status : read_chunks(trouble);
}

int32_t Column::read_chunks(Trouble* trouble) {
  if (!parts_.allocate(count_) || !starts_.allocate(count_ + 1)) {
    return trouble->fail_memory(count_ * int64_t{sizeof(Part)});
  }
  starts_[0] = 0;
  for (int64_t i = 0; i < count_; ++i) {
    const ArrowArray& chunk = chunks_[i];
    if (int32_t status = check_array(type(), chunk, trouble)) return status;
    if (chunk.length == 0) continue;
    const int64_t start = starts_[parts_count_];
    parts_[parts_count_++] = {chunks_ + i, chunk.offset};
    if (!core::add(start, chunk.length, &starts_[parts_count_])) {
      return trouble->fail(GTH_E_SIZE, "the number of rows of all chunks", chunk.length);
    }
  }
  return GTH_OK;
}

}  // namespace gather::columns
