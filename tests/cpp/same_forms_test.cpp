#include "random_operands.hpp"
#include "samples.hpp"

// Random requests, valid and invalid, through every form that runs them on existing memory: each has the status, the
// error fields and the bytes of gth_run on descriptions. GATHER_SEED changes the numbers, GATHER_CASES how many.
namespace {

using namespace hostile;
using oracle::Random;

// Memory of one operand, at an address that stays.
struct Memory {
  Shape shape;
  Bytes bytes;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;

  void build(int32_t dtype, Shape extents) {
    shape = std::move(extents);
    bytes.assign(static_cast<size_t>(count_of(shape) * gth_dtype_size(dtype) + 8), 0);
    desc = describe(dtype, shape, bytes.data());
  }
};

struct Case {
  const Operation* op;
  Memory table, indices, rows;
  gth_options options = GTH_OPTIONS_INIT;
  bool has_options;

  std::array<gth_tensor_desc, 3> descs() const { return {table.desc, indices.desc, rows.desc}; }
  const gth_options* given_options() const { return has_options ? &options : nullptr; }
};

class SameForms : public ::testing::Test {
 protected:
  Shape shape(int64_t rank, int64_t longest) {
    Shape result(static_cast<size_t>(rank));
    for (int64_t& each : result) each = random_.chance(8) ? 0 : random_.between(1, longest);
    return result;
  }

  void draw_indices(Case* c, int64_t rank) {
    const int32_t family = c->op->number % 3;
    Shape extents = shape(family == 0 ? rank : random_.between(0, 2), 4);
    if (family == 0 && random_.chance(90)) extents = c->table.shape;
    if (family == 2 && !extents.empty()) extents.back() = random_.between(0, rank);
    const bool is_wide = random_.chance(50);
    c->indices.build(is_wide ? GTH_DTYPE_INT64 : random_.chance(95) ? GTH_DTYPE_INT32 : GTH_DTYPE_FLOAT32, extents);
    const size_t item = is_wide ? 8 : 4;
    for (size_t at = 0; at + 8 <= c->indices.bytes.size(); at += item) {
      const int64_t value = random_.chance(97) ? random_.chance(15) : random_.between(-3, 7);
      std::memcpy(&c->indices.bytes[at], &value, item);
    }
  }

  void draw_options(Case* c) {
    gth_options& o = c->options;
    const int32_t number = c->op->number;
    c->has_options = random_.chance(70);
    o.has_axis = random_.chance(50) && number % 3 != 2;
    if (o.has_axis) o.axis = random_.between(-1, 2);
    if (random_.chance(10)) o.batch_dims = random_.between(0, 1);
    if (random_.chance(25)) o.bounds = static_cast<int32_t>(random_.between(0, 6));
    if (random_.chance(25)) o.negative = static_cast<int32_t>(random_.between(0, 2));
    if (random_.chance(15)) o.profile = static_cast<int32_t>(random_.between(0, 11));
    if (random_.chance(20) && !is_gather(*c->op)) o.reduction = static_cast<int32_t>(random_.between(0, 5));
    if (random_.chance(2)) o.out_dtype = 1;
  }

  void draw_rows(Case* c) {
    int64_t extents[GTH_MAX_NDIM];
    int32_t ndim = 0;
    if (c->op->infer(&c->table.desc, &c->indices.desc, c->given_options(), GTH_MAX_NDIM, &ndim, extents, nullptr)) {
      ndim = 0;
    }
    Shape rows(extents, extents + ndim);
    if (random_.chance(5)) rows.push_back(1);
    c->rows.build(random_.chance(97) ? c->table.desc.dtype : GTH_DTYPE_INT8, rows);
  }

  void draw(Case* c) {
    c->op = &calls::every[random_.below(9)];
    const int64_t rank = random_.chance(90) ? random_.between(1, 3) : 0;
    c->table.build(random_.chance(90) ? GTH_DTYPE_INT32 : GTH_DTYPE_FLOAT64, shape(rank, 5));
    draw_indices(c, rank);
    draw_options(c);
    draw_rows(c);
    for (Bytes* bytes : {&c->table.bytes, &c->rows.bytes}) {
      for (char& each : *bytes) each = static_cast<char>(random_.between(0, 100));
    }
    if (random_.chance(3)) c->rows.desc.flags = GTH_TENSOR_READONLY;
    if (random_.chance(3)) c->table.desc.flags = GTH_TENSOR_READONLY;
    if (random_.chance(2)) c->table.desc.data = nullptr;
    if (random_.chance(2)) c->rows.desc.data = c->table.bytes.data();
  }

  Random random_{static_cast<uint64_t>(environment::number("GATHER_SEED", 20261124))};
};

// One call of the case, from the bytes as they were drawn.
struct Outcome {
  int32_t status;
  Error error;
  Bytes table, rows;
};

template <class Call>
Outcome outcome_of(const Case& drawn, Case* c, Call&& call) {
  std::copy(drawn.table.bytes.begin(), drawn.table.bytes.end(), c->table.bytes.begin());
  std::copy(drawn.rows.bytes.begin(), drawn.rows.bytes.end(), c->rows.bytes.begin());
  Outcome outcome;
  outcome.status = call(&outcome.error);
  outcome.table = c->table.bytes;
  outcome.rows = c->rows.bytes;
  return outcome;
}

void expect_same(const Outcome& expected, const Outcome& found, const std::string& form) {
  EXPECT_STREQ(gth_status_name(found.status), gth_status_name(expected.status)) << form << ": " << found.error.message;
  EXPECT_EQ(std::memcmp(static_cast<const gth_error*>(&found.error), static_cast<const gth_error*>(&expected.error),
                        sizeof(gth_error)),
            0)
      << form << ": " << expected.error.message << " / " << found.error.message;
  EXPECT_TRUE(found.table == expected.table && found.rows == expected.rows) << form << ": other bytes";
}

TEST_F(SameForms, RandomRequests) {
  const int64_t wanted = oracle::random_cases(20000);
  int64_t succeeded = 0;
  for (int64_t number = 0; number < wanted && !HasFailure(); ++number) {
    Case c;
    draw(&c);
    const Case drawn = c;
    SCOPED_TRACE("case " + std::to_string(number) + ", operation " + std::to_string(c.op->number));
    const std::array<gth_tensor_desc, 3> descs = c.descs();
    const gth_request request = GTH_REQUEST(c.op->number, &descs[0], &descs[1], &descs[2], c.given_options());
    const auto outcome = [&](auto&& call) { return outcome_of(drawn, &c, call); };
    const Outcome expected = outcome([&](gth_error* err) {
      return gth_run(nullptr, request.op, request.table, request.indices, request.rows, request.options, err);
    });
    succeeded += expected.status == GTH_OK;
    expect_same(expected, outcome([&](gth_error* err) { return gth_run_request(nullptr, &request, err); }), "request");
    expect_same(expected, outcome([&](gth_error* err) {
                  return c.op->named(nullptr, request.table, request.indices, request.rows, request.options, err);
                }),
                "named");
    Outcome many = outcome([&](gth_error* err) {
      const gth_request* const requests[] = {&request};
      return gth_run_many(nullptr, 1, requests, err);
    });
    if (many.status) {
      EXPECT_EQ(many.error.item, 0);
      many.error.item = -1;
    }
    expect_same(expected, many, "many");
    for (int32_t handles = 1; handles < 8; ++handles) {
      std::array<gth_tensor_desc, 3> operands = descs;
      Tensor tensors[3];
      bool is_made = true;
      for (size_t role = 0; role < 3; ++role) {
        if (!(handles >> role & 1)) continue;
        is_made &= gth_tensor_borrow(&descs[role], tensors[role].out(), nullptr) == GTH_OK;
        operands[role] = GTH_TENSOR_DESC_HANDLE(tensors[role].get());
      }
      if (!is_made) continue;  // a description that is no tensor
      expect_same(expected, outcome([&](gth_error* err) {
                    return gth_run(nullptr, request.op, &operands[0], &operands[1], &operands[2], request.options, err);
                  }),
                  "handles " + std::to_string(handles));
    }
  }
  std::printf("same forms: %lld of %lld requests succeed\n", static_cast<long long>(succeeded),
              static_cast<long long>(wanted));
  EXPECT_GT(succeeded, wanted / 10);
}

}  // namespace
