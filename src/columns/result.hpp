#pragma once

#include "columns/column.hpp"

namespace gather::columns {

// The memory of one array of a result. It belongs to the array: its release function deletes it.
class Node : public core::Allocated {
 public:
  // Makes *out an array of `length` rows with a new node. Its buffers are NULL. Returns nullptr if there is no memory.
  // Otherwise the caller releases *out, also after a failure.
  static Node* create(int64_t length, int64_t buffers, ArrowArray* out);

  // Allocates a buffer of the array, or returns nullptr. The memory is uninitialised.
  void* allocate(int64_t buffer, int64_t bytes);

  // Returns a buffer that the node has allocated.
  char* data(int64_t buffer) { return static_cast<char*>(owned_[buffer]); }

  // Shows memory of the column as a buffer.
  void share(int64_t buffer, const void* memory) { buffers_[buffer] = memory; }

  // Keeps the column until the array is released.
  void keep(const Column& column);

  // Replaces the number of buffers by a larger one. Returns false if there is no memory.
  bool extend(int64_t buffers);

  // Allocates the children. They must then be created in order. Returns false if there is no memory.
  bool allocate_children(int64_t count);
  ArrowArray* child(int64_t i) { return children_.data() + i; }

  // The dictionary of the array. It is shown if it has been created.
  ArrowArray* dictionary() { return &dictionary_; }

  const uint8_t* validity() const { return static_cast<const uint8_t*>(buffers_[0]); }

  // Writes the pointers of the array. Must be called after all of the above.
  void publish(ArrowArray* out);

  bool is_widened = false;  // The array is a large one, but the column is not.

 private:
  static constexpr int64_t few_buffers = 3;

  ~Node();
  static void release(ArrowArray* self);

  const void* few_[few_buffers] = {};
  void* few_owned_[few_buffers] = {};
  const void** buffers_ = few_;
  void** owned_ = few_owned_;  // the memory of each buffer that belongs to the node
  int64_t count_ = 0;
  Room<ArrowArray, 1> children_;
  Room<ArrowArray*, 1> child_pointers_;
  int64_t child_count_ = 0;
  ArrowArray dictionary_{};
  const Column* column_ = nullptr;
};

// Returns the node of an array of a result.
inline const Node& node_of(const ArrowArray& array) { return *static_cast<const Node*>(array.private_data); }

// Makes *out an array that shares all memory of `source`, which belongs to the column.
int32_t share_array(const Column& column, const ArrowArray& source, ArrowArray* out, Trouble* trouble);

}  // namespace gather::columns
