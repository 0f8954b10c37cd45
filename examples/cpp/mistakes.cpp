// Makes each mistake in C++ and prints a line with the fields of its error.
#include <cstdio>
#include <gather/gather.hpp>

namespace {

using gather::Options;
using gather::View;

const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
std::vector<float> rows(8);

template <class Call>
void line(const char* mistake, Call call) {
  try {
    call();
    std::printf("%s\tGTH_OK\n", mistake);
  } catch (const gather::Error& e) {
    std::printf("%s\t%s\t%d\t%d\t%lld\t%lld\t%lld\n", mistake, gth_status_name(e.status()), e.operand(), e.component(),
                static_cast<long long>(e.position()), static_cast<long long>(e.value()),
                static_cast<long long>(e.limit()));
  }
}

void ids(const char* mistake, const std::vector<int64_t>& ids, const Options& options = {}) {
  line(mistake, [&] { gather::gather({table, {4, 2}}, View(ids), options); });
}

void from(const char* mistake, const View& params) {
  const std::vector<int64_t> ids = {0};
  line(mistake, [&] { gather::gather_into(params, ids, {rows, {1, 2}}); });
}

void to(const char* mistake, const View& out) {
  const std::vector<int64_t> ids = {0, 1, 2};
  line(mistake, [&] { gather::gather_into({table, {4, 2}}, ids, out); });
}

}  // namespace

int main() {
  ids("an index above the range", {0, 4, -1});
  ids("a negative index", {0, -1});
  ids("an index below -size with negative = wrap", {-5}, Options().negative(gather::Negative::wrap));
  ids("an axis outside the rank", {0, 1}, Options().axis(2));
  ids("batch_dims above the rank of indices", {0, 1}, Options().batch_dims(2));
  ids("an unknown switch", {0, 1}, Options().bounds(static_cast<gather::Bounds>(99)));
  ids("a fill value of another dtype", {0, 9}, Options().fill_value(int8_t{1}));

  const std::vector<int64_t> tuple = {0, 0, 0};
  line("tuples with more components than dims", [&] { gather::gather_nd({table, {4, 2}}, View(tuple, {1, 3})); });
  const std::vector<float> floats = {0};
  line("indices of float32", [&] { gather::gather({table, {4, 2}}, View(floats)); });

  from("memory that is too small for its shape", {table, {5, 2}});
  from("memory that is larger than its shape needs", {table, {3, 2}});
  from("strides whose count is not the rank", View(table, {4, 2}).strides({8}));
  from("strides that leave the memory", View(table, {4, 2}).strides({16, 4}));

  std::vector<int32_t> whole(6);
  std::vector<float> both = table;
  to("an output of another shape", {rows, {2, 2}});
  to("an output of another rank", {rows, {6}});
  to("an output of another dtype", {whole, {3, 2}});
  const std::vector<int64_t> three = {0, 1, 2};
  line("an output that overlaps params", [&] { gather::gather_into({both, {4, 2}}, three, {both, {3, 2}}); });
  to("a read-only output", View(rows, {3, 2}).readonly());

  const std::vector<int64_t> good = {0, 1};
  gather::Plan plan = gather::Plan::gather(View::layout<float>({4, 2}), View::layout<int64_t>({GTH_OPEN}));
  line("a run without a value for its open extent", [&] { plan.run(table, good, rows); });
  const std::vector<float> less(7);
  line("a run with memory that is too small", [&] { plan.run(less, good, rows, 2); });
  gth_plan* const raw = plan.get();
  plan.reset();
  line("a run of a released plan", [&] {
    const gather::Plan closed(raw);
    closed.run(table, good, rows, 2);
  });

  std::vector<float> kept = table;
  const View target(kept, {4, 2}), updates(table, {2, 2});
  const std::vector<int64_t> outside = {0, 4};
  const auto scatter = [](const View& to, const std::vector<int64_t>& at, const View& from, const Options& how = {}) {
    return [=, &at] { gather::scatter_into(to, at, from, how); };
  };
  line("a scatter with an index above the range", scatter(target, outside, updates));
  line("a scatter with bounds = fill", scatter(target, good, updates, Options().bounds(gather::Bounds::fill)));
  line("updates of another shape", scatter(target, good, {table, {3, 2}}));
  line("updates of another dtype", scatter(target, good, {whole, {2, 2}}));
  line("updates that overlap the target", scatter(target, good, {kept, {2, 2}}));
  line("a read-only target", scatter({table, {4, 2}}, good, updates));
}
