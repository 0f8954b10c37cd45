#include <string>

#include "hostile.hpp"

// Scatters into rows without elements: some systems report an invalid index although nothing is written. The results
// are those of NumPy 2.4.6, torch 2.15.0, ONNX Runtime 1.32.0, ONNX 1.23.2, TensorFlow 2.21.0 and JAX 0.10.2.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

constexpr Operation rows = calls::scatter, tuples = calls::scatter_nd, elements = calls::scatter_elements;

struct EmptyCase {
  const char* asked;  // the call of the system
  int32_t profile;
  const Operation& op;
  int64_t axis;
  Shape target;
  Shape indices;
  std::vector<int64_t> values;
  Shape updates;
  bool is_refused;
};

constexpr int32_t none = 0, tensorflow = GTH_PROFILE_TENSORFLOW, onnx = GTH_PROFILE_ONNX, ort = GTH_PROFILE_ORT;
constexpr int32_t numpy = GTH_PROFILE_NUMPY_RAISE, torch = GTH_PROFILE_TORCH, jax = GTH_PROFILE_JAX_FILL;
constexpr int32_t jax_clip = GTH_PROFILE_JAX_CLIP;

const EmptyCase cases[] = {
    {"our rule", none, rows, 0, {3, 0}, {1}, {7}, {1, 0}, true},
    {"our rule", none, rows, 0, {3, 0}, {2}, {2, -1}, {2, 0}, true},
    {"our rule", none, rows, 0, {3, 0}, {2}, {2, 0}, {2, 0}, false},
    {"our rule", none, rows, 0, {3, 0}, {0}, {}, {0, 0}, false},
    {"our rule", none, rows, 1, {0, 3}, {1}, {7}, {0, 1}, true},
    {"our rule", none, rows, 0, {0, 0}, {1}, {0}, {1, 0}, true},
    {"our rule", none, tuples, 0, {3, 0}, {1, 1}, {7}, {1, 0}, true},
    {"our rule", none, tuples, 0, {3, 4, 0}, {1, 2}, {2, 9}, {1, 0}, true},
    {"our rule", none, tuples, 0, {3, 4, 0}, {1, 2}, {2, 3}, {1, 0}, false},
    {"our rule", none, elements, 0, {0, 2}, {1, 2}, {0, 0}, {1, 2}, true},

    {"x[i] = u", numpy, rows, 0, {3, 0}, {1}, {7}, {1, 0}, true},
    {"x[i] = u", numpy, rows, 0, {3, 0}, {1}, {2}, {1, 0}, false},
    {"x[:, i] = u", numpy, rows, 1, {0, 3}, {1}, {7}, {0, 1}, true},
    {"x[i] = u", numpy, rows, 0, {0, 2}, {1}, {0}, {1, 2}, true},
    {"x[i] = u", numpy, rows, 0, {0, 0}, {1}, {0}, {1, 0}, true},
    {"x[i, j] = u", numpy, tuples, 0, {3, 4, 0}, {1, 2}, {2, 9}, {1, 0}, true},
    {"x[7] = u", numpy, tuples, 0, {3, 0}, {1}, {7}, {0}, true},
    {"x[i, j] = u", numpy, tuples, 0, {0, 4, 0}, {1, 2}, {0, 1}, {1, 0}, true},
    {"put_along_axis", numpy, elements, 0, {3, 0}, {1, 1}, {7}, {1, 0}, false},

    {"ScatterND", ort, tuples, 0, {3, 0}, {1, 1}, {7}, {1, 0}, true},
    {"ScatterND", ort, tuples, 0, {3, 0}, {1}, {7}, {0}, true},
    {"ScatterND", ort, tuples, 0, {3, 4, 0}, {1, 2}, {2, 9}, {1, 0}, true},
    {"ScatterND", ort, tuples, 0, {0, 0}, {1, 1}, {0}, {1, 0}, true},
    {"ScatterND", ort, tuples, 0, {3, 0}, {1, 1}, {2}, {1, 0}, false},
    {"ScatterND", onnx, tuples, 0, {3, 0}, {1, 1}, {7}, {1, 0}, true},
    {"ScatterND", onnx, tuples, 0, {3, 0}, {1, 1}, {2}, {1, 0}, false},
    // These systems have no such operator. The rule is that of Gather, which also validates empty slices.
    {"Gather", ort, rows, 0, {3, 0}, {1}, {7}, {1, 0}, true},
    {"Gather", onnx, rows, 1, {0, 3}, {1}, {7}, {0, 1}, true},

    {"Variable.scatter_update", tensorflow, rows, 0, {3, 0}, {1}, {7}, {1, 0}, true},
    {"Variable.scatter_update", tensorflow, rows, 0, {3, 0}, {1}, {2}, {1, 0}, false},
    {"tensor_scatter_nd_update", tensorflow, tuples, 0, {3, 0}, {1, 1}, {7}, {1, 0}, true},

    {"index_copy_", torch, rows, 0, {3, 0}, {1}, {7}, {1, 0}, false},
    {"index_copy_", torch, rows, 1, {0, 3}, {1}, {7}, {0, 1}, false},
    {"index_copy_", torch, rows, 0, {0, 0}, {1}, {0}, {1, 0}, false},
    {"x[i] = u", torch, tuples, 0, {3, 0}, {1, 1}, {7}, {1, 0}, false},
    {"x[i, j] = u", torch, tuples, 0, {3, 4, 0}, {1, 2}, {2, 9}, {1, 0}, false},
    {"x[i, j] = u", torch, tuples, 0, {0, 4, 0}, {1, 2}, {0, 1}, {1, 0}, true},
    {"x[tensor(7)] = u", torch, tuples, 0, {3, 0}, {1}, {7}, {0}, true},
    {"scatter_", torch, elements, 1, {2, 0}, {2, 1}, {7, 7}, {2, 1}, true},

    {"x.at[i].set(u)", jax, rows, 0, {3, 0}, {1}, {7}, {1, 0}, false},
    {"x.at[i].set(u, mode='clip')", jax_clip, rows, 0, {0, 0}, {1}, {0}, {1, 0}, false},
};

TEST(ScatterEmptyRows, InvalidIndicesAreReportedAsTheSystemDoes) {
  for (const EmptyCase& each : cases) {
    SCOPED_TRACE(std::string(each.asked) + " of profile " + std::to_string(each.profile) + ", case " +
                 std::to_string(&each - cases));
    gth_options options = with_profile(each.profile);
    options.has_axis = each.op.number != tuples.number;
    options.axis = each.axis;
    const Array target(f32, each.target), indices(GTH_DTYPE_INT64, each.indices, each.values);
    const Array updates(f32, each.updates);
    const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
    const int32_t expected = each.is_refused ? GTH_E_INDEX : GTH_OK;
    Error error;
    EXPECT_EQ(each.op.named(nullptr, &t, &i, &u, &options, &error), expected) << "named: " << error.message;
    EXPECT_TRUE(!each.is_refused || error.operand == GTH_OPERAND_INDICES) << error.operand;
    const Tensor to(t), at(i), from(u);
    EXPECT_EQ(each.op.run(nullptr, to.get(), at.get(), from.get(), &options, &error), expected) << "handles";
    Tensor made;
    EXPECT_EQ(each.op.make(nullptr, to.get(), at.get(), from.get(), &options, made.out(), &error), expected);
    Plan plan;
    ASSERT_EQ(each.op.plan(&t, &i, &u, &options, plan.out(), &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, t.data, i.data, const_cast<void*>(u.data), &error), expected)
        << "plan";
  }
}

// The first invalid tuple is reported, as for rows with elements.
TEST(ScatterEmptyRows, FirstInvalidIndexIsReported) {
  const Array target(f32, {3, 4, 0}), indices = indices64({3, 2}, {2, 3, 1, 4, 5, 0}), updates(f32, {3, 0});
  const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
  Error error;
  expect_facts(gth_scatter_nd(nullptr, &t, &i, &u, nullptr, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 1, 1, 4, 4});
}

// A call without tuples has no invalid index. bounds = skip accepts every index.
TEST(ScatterEmptyRows, NoTuplesAndSkipAreAccepted) {
  const Array target(f32, {3, 0}), indices = indices64({1}, {7}), updates(f32, {1, 0});
  const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
  const gth_options skip = with_bounds(GTH_BOUNDS_SKIP), clamp = with_bounds(GTH_BOUNDS_CLAMP);
  EXPECT_EQ(gth_scatter(nullptr, &t, &i, &u, &skip, nullptr), GTH_OK);
  EXPECT_EQ(gth_scatter(nullptr, &t, &i, &u, &clamp, nullptr), GTH_OK);
}

// Strings have a separate code path.
TEST(ScatterEmptyRows, InvalidIndicesOfStringsAreReported) {
  const Shape target_shape{3, 0}, updates_shape{1, 0};
  const int64_t no_ends[] = {0};
  Tensor target, updates;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 2, target_shape.data(), no_ends, "", 0, nullptr, nullptr, target.out(),
                                    nullptr),
            GTH_OK);
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 2, updates_shape.data(), no_ends, "", 0, nullptr, nullptr,
                                    updates.out(), nullptr),
            GTH_OK);
  for (const int64_t index : {2, 7}) {
    const Array values = indices64({1}, {index});
    const Tensor indices(values.desc());
    Tensor made;
    EXPECT_EQ(calls::scatter.make(nullptr, target.get(), indices.get(), updates.get(), nullptr, made.out(), nullptr),
              index == 7 ? GTH_E_INDEX : GTH_OK);
  }
}

}  // namespace
