// A C++ program that is compiled without exceptions. Every function that can fail returns a status.
#include <array>
#include <gather/gather.hpp>

#include "foreign.h"
#include "raii.hpp"

namespace {

const std::array<float, 8> table = {0, 1, 10, 11, 20, 21, 30, 31};
const std::array<int32_t, 2> good = {3, 0};
const std::array<int32_t, 2> bad = {3, 4};

void contexts() {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  gather::Report err;
  gather::Context context;
  CHECK(gather::Context::try_make(&options, &context, &err) == GTH_OK && context);
  CHECK(context.try_sync(&err) == GTH_OK && context.try_take_error(&err) == GTH_OK);
  CHECK(context.try_wait(nullptr, &err) == GTH_E_DEVICE && err.operand == GTH_OPERAND_CONTEXT);
  CHECK(context.try_signal(nullptr, nullptr) == GTH_E_DEVICE);
  options.threads = -1;
  CHECK(gather::Context::try_make(&options, &context, &err) != GTH_OK && !context && err.message[0] != 0);
}

void tensors() {
  gather::Report err;
  gather::Tensor params, indices, out;
  CHECK(gather::Tensor::try_borrow({table, {4, 2}}, &params, &err) == GTH_OK && params);
  CHECK(gather::Tensor::try_borrow(bad, &indices, &err) == GTH_OK);
  CHECK(gather::try_gather(params, indices, &out, &err) == GTH_E_INDEX && !out && err.position == 1);
  CHECK(gather::Tensor::try_borrow(good, &indices, &err) == GTH_OK);
  CHECK(gather::try_gather(params, indices, &out, &err) == GTH_OK);
  float* rows = nullptr;
  CHECK(out.try_data(&rows, &err) == GTH_OK && rows[0] == 30 && rows[3] == 1);
  double* doubles = nullptr;
  CHECK(out.try_data(&doubles, &err) == GTH_E_DTYPE && doubles == nullptr && err.message[0] != 0);

  gather::Tensor zeros;
  CHECK(gather::Tensor::try_alloc(GTH_DTYPE_FLOAT32, {2, 2}, &zeros, &err) == GTH_OK);
  CHECK(out.try_copy_to(zeros, &err) == GTH_OK && zeros.try_data(&rows, nullptr) == GTH_OK && rows[1] == 31);
  CHECK(gather::try_gather_into(params, indices, zeros, &err) == GTH_OK);
  CHECK(gather::Tensor::try_alloc(GTH_DTYPE_FLOAT32, {-1}, &zeros, &err) == GTH_E_SHAPE && !zeros);

  CHECK(gather::try_gather_nd({table, {4, 2}}, {bad, {1, 2}}, &out, &err) == GTH_E_INDEX && !out);
  CHECK(gather::try_gather(table, good, &out, &err) == GTH_OK && out.try_data(&rows, &err) == GTH_OK && rows[0] == 11);

  int gone = 0;
  CHECK(gather::Tensor::try_adopt({table, {9}}, [&gone] { ++gone; }, &out, &err) == GTH_E_STRIDE && gone == 0);
  CHECK(gather::Tensor::try_adopt(table, [&gone] { ++gone; }, &out, &err) == GTH_OK && gone == 0);
  DLManagedTensorVersioned* exported = nullptr;
  CHECK(out.try_to_dlpack(&exported, &err, GTH_EXPORT_NO_COPY) == GTH_OK);
  CHECK(gather::Tensor::try_from_dlpack(exported, &out, &err) == GTH_OK && gone == 0);
  out.reset();
  CHECK(gone == 1);

  const int64_t offsets[] = {0, 3, 2};
  CHECK(gather::Tensor::try_from_strings(offsets, "abc", {2}, &out, &err) == GTH_E_ARROW && err.position == 1);
}

void plans() {
  gather::Report err;
  gather::Plan plan;
  const gather::View params = gather::View::layout<float>({4, 2}), indices = gather::View::layout<int32_t>({GTH_OPEN});
  CHECK(gather::Plan::try_gather(params, indices, &plan, &err) == GTH_OK);
  std::array<float, 4> out = {};
  CHECK(plan.try_run(table.data(), good.data(), out.data(), 2, &err) == GTH_OK && out[0] == 30);
  CHECK(plan.try_run(table.data(), bad.data(), out.data(), 2, &err) == GTH_E_INDEX && err.value == 4);
  CHECK(plan.try_run(table.data(), table.data(), out.data(), 2, &err) == GTH_E_DTYPE);
  CHECK(plan.try_run(table, bad, out, 3, &err) == GTH_E_SIZE && err.operand == GTH_OPERAND_INDICES && err.limit == 12);
  CHECK(plan.try_check(good, 2, &err) == GTH_OK && plan.try_check(bad, 2, &err) == GTH_E_INDEX && err.position == 1);
  gather::Plan::Extents touched;
  CHECK(plan.try_extents(2, &touched, &err) == GTH_OK && touched.params == 32 && touched.out == 16);
  CHECK(gather::Plan::try_gather_nd(params, indices, &plan, &err) == GTH_E_SHAPE && !plan);
  CHECK(plan.try_extents(2, &touched, &err) == GTH_E_NULL && plan.try_check(good, 2, &err) == GTH_E_NULL);
  CHECK(gather::Plan::try_gather_elements(params, indices, &plan, &err) == GTH_E_RANK && !plan);
}

void scatters() {
  gather::Report err;
  gather::ScatterPlan plan;
  gather::Tensor out;
  std::array<float, 8> target = table;
  const std::array<float, 4> updates = {1, 2, 3, 4};
  const gather::View rows(target, {4, 2}), from(updates, {2, 2});
  CHECK(gather::try_scatter_into(rows, bad, from, &err) == GTH_E_INDEX && err.position == 1 && target == table);
  CHECK(gather::try_scatter(rows, bad, from, &out, &err) == GTH_E_INDEX && !out && err.value == 4);
  const gather::Options add = gather::Options().reduction(gather::Reduction::add);
  CHECK(gather::try_scatter_into(rows, good, from, &err, add) == GTH_OK && target[6] == 31 && target[1] == 5);
  CHECK(gather::try_scatter_into(rows, good, updates, nullptr) == GTH_E_RANK);
  CHECK(gather::try_gather_gradient(from, good, {4, 2}, &out, &err) == GTH_OK);
  float* zeros = nullptr;
  CHECK(out.try_data(&zeros, &err) == GTH_OK && zeros[0] == 3 && zeros[2] == 0 && zeros[7] == 2);
  CHECK(gather::try_gather_gradient(from, bad, {4, 2}, &out, &err) == GTH_E_INDEX && !out);

  const gather::View open = gather::View::layout<int32_t>({GTH_OPEN});
  CHECK(gather::ScatterPlan::try_scatter(gather::View::layout<float>({4, 2}), open, &plan, &err) == GTH_OK);
  CHECK(plan.try_run(target, good, updates, 2, &err) == GTH_OK && target[6] == 1 && target[1] == 4);
  CHECK(plan.try_run(target, bad, updates, 2, &err) == GTH_E_INDEX && target[6] == 1);
  CHECK(plan.try_run(target, good, good, 2, &err) == GTH_E_DTYPE && err.operand == GTH_OPERAND_UPDATES);
  CHECK(gather::ScatterPlan::try_scatter_nd(gather::View::layout<float>({4, 2}), open, &plan, &err) == GTH_E_SHAPE &&
        !plan);
}

void partitions() {
  gather::Report err;
  gather::Parts parts;
  gather::PartsOnce once;
  const std::array<int32_t, 4> ids = {3, 0, 3, 2}, worse = {3, 0, 4, 2};
  const gather::Shards shards = gather::Shards::modulo(4, 2);
  const std::vector<int64_t> counts = {2, 2}, fewer = {2, 1}, place = {2, 0, 2, 1};
  CHECK(gather::try_partition(ids, shards, &parts, &err) == GTH_OK && parts.counts == counts);
  CHECK(gather::try_partition_once(ids, shards, &once, &err) == GTH_OK && once.counts == fewer && once.place == place);
  CHECK(gather::try_partition(worse, shards, &parts, &err) == GTH_E_INDEX && err.position == 2 && err.value == 4);
  CHECK(parts.counts.empty() && parts.local.empty() && parts.order.empty());
  CHECK(gather::try_partition_once(worse, shards, &once, nullptr) == GTH_E_INDEX && once.place.empty());
}

void columns() {
  gather::Report err;
  gather::Column column;
  ArrowSchema schema = {}, type = {};
  ArrowArray array = {}, rows = {};
  const std::array<const void*, 2> buffers = {nullptr, table.data()};
  type.format = "f";
  type.release = [](ArrowSchema* self) { self->release = nullptr; };
  array.length = 8;
  array.n_buffers = 2;
  array.buffers = const_cast<const void**>(buffers.data());
  CHECK(gather::Column::try_from_arrow(&type, {&array}, &column, &err) == GTH_E_ARROW && !column);
  array.release = [](ArrowArray* self) { self->release = nullptr; };
  CHECK(gather::Column::try_from_arrow(&type, {&array}, &column, &err) == GTH_OK && array.release == nullptr);
  CHECK(column.try_take(bad, &schema, &rows, &err) == GTH_OK && rows.length == 2);
  const auto* const taken = static_cast<const float*>(rows.buffers[1]);
  CHECK(taken[0] == 11 && taken[1] == 20);
  rows.release(&rows);
  schema.release(&schema);
  const std::array<int32_t, 2> worse = {3, 8};
  CHECK(column.try_take(worse, nullptr, &rows, &err) == GTH_E_INDEX && err.position == 1 && err.value == 8);
  CHECK(gather::Column::try_from_arrow_stream(nullptr, &column, &err) == GTH_E_NULL && !column);

  std::vector<int64_t> numbers;
  const std::vector<int64_t> wanted = {3, -1};
  CHECK(gather::try_resolve(8, gather::Take(worse).null_bounds(), &numbers, &err) == GTH_OK && numbers == wanted);
  CHECK(gather::try_resolve(8, worse, &numbers, &err) == GTH_E_INDEX && numbers.empty());
}

void bags() {
  gather::Report err;
  gather::BagsPlan plan;
  const gather::View params = gather::View::layout<float>({4, 2}), indices = gather::View::layout<int32_t>({1, 2});
  CHECK(gather::BagsPlan::try_gather_bags(params, indices, {}, &plan, &err) == GTH_OK && plan);
  std::array<float, 2> out = {};
  CHECK(plan.try_run(table, good, nullptr, nullptr, out, GTH_OPEN, GTH_OPEN, &err) == GTH_OK && out[1] == 32);
  CHECK(plan.try_run(table, bad, nullptr, nullptr, out, GTH_OPEN, GTH_OPEN, &err) == GTH_E_INDEX && err.value == 4);
  CHECK(plan.try_check(bad, nullptr, GTH_OPEN, GTH_OPEN, &err) == GTH_E_INDEX && err.position == 1);
  gather::BagsPlan::Extents touched;
  CHECK(plan.try_extents(GTH_OPEN, GTH_OPEN, &touched, &err) == GTH_OK && touched.out == 8 && touched.bags == 0);
  CHECK(plan.try_extents(3, GTH_OPEN, &touched, &err) == GTH_E_SHAPE);
  CHECK(gather::BagsPlan::try_gather_bags(params, params, {}, &plan, &err) == GTH_E_DTYPE && !plan);
}

}  // namespace

int main() {
  contexts();
  tensors();
  plans();
  scatters();
  partitions();
  columns();
  bags();
  std::printf("raii without exceptions: contexts, tensors, plans, scatters, partitions, columns and bags\n");
  return 0;
}
