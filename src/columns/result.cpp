#include "columns/result.hpp"

#include <algorithm>
#include <new>

#include "core/base/checked.hpp"
#include "core/os/os.hpp"

namespace gather::columns {

Node* Node::create(int64_t length, int64_t buffers, ArrowArray* out) {
  Node* const node = new (std::nothrow) Node;
  if (!node) return nullptr;
  if (!node->extend(buffers)) {
    delete node;
    return nullptr;
  }
  *out = {length, 0, 0, buffers, 0, nullptr, nullptr, nullptr, release, node};
  return node;
}

Node::~Node() {
  for (int64_t i = 0; i < child_count_; ++i) {
    ArrowArray& child = children_[i];
    if (child.release) child.release(&child);
  }
  if (dictionary_.release) dictionary_.release(&dictionary_);
  for (int64_t i = 0; i < count_; ++i) core::deallocate(owned_[i]);
  if (buffers_ != few_) core::deallocate(buffers_);
  if (column_) column_->release();
}

void Node::release(ArrowArray* self) {
  delete static_cast<Node*>(self->private_data);
  self->release = nullptr;
}

void* Node::allocate(int64_t buffer, int64_t bytes) {
  void* const memory = core::allocate(static_cast<size_t>(bytes));
  core::advise_huge_pages(memory, memory ? bytes : 0);
  owned_[buffer] = memory;
  buffers_[buffer] = memory;
  return memory;
}

void Node::keep(const Column& column) {
  if (column_) return;
  column.retain();
  column_ = &column;
}

bool Node::extend(int64_t buffers) {
  if (buffers > few_buffers) {
    int64_t bytes;
    if (!core::multiply(buffers, 2 * int64_t{sizeof(void*)}, &bytes)) return false;
    auto* const memory = static_cast<void**>(core::allocate_zeroed(static_cast<size_t>(bytes)));
    if (!memory) return false;
    std::copy_n(owned_, count_, memory + buffers);
    std::copy_n(const_cast<void**>(buffers_), count_, memory);
    owned_ = memory + buffers;
    buffers_ = const_cast<const void**>(memory);
  }
  count_ = buffers;
  return true;
}

bool Node::allocate_children(int64_t count) {
  if (!children_.allocate(count) || !child_pointers_.allocate(count)) return false;
  for (int64_t i = 0; i < count; ++i) {
    children_[i] = {};
    child_pointers_[i] = children_.data() + i;
  }
  child_count_ = count;
  return true;
}

void Node::publish(ArrowArray* out) {
  out->n_buffers = count_;
  out->buffers = count_ ? buffers_ : nullptr;
  out->n_children = child_count_;
  out->children = child_count_ ? child_pointers_.data() : nullptr;
  out->dictionary = dictionary_.release ? &dictionary_ : nullptr;
}

int32_t share_array(const Column& column, const ArrowArray& source, ArrowArray* out, Trouble* trouble) {
  Node* const node = Node::create(source.length, source.n_buffers, out);
  if (!node) return trouble->fail_memory(sizeof(Node));
  node->keep(column);
  out->null_count = source.null_count;
  out->offset = source.offset;
  for (int64_t i = 0; i < source.n_buffers; ++i) node->share(i, source.buffers[i]);
  int32_t status = node->allocate_children(source.n_children) ? GTH_OK : trouble->fail_memory(source.n_children);
  for (int64_t i = 0; i < source.n_children && !status; ++i) {
    status = share_array(column, *source.children[i], node->child(i), trouble);
  }
  if (!status && source.dictionary) status = share_array(column, *source.dictionary, node->dictionary(), trouble);
  node->publish(out);
  if (status) out->release(out);
  return status;
}

}  // namespace gather::columns
