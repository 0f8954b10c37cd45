#include "cases.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  conformance_file *file;
  const char *path;
  int64_t line;
  char *rest;       /* the rest of the line */
  int64_t *numbers; /* those that are unused */
  jmp_buf failed;
} reader;

/* ---- Keys */

/* Lists of words. The number of a word in gather.h is its number in the list, from 1. Those of statuses are negative, and
 * those of dtypes are in another list. */
#define OPERATIONS                                                                                           \
  "gather gather_nd gather_elements scatter scatter_nd scatter_elements gather_gradient gather_nd_gradient " \
  "gather_elements_gradient gather_bags"
#define PROFILES "tensorflow tensorflow_gpu onnx ort numpy_raise numpy_wrap numpy_clip torch jax_fill jax_clip"
#define STATUSES                                                                                                     \
  "NULL HANDLE VERSION DTYPE RANK AXIS BATCH SHAPE SIZE STRIDE DEVICE DLPACK ARROW READONLY ALIAS INDEX RACE NOMEM " \
  "FORK CUDA CAPTURE UNSUPPORTED INTERNAL OFFSETS IO"
#define OPERANDS \
  "params indices out options context plan tensor target updates request bags weights codec file scales zeros"

#define DTYPES                                                                                                    \
  "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 bool complex64 complex128 " \
  "float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "         \
  "float8_e8m0fnu string"
#define DTYPE_NUMBERS                                                                                                  \
  GTH_DTYPE_INT8, GTH_DTYPE_INT16, GTH_DTYPE_INT32, GTH_DTYPE_INT64, GTH_DTYPE_UINT8, GTH_DTYPE_UINT16,                \
      GTH_DTYPE_UINT32, GTH_DTYPE_UINT64, GTH_DTYPE_FLOAT16, GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT64, GTH_DTYPE_BFLOAT16, \
      GTH_DTYPE_BOOL, GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128, GTH_DTYPE_FLOAT8_E3M4, GTH_DTYPE_FLOAT8_E4M3,         \
      GTH_DTYPE_FLOAT8_E4M3B11FNUZ, GTH_DTYPE_FLOAT8_E4M3FN, GTH_DTYPE_FLOAT8_E4M3FNUZ, GTH_DTYPE_FLOAT8_E5M2,         \
      GTH_DTYPE_FLOAT8_E5M2FNUZ, GTH_DTYPE_FLOAT8_E8M0FNU, GTH_DTYPE_STRING

/* The values of keys. No test needs a comment. */
enum kind { WORD, INT32, INT64, TENSOR, BYTES, OUTCOME, CODEC, COMMENT };

#define AT(field) offsetof(conformance_case, field)

static const struct key {
  const char *name;
  enum kind kind;
  size_t place, has; /* has: of an int32_t that becomes 1 */
  const char *words;
} keys[] = {
    {"op", WORD, AT(op), 0, OPERATIONS},
    {"profile", WORD, AT(options.profile), 0, PROFILES},
    {"opset", INT32, AT(options.opset), 0, NULL},
    {"axis", INT64, AT(options.axis), AT(options.has_axis), NULL},
    {"batch_dims", INT64, AT(options.batch_dims), 0, NULL},
    {"extents", WORD, AT(options.extents), 0, "equal prefix broadcast"},
    {"negative", WORD, AT(options.negative), 0, "reject wrap"},
    {"bounds", WORD, AT(options.bounds), 0, "error fill clamp modulo skip error_partial"},
    {"fill", WORD, AT(options.fill), 0, "zero value by_dtype"},
    {"fill_value", BYTES, AT(options.fill_value), 0, NULL},
    {"reduction", WORD, AT(options.reduction), 0, "none add mul max min mean"},
    {"initial", WORD, AT(options.initial), 0, "target update"},
    {"accumulate", WORD, AT(options.accumulate), 0, "dtype float32 float64"},
    {"bag_format", WORD, AT(options.bag_format), 0, "offsets starts lengths segments dense"},
    {"pool", WORD, AT(options.pool), 0, "sum mean sqrtn max min"},
    {"empty", WORD, AT(options.empty), 0, "zero fill error"},
    {"padding_index", INT64, AT(options.padding_index), AT(options.has_padding_index), NULL},
    {"bag_count", INT64, AT(options.bag_count), 0, NULL},
    {"codec", CODEC, 0, 0, NULL},
    {"params", TENSOR, AT(params), 0, NULL},
    {"target", TENSOR, AT(params), 0, NULL},
    {"scales", TENSOR, AT(scales), 0, NULL},
    {"zeros", TENSOR, AT(zeros), 0, NULL},
    {"indices", TENSOR, AT(indices), 0, NULL},
    {"updates", TENSOR, AT(updates), 0, NULL},
    {"bags", TENSOR, AT(bags), 0, NULL},
    {"weights", TENSOR, AT(weights), 0, NULL},
    {"difference", COMMENT, 0, 0, NULL},
    {"system", COMMENT, 0, 0, NULL},
    {"expect", OUTCOME, 0, 0, NULL},
    {"source", COMMENT, 0, 0, NULL},
};

/* ---- Words, numbers and bytes */

static void fail(reader *in, const char *what, const char *text) {
  snprintf(in->file->error, sizeof in->file->error, "%s:%lld: %s%.99s", in->path, (long long)in->line, what, text);
  longjmp(in->failed, 1);
}

/* Returns the beginning of a text up to `end`, and moves the text behind it. */
static char *cut(char **text, char end) {
  char *part = *text, *found = strchr(part, end);
  *text = found ? found + 1 : part + strlen(part);
  if (found) *found = '\0';
  return part;
}

static char *read_word(reader *in) {
  if (!*in->rest) fail(in, "a word is missing", "");
  return cut(&in->rest, ' ');
}

/* Returns the number of a word in a list. */
static int32_t number_of(reader *in, const char *word, const char *words) {
  const size_t size = strlen(word);
  for (int32_t number = 1; *words; ++number) {
    const size_t next = strcspn(words, " ");
    if (next == size && !memcmp(words, word, size)) return number;
    words += next + (words[next] == ' ');
  }
  fail(in, "unknown word ", word);
  return 0;
}

static int32_t read_choice(reader *in, const char *words) { return number_of(in, read_word(in), words); }

static int64_t to_number(reader *in, const char *text) {
  char *end;
  errno = 0;
  const int64_t number = strtoll(text, &end, 10);
  if (errno || end == text || *end) fail(in, "no number: ", text);
  return number;
}

static int64_t read_number(reader *in) { return to_number(in, read_word(in)); }

/* Reads numbers with commas between them, and returns how many. */
static int32_t to_numbers(reader *in, char *text, const int64_t **numbers) {
  *numbers = in->numbers;
  if (!strcmp(text, ".")) return 0;
  while (*text) *in->numbers++ = to_number(in, cut(&text, ','));
  return (int32_t)(in->numbers - *numbers);
}

/* Writes the bytes of a text in hex, which they may replace, and returns their end. */
static char *to_bytes(reader *in, const char *text, char *bytes) {
  static const char digits[] = "0123456789abcdef";
  for (; *text; text += 2) {
    const char *high = strchr(digits, text[0]), *low = high && text[1] ? strchr(digits, text[1]) : NULL;
    if (!low) fail(in, "no bytes in hex: ", text);
    *bytes++ = (char)((high - digits) * 16 + (low - digits));
  }
  return bytes;
}

/* ---- Values */

static void read_layout(reader *in, gth_tensor_desc *desc) {
  char *strides = read_word(in);
  if (!strcmp(strides, ".")) return;
  const char *offset = cut(&strides, ';');
  if (strncmp(offset, "offset=", 7) || strncmp(strides, "strides=", 8)) fail(in, "no layout: ", offset);
  desc->offset = to_number(in, offset + 7);
  if (to_numbers(in, strides + 8, &desc->strides) != desc->ndim) fail(in, "not one stride for each dim", "");
}

static void read_tensor(reader *in, conformance_tensor *tensor, int has_layout) {
  static const int32_t dtypes[] = {DTYPE_NUMBERS};
  gth_tensor_desc *desc = &tensor->desc;
  desc->size = sizeof *desc;
  desc->dtype = dtypes[read_choice(in, DTYPES) - 1];
  desc->ndim = to_numbers(in, read_word(in), &desc->shape);
  if (has_layout) read_layout(in, desc);
  char *const data = read_word(in), *text = strcmp(data, ".") ? data : data + 1, *end = data;
  desc->data = data;
  if (desc->dtype == GTH_DTYPE_STRING) {
    tensor->string_offsets = in->numbers;
    for (*in->numbers++ = 0; *text; *in->numbers++ = end - data, ++tensor->string_count) {
      const char *string = cut(&text, ',');
      if (strcmp(string, "-")) end = to_bytes(in, string, end);
    }
  } else {
    end = to_bytes(in, text, end);
  }
  desc->extent = end - data;
}

static void read_outcome(reader *in, conformance_case *test) {
  const int32_t kind = read_choice(in, "ok crc error");
  test->has_crc = kind == 2;
  if (kind != 3) {
    read_tensor(in, &test->out, 0);
    return;
  }
  gth_error *error = &test->error;
  error->status = -read_choice(in, STATUSES);
  error->operand = read_choice(in, "none " OPERANDS) - 1;
  error->component = (int32_t)read_number(in);
  error->position = read_number(in);
  error->value = read_number(in);
  error->limit = read_number(in);
  for (char *flags = read_word(in); *flags;) {
    const char *flag = cut(&flags, ',');
    if (strcmp(flag, ".")) error->flags |= 1u << (number_of(in, flag, "unsigned cut wrap") - 1);
  }
}

static void read_value(reader *in, const char *name, conformance_case *test) {
  const struct key *key = keys, *const end = keys + sizeof keys / sizeof *keys;
  while (key < end && strcmp(key->name, name)) ++key;
  if (key == end) fail(in, "unknown key ", name);
  void *place = (char *)test + key->place;
  if (key->has) *(int32_t *)((char *)test + key->has) = 1;
  if (place == &test->op) test->op_name = in->rest;
  switch (key->kind) {
    case WORD: *(int32_t *)place = read_choice(in, key->words); break;
    case INT32: *(int32_t *)place = (int32_t)read_number(in); break;
    case INT64: *(int64_t *)place = read_number(in); break;
    case TENSOR: read_tensor(in, place, 1); break;
    case OUTCOME: read_outcome(in, test); break;
    case BYTES:
      if (strlen(in->rest) > 32) fail(in, "more than 16 bytes", "");
      to_bytes(in, cut(&in->rest, ' '), place);
      break;
    case CODEC: test->codec = cut(&in->rest, '\n'); break;
    case COMMENT: cut(&in->rest, '\n');
  }
}

/* ---- Files */

static int has_outcome(const conformance_case *test) { return test->out.desc.size || test->error.status; }

static void read_lines(reader *in, char *text) {
  static const conformance_case empty = {.options = GTH_OPTIONS_INIT, .error = GTH_ERROR_INIT};
  conformance_case *test = NULL;
  while (*text) {
    ++in->line;
    in->rest = cut(&text, '\n');
    if (*in->rest == '#') continue;
    if (!*in->rest) {
      if (test && !(test->op && test->params.desc.size && test->indices.desc.size && has_outcome(test)))
        fail(in, "the case has no op, params, indices or outcome: ", test->name);
      test = NULL;
      continue;
    }
    const char *key = read_word(in);
    if (test) {
      read_value(in, key, test);
    } else {
      number_of(in, key, "case");
      test = &in->file->cases[in->file->count++];
      *test = empty;
      test->name = read_word(in);
    }
    if (*in->rest) fail(in, "too many words: ", in->rest);
  }
  if (test) fail(in, "there is no empty line after ", test->name);
}

/* Returns the text of the file with its length. */
static char *read_text(reader *in, size_t *length) {
  FILE *file = fopen(in->path, "rb");
  if (!file) fail(in, "this file is missing: build the target conformance_cases", "");
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  in->file->text = calloc((size_t)size + 1, 1);
  *length = in->file->text ? fread(in->file->text, 1, (size_t)size, file) : 0;
  fclose(file);
  return in->file->text;
}

void conformance_read(const char *path, conformance_file *file) {
  reader in = {.file = file, .path = path};
  memset(file, 0, sizeof *file);
  if (setjmp(in.failed)) {
    file->count = 0;
    return;
  }
  size_t length, cases = 1;
  char *text = read_text(&in, &length);
  for (const char *at = text; at && (at = strstr(at, "case ")); ++at) ++cases;
  file->cases = malloc(cases * sizeof *file->cases);
  /* Each number has a character of its own, and so has the first offset of strings. */
  in.numbers = file->numbers = malloc((length + 1) * sizeof *file->numbers);
  if (!text || !file->cases || !file->numbers) fail(&in, "no memory", "");
  read_lines(&in, text);
}

void conformance_free(conformance_file *file) {
  free(file->cases);
  free(file->text);
  free(file->numbers);
}
