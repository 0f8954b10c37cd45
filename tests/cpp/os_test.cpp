#include "core/os/os.hpp"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "core/os/os_parts.hpp"
#include "processes.hpp"

// Queries to the operating system, tested through internal functions.
namespace {

using namespace gather::core;

// ---- cgroups

// A folder in place of /sys/fs/cgroup, and a file in place of /proc/self/cgroup.
class Cgroups : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(root_), nullptr); }
  void TearDown() override { EXPECT_EQ(std::system(("rm -r " + std::string(root_)).c_str()), 0); }

  void write(const std::string& path, const std::string& text) {
    const std::string whole = root_ + ("/" + path);
    for (size_t at = whole.find('/', 1); at != std::string::npos; at = whole.find('/', at + 1)) {
      mkdir(whole.substr(0, at).c_str(), 0700);
    }
    std::ofstream(whole) << text;
  }

  std::string root() const { return root_; }

  int32_t cpus_of(const std::string& membership) { return cpus_of(membership, root_); }
  int32_t cpus_of(const std::string& membership, const std::string& mount) {
    write("membership", membership);
    return cgroup_cpus((root() + "/membership").c_str(), mount.c_str());
  }

 private:
  char root_[32] = "/tmp/gather_cgroups_XXXXXX";
};

TEST_F(Cgroups, MissingQuotaGivesNoLimit) {
  EXPECT_EQ(cgroup_cpus("/nowhere", "/nowhere"), 0);
  EXPECT_EQ(cpus_of("0::/a\n"), 0);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 0);
  EXPECT_EQ(cpus_of("garbage\n"), 0);
}

TEST_F(Cgroups, QuotaIsRoundedUp) {
  write("cpu.max", "250000 100000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 3);
  write("cpu.max", "1000 100000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 1);
}

TEST_F(Cgroups, SmallestQuotaFromLeafToRootApplies) {
  write("cpu.max", "max 100000\n");
  write("service/cpu.max", "200000 100000\n");
  write("service/job/cpu.max", "500000 100000\n");
  EXPECT_EQ(cpus_of("0::/service/job\n"), 2);
  write("service/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus_of("0::/service/job\n"), 1);
  EXPECT_EQ(cpus_of("0::/service\n"), 2);
}

// A container's own cgroup is mounted at the root, but its path is that of the host.
TEST_F(Cgroups, PathThatIsNotMountedUsesTheMount) {
  write("cpu.max", "300000 100000\n");
  EXPECT_EQ(cpus_of("0::/kubepods/pod1/" + std::string(64, 'a') + "\n"), 3);
  EXPECT_EQ(cpus_of("0::/" + std::string(3000, 'a') + "\n"), 3);
}

TEST_F(Cgroups, VersionOneIsRead) {
  write("cpu/cpu.cfs_quota_us", "-1\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  write("cpu/box/cpu.cfs_quota_us", "400000\n");
  write("cpu/box/cpu.cfs_period_us", "100000\n");
  write("cpuset/box/cpu.cfs_quota_us", "100000\n");
  write("cpuset/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus_of("9:cpuset:/box\n4:cpuacct,cpu:/box\n0::/\n"), 4);
  EXPECT_EQ(cpus_of("4:cpu:/\n"), 0);
}

TEST_F(Cgroups, InvalidNumbersAreIgnored) {
  write("cpu.max", "100000 0\n");
  EXPECT_EQ(cpus_of("0::/\n"), 0);
  write("cpu.max", "-100000 -100000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 0);
  write("cpu.max", "100000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 0);
  write("cpu.max", "");
  EXPECT_EQ(cpus_of("0::/\n"), 0);
  EXPECT_EQ(cpus_of(""), 0);
}

// An empty file counts as missing, so the quota of version 1 is used.
TEST_F(Cgroups, EmptyFileFallsBackToVersionOne) {
  write("cpu.max", "");
  write("cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 0) << "without a period";
  write("cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus_of("0::/\n"), 2);
}

// Only the controller named cpu counts. Other names may start or end with cpu.
TEST_F(Cgroups, ControllerNamesMatchAsAWhole) {
  write("cpu/cpu.cfs_quota_us", "200000\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  for (const char* others : {"cpuacct", "xcpu", "xcpu,cpuset", "cpuset,cpux", "xcpux"}) {
    EXPECT_EQ(cpus_of("4:" + std::string(others) + ":/\n"), 0) << others;
  }
  for (const char* with : {"cpu", "cpu,cpuacct", "cpuacct,cpu", "xcpu,cpu,cpuset"}) {
    EXPECT_EQ(cpus_of("4:" + std::string(with) + ":/\n"), 2) << with;
  }
}

// If a path is too long for the library, the mount itself is used. If the mount is too long, there is no quota.
TEST_F(Cgroups, PathsThatAreTooLongAreIgnored) {
  write("cpu.max", "300000 100000\n");
  write("cpu/cpu.cfs_quota_us", "200000\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  std::string mount = root();
  EXPECT_EQ(cpus_of("0::/\n", mount), 3);
  EXPECT_EQ(cpus_of("4:cpu:/\n", mount), 2);
  while (mount.size() < 1100) mount += "/.";
  EXPECT_EQ(cpus_of("0::/\n", mount), 0);
  EXPECT_EQ(cpus_of("4:cpu:/\n", mount), 0);
}

// The search ends at the mount, even if no slash precedes it.
TEST_F(Cgroups, FoldersAboveTheMountAreIgnored) {
  write("mount/cpu.max", "400000 100000\n");
  write("mount/a/cpu.max", "900000 100000\n");
  write("cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus_of("0::/a\n", root() + "/mount"), 4);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(root());
  const int32_t cpus = cpus_of("0::/a\n", "mount");
  std::filesystem::current_path(before);
  EXPECT_EQ(cpus, 4);
}

// Mounts a file system over /sys/fs/cgroup, in new namespaces, with a quota of one CPU in either version.
bool mount_quota() {
  const std::string user = "0 " + std::to_string(getuid()) + " 1", group = "0 " + std::to_string(getgid()) + " 1";
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << user;
  std::ofstream("/proc/self/gid_map") << group;
  if (mount("none", "/sys/fs/cgroup", "tmpfs", 0, nullptr) != 0) return false;
  mkdir("/sys/fs/cgroup/cpu", 0700);
  std::ofstream("/sys/fs/cgroup/cpu.max") << "100000 100000\n";
  std::ofstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") << "100000\n";
  std::ofstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") << "100000\n";
  return true;
}

TEST(Cpus, QuotaOfTheProcessLimitsCpus) {
  const int code = hostile::wait_for(hostile::start_child([]() -> int {
                                       if (count_cpus() == 1 || !mount_quota()) return hostile::skipped;
                                       return count_cpus() == 1 ? 0 : 1;
                                     }),
                                     hostile::patience);
  if (code == hostile::skipped) GTEST_SKIP() << "one CPU, or no namespaces for this process";
  EXPECT_EQ(code, 0);
}

// ---- memory

TEST(Pages, MoreMemoryThanAvailableReturnsNull) {
  EXPECT_EQ(map_pages(SIZE_MAX / 2), nullptr);
  unmap_pages(nullptr, SIZE_MAX / 2);  // releasing memory that was not mapped does nothing
  void* pages = map_pages(4096);
  ASSERT_NE(pages, nullptr);
  static_cast<char*>(pages)[4095] = 1;
  unmap_pages(pages, 4096);
}

// Returns the flags of the mapping of an address. The kernel abbreviates them: hg requests huge pages, and nh forbids
// them.
std::string flags_of(const char* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin, end;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<uintptr_t>(address);
      inside = begin <= at && at < end;
    }
    if (inside && line.rfind("VmFlags:", 0) == 0) return line;
  }
  return "";
}

// Large memory requests huge pages, from the first to the last that fit inside. Small memory does not.
TEST(Pages, LargeMemoryRequestsHugePages) {
  constexpr int64_t size = int64_t{16} << 20, huge = int64_t{2} << 20;
  char* pages = static_cast<char*>(map_pages(size));
  ASSERT_NE(pages, nullptr);
  const bool is_told = madvise(pages, huge, MADV_NOHUGEPAGE) == 0 && flags_of(pages).find(" nh") != std::string::npos;
  if (!is_told) {
    unmap_pages(pages, size);
    GTEST_SKIP() << "the kernel does not tell, or has none";
  }
  const auto asks = [&](int64_t at) { return flags_of(pages + at).find(" hg") != std::string::npos; };
  advise_huge_pages(pages + 1, 2 * huge - 1);
  EXPECT_FALSE(asks(0) || asks(huge));
  advise_huge_pages(pages + 1, 4 * huge);
  EXPECT_TRUE(asks(huge + huge));
  EXPECT_FALSE(asks(size - 1));
  unmap_pages(pages, size);
}

// ---- waiting

double cpu_seconds_of_thread() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns the CPU seconds that a thread uses while it waits for this time.
double spent_waiting(std::chrono::milliseconds time) {
  Lock lock;
  std::atomic<double> spent{1};
  lock.lock();
  std::thread waiter([&] {
    const double before = cpu_seconds_of_thread();
    const std::lock_guard<Lock> guard(lock);
    spent = cpu_seconds_of_thread() - before;
  });
  std::this_thread::sleep_for(time);
  lock.unlock();
  waiter.join();
  return spent;
}

// A waiting thread of any priority leaves the CPU to the owner of the lock. A spinning thread would use the whole time
// in each attempt. On a shared machine, time of other processes is occasionally counted as that of the thread.
TEST(Lock, WaiterSleeps) {
  double least = 1;
  for (int32_t i = 0; i < 5 && least > 0.1; ++i) least = std::min(least, spent_waiting(std::chrono::milliseconds(400)));
  EXPECT_LT(least, 0.1);
}

TEST(Lock, ConcurrentIncrementsAreAllCounted) {
  Lock lock;
  int64_t count = 0;
  std::thread threads[4];
  for (std::thread& each : threads) {
    each = std::thread([&] {
      for (int32_t i = 0; i < 20000; ++i) {
        const std::lock_guard<Lock> guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(count, 80000);
}

// On one CPU, a real-time thread waits for an ordinary thread that owns the lock and still has to run.
TEST(Lock, RealTimeThreadLetsTheHolderRun) {
  const int code = hostile::wait_for(hostile::start_child([]() -> int {
                                       cpu_set_t one;
                                       CPU_ZERO(&one);
                                       CPU_SET(sched_getcpu(), &one);
                                       if (sched_setaffinity(0, sizeof one, &one) != 0) return hostile::skipped;
                                       static Lock lock;
                                       static std::atomic<bool> held{false}, waits{false};
                                       std::thread holder([] {
                                         const std::lock_guard<Lock> guard(lock);
                                         held = true;
                                         while (!waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                         for (volatile int64_t work = 0; work < 1000000;) work = work + 1;
                                       });
                                       while (!held) std::this_thread::yield();
                                       const sched_param highest{sched_get_priority_max(SCHED_FIFO)};
                                       if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &highest) != 0)
                                         _exit(hostile::skipped);
                                       const double before = cpu_seconds_of_thread();
                                       waits = true;
                                       lock.lock();
                                       const double spent = cpu_seconds_of_thread() - before;
                                       lock.unlock();
                                       holder.join();
                                       return spent < 0.1 ? 0 : 1;
                                     }),
                                     hostile::patience);
  if (code == hostile::skipped) GTEST_SKIP() << "no right to real-time priority or affinity here";
  EXPECT_EQ(code, 0);
}

// ---- threads

// Runs a body in a child process, whose CPUs and priorities it may change.
template <class Body>
void expect_of_process(Body&& body) {
  const int code = hostile::wait_for(hostile::start_child(body), hostile::patience);
  if (code == hostile::skipped) GTEST_SKIP() << "not to be had here";
  EXPECT_EQ(code, 0);
}

cpu_set_t only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return set;
}

// A thread that is pinned to one CPU during the lifetime of the object.
class Pinned {
 public:
  explicit Pinned(int cpu) {
    thread_ = std::thread([this] {
      while (!done_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    const cpu_set_t one = only(cpu);
    pthread_setaffinity_np(handle(), sizeof one, &one);
  }
  ~Pinned() {
    done_ = true;
    thread_.join();
  }

  pthread_t handle() { return thread_.native_handle(); }
  cpu_set_t cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    pthread_getaffinity_np(handle(), sizeof set, &set);
    return set;
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST(KeepOff, GivenCpuIsExcluded) {
  expect_of_process([]() -> int {
    cpu_set_t all, others;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return hostile::skipped;
    const int cpu = sched_getcpu();
    CPU_ZERO(&others);
    CPU_OR(&others, &others, &all);
    CPU_CLR(static_cast<size_t>(cpu), &others);
    Pinned thread(cpu);
    keep_off(thread.handle(), cpu);
    const cpu_set_t left = thread.cpus();
    return CPU_EQUAL(&left, &others) ? 0 : 1;
  });
}

// An unknown CPU, or one outside every mask, excludes nothing. The thread may then run on all CPUs.
TEST(KeepOff, InvalidCpuAllowsAllCpus) {
  expect_of_process([]() -> int {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return hostile::skipped;
    for (const int32_t none : {-1, INT32_MIN, CPU_SETSIZE, INT32_MAX}) {
      Pinned thread(sched_getcpu());
      keep_off(thread.handle(), none);
      const cpu_set_t left = thread.cpus();
      if (!CPU_EQUAL(&left, &all)) return 1;
    }
    return 0;
  });
}

// If there is no other CPU, the thread shares this one. It may have run on another one before.
TEST(KeepOff, OnlyCpuIsShared) {
  expect_of_process([]() -> int {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return hostile::skipped;
    const int cpu = sched_getcpu();
    int other = 0;
    while (other == cpu || !CPU_ISSET(static_cast<size_t>(other), &all)) ++other;
    Pinned thread(other);
    const cpu_set_t one = only(cpu);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return hostile::skipped;
    keep_off(thread.handle(), cpu);
    const cpu_set_t left = thread.cpus();
    return CPU_EQUAL(&left, &one) ? 0 : 1;
  });
}

// Makes the kernel hide the affinity of the process from now on. Returns false if that is not possible.
bool hide_affinity() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(getpid()), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof rules / sizeof rules[0], rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    return false;
  }
  cpu_set_t set;
  return sched_getaffinity(getpid(), sizeof set, &set) != 0;
}

// The affinity is also hidden if the machine has more CPUs than the mask of a process holds.
TEST(Cpus, HiddenAffinityUsesTheOnlineCpus) {
  expect_of_process([]() -> int {
    const auto online = static_cast<int32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    const int32_t quota = cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    if (!hide_affinity()) return hostile::skipped;
    if (count_cpus() != (quota > 0 ? std::min(quota, online) : online)) return 1;
    const int cpu = sched_getcpu();
    const cpu_set_t one = only(cpu);
    Pinned thread(cpu);
    keep_off(thread.handle(), cpu);
    const cpu_set_t left = thread.cpus();
    return CPU_EQUAL(&left, &one) ? 0 : 2;
  });
}

std::atomic<int> policy_of_thread{-1};

// Returns the policy of a new thread whose creator has another policy than the process.
int policy_of_started(int policy_of_process) {
  std::atomic<bool> changed{false};
  bool started = false;
  std::thread starter([&] {
    while (!changed) std::this_thread::yield();
    pthread_t thread;
    started = start_thread(&thread, 64 << 10, [](void*) -> void* {
      policy_of_thread = static_cast<int>(syscall(SYS_sched_getscheduler, 0));
      return nullptr;
    });
    if (started) join_thread(thread);
  });
  const sched_param none{};
  const bool has_right = syscall(SYS_sched_setscheduler, 0, policy_of_process, &none) == 0;
  changed = true;
  starter.join();
  return has_right && started ? policy_of_thread.load() : -1;
}

TEST(StartThread, NewThreadHasThePolicyOfTheProcess) {
  for (const int policy : {SCHED_BATCH, SCHED_IDLE, SCHED_OTHER}) {
    expect_of_process([&]() -> int {
      const int found = policy_of_started(policy);
      return found == -1 ? hostile::skipped : found == policy ? 0 : 1;
    });
  }
}

// ---- forks

TEST(Lock, ChildRecoversLockOfAnotherThread) {
  static Lock lock;
  std::atomic<bool> held{false}, done{false};
  std::thread holder([&] {
    const std::lock_guard<Lock> guard(lock);
    held = true;
    while (!done) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  const pid_t child = hostile::start_child([] { return lock.outlive_holder() && lock.try_lock() ? 0 : 1; });
  EXPECT_EQ(hostile::wait_for(child, hostile::patience), 0);
  done = true;
  holder.join();
}

// A thread that forks in a signal handler keeps its locks.
TEST(Lock, ForkingThreadKeepsItsLock) {
  static Lock lock;
  lock.lock();
  const pid_t child = hostile::start_child([] { return lock.outlive_holder() || lock.try_lock() ? 1 : 0; });
  EXPECT_EQ(hostile::wait_for(child, hostile::patience), 0);
  lock.unlock();
}

std::string order;

TEST(Forks, ResetsRunOnceAndInOrder) {
  reset_in_children(ForkOrder::device, [] { order += 'd'; });
  reset_in_children(ForkOrder::threads, [] { order += 't'; });
  reset_in_children(ForkOrder::handles, [] { order += 'h'; });
  const pid_t child = hostile::start_child([] {
    notice_fork();
    return order == "htd" ? 0 : 1;
  });
  EXPECT_EQ(hostile::wait_for(child, hostile::patience), 0);
  notice_fork();
  EXPECT_EQ(order, "");
}

#if !GATHER_SANITIZED  // sanitizers need to observe each fork

// Tests forks without fork handlers.
TEST(Forks, ForksWithoutHandlersAreDetected) {
  reset_in_children(ForkOrder::handles, [] { order += 'h'; });
  const pid_t child = _Fork();
  if (child == 0) {
    const bool early = !order.empty();
    notice_fork();
    _exit(!early && order.find('h') != std::string::npos ? 0 : 1);
  }
  EXPECT_EQ(hostile::wait_for(child, hostile::patience), 0);
}

#endif

}  // namespace
