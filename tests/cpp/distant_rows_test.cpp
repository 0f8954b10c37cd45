#include "distant.hpp"
#include "random_scatters.hpp"

// Operands with a distance of 3 GiB between rows, tuples or components. A product or a stride of 32 bits would address
// other memory.
namespace {

using namespace hostile;

constexpr int32_t i32 = GTH_DTYPE_INT32, i64 = GTH_DTYPE_INT64;

// The operands of one operation: shapes, values, and the expected elements of the written operand.
struct Layouts {
  const Operation& op;
  Shape table, indices, rows;
  std::vector<int64_t> values;  // of indices
  std::vector<int64_t> expected;
  int32_t reduction = 0;
};

// The table has the elements 10, 11, .., and the rows have the elements 100, 101, ..
const Layouts layouts[] = {
    {calls::gather, {3, 2}, {4}, {4, 2}, {2, 0, 1, 2}, {14, 15, 10, 11, 12, 13, 14, 15}},
    {calls::gather_nd, {3, 2}, {4, 1}, {4, 2}, {2, 0, 1, 2}, {14, 15, 10, 11, 12, 13, 14, 15}},
    {calls::gather_nd, {3, 2}, {3, 2}, {3}, {2, 1, 0, 0, 1, 1}, {15, 10, 13}},
    {calls::gather_elements, {3, 2}, {3, 2}, {3, 2}, {2, 0, 0, 1, 1, 2}, {14, 11, 10, 13, 12, 15}},
    {calls::scatter, {3, 2}, {2}, {2, 2}, {2, 0}, {102, 103, 12, 13, 100, 101}},
    {calls::scatter, {3, 2}, {3}, {3, 2}, {2, 0, 2}, {112, 114, 12, 13, 218, 221}, GTH_REDUCTION_ADD},
    {calls::scatter, {3, 2}, {3}, {3, 2}, {2, 0, 2}, {102, 103, 12, 13, 104, 105}, GTH_REDUCTION_MAX},
    {calls::scatter_nd, {3, 2}, {2, 1}, {2, 2}, {2, 0}, {102, 103, 12, 13, 100, 101}},
    {calls::scatter_nd, {3, 2}, {3, 2}, {3}, {2, 1, 0, 0, 1, 1}, {101, 11, 12, 102, 14, 100}},
    {calls::scatter_nd, {3, 2}, {2, 2}, {2}, {2, 1, 0, 0}, {111, 11, 12, 13, 14, 115}, GTH_REDUCTION_ADD},
    {calls::scatter_elements, {3, 2}, {2, 2}, {2, 2}, {2, 0, 0, 1}, {102, 101, 12, 103, 100, 15}},
    {calls::scatter_elements, {3, 2}, {2, 2}, {2, 2}, {2, 0, 0, 1}, {112, 112, 12, 116, 114, 15}, GTH_REDUCTION_ADD},
    {calls::gather_gradient, {3, 2}, {3}, {3, 2}, {2, 0, 2}, {102, 103, 0, 0, 204, 206}},
    {calls::gather_nd_gradient, {3, 2}, {3, 2}, {3}, {2, 1, 0, 0, 2, 1}, {101, 0, 0, 0, 0, 202}},
    {calls::gather_elements_gradient, {3, 2}, {2, 2}, {2, 2}, {2, 0, 0, 1}, {102, 101, 0, 103, 100, 0}},
};

gth_options options_of(const Layouts& layout) {
  gth_options options = reducing(layout.reduction);
  const bool is_elements = layout.op.number % 3 == 0;
  if (is_elements && layout.table != layout.indices) options.extents = GTH_EXTENTS_PREFIX;
  return options;
}

// Chooses the dim of each operand that has the distance.
struct Far {
  size_t table, indices, rows;
};

void run(const Layouts& layout, const Far& far, bool is_reversed, int32_t threads) {
  const Distant table(i32, layout.table, far.table, is_reversed, numbers_from(10, layout.table));
  const Distant indices(i64, layout.indices, far.indices, is_reversed, layout.values);
  const Distant rows(i32, layout.rows, far.rows, is_reversed, numbers_from(100, layout.rows));
  NEEDS(table && indices && rows);
  gth_options options = options_of(layout);
  options.threads = threads;
  const Distant& written = layout.op.number <= GTH_OP_GATHER_ELEMENTS ? rows : table;
  const std::string text = "operation " + std::to_string(layout.op.number) + ", far dims " + std::to_string(far.table) +
                           std::to_string(far.indices) + std::to_string(far.rows) + (is_reversed ? ", reversed" : "");
  Error error;
  ASSERT_EQ(layout.op.named(nullptr, &table.desc(), &indices.desc(), &rows.desc(), &options, &error), GTH_OK)
      << text << ": " << error.message;
  EXPECT_EQ(written.values(), layout.expected) << text;
  if (layout.op.number >= GTH_OP_GATHER_GRADIENT || layout.reduction) return;
  Plan plan;
  ASSERT_EQ(layout.op.plan(&table.desc(), &indices.desc(), &rows.desc(), &options, plan.out(), &error), GTH_OK);
  ASSERT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, table.desc().data, indices.desc().data,
                         const_cast<void*>(rows.desc().data), &error),
            GTH_OK)
      << text;
  EXPECT_EQ(written.values(), layout.expected) << text << ", plan";
}

TEST(DistantRows, EveryOperationAddressesOperandsBeyond2To31) {
  for (const Layouts& layout : layouts) {
    for (size_t table = 0; table < layout.table.size(); ++table) {
      for (size_t indices = 0; indices < layout.indices.size(); ++indices) {
        for (size_t rows = 0; rows < layout.rows.size(); ++rows) {
          for (const bool is_reversed : {false, true}) run(layout, {table, indices, rows}, is_reversed, 1 + rows % 2);
        }
      }
    }
    if (HasFailure()) return;
  }
}

// Vectorised kernels need more tuples than the layouts above have. Only the table has the distance.
TEST(DistantRows, ManyTuplesSelectRowsBeyond2To31) {
  constexpr int64_t tuples = 100;
  std::vector<int64_t> values(tuples), gathered(tuples), updated{10, 11, 12}, added = updated;
  const std::vector<int64_t> rows = numbers_from(100, {tuples});
  for (size_t t = 0; t < tuples; ++t) {
    values[t] = static_cast<int64_t>(t * t % 3);
    const auto row = static_cast<size_t>(values[t]);
    gathered[t] = 10 + values[t];
    updated[row] = rows[t];
    added[row] += rows[t];
  }
  const auto expect = [&](const Operation& op, const Shape& indices_shape, int32_t reduction,
                          const std::vector<int64_t>& expected) {
    for (const int32_t index : {i32, i64}) {
      for (const bool is_reversed : {false, true}) {
        const Distant table(i32, {3}, 0, is_reversed, numbers_from(10, {3}));
        NEEDS(table);
        Array indices(index, indices_shape), dense(i32, {tuples});
        for (size_t t = 0; t < tuples; ++t) {
          std::memcpy(indices.data() + t * size_t(gth_dtype_size(index)), &values[t], size_t(gth_dtype_size(index)));
          std::memcpy(dense.data() + 4 * t, &rows[t], 4);
        }
        gth_options options = reducing(reduction);
        const gth_tensor_desc i = indices.desc(), r = dense.desc();
        Error error;
        ASSERT_EQ(op.named(nullptr, &table.desc(), &i, &r, &options, &error), GTH_OK) << error.message;
        std::vector<int32_t> found(tuples);
        std::memcpy(found.data(), dense.data(), 4 * tuples);
        const bool gathers = op.number <= GTH_OP_GATHER_ELEMENTS;
        EXPECT_EQ(gathers ? std::vector<int64_t>(found.begin(), found.end()) : table.values(), expected)
            << "operation " << op.number << ", reduction " << reduction;
      }
    }
  };
  expect(calls::gather, {tuples}, 0, gathered);
  expect(calls::gather_nd, {tuples, 1}, 0, gathered);
  expect(calls::gather_elements, {tuples}, 0, gathered);
  for (const Operation& op : {calls::scatter, calls::scatter_elements}) {
    expect(op, {tuples}, 0, updated);
    expect(op, {tuples}, GTH_REDUCTION_ADD, added);
  }
  expect(calls::scatter_nd, {tuples, 1}, GTH_REDUCTION_ADD, added);
}

// A dense table of three rows of 3 GiB. The indices select columns, or rows and columns.
TEST(DistantRows, ColumnsOfDenseRowsBeyond2To31AreSelected) {
  const Sparse memory(3 * distance);
  NEEDS(memory);
  memory.keep_small_pages();
  const Shape shape{3, distance};
  const gth_tensor_desc table = describe(GTH_DTYPE_UINT8, shape, memory.data());
  for (int64_t row = 0; row < 3; ++row) {
    memory.data()[row * distance + 1] = static_cast<char>(10 + row);
    memory.data()[row * distance + distance - 1] = static_cast<char>(20 + row);
  }
  std::vector<int64_t> columns, pairs;
  Bytes expected(3 * 40), expected_pairs;
  for (int64_t t = 0; t < 40; ++t) {
    const int64_t column = t % 2 ? distance - 1 : 1, row = t % 3;
    const auto value = [&](int64_t r) { return static_cast<char>((t % 2 ? 20 : 10) + r); };
    columns.push_back(column);
    for (int64_t r = 0; r < 3; ++r) expected[static_cast<size_t>(r * 40 + t)] = value(r);
    pairs.insert(pairs.end(), {row, column});
    expected_pairs.push_back(value(row));
  }
  const Array by_column = indices64({40}, columns), by_pair = indices64({40, 2}, pairs);
  const gth_options axis = with_axis(1);
  expect_gathered({g, table, by_column.desc(), &axis}, {3, 40}, expected);
  expect_gathered({nd, table, by_pair.desc()}, {40}, expected_pairs);

  const Array updates(GTH_DTYPE_UINT8, {3, 40}), ones(GTH_DTYPE_UINT8, {40}, std::vector<char>(40, 1));
  const gth_tensor_desc c = by_column.desc(), j = by_pair.desc(), u = updates.desc(), o = ones.desc();
  const gth_options add = reducing(GTH_REDUCTION_ADD);
  Error error;
  ASSERT_EQ(gth_scatter(nullptr, &table, &c, &u, &axis, &error), GTH_OK) << error.message;
  ASSERT_EQ(gth_scatter_nd(nullptr, &table, &j, &o, &add, &error), GTH_OK) << error.message;
  for (int64_t row = 0; row < 3; ++row) {
    for (const int64_t last : {38, 39}) {  // the last tuple that selects the first or the last column
      const int64_t hits = std::count_if(expected_pairs.begin(), expected_pairs.end(), [&](char each) {
        return each == static_cast<char>((last % 2 ? 20 : 10) + row);
      });
      const char found = memory.data()[row * distance + (last % 2 ? distance - 1 : 1)];
      EXPECT_EQ(found, static_cast<char>(updates.data()[row * 40 + last] + hits)) << row << ", " << last;
    }
  }
}

// Vectorised kernels resolve indices below 2^31 with 32 bits.
TEST(DistantRows, ExtentsAround2To31) {
  for (const int64_t n : {int64_t{1} << 31, (int64_t{1} << 31) + 1}) {
    const Sparse memory(n);
    NEEDS(memory);
    memory.keep_small_pages();
    const Shape shape{n};
    memory.data()[0] = 1;
    memory.data()[n - 1] = 2;
    std::vector<int64_t> last_or_first(40, 0);
    Bytes expected(40, 1);
    for (size_t t = 0; t < 40; t += 3) {
      last_or_first[t] = n - 1;
      expected[t] = 2;
    }
    const Array indices = indices64({40}, last_or_first);
    expect_gathered({g, describe(GTH_DTYPE_UINT8, shape, memory.data()), indices.desc()}, {40}, expected);
  }
}

// Returns the target of a case in dense memory.
Bytes dense_target(const oracle::Operand& target) {
  Bytes elements;
  oracle::for_each_element(target, [&](int64_t at, const Shape&) {
    elements.insert(elements.end(), target.memory.begin() + at, target.memory.begin() + at + target.item);
  });
  return elements;
}

TEST(DistantRows, ScattersToRowsWithEqualLowBitsMatchTheOracle) {
  constexpr int64_t most = 4;
  const SparseRows rows(most);
  NEEDS(rows);
  oracle::Random random(1);
  for (int64_t done = 0; done < oracle::random_cases(4000) / 10 && !HasFailure();) {
    oracle::scatters::Case c = oracle::scatters::make_border(random);
    oracle::scatters::choose_rare_switches(random, &c);
    oracle::Operand& target = c.problem.params;
    if (c.problem.is_elements || target.shape.size() != 2 || target.shape[0] > most) continue;
    ++done;
    target.memory = dense_target(target);
    target.dense = true;
    target.offset = 0;
    target.strides = oracle::dense_strides(target.shape, target.item);
    const oracle::ScatterAnswer answer = oracle::solve_scatter(c.problem);
    const int64_t count = target.shape[0], bytes = target.strides[0];
    rows.set(target.memory.data(), count, bytes);
    const Shape strides{SparseRows::apart, target.item};
    const gth_tensor_desc t = describe(target.dtype, target.shape, rows.data(), strides.data());
    const gth_tensor_desc i = c.problem.indices.desc(), u = c.problem.out.desc();
    Error error;
    EXPECT_EQ(oracle::scatters::op_of(c.problem).named(nullptr, &t, &i, &u, &c.options, &error), answer.status);
    EXPECT_TRUE(oracle::is_same_target(c.problem, answer, rows.get(count, bytes)))
        << "scatter " << done << ", dtype " << target.dtype << ", reduction " << c.problem.reduction << ", initial "
        << c.options.initial << ", accumulate " << c.options.accumulate << ", elements " << target.shape[1];
  }
}

// The index that is reported is that of the tuple 6 GiB behind the first one.
TEST(DistantRows, InvalidIndexBeyond2To31IsReported) {
  const Distant indices(i64, {3}, 0, false, {0, 1, 9});
  NEEDS(indices);
  const Array params(i32, {4, 2}), out(i32, {3, 2});
  expect_refused({g, params.desc(), indices.desc()}, out, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 9, 4});
}

TEST(DistantRows, CopyAddressesOperandsBeyond2To31) {
  for (size_t far : {0, 1}) {
    const Distant source(i32, {3, 2}, far, false, numbers_from(10, {3, 2})), target(i32, {3, 2}, 1 - far, true, {});
    NEEDS(source && target);
    Error error;
    ASSERT_EQ(gth_copy(nullptr, &source.desc(), &target.desc(), &error), GTH_OK) << error.message;
    EXPECT_EQ(target.values(), numbers_from(10, {3, 2}));
  }
}

TEST(DistantRows, IdsBeyond2To31ArePartitioned) {
  const Distant ids(i64, {4}, 0, false, {9, 1, 2, 5});
  NEEDS(ids);
  gth_shards shards = GTH_SHARDS_INIT;
  shards.kind = GTH_SHARDS_MODULO;
  shards.rows = 10;
  shards.count = 2;
  int64_t counts[2], local[4], order[4], scratch_bytes = 0;
  Error error;
  ASSERT_EQ(gth_partition_scratch(&ids.desc(), &shards, 0, &scratch_bytes, &error), GTH_OK);
  std::vector<char> scratch(static_cast<size_t>(scratch_bytes));
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = 4;
  parts.counts = counts;
  parts.local = local;
  parts.order = order;
  parts.scratch = scratch.data();
  parts.scratch_bytes = scratch_bytes;
  ASSERT_EQ(gth_partition(nullptr, &ids.desc(), &shards, nullptr, &parts, &error), GTH_OK) << error.message;
  EXPECT_EQ(std::vector<int64_t>(counts, counts + 2), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(std::vector<int64_t>(local, local + 4), (std::vector<int64_t>{1, 4, 0, 2}));
  EXPECT_EQ(std::vector<int64_t>(order, order + 4), (std::vector<int64_t>{2, 0, 1, 3}));
}

// The second string begins 3 GiB behind the first one.
TEST(DistantRows, StringsBeyond2To31AreGatheredAndScattered) {
  const Sparse bytes(2 * distance);
  NEEDS(bytes);
  bytes.keep_small_pages();
  std::memcpy(bytes.data(), "one", 3);
  std::memcpy(bytes.data() + distance, "three", 5);
  const int64_t ends[] = {0, 3, distance, distance + 5}, update_ends[] = {0, 2};
  const Shape three{3}, one{1};
  Tensor params, updates, gathered, scattered;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, three.data(), ends, bytes.data(), distance + 5, nullptr, nullptr,
                                    params.out(), nullptr),
            GTH_OK);
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, one.data(), update_ends, "ab", 2, nullptr, nullptr, updates.out(),
                                    nullptr),
            GTH_OK);
  const auto read = [](const Tensor& tensor, int64_t count) {
    const int64_t* offsets = nullptr;
    const void* data = nullptr;
    EXPECT_EQ(gth_tensor_strings(tensor.get(), &offsets, &data, nullptr), GTH_OK);
    EXPECT_LT(offsets[count], 100);
    std::string result;
    for (int64_t i = 0; i < count; ++i) {
      result += std::string(static_cast<const char*>(data) + offsets[i], size_t(offsets[i + 1] - offsets[i])) + ",";
    }
    return result;
  };
  const Array last = indices64({2}, {2, 0}), middle = indices64({1}, {1});
  const gth_tensor_desc i = last.desc(), j = middle.desc();
  ASSERT_EQ(calls::gather.make(nullptr, params.get(), &i, nullptr, nullptr, gathered.out(), nullptr), GTH_OK);
  EXPECT_EQ(read(gathered, 2), "three,one,");
  ASSERT_EQ(calls::scatter.make(nullptr, params.get(), &j, updates.get(), nullptr, scattered.out(), nullptr), GTH_OK);
  EXPECT_EQ(read(scattered, 3), "one,ab,three,");
}

}  // namespace
