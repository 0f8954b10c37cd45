#include "cuda/scatter_positions.hpp"

#include "cuda/column_launch.hpp"
#include "cuda/failure.hpp"
#include "cuda/scatter.hpp"
#include "cuda/scatter_call.hpp"
#include "cuda/scratch.hpp"
#include "cuda/strided.hpp"

namespace gather::cuda {
namespace {

using core::Plan;
using core::Request;

// One call.
class PositionsCall {
 public:
  PositionsCall(const Plan& plan, const Request& request, const gth_tensor_desc& positions, const Place& place)
      : plan_(plan), target_(*request.table), updates_(*request.rows), positions_(positions), place_(place) {
    indices_ = static_cast<char*>(const_cast<void*>(request.indices->data));
  }

  bool has_result() const { return core::count_elements(positions_) > 0; }

  // Distributes memory. Returns its size.
  int64_t distribute(char* memory) {
    Distribution parts(memory);
    const int64_t item = plan_.item.bytes();
    target_room_ = updates_room_ = nullptr;
    out_room_ = nullptr;
    parts.take(true, 1, &place_.state);
    parts.take(reads_target() && !is_array(target_, item), core::count_bytes(target_), &target_room_);
    parts.take(has_updates() && !is_array(updates_, item), core::count_bytes(updates_), &updates_room_);
    parts.take(has_result() && !is_array(positions_, sizeof(int64_t)), core::count_elements(positions_), &out_room_);
    return parts.size();
  }

  int32_t run(Context& context, runtime::Stream stream, bool is_captured, const Error& error) {
    stream_ = stream;
    const int code = prepare();
    if (code) return fail_cuda(code, "scatter", 0, error);
    const Positions found{table_, rows_, out_};
    const core::Pointers pointers = core::pointers_of(table_, indices_, rows_);
    const int32_t status = run_scatter(context, stream, plan_, pointers, GTH_OPEN, place_,
                                       has_result() ? &fill_ : nullptr, is_captured, error, &found);
    return status ? status : finish(error);
  }

  // There are no updates.
  int32_t fill(runtime::Stream stream, const Error& error) {
    stream_ = stream;
    int code = prepare();
    const uint32_t blocks = blocks_of(fill_.columns, place_.multiprocessors);
    if (!code && has_result()) code = launch_strided(fill_, blocks, stream_);
    return code ? fail_cuda(code, "scatter", 0, error) : finish(error);
  }

 private:
  bool reads_target() const { return !plan_.reducing.starts_with_update && has_result(); }
  bool has_updates() const { return core::count_elements(updates_) > 0; }

  // Makes an operand an array.
  int make_array(const gth_tensor_desc& from, char* room, char** out) const {
    *out = room ? room : first_byte(from);
    if (!room) return 0;
    const gth_tensor_desc array = GTH_TENSOR_DESC_DENSE(from.dtype, from.ndim, from.shape, room);
    return copy_tensor(from, array, nullptr, place_, stream_);
  }

  gth_tensor_desc array_of_positions() const {
    return GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, positions_.ndim, positions_.shape, out_);
  }

  int prepare() {
    int code = runtime::zero_async(place_.state, sizeof(State), stream_);
    if (!code) code = make_array(target_, target_room_, &table_);
    if (!code) code = make_array(updates_, updates_room_, &rows_);
    out_ = out_room_ ? out_room_ : reinterpret_cast<int64_t*>(first_byte(positions_));
    if (!has_result()) return code;
    make_clear(array_of_positions(), sizeof(int64_t), &fill_);
    fill_.value = ~uint64_t{0};
    return code;
  }

  // Copies the positions to their operand.
  int32_t finish(const Error& error) const {
    if (!out_room_) return GTH_OK;
    const int code = copy_tensor(array_of_positions(), positions_, place_.state, place_, stream_);
    return code ? fail_cuda(code, "scatter", 0, error) : GTH_OK;
  }

  const Plan& plan_;
  const gth_tensor_desc &target_, &updates_, &positions_;
  Place place_;
  runtime::Stream stream_ = nullptr;
  char *indices_, *table_ = nullptr, *rows_ = nullptr;
  char *target_room_ = nullptr, *updates_room_ = nullptr;
  int64_t *out_ = nullptr, *out_room_ = nullptr;
  StridedJob fill_{};
};

}  // namespace

int32_t run_scatter_positions(Context& context, runtime::Stream stream, const Plan& plan, const Request& request,
                              const gth_tensor_desc& positions, const Place& place, bool is_captured,
                              const Error& error) {
  PositionsCall call(plan, request, positions, place);
  const int64_t bytes = call.distribute(nullptr);
  Scratch* scratch = nullptr;
  int code = allocate_scratch(context, stream, bytes, is_captured, &scratch);
  if (code) return fail_cuda(code, "scatter", bytes, error);
  call.distribute(scratch->data());
  const bool is_run = plan.tuples.at(GTH_OPEN) > 0;
  const int32_t status = is_run ? call.run(context, stream, is_captured, error) : call.fill(stream, error);
  code = is_captured ? 0 : free_behind(context, stream, scratch);
  return status || !code ? status : fail_cuda(code, "scatter", 0, error);
}

}  // namespace gather::cuda
