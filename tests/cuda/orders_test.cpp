#include <gtest/gtest.h>
#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

namespace orders {
void step();
void pause(const uint64_t* word, uint64_t seen);
}  // namespace orders

#define GATHER_STEP() orders::step()
#define GATHER_PAUSE(word, seen) orders::pause(word, seen)
#include "cuda/bodies.hpp"
#include "cuda/launch_pieces.hpp"
#include "host_block.hpp"

// Runs the accesses of device threads to shared memory in every order of their atomic accesses.
namespace orders {
namespace {

// A thread that stops before each atomic access.
struct Thread {
  std::function<void()> body;
  ucontext_t context;  // start of the thread
  jmp_buf place;       // place where it stopped
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
  bool has_ended = false;
  const uint64_t* awaited = nullptr;  // it waits until this word differs from `seen`
  uint64_t seen = 0;
  const char* top = nullptr;  // top of its stack where it stopped

  static constexpr size_t stack_bytes = 32 << 10;
  bool can_run() const { return !has_ended && (!awaited || __atomic_load_n(awaited, __ATOMIC_RELAXED) != seen); }
};

ucontext_t unused;
jmp_buf scheduler;
Thread* running = nullptr;

void run_body() {
  running->body();
  running->has_ended = true;
  _longjmp(scheduler, 1);
}

// Runs the thread to its next access, or to its end.
void resume(Thread* thread, bool is_first = false) {
  running = thread;
  thread->awaited = nullptr;
  if (_setjmp(scheduler) == 0) {
    if (is_first) swapcontext(&unused, &thread->context);
    _longjmp(thread->place, 1);
  }
  running = nullptr;
}

// Called once, so that a thread starts with the same registers in every order.
void make(Thread* thread) {
  getcontext(&thread->context);
  thread->context.uc_stack.ss_sp = thread->stack.get();
  thread->context.uc_stack.ss_size = Thread::stack_bytes;
  thread->context.uc_link = nullptr;
  makecontext(&thread->context, run_body, 0);
}

void begin(Thread* thread) {
  thread->has_ended = false;
  thread->awaited = nullptr;
  std::memset(thread->stack.get() + Thread::stack_bytes - (4 << 10), 0, 4 << 10);
  resume(thread, true);
}

struct Choice {
  size_t taken, count;
};

// Memory that the threads of a test share.
struct Shared {
  const void* begin;
  size_t bytes;
};
template <class... Objects>
std::vector<Shared> shared(const Objects&... objects) {
  return {{&objects, sizeof objects}...};
}

enum class End { all_ended, known, all_wait };

// Runs bodies in every order, each time after prepare() and before check(). The further run depends only on the shared
// memory and on the stacks and registers of the threads. So an order that reaches a known state is not continued.
class Explorer {
 public:
  Explorer(std::vector<Shared> memory, const std::vector<std::function<void()>>& bodies)
      : shared_(std::move(memory)), threads_(bodies.size()) {
    for (size_t i = 0; i < bodies.size(); ++i) {
      threads_[i].body = bodies[i];
      make(&threads_[i]);
    }
  }

  // Returns the number of orders that ran to their ends.
  int64_t run(const std::function<void()>& prepare, const std::function<void()>& check) {
    for (int64_t count = 0;;) {
      prepare();
      const End end = run_once();
      EXPECT_TRUE(end != End::all_wait) << "threads wait for each other";
      if (end == End::all_ended) {
        ++count;
        check();
      }
      if (testing::Test::HasFailure()) return count;
      while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
      if (choices_.empty()) return count;
      ++choices_.back().taken;
    }
  }

 private:
  End run_once() {
    for (Thread& each : threads_) begin(&each);
    for (size_t depth = 0;; ++depth) {
      std::vector<Thread*> able;
      bool have_ended = true;
      for (Thread& each : threads_) {
        have_ended &= each.has_ended;
        if (each.can_run()) able.push_back(&each);
      }
      if (have_ended) return End::all_ended;
      if (able.empty()) return End::all_wait;
      if (depth == choices_.size()) {
        if (!states_.insert(state()).second) return End::known;
        choices_.push_back({0, able.size()});
      }
      resume(able[choices_[depth].taken]);
    }
  }

  uint64_t state() const {
    uint64_t hash = 1;
    const auto mix = [&](const void* begin, size_t bytes) {
      for (size_t at = 0; at + 8 <= bytes; at += 8) {
        uint64_t word;
        std::memcpy(&word, static_cast<const char*>(begin) + at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
      }
    };
    for (const Shared& each : shared_) mix(each.begin, each.bytes);
    for (const Thread& each : threads_) {
      const auto used = static_cast<size_t>(each.stack.get() + Thread::stack_bytes - each.top);
      mix(each.has_ended ? nullptr : each.top, each.has_ended ? 0 : used);
      mix(&each.top, sizeof each.top);
    }
    return hash;
  }

  std::vector<Shared> shared_;
  std::vector<Thread> threads_;
  std::vector<Choice> choices_;
  std::unordered_set<uint64_t> states_;
};

}  // namespace

// Callee-saved registers are first saved on the stack.
__attribute__((noinline)) void step() {
  if (!running) return;
  __builtin_unwind_init();
  running->top = static_cast<const char*>(__builtin_frame_address(0)) - 64;
  if (_setjmp(running->place) == 0) _longjmp(scheduler, 1);
}

void pause(const uint64_t* word, uint64_t seen) {
  running->awaited = word;
  running->seen = seen;
}

namespace {

using namespace gather::cuda;

gth_error_record failure_of(int64_t call) {
  gth_error_record failure{};
  failure.sequence = failure.position = failure.value = failure.limit = call;
  failure.status = GTH_E_INDEX;
  return failure;
}

// Expects that a record with failures describes one of the calls.
void expect_whole(const gth_error_record& record) {
  if (record.count == 0) return;
  EXPECT_TRUE(record.sequence > 0 && record.sequence == record.position && record.sequence == record.limit);
}

TEST(Records, EveryFailureIsTakenOnce) {
  gth_error_record record, first, second, last;
  Explorer explorer(shared(record, first, second),
                    {[&] { note_failure(&record, failure_of(1)); }, [&] { note_failure(&record, failure_of(2)); },
                     [&] {
                       take_record(&record, &first);
                       take_record(&record, &second);
                     }});
  const auto check = [&] {
    take_record(&record, &last);
    EXPECT_EQ(first.count + second.count + last.count, 2u);
    for (const gth_error_record& each : {first, second, last}) expect_whole(each);
    note_failure(&record, failure_of(3));
    EXPECT_EQ(record.count, 1u);
    EXPECT_EQ(record.sequence, 3);
  };
  EXPECT_GT(explorer.run([&] { record = first = second = last = {}; }, check), 5);
}

// A noted failure is in the next take, even if other failures are taken or noted at the same time.
TEST(Records, TakeAfterAFailureReportsIt) {
  gth_error_record record, mine, other;
  Explorer explorer(shared(record, mine, other),
                    {[&] {
                       note_failure(&record, failure_of(1));
                       take_record(&record, &mine);
                     },
                     [&] { note_failure(&record, failure_of(2)); }, [&] { take_record(&record, &other); }});
  const auto check = [&] {
    EXPECT_GT(mine.count + other.count, 0u);
    for (const gth_error_record& each : {mine, other}) expect_whole(each);
  };
  EXPECT_GT(explorer.run([&] { record = mine = other = {}; }, check), 5);
}

// A host polls the count, and clears the count or the whole record.
TEST(Records, ClearingByTheHostDisablesNoLaterRecord) {
  for (const bool clears_all : {false, true}) {
    gth_error_record record, taken;
    Explorer explorer(shared(record),
                      {[&] { note_failure(&record, failure_of(1)); }, [&] { note_failure(&record, failure_of(2)); },
                       [&] {
                         if (load(&record.count) == 0) return;
                         if (clears_all) publish(&record.reserved, 0);
                         publish(&record.count, 0);
                       }});
    const auto check = [&] {
      take_record(&record, &taken);
      expect_whole(taken);
      note_failure(&record, failure_of(3));
      EXPECT_EQ(record.count, 1u);
      EXPECT_EQ(record.sequence, 3);
    };
    EXPECT_GT(explorer.run([&] { record = taken = {}; }, check), 2);
  }
}

// A grid of two blocks that copies a row of a table with two rows, and validates its index itself.
struct Copying {
  Copying(State* state, gth_error_record* record) {
    job.params = job.params_begin = table;
    job.indices = reinterpret_cast<const char*>(&index);
    job.out = out;
    job.units = job.tuples = 1;
    job.loops = job.walked = job.components = 1;
    job.tuple_loops = 1;
    job.loop[0] = {1, 0, 8, 16};
    job.component[0] = {2, 16};
    job.index_bytes = 8;
    job.index_signed = job.index_aligned = job.policy.is_signed = true;
    job.validation = Validation::inside;
    job.sequence = 1;
    job.state = state;
    job.record = record;
    fit_row(Copy::rows16, 16, &job);
  }
  void run(Validation validation) {
    job.validation = validation;
    if (validation == Validation::in_front) run_blocks([&](auto& block) { validate_body<Index8>(block, job); });
    run_blocks([&](auto& block) { copy_body<Copy::rows16, Index8>(block, job); });
  }

  int64_t index = 1;
  alignas(16) char table[32] = {}, out[16] = {};
  DirectJob job{};

 private:
  template <class Body>
  static void run_blocks(Body&& body) {
    for (uint32_t i = 0; i < 2; ++i) {
      emulation::HostBlock block(i, 2, 1);
      body(block);
    }
  }
};

// Running two replays of one captured call at the same time is an error of the caller. The next replay must still be
// correct.
TEST(States, TwoGridsWithOneStateLeaveItClean) {
  for (const Validation validation : {Validation::inside, Validation::in_front}) {
    for (const int64_t index : {1, 2}) {
      State state;
      gth_error_record record;
      Copying one(&state, &record), two(&state, &record);
      one.index = two.index = index;
      Explorer explorer(shared(state, record), {[&] { one.run(validation); }, [&] { two.run(validation); }});
      const auto prepare = [&] {
        state = {};
        record = {};
      };
      const auto check = [&] {
        EXPECT_EQ(state.finished, 0u);
        EXPECT_EQ(state.worst, 0u);
      };
      EXPECT_GT(explorer.run(prepare, check), 1);
    }
  }
}

}  // namespace
}  // namespace orders
