#include "hostile.hpp"

// NULL data of operands of calls whose table consists of strings. The errors are those of numbers.
namespace {

using namespace hostile;

const int64_t ends[] = {0, 1, 3, 6};

// A tensor of three strings.
class NullStrings : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, shape_.data(), ends, "abbccc", 6, nullptr, nullptr, strings_.out(),
                                      nullptr),
              GTH_OK);
  }

  // Expects the facts from a call whose indices have `shape` and NULL data. Scatters use the strings as updates, too.
  void expect_made(const calls::Operation& op, const Shape& shape, const Facts& facts) const {
    const gth_tensor_desc indices = describe(GTH_DTYPE_INT64, shape, nullptr);
    const bool scatters = op.number >= GTH_OP_SCATTER && op.number <= GTH_OP_SCATTER_ELEMENTS;
    const calls::Operand rows = scatters ? calls::Operand(strings_.get()) : calls::Operand(nullptr);
    gth_tensor* made = nullptr;
    Error error;
    const int32_t status = op.make(nullptr, strings_.get(), &indices, rows, nullptr, &made, &error);
    expect_facts(status, error, facts, ("operation " + std::to_string(op.number)).c_str());
    EXPECT_EQ(made != nullptr, status == GTH_OK);
    gth_tensor_release(made);
  }

  const Shape shape_{3};
  Tensor strings_;
};

TEST_F(NullStrings, NullIndicesAreRejected) {
  const Facts facts{GTH_E_NULL, GTH_OPERAND_INDICES, -1, -1, 0, 0};
  expect_made(calls::gather, {3}, facts);
  expect_made(calls::gather, {}, facts);
  expect_made(calls::gather_nd, {3, 1}, facts);
  expect_made(calls::gather_elements, {3}, facts);
  expect_made(calls::scatter, {3}, facts);
  expect_made(calls::scatter_nd, {3, 1}, facts);
  expect_made(calls::scatter_elements, {3}, facts);
}

TEST_F(NullStrings, NullIndicesWithoutTuplesAreValid) {
  const Facts facts{GTH_OK, GTH_OPERAND_NONE, -1, -1, 0, 0};
  expect_made(calls::gather, {0}, facts);
  expect_made(calls::gather_nd, {0, 1}, facts);
  expect_made(calls::gather_nd, {2, 0}, facts);
  expect_made(calls::gather_elements, {0}, facts);
}

// No tuple is valid in a table without strings, but the pointer is validated first.
TEST_F(NullStrings, NullIndicesIntoNoStringsAreRejected) {
  const int64_t none[] = {0};
  Tensor empty;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, none, nullptr, nullptr, 0, nullptr, nullptr, empty.out(), nullptr),
            GTH_OK);
  const Shape shape{2};
  const gth_tensor_desc indices = describe(GTH_DTYPE_INT64, shape, nullptr);
  gth_tensor* made = nullptr;
  Error error;
  const int32_t status = calls::gather.make(nullptr, empty.get(), &indices, nullptr, nullptr, &made, &error);
  expect_facts(status, error, {GTH_E_NULL, GTH_OPERAND_INDICES, -1, -1, 0, 0});
}

// The dtype of an operand is validated before its pointer.
TEST_F(NullStrings, DescribedStringsWithNullIndicesAreUnsupported) {
  const gth_tensor_desc table = describe(GTH_DTYPE_STRING, shape_, ends);
  const gth_tensor_desc indices = describe(GTH_DTYPE_INT64, shape_, nullptr);
  gth_tensor* made = nullptr;
  Error error;
  const int32_t status = calls::gather.make(nullptr, &table, &indices, nullptr, nullptr, &made, &error);
  expect_facts(status, error, {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_STRING, 0});
}

}  // namespace
