#include "columns/schema.hpp"

#include <cstring>
#include <new>

#include "columns/result.hpp"

namespace gather::columns {
namespace {

// Returns the format of the type with 64-bit offsets.
const char* large_format(const char* format) {
  switch (format[0]) {
    case 'u': return "U";
    case 'z': return "Z";
    case '+': return format[1] == 'v' ? "+vL" : "+L";
    default: return "l";  // the ends of runs
  }
}

// Reads an int32 and moves *at behind it.
int32_t read_int(const char** at) {
  int32_t number;
  std::memcpy(&number, *at, sizeof number);
  *at += sizeof number;
  return number;
}

// Finds the size of metadata: the number of pairs, and then the length and the bytes of each key and value. Returns
// false if a number is negative.
bool measure_metadata(const char* metadata, int64_t* bytes) {
  const char* at = metadata;
  const int32_t pairs = read_int(&at);
  for (int64_t i = 0; i < 2 * int64_t{pairs}; ++i) {
    const int32_t length = read_int(&at);
    if (length < 0) return false;
    at += length;
  }
  *bytes = at - metadata;
  return pairs >= 0;
}

// The memory of a copied schema.
class SchemaNode : public core::Allocated {
 public:
  int32_t copy_texts(const ArrowSchema& source, const char* format, ArrowSchema* out, Trouble* trouble) {
    int64_t metadata = 0;
    if (source.metadata && !measure_metadata(source.metadata, &metadata)) {
      return trouble->fail(GTH_E_ARROW, "metadata of a schema");
    }
    const size_t format_size = std::strlen(format) + 1, name_size = source.name ? std::strlen(source.name) + 1 : 0;
    const size_t bytes = format_size + name_size + static_cast<size_t>(metadata);
    texts_ = static_cast<char*>(core::allocate(bytes));
    if (!texts_) return trouble->fail_memory(static_cast<int64_t>(bytes));
    char* at = texts_;
    out->format = append(format, format_size, &at);
    out->name = append(source.name, name_size, &at);
    out->metadata = append(source.metadata, static_cast<size_t>(metadata), &at);
    return GTH_OK;
  }

  int32_t copy_children(const ArrowSchema& source, const ArrowArray* result, ArrowSchema* out, Trouble* trouble) {
    const int64_t count = source.n_children;
    if (!children_.allocate(count) || !pointers_.allocate(count)) return trouble->fail_memory(count);
    for (; count_ < count; ++count_) {
      const ArrowArray* const child = result ? result->children[count_] : nullptr;
      pointers_[count_] = children_.data() + count_;
      if (int32_t status = copy_schema(*source.children[count_], child, pointers_[count_], trouble)) return status;
    }
    out->n_children = count;
    out->children = count ? pointers_.data() : nullptr;
    return GTH_OK;
  }

  int32_t copy_dictionary(const ArrowSchema& source, const ArrowArray* result, ArrowSchema* out, Trouble* trouble) {
    if (!source.dictionary) return GTH_OK;
    const ArrowArray* const values = result ? result->dictionary : nullptr;
    if (int32_t status = copy_schema(*source.dictionary, values, &dictionary_, trouble)) return status;
    out->dictionary = &dictionary_;
    return GTH_OK;
  }

  static void release(ArrowSchema* self) {
    delete static_cast<SchemaNode*>(self->private_data);
    self->release = nullptr;
  }

 private:
  ~SchemaNode() {
    for (int64_t i = 0; i < count_; ++i) {
      if (children_[i].release) children_[i].release(&children_[i]);
    }
    if (dictionary_.release) dictionary_.release(&dictionary_);
    core::deallocate(texts_);
  }

  // Appends a copy of a text to the copied texts. Returns nullptr for nullptr.
  static const char* append(const char* text, size_t bytes, char** at) {
    if (!text) return nullptr;
    char* const to = *at;
    std::memcpy(to, text, bytes);
    *at += bytes;
    return to;
  }

  char* texts_ = nullptr;
  Room<ArrowSchema, 1> children_;
  Room<ArrowSchema*, 1> pointers_;
  int64_t count_ = 0;
  ArrowSchema dictionary_{};
};

}  // namespace

int32_t copy_schema(const ArrowSchema& source, const ArrowArray* result, ArrowSchema* out, Trouble* trouble) {
  SchemaNode* const node = new (std::nothrow) SchemaNode;
  if (!node) return trouble->fail_memory(sizeof(SchemaNode));
  const char* const format = result && node_of(*result).is_widened ? large_format(source.format) : source.format;
  *out = {nullptr, nullptr, nullptr, source.flags, 0, nullptr, nullptr, SchemaNode::release, node};
  int32_t status = node->copy_texts(source, format, out, trouble);
  if (!status) status = node->copy_children(source, result, out, trouble);
  if (!status) status = node->copy_dictionary(source, result, out, trouble);
  if (status) out->release(out);
  return status;
}

void allow_nulls(const ArrowArray& array, ArrowSchema* field) {
  const ArrowArray* values = &array;
  ArrowSchema* type = field;
  while (!std::strcmp(type->format, "+r")) {
    values = values->children[1];
    type = type->children[1];
  }
  if (values->null_count == 0) return;
  field->flags |= arrow_nullable;
  type->flags |= arrow_nullable;
}

}  // namespace gather::columns
