#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "random_elements.hpp"
#include "random_gathers.hpp"
#include "random_scatters.hpp"

// Usage: random_cases FOLDER SEED COUNT
// Writes COUNT random calls of each kind, with the results that the oracle computes, into the files random.txt of
// FOLDER. Every language replays these files. tests/conformance/README.md describes their format.
namespace {

using namespace oracle;

// A case is short enough to be read by a person.
constexpr size_t most_bytes = 300;

std::string join(const Shape& numbers) {
  std::string text;
  for (int64_t each : numbers) text += (text.empty() ? "" : ",") + std::to_string(each);
  return text.empty() ? "." : text;
}

std::string hex(const char* bytes, size_t count) {
  std::string text;
  char digits[3];
  for (size_t i = 0; i < count; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
    text += digits;
  }
  return text.empty() ? "." : text;
}

std::string head(const Operand& x) { return std::string(gth_dtype_name(x.dtype)) + " " + join(x.shape) + " "; }

// The memory of a dense tensor without elements has one element too many.
std::string described(const Operand& x) {
  if (x.dense && x.offset == 0) {
    return head(x) + ". " + hex(x.memory.data(), static_cast<size_t>(hostile::count_of(x.shape) * x.item));
  }
  return head(x) + "offset=" + std::to_string(x.offset) + ";strides=" + join(x.strides) + " " +
         hex(x.memory.data(), x.memory.size());
}

// Returns the elements of an operand, whose memory is replaced, in row-major order.
std::string elements_in(const Operand& x, const Bytes& memory) {
  Bytes elements;
  for_each_element(x, [&](int64_t at, const Shape&) {
    elements.insert(elements.end(), memory.begin() + at, memory.begin() + at + x.item);
  });
  return head(x) + hex(elements.data(), elements.size());
}

// Returns the outcome of a call that writes `written`.
std::string outcome(const Answer& answer, const Operand& written) {
  if (answer.status == GTH_OK) return "ok " + elements_in(written, answer.memory);
  std::string flags;
  if (answer.flags & GTH_ERROR_WRAP) flags += "wrap";
  if (answer.flags & GTH_ERROR_UNSIGNED) flags += flags.empty() ? "unsigned" : ",unsigned";
  return "error INDEX indices " + std::to_string(answer.component) + " " + std::to_string(answer.position) + " " +
         std::to_string(answer.value) + " " + std::to_string(answer.limit) + " " + (flags.empty() ? "." : flags);
}

// The lines of one case.
class Text {
 public:
  Text(const std::string& name, const char* op) {
    add("case", name);
    add("op", op);
  }

  void add(const char* key, const std::string& value) { text_ += std::string(key) + " " + value + "\n"; }

  void add_options(const gth_options& options) {
    static const char* const negatives[] = {"", "reject", "wrap"};
    static const char* const bounds[] = {"", "error", "fill", "clamp", "modulo", "skip"};
    static const char* const extents[] = {"", "equal", "prefix", "broadcast"};
    if (options.has_axis) add("axis", std::to_string(options.axis));
    if (options.batch_dims) add("batch_dims", std::to_string(options.batch_dims));
    if (options.extents) add("extents", extents[options.extents]);
    if (options.negative) add("negative", negatives[options.negative]);
    if (options.bounds) add("bounds", bounds[options.bounds]);
  }

  void add_fill(const gth_options& options, int64_t item) {
    static const char* const fills[] = {"", "zero", "value", "by_dtype"};
    if (options.bounds != GTH_BOUNDS_FILL || options.fill == 0) return;
    add("fill", fills[options.fill]);
    if (options.fill != GTH_FILL_VALUE) return;
    add("fill_value", hex(reinterpret_cast<const char*>(options.fill_value), static_cast<size_t>(item)));
  }

  void add_reduction(const gth_options& options) {
    static const char* const reductions[] = {"", "none", "add", "mul", "max", "min"};
    static const char* const types[] = {"", "dtype", "float32"};
    if (options.reduction) add("reduction", reductions[options.reduction]);
    if (options.accumulate) add("accumulate", types[options.accumulate]);
  }

  const std::string& finish(const std::string& outcome) {
    add("expect", outcome);
    add("source", "oracle");
    return text_ += "\n";
  }

 private:
  std::string text_;
};

// Bools are 0 or 1, because some languages have no others.
void make_valid(Operand* x) {
  if (x->dtype != GTH_DTYPE_BOOL) return;
  for (char& each : x->memory) each &= 1;
}

// With bounds = skip, a5 in the expected digits means a byte that is not written. So the digits of params have none.
void make_unlike_untouched(const gth_options& options, Operand* params) {
  if (options.bounds != GTH_BOUNDS_SKIP) return;
  for (char& each : params->memory) each &= 0x3f;
}

void make_dense(Operand* x, char byte) {
  x->dense = true;
  x->offset = 0;
  x->strides = dense_strides(x->shape, x->item);
  x->memory.assign(static_cast<size_t>(hostile::count_of(x->shape) * x->item), byte);
}

bool is_short(const Problem& problem) {
  return problem.params.memory.size() + problem.indices.memory.size() + problem.out.memory.size() <= most_bytes;
}

constexpr char untouched = static_cast<char>(0xa5);

// Sets a fill value that is a small number, and the options that depend on it.
void choose_fill(Random& random, Problem* problem, gth_options* options) {
  std::memset(options->fill_value, 0, sizeof options->fill_value);
  char* const to = reinterpret_cast<char*>(options->fill_value);
  const int64_t value = problem->params.dtype == GTH_DTYPE_BOOL ? random.below(2) : random.between(1, 100);
  if (is_float(problem->params.dtype)) {
    encode_float(problem->params.dtype, static_cast<double>(value), to);
  } else if (problem->params.dtype == GTH_DTYPE_COMPLEX64) {
    write_as(to, static_cast<float>(value));
  } else if (problem->params.dtype == GTH_DTYPE_COMPLEX128) {
    write_as(to, static_cast<double>(value));
  } else {
    std::memcpy(to, &value, sizeof value);
  }
  if (options->fill == GTH_FILL_VALUE) std::memcpy(problem->fill, options->fill_value, sizeof problem->fill);
}

// Each of these functions returns one case, or an empty string if the case is too long.

std::string gather_case(Random& random, const std::string& name) {
  gathers::Case c = gathers::make_case(random);
  Problem& problem = c.problem;
  problem.out.shape = output_shape(problem);
  lay_out(random, false, &problem.params);
  lay_out(random, false, &problem.indices);
  if (problem.components > 0) fill_indices(random, &problem);
  make_valid(&problem.params);
  make_unlike_untouched(c.options, &problem.params);
  make_dense(&problem.out, untouched);
  choose_fill(random, &problem, &c.options);
  if (!is_short(problem)) return "";
  Text text(name, problem.is_nd ? "gather_nd" : "gather");
  text.add_options(c.options);
  text.add_fill(c.options, problem.params.item);
  text.add("params", described(problem.params));
  text.add("indices", described(problem.indices));
  return text.finish(outcome(solve(problem), problem.out));
}

std::string elements_case(Random& random, const std::string& name) {
  elements::Case c = elements::make_case(random);
  ElementsProblem& problem = c.problem;
  make_valid(&problem.params);
  make_unlike_untouched(c.options, &problem.params);
  make_dense(&problem.out, untouched);
  choose_fill(random, &problem, &c.options);
  if (!is_short(problem)) return "";
  Text text(name, "gather_elements");
  text.add_options(c.options);
  text.add_fill(c.options, problem.params.item);
  text.add("params", described(problem.params));
  text.add("indices", described(problem.indices));
  return text.finish(outcome(solve_elements(problem), problem.out));
}

std::string scatter_case(Random& random, const std::string& name) {
  scatters::Case c = scatters::make_case(random);
  ScatterProblem& problem = c.problem;
  make_valid(&problem.params);
  make_valid(&problem.out);
  if (!is_short(problem)) return "";
  Text text(name, problem.is_elements ? "scatter_elements" : problem.is_nd ? "scatter_nd" : "scatter");
  text.add_options(c.options);
  text.add_reduction(c.options);
  text.add("target", described(problem.params));
  text.add("indices", described(problem.indices));
  text.add("updates", described(problem.out));
  return text.finish(outcome(solve_scatter(problem), problem.params));
}

// A gradient is a scatter that adds to zeros. The gradient of a gather without output is not validated.
std::string gradient_case(Random& random, const std::string& name) {
  scatters::Case c = scatters::make_case(random);
  ScatterProblem& problem = c.problem;
  if (!is_float(problem.params.dtype) || hostile::count_of(problem.out.shape) == 0) return "";
  problem.reduction = GTH_REDUCTION_ADD;
  problem.in_float32 = c.options.accumulate == GTH_ACCUMULATE_FLOAT32 && is_half(problem.params.dtype);
  make_dense(&problem.params, 0);
  for_each_element(problem.out, [&](int64_t at, const Shape&) {
    encode_float(problem.out.dtype, static_cast<double>(random.between(-4000, 4000)) / 64,
                 problem.out.memory.data() + at);
  });
  if (!is_short(problem)) return "";
  Text text(name, problem.is_elements ? "gather_elements_gradient"
                  : problem.is_nd     ? "gather_nd_gradient"
                                      : "gather_gradient");
  text.add_options(c.options);
  if (c.options.accumulate) text.add("accumulate", problem.in_float32 ? "float32" : "dtype");
  text.add("target", described(problem.params));
  text.add("indices", described(problem.indices));
  text.add("updates", described(problem.out));
  return text.finish(outcome(solve_scatter(problem), problem.params));
}

using MakeCase = std::string (*)(Random&, const std::string&);

void write_file(const std::filesystem::path& folder, const char* kind, MakeCase make, uint64_t seed, int64_t count) {
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / "random.txt", std::ios::binary);
  file << "# Written by random_cases with the seed " << seed
       << ". README.md in the folder above defines the format.\n\n";
  Random random(seed);
  for (int64_t made = 0; made < count;) {
    const std::string text = make(random, std::string("random/") + kind + "/" + std::to_string(made));
    file << text;
    made += !text.empty();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: random_cases FOLDER SEED COUNT\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const int64_t count = std::atoll(argv[3]);
  write_file(folder, "slices", gather_case, seed, count);
  write_file(folder / "elements", "elements", elements_case, seed, count);
  write_file(folder / "scatter", "scatter", scatter_case, seed, count);
  write_file(folder / "gradient", "gradient", gradient_case, seed, count);
  return 0;
}
