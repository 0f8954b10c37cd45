#include <gtest/gtest.h>

#include <algorithm>

#include "bags_cases.hpp"
#include "opened.hpp"
#include "sparse.hpp"

// Compares gather_bags with a naive loop: random requests in every form, and every error of bags and ids.
namespace {

using namespace bag_cases;

class BagsOracle : public ::testing::Test {
 protected:
  gth_error err_ = GTH_ERROR_INIT;

  void expect_output(const Case& c, const Array& out, const char* form) {
    const int64_t item = item_of(c.out_dtype());
    for (int64_t i = 0; i < c.bag_count * c.slice; ++i) {
      ASSERT_TRUE(is_same_number(c.out_dtype(), out.at(i), c.expected.data() + i * item))
          << form << ", bag " << i / c.slice << ", element " << i % c.slice;
    }
  }

  // Checks status and error of a call. Returns true if it has succeeded.
  bool judge(const Case& c, int32_t status, const char* form) {
    if (c.empty_bag >= 0) {
      EXPECT_EQ(status, GTH_E_OFFSETS) << form;
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS) << form;
      EXPECT_EQ(err_.position, c.empty_bag) << form;
      return false;
    }
    if (c.bad_id >= 0) {
      EXPECT_EQ(status, GTH_E_INDEX) << form << ": " << err_.message;
      EXPECT_EQ(err_.operand, GTH_OPERAND_INDICES) << form;
      const bool is_total = c.options.bounds == GTH_BOUNDS_CLAMP || c.options.bounds == GTH_BOUNDS_MODULO;
      if (!is_total || c.options.has_padding_index) {
        EXPECT_EQ(err_.position, c.bad_id) << form;
      }
      return false;
    }
    EXPECT_EQ(status, GTH_OK) << form << ": " << err_.message;
    return status == GTH_OK;
  }

  void check_run(const Case& c, const std::vector<char>& before, int32_t status, const char* form) {
    if (judge(c, status, form)) {
      expect_output(c, c.out, form);
    } else {
      EXPECT_TRUE(c.out.memory == before) << form;
    }
  }

  void check_result(const Case& c, const Request& r) {
    gth_request asked = r.request;
    asked.rows = nullptr;
    gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
    int64_t shape[8];
    ASSERT_EQ(gth_infer(&asked, &form, 8, shape, &err_), GTH_OK) << err_.message;
    EXPECT_EQ(form.dtype, c.out_dtype());
    ASSERT_EQ(Shape(shape, shape + form.ndim), c.out.shape);
    gth_tensor* made = nullptr;
    if (judge(c, gth_make(nullptr, &asked, &made, &err_), "make")) {
      gth_tensor_desc got = GTH_TENSOR_DESC_INIT;
      ASSERT_EQ(gth_tensor_describe(made, &got, nullptr), GTH_OK);
      const int64_t item = item_of(c.out_dtype());
      for (int64_t i = 0; i < c.bag_count * c.slice; ++i) {
        ASSERT_TRUE(
            is_same_number(c.out_dtype(), static_cast<const char*>(got.data) + i * item, c.expected.data() + i * item))
            << "make " << i;
      }
    } else {
      EXPECT_EQ(made, nullptr);
    }
    gth_tensor_release(made);
  }

  void check_many(const Case& c, const Request& r, const std::vector<char>& before) {
    Array other = c.out;
    const gth_tensor_desc out = other.described();
    gth_request second = r.request;
    second.rows = &out;
    const gth_request* both[] = {&r.request, &second};
    const int32_t status = gth_run_many(nullptr, 2, both, &err_);
    check_run(c, before, status, "many");
    if (status == GTH_OK) expect_output(c, other, "second of many");
    if (status != GTH_OK) {
      EXPECT_EQ(err_.item, 0);
    }
  }

  // Runs a plan. With `open_bags` and `open_ids`, the extents are open.
  void check_plan(Case* c, const Request& r, const std::vector<char>& before, bool open_bags, bool open_ids) {
    Request planned(*c);
    const bool is_dense = c->format == GTH_BAGS_DENSE;
    if (is_dense && (open_ids || (open_bags && c->ids.shape.size() < 2))) return;
    if (c->format == GTH_BAGS_SEGMENTS && open_bags) return;
    Shape ids = c->ids.shape, bags = c->bags.shape, out = c->out.shape;
    if (open_ids || (is_dense && open_bags)) ids[0] = GTH_OPEN;
    if (open_bags && !is_dense) bags[0] = GTH_OPEN;
    if (open_bags) out[0] = GTH_OPEN;
    if (open_ids && c->format == GTH_BAGS_SEGMENTS) bags[0] = GTH_OPEN;
    // Open dims with negative strides need memory in front of the offset, which grows with the extent.
    const auto grows = [](const Array& array) { return !array.strides.empty() && array.strides[0] < 0; };
    const bool is_open = open_bags || open_ids;
    if (is_open &&
        (grows(c->ids) || grows(c->out) || (c->has_bags && grows(c->bags)) || (c->has_weights && grows(c->weights))))
      return;
    if (is_open && (c->count == 0 || c->bag_count == 0)) return;
    planned.ids.shape = planned.weights.shape = ids.data();
    planned.bags.shape = bags.data();
    planned.out.shape = out.data();
    gth_plan* plan = nullptr;
    ASSERT_EQ(gth_plan_create(&planned.request, &plan, &err_), GTH_OK) << err_.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    if (open_bags) args.n = is_dense ? c->ids.shape[0] : c->bag_count;
    if (open_ids) args.ids = c->count;
    ASSERT_EQ(gth_plan_extents(plan, &args, &err_), GTH_OK) << err_.message;
    EXPECT_LE(args.table_extent, c->table.desc.extent);
    EXPECT_LE(args.indices_extent, c->ids.desc.extent);
    EXPECT_LE(args.rows_extent, c->out.desc.extent);
    EXPECT_LE(args.bags_extent, c->has_bags ? c->bags.desc.extent : 0);
    EXPECT_LE(args.weights_extent, c->has_weights ? c->weights.desc.extent : 0);
    args.table = r.table.data;
    args.indices = r.ids.data;
    args.rows = r.out.data;
    args.bags = c->has_bags ? r.bags.data : nullptr;
    args.weights = c->has_weights ? r.weights.data : nullptr;
    c->out.memory = before;
    args.rows = c->out.memory.data();
    check_run(*c, before, gth_plan_run_args(nullptr, plan, &args, &err_), is_open ? "open plan" : "plan");
    const gth_plan* const plans[] = {plan};
    const gth_plan_args* const all[] = {&args};
    c->out.memory = before;
    args.rows = c->out.memory.data();
    check_run(*c, before, gth_plan_run_many(nullptr, 1, plans, all, &err_), "plan many");
    judge(*c, gth_plan_check(nullptr, plan, &args, &err_), "plan check");
    gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
    int64_t shape[8];
    ASSERT_EQ(gth_plan_infer(plan, args.n, &rows, 8, shape, &err_), GTH_OK);
    EXPECT_EQ(Shape(shape, shape + rows.ndim), c->out.shape);
    EXPECT_EQ(rows.dtype, c->out_dtype());
    if (args.bags_extent > 0) {
      args.bags_extent -= 1;
      EXPECT_EQ(gth_plan_run_args(nullptr, plan, &args, &err_), GTH_E_SIZE);
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS);
      args.bags_extent += 1;
      args.bags = nullptr;
      EXPECT_EQ(gth_plan_run_args(nullptr, plan, &args, &err_), GTH_E_NULL);
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS);
    }
    gth_plan_release(plan);
  }

  void check_handles(Case* c, const Request& r, const std::vector<char>& before) {
    const gth_tensor_desc* const descs[] = {&r.table, &r.ids, r.request.bags, r.request.weights};
    gth_tensor* handles[4] = {};
    gth_tensor_desc named[4];
    for (int i = 0; i < 4; ++i) {
      if (!descs[i]) continue;
      ASSERT_EQ(gth_tensor_borrow(descs[i], &handles[i], &err_), GTH_OK) << err_.message;
      named[i] = gth_tensor_desc GTH_TENSOR_DESC_HANDLE(handles[i]);
    }
    c->out.memory = before;
    const gth_tensor_desc out = c->out.described();
    const int32_t status = gth_gather_bags(nullptr, &named[0], &named[1], descs[2] ? &named[2] : nullptr,
                                           descs[3] ? &named[3] : nullptr, &out, &c->options, &err_);
    check_run(*c, before, status, "handles");
    for (gth_tensor* handle : handles) gth_tensor_release(handle);
  }

  // Runs bags of a table in segments, as a request and as a plan.
  void check_opened(Case* c, const std::vector<char>& before) {
    if (c->rows == 0) return;
    const int64_t item = item_of(c->dtype()), row = c->slice * item;
    std::vector<char> dense(static_cast<size_t>(c->rows * row));
    for (int64_t i = 0; i < c->rows * c->slice; ++i)
      std::memcpy(dense.data() + i * item, c->table.at(i), static_cast<size_t>(item));
    const opened::Form& form = pick(opened::forms);
    Request r(*c);
    const opened::Table table(r.table, row, form, below, [&](int64_t i) { return dense.data() + i * row; });
    r.table = table.desc();
    c->out.memory = before;
    check_run(*c, before, gth_run_request(nullptr, &r.request, &err_), "opened");
    check_result(*c, r);
    gth_plan* plan = nullptr;
    ASSERT_EQ(gth_plan_create(&r.request, &plan, &err_), GTH_OK) << err_.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.indices = r.ids.data;
    args.bags = c->has_bags ? r.bags.data : nullptr;
    args.weights = c->has_weights ? r.weights.data : nullptr;
    c->out.memory = before;
    args.rows = c->out.memory.data();
    check_run(*c, before, gth_plan_run_args(nullptr, plan, &args, &err_), "opened plan");
    gth_plan_release(plan);
  }

  void check_forms(Case* c) {
    const std::vector<char> before = c->out.memory;
    {
      const Request r(*c);
      check_run(*c, before, gth_run_request(nullptr, &r.request, &err_), "run");
      check_result(*c, r);
    }
    c->out.memory = before;
    {
      const Request r(*c);
      check_many(*c, r, before);
    }
    for (bool open_bags : {false, true}) {
      for (bool open_ids : {false, true}) {
        c->out.memory = before;
        const Request r(*c);
        check_plan(c, r, before, open_bags, open_ids);
      }
    }
    const Request r(*c);
    check_handles(c, r, before);
    if (chance(40)) check_opened(c, before);
    c->out.memory = before;
  }

  // Changes one border. The first wrong number is reported, and nothing is written.
  void check_bad_bags(Case* c) {
    if (c->format != GTH_BAGS_OFFSETS || c->bag_count == 0) return;
    const std::vector<char> before = c->out.memory;
    std::vector<int64_t> begin = c->begin;
    const auto at = static_cast<size_t>(below(c->bag_count + 1));
    begin[at] += chance(50) || (!is_signed(c->bags.desc.dtype) && begin[at] == 0) ? 1 : -1;
    int64_t bad = begin[0] != 0 ? 0 : -1, limit = 0;
    for (size_t b = 1; b < begin.size() && bad < 0; ++b) {
      if (begin[b] < begin[b - 1]) bad = static_cast<int64_t>(b), limit = begin[b - 1];
      if (begin[b] > c->count) bad = static_cast<int64_t>(b), limit = c->count;
    }
    if (bad < 0 && begin.back() != c->count) bad = c->bag_count, limit = c->count;
    write_bags(*c, begin);
    if (bad >= 0) {
      const Request r(*c);
      EXPECT_EQ(gth_run_request(nullptr, &r.request, &err_), GTH_E_OFFSETS);
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS);
      EXPECT_EQ(err_.position, bad);
      EXPECT_EQ(err_.value, begin[static_cast<size_t>(bad)]);
      EXPECT_EQ(err_.limit, limit);
      EXPECT_TRUE(c->out.memory == before);
    }
    write_bags(*c, c->begin);
  }
};

TEST_F(BagsOracle, EveryFormOfRandomRequestsEqualsTheNaiveLoop) {
  const int64_t cases = random_cases(1500);
  for (int64_t i = 0; i < cases; ++i) {
    Case c = make_case(draw_sizes(i % 200 == 199));
    SCOPED_TRACE("case " + std::to_string(i) + ", " + describe(c));
    check_forms(&c);
    check_bad_bags(&c);
    if (HasFailure()) return;
  }
}

TEST_F(BagsOracle, EveryKindOfRequestEqualsTheNaiveLoop) {
  for (const Kind& kind : all_kinds()) {
    for (int64_t i = 0; i < 8 * rounds(); ++i) {
      const int64_t border = i % 8;
      const Sizes sizes = border < 3 ? draw_border(borders[border]) : border < 5 ? draw_sizes(false) : draw_plain();
      Case c = make_case(sizes, kind);
      SCOPED_TRACE(describe(c));
      check_forms(&c);
      check_bad_bags(&c);
      if (HasFailure()) return;
    }
  }
}

// The gaps between strided ids and offsets contain other valid ones.
TEST_F(BagsOracle, GapsOfStridedIdsAndOffsetsAreNotRead) {
  const float table[] = {1, 20, 300};
  const int64_t ids[] = {2, 0, 1, 1, 2, 1, 0, 0}, offsets[] = {0, 2, 4, 4, 4};
  const Shape rows{3, 1}, four{4}, three{3}, out_shape{2, 1}, strides{16};
  for (const bool strides_ids : {false, true}) {
    const int64_t* const given = strides_ids ? ids : ids + 2;  // The ids are 2 1 2 0, or 1 1 2 1.
    const float expected[] = {strides_ids ? 621.0f : 360.0f, 0};
    float out[2] = {};
    gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, rows.data(), table);
    gth_tensor_desc i = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, four.data(), given);
    gth_tensor_desc b = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, three.data(), offsets);
    const gth_tensor_desc o = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, out_shape.data(), out);
    (strides_ids ? i : b).strides = strides.data();
    const int64_t dense[] = {0, 4, 4};
    if (strides_ids) b.data = dense;
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p, &i, &o, nullptr);
    request.bags = &b;
    gth_plan* plan = nullptr;
    ASSERT_EQ(gth_plan_create(&request, &plan, &err_), GTH_OK) << err_.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.table = table, args.indices = given, args.bags = b.data, args.rows = out;
    for (const bool is_planned : {false, true}) {
      std::fill_n(out, 2, -1.0f);
      EXPECT_EQ(is_planned ? gth_plan_run_args(nullptr, plan, &args, &err_) : gth_run_request(nullptr, &request, &err_),
                GTH_OK);
      EXPECT_EQ(std::vector<float>(out, out + 2), std::vector<float>(expected, expected + 2)) << is_planned;
    }
    EXPECT_EQ(gth_plan_release(plan), GTH_OK);
  }
}

// One id is out of bounds. It is beside the border of a block, and the others are valid.
TEST_F(BagsOracle, InvalidIdAtTheBorderOfABlockIsReported) {
  for (const int64_t limit : {int64_t{1}, limits::block_rows, limits::short_bag_ids, limits::block_ids,
                              2 * limits::block_ids, 4 * limits::block_ids}) {
    for (int64_t position = std::max<int64_t>(limit - 2, 0); position <= limit + 1; ++position) {
      for (const int32_t dtype : {GTH_DTYPE_INT64, GTH_DTYPE_INT32}) {
        for (const bool has_padding : {false, true}) {
          for (const int64_t value : {int64_t{7}, int64_t{-1}}) {
            Case c;
            const int64_t count = position + 1 + below(3);
            c.rows = 7, c.slice = 3, c.bag_count = 1 + below(3), c.count = count;
            c.format = GTH_BAGS_LENGTHS, c.pool = GTH_POOL_SUM, c.has_bags = true;
            c.options.bag_format = c.format;
            c.options.has_padding_index = has_padding;
            c.options.padding_index = has_padding ? 6 : 0;
            c.table.make(GTH_DTYPE_FLOAT32, {c.rows, c.slice}, true);
            c.ids.make(dtype, {count}, true);
            c.bags.make(GTH_DTYPE_INT64, {c.bag_count}, true);
            c.out.make(GTH_DTYPE_FLOAT32, {c.bag_count, c.slice}, true);
            draw_begin(&c);
            write_bags(c, c.begin);
            for (int64_t i = 0; i < count; ++i) {
              c.id.push_back(i == position ? value : below(7));
              c.ids.set(i, c.id.back());
            }
            c.bad_id = position;
            SCOPED_TRACE("position " + std::to_string(position) + " of " + std::to_string(count));
            check_forms(&c);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

// The rows of the table have equal addresses in their lowest 32 bits.
TEST_F(BagsOracle, DistantRowsOfEveryKindEqualTheNaiveLoop) {
  const hostile::SparseRows rows(12);
  NEEDS(rows);
  for (const Kind& kind : all_kinds()) {
    Sizes sizes = draw_border(chance(50) ? Border::ids : Border::elements);
    sizes.rows = std::min<int64_t>(sizes.rows, 12);
    const Case c = make_case(sizes, kind);
    SCOPED_TRACE(describe(c));
    for (int64_t i = 0; i < c.rows * c.slice; ++i) {
      const int64_t item = item_of(c.dtype());
      std::memcpy(rows.at(i / c.slice) + i % c.slice * item, c.table.at(i), static_cast<size_t>(item));
    }
    Request r(c);
    const Shape strides{hostile::SparseRows::apart, item_of(c.dtype())};
    r.table = GTH_TENSOR_DESC_INIT;
    r.table.dtype = c.dtype();
    r.table.ndim = 2;
    r.table.shape = c.table.shape.data();
    r.table.strides = strides.data();
    r.table.data = rows.data();
    check_run(c, c.out.memory, gth_run_request(nullptr, &r.request, &err_), "distant");
    if (HasFailure()) return;
  }
}

}  // namespace
