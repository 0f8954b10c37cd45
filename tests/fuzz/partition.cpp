#include <algorithm>

#include "request.hpp"

// gth_partition with any arguments, compared with the header.
namespace {

using namespace fuzz;
using Numbers = std::vector<int64_t>;

constexpr int64_t most_shards = 40;

// The arguments besides the ids. The ids are the indices of a gather from a table of `rows` bytes.
struct Wanted {
  gth_shards shards = GTH_SHARDS_INIT;
  Numbers borders;
  uint32_t flags = 0;
  bool has_borders = true, has_shards = true, has_parts = true, has_order = true, has_place = true;
  int64_t too_little_room = 0, too_little_scratch = 0;

  bool once() const { return flags & GTH_PARTS_ONCE; }
};

void choose_shards(Input& input, Wanted* wanted) {
  gth_shards& shards = wanted->shards;
  shards.kind = static_cast<int32_t>(1 + input.below(3));
  shards.count = 1 + input.below(most_shards);
  shards.rows =
      input.rarely(6) && shards.kind != GTH_SHARDS_BORDERS ? int64_t{1} << (input.below(62) + 1) : input.below(256);
  for (int64_t s = 0; s <= shards.count; ++s) wanted->borders.push_back(input.below(256) % (shards.rows % 256 + 1));
  std::sort(wanted->borders.begin(), wanted->borders.end());
  wanted->borders.front() = 0;
  wanted->borders.back() = shards.rows;
  wanted->flags = static_cast<uint32_t>(input.below(2));
  wanted->has_order = !wanted->once() && !input.rarely(4);
  wanted->has_place = wanted->once() || !input.rarely(4);
}

void damage(Input& input, Wanted* wanted) {
  if (input.byte() < 160) return;
  switch (input.below(12)) {
    case 0: wanted->shards.kind = static_cast<int32_t>(input.number()); return;
    case 1: wanted->shards.rows = input.number(); return;
    case 2: wanted->shards.count = -input.below(3); return;
    case 3: wanted->borders[static_cast<size_t>(input.below(int64_t(wanted->borders.size())))] = input.number(); return;
    case 4: wanted->has_borders = false; return;
    case 5: wanted->has_shards = false; return;
    case 6: wanted->has_parts = false; return;
    case 7: wanted->shards.size = static_cast<uint32_t>(input.below(8)); return;
    case 8: wanted->flags = static_cast<uint32_t>(input.number()); return;
    case 9: wanted->too_little_room = 1; return;
    case 10: wanted->too_little_scratch = 1 + input.below(8); return;
    case 11: wanted->has_order ^= true; return;
  }
}

bool are_borders(const Wanted& wanted) {
  const Numbers& borders = wanted.borders;
  return wanted.has_borders && std::is_sorted(borders.begin(), borders.end()) && borders.front() == 0 &&
         borders.back() == wanted.shards.rows;
}

bool is_sound(const Wanted& wanted) {
  const gth_shards& x = wanted.shards;
  return wanted.has_shards && x.size >= sizeof x && x.kind >= 0 && x.kind <= 3 && x.rows >= 0 && x.count >= 1 &&
         (x.kind != GTH_SHARDS_BORDERS || are_borders(wanted));
}

struct InShard {
  int64_t shard, local;
};

InShard find(const Wanted& wanted, int64_t row) {
  const gth_shards& x = wanted.shards;
  if (x.kind == GTH_SHARDS_MODULO) return {row % x.count, row / x.count};
  if (x.kind == GTH_SHARDS_BLOCKS || x.kind == 0) {
    const auto block = static_cast<int64_t>((Wide{x.rows} + x.count - 1) / x.count);
    return {row / block, row % block};
  }
  int64_t shard = 0;
  while (row >= wanted.borders[static_cast<size_t>(shard) + 1]) ++shard;
  return {shard, row - wanted.borders[static_cast<size_t>(shard)]};
}

// The rows that the ids select, with -1 for none, or the first invalid id.
struct Expected {
  Numbers rows;
  int64_t bad = -1, value = 0;
};

Expected predict_ids(const oracle::Problem& problem, int64_t rows) {
  Expected expected;
  oracle::for_each_element(problem.indices, [&](int64_t at, const Shape&) {
    const Wide id = oracle::load(problem.indices.memory.data() + at, problem.indices.dtype);
    const int64_t row = oracle::select(problem.negative, problem.bounds, id, rows);
    if (row < 0 && expected.bad < 0) {
      expected.bad = static_cast<int64_t>(expected.rows.size());
      expected.value = static_cast<int64_t>(id);
    }
    expected.rows.push_back(row);
  });
  if (problem.bounds == GTH_BOUNDS_SKIP || problem.bounds == GTH_BOUNDS_FILL) expected.bad = -1;
  return expected;
}

struct Parts {
  Numbers counts, local, order, place;
};

Parts partition(const Wanted& wanted, const Numbers& rows) {
  const auto count = static_cast<size_t>(wanted.shards.count);
  std::vector<Numbers> local(count), order(count);
  std::vector<std::pair<size_t, int64_t>> places;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0) {
      places.emplace_back(0, -1);
      continue;
    }
    const InShard found = find(wanted, rows[i]);
    const auto s = static_cast<size_t>(found.shard);
    const auto end = local[s].end(), known = wanted.once() ? std::find(local[s].begin(), end, found.local) : end;
    places.emplace_back(s, known - local[s].begin());
    if (known != end) continue;
    local[s].push_back(found.local);
    order[s].push_back(static_cast<int64_t>(i));
  }
  Parts parts;
  Numbers starts;
  for (size_t s = 0; s < count; ++s) {
    starts.push_back(static_cast<int64_t>(parts.local.size()));
    parts.counts.push_back(static_cast<int64_t>(local[s].size()));
    parts.local.insert(parts.local.end(), local[s].begin(), local[s].end());
    parts.order.insert(parts.order.end(), order[s].begin(), order[s].end());
  }
  for (const auto& [s, place] : places) parts.place.push_back(place < 0 ? -1 : starts[s] + place);
  return parts;
}

// The memory of the results. Each array ends before an inaccessible page.
struct Answers {
  Pages shards, borders, parts, counts, local, order, place, scratch;

  static void paint(int64_t* at, int64_t numbers) { std::memset(at, '#', static_cast<size_t>(numbers) * sizeof *at); }
  static bool is_painted(const int64_t* at, int64_t numbers) {
    const char* bytes = reinterpret_cast<const char*>(at);
    return std::all_of(bytes, bytes + static_cast<size_t>(numbers) * sizeof *at, [](char each) { return each == '#'; });
  }
  static int64_t* numbers(const Pages& pages, int64_t count) {
    auto* at = reinterpret_cast<int64_t*>(pages.place(static_cast<size_t>(count) * sizeof(int64_t)));
    paint(at, count);
    return at;
  }
};

Answers& answers() {
  static Answers& all = *new Answers;
  return all;
}

bool starts_with(const int64_t* found, const Numbers& expected) {
  return std::equal(expected.begin(), expected.end(), found);
}

void expect_parts(const gth_parts& given, const Parts& expected) {
  require(starts_with(given.counts, expected.counts), "counts");
  require(starts_with(given.local, expected.local), "local");
  require(!given.order || starts_with(given.order, expected.order), "order");
  require(!given.place || starts_with(given.place, expected.place), "place");
}

void expect_nothing_written(const gth_parts& given, int64_t shards) {
  require(Answers::is_painted(given.counts, shards), "counts were written on an error");
  for (const int64_t* each : {given.local, given.order, given.place}) {
    require(!each || Answers::is_painted(each, given.capacity), "numbers were written on an error");
  }
}

class Call {
 public:
  Call(const Request& request, const Wanted& wanted) : request_(request), wanted_(wanted) {
    gth_shards fields = wanted.shards;
    const Numbers& borders = wanted.borders;
    fields.borders = wanted.has_borders ? reinterpret_cast<const int64_t*>(
                                              answers().borders.put(borders.data(), borders.size() * sizeof borders[0]))
                                        : nullptr;
    shards_ = reinterpret_cast<const gth_shards*>(answers().shards.put(&fields, sizeof fields));
  }

  const gth_shards* shards() const { return wanted_.has_shards ? shards_ : nullptr; }

  int32_t ask_scratch(int64_t* bytes, gth_error* error) const {
    return gth_partition_scratch(request_.desc(indices_at), shards(), wanted_.flags, bytes, error);
  }

  gth_parts parts(int64_t ids, int64_t scratch_bytes) const {
    const int64_t room = std::max<int64_t>(0, ids - wanted_.too_little_room);
    gth_parts parts = GTH_PARTS_INIT;
    parts.flags = wanted_.flags;
    parts.capacity = room;
    parts.counts = Answers::numbers(answers().counts, std::max<int64_t>(0, wanted_.shards.count));
    parts.local = Answers::numbers(answers().local, room);
    parts.order = wanted_.has_order ? Answers::numbers(answers().order, room) : nullptr;
    parts.place = wanted_.has_place ? Answers::numbers(answers().place, room) : nullptr;
    parts.scratch_bytes = std::max<int64_t>(0, scratch_bytes - wanted_.too_little_scratch);
    parts.scratch = Answers::numbers(answers().scratch, (parts.scratch_bytes + 7) / 8);
    return parts;
  }

  int32_t run(const gth_parts& parts, gth_error* error) const {
    const void* at = answers().parts.put(&parts, sizeof parts);
    return gth_partition(nullptr, request_.desc(indices_at), shards(), request_.given_options(),
                         wanted_.has_parts ? static_cast<const gth_parts*>(at) : nullptr, error);
  }

 private:
  const Request& request_;
  const Wanted& wanted_;
  const gth_shards* shards_;
};

// Checks a call whose arrays are valid.
void expect_partition(const Request& request, const Wanted& wanted, Prediction* prediction, int32_t status,
                      const gth_error& error, const gth_parts& parts) {
  request.load(prediction, {indices_at});
  const Expected expected = predict_ids(prediction->problem, wanted.shards.rows);
  if (expected.bad < 0) {
    require(status == GTH_OK, "status of good ids");
    return expect_parts(parts, partition(wanted, expected.rows));
  }
  require(status == GTH_E_INDEX && error.operand == GTH_OPERAND_INDICES && error.position == expected.bad &&
              error.value == expected.value && error.limit == wanted.shards.rows,
          "a bad id");
  expect_nothing_written(parts, wanted.shards.count);
}

bool are_sound_parts(const Wanted& wanted, int64_t ids, int64_t scratch_bytes) {
  const bool fits = (wanted.too_little_room == 0 || ids == 0) && (wanted.too_little_scratch == 0 || scratch_bytes == 0);
  return wanted.has_parts && fits && !(wanted.once() && (wanted.has_order || (!wanted.has_place && ids > 0)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Wanted wanted;
  choose_shards(input, &wanted);
  damage(input, &wanted);
  Request request(Op::gather, input);
  request.options.fields.has_padding_index = 0;  // It is refused.
  request.options.fields.padding_index = 0;
  if (!request.place_ids(wanted.shards.rows, input)) return -1;
  auto options = request.options;
  options.fields.fill_dtype = 0;  // It has no effect, because no row is filled.
  Prediction prediction = predict(Op::gather, request.params(), request.indices(), nullptr, options);
  if (prediction.unpredicted || wanted.shards.count > most_shards) return -1;
  const Call call(request, wanted);
  gth_error* error = fresh_error();
  int64_t scratch_bytes = -7;
  const int32_t asked = call.ask_scratch(&scratch_bytes, error);
  tally().count(asked);
  expect_whole_error(asked, *error);
  const bool known_flags = (wanted.flags & ~uint32_t{GTH_PARTS_ONCE}) == 0;
  require(asked != GTH_OK || (is_sound(wanted) && known_flags && scratch_bytes >= 0), "scratch of a bad request");
  if (asked != GTH_OK) {
    require(scratch_bytes == -7, "scratch was written on an error");
    require(!is_sound(wanted) || !known_flags || !prediction.is_sound(Stage::values) || !request.options.is_null,
            "scratch of a good request");
    scratch_bytes = 0;
  }
  const auto ids = asked == GTH_OK ? static_cast<int64_t>(count_of(request.indices().shape)) : 0;
  const auto room = static_cast<int64_t>(Pages::usual);
  if (scratch_bytes > room || ids > room / int64_t{sizeof(int64_t)}) return -1;
  const gth_parts parts = call.parts(ids, scratch_bytes);
  error = fresh_error();
  const Image before;
  const int32_t status = call.run(parts, error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (const char* what = before.differing()) fail("%s", what);
  const bool is_right =
      asked == GTH_OK && prediction.is_sound(Stage::values) && are_sound_parts(wanted, ids, scratch_bytes);
  if (is_right && (ids == 0 || request.indices().has_data)) {
    if (ids > 0) return expect_partition(request, wanted, &prediction, status, *error, parts), 0;
    return require(status == GTH_OK, "status of no ids"), 0;
  }
  require(status != GTH_OK && status != GTH_E_RACE && status != GTH_E_INTERNAL, "status of a bad request");
  if (wanted.shards.count >= 1) expect_nothing_written(parts, wanted.shards.count);
  return 0;
}
