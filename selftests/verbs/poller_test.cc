// SPDX-License-Identifier: GPL-2.0-only
// A program with a poller: its posts go without a system call while that looks, and with one while
// it sleeps, and none is forgotten in between.
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include <share/counters.h>
#include <share/parameter.h>

#include "delay.h"
#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kShort = 8, kLong = 64 << 10;
constexpr int kNoRealTime = 77;
// It looks for so long in vain: for ever, and for less than a test pauses.
const char* const kAwake = "1000000";
const char* const kSleepy = "100";

class RcPoller : public WireTest {
 protected:
  RcPoller() : WireTest(2 << 20) {}

  void SetUp() override {
    if (Foreign()) GTEST_SKIP() << "of srn's own";
    if (!KernelHasThreads()) GTEST_SKIP() << "a kernel without VHOST_TASK";
    ASSERT_TRUE(longest_.Set(kAwake));
    Open();
  }
  // CONFIG_VHOST_TASK.
  static bool KernelHasThreads() {
    static const bool has = [] {
      std::ifstream symbols("/proc/kallsyms");
      for (std::string line; std::getline(symbols, line);)
        if (line.find(" vhost_task_create") != line.npos) return true;
      return false;
    }();
    return has;
  }
  void Open() {
    setenv("SRN_POLLER", "1", /*overwrite=*/1);
    WireTest::SetUp();
    unsetenv("SRN_POLLER");
  }
  SendWr Write(uint64_t id, size_t size) {
    return SendWr::Write(id, a_.mr.Slice(0, size), b_.mr.At(0));
  }
  static uint64_t Counter(const char* name) { return share::FreshCounter(DeviceA(), name); }
  // Of both ends.
  static uint64_t Doorbells() {
    return Counter("doorbells") +
           (DeviceA() == DeviceB() ? 0 : share::FreshCounter(DeviceB(), "doorbells"));
  }
  static void Pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
  // Whether it comes true within the time that a test has.
  static bool Comes(const std::function<bool()>& what) {
    const auto late = std::chrono::steady_clock::now() + Patience(30000);
    while (!what()) {
      if (std::chrono::steady_clock::now() > late) return false;
      Pause(10);
    }
    return true;
  }
  void Ping(const Pair& p, int count) {
    for (int i = 0; i < count; i++) {
      Must(p.b.qp.Post(RecvWr(static_cast<uint64_t>(i), {b_.mr.Slice(0, 2)})));
      Must(p.a.qp.Post(RecvWr(static_cast<uint64_t>(i), {a_.mr.Slice(0, 2)})));
      Must(p.a.qp.Post(SendWr::Send(i, a_.mr.Slice(0, 2))));
      ASSERT_EQ(Await(p.b.recv_cq).status, IBV_WC_SUCCESS);
      Must(p.b.qp.Post(SendWr::Send(i, b_.mr.Slice(0, 2))));
      ASSERT_EQ(Await(p.a.recv_cq).status, IBV_WC_SUCCESS);
      ASSERT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
      ASSERT_EQ(Await(p.b.send_cq).status, IBV_WC_SUCCESS);
    }
  }
  // Of this process, in the kernel.
  static int64_t SystemTimeUs() {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_stime.tv_sec * int64_t{1000000} + usage.ru_stime.tv_usec;
  }
  // Of this process, the kernel's in it among them.
  static size_t Threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
  }
  // What keeps the module: open devices, pollers.
  static int References() {
    int count = -1;
    std::ifstream("/sys/module/srn/refcnt") >> count;
    return count;
  }
  // It ends by a signal, or by itself.
  static int EndOf(pid_t child) {
    int status = -1;
    return Comes([&] { return waitpid(child, &status, WNOHANG) != 0; }) ? status : -1;
  }
  // A poller that was just made, or slept, has the CPU only when others leave it to it.
  void AwaitLook(const Pair& p) {
    ASSERT_TRUE(Comes([&] {
      const uint64_t before = Doorbells();
      Ping(p, 1);
      return Doorbells() == before;
    }));
  }
  // Opened with pollers.
  static std::vector<Host> Hosts(int count) {
    std::vector<Host> hosts;
    setenv("SRN_POLLER", "1", /*overwrite=*/1);
    for (int i = 0; i < count; i++) hosts.push_back(Host::Open(DeviceA(), GetParam(), 4096));
    unsetenv("SRN_POLLER");
    return hosts;
  }
  // Writes for ever, in a process of its own with a poller; `then` in place of the 20th message.
  // What this process has open is left as it is there.
  pid_t Poster(std::function<void()> then) {
    const pid_t child = fork();
    if (child != 0) return child;
    setenv("SRN_POLLER", "1", /*overwrite=*/1);
    const Host a = Host::Open(DeviceA(), GetParam(), 4096);
    const Host b = Host::Open(DeviceB(), GetParam(), 4096);
    const Pair p = {End::Create(a), End::Create(b)};
    Must(Connect(p.a.qp, a.port, p.b.qp, b.port));
    for (int i = 0;; i++) {
      Must(p.a.qp.Post(SendWr::Write(i, a.mr.Slice(0, kShort), b.mr.At(0))));
      if (Await(p.a.send_cq).status != IBV_WC_SUCCESS) _exit(1);
      if (i == 20 && then) then();
    }
  }

  // Writes, and waits for each without a pause, on one CPU that it shares with its poller alone;
  // with
  // @p pause_ms before each. Ends with 0, or kNoRealTime if it may not be so.
  pid_t RealTimePoster(int pause_ms) {
    const pid_t child = fork();
    if (child != 0) return child;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    const sched_param priority = {.sched_priority = 1};
    if (sched_setaffinity(0, sizeof(here), &here) || sched_setscheduler(0, SCHED_FIFO, &priority))
      _exit(kNoRealTime);
    setenv("SRN_POLLER", "1", /*overwrite=*/1);
    const Host a = Host::Open(DeviceA(), GetParam(), 4096);
    const Host b = Host::Open(DeviceB(), GetParam(), 4096);
    const Pair p = {End::Create(a), End::Create(b)};
    Must(Connect(p.a.qp, a.port, p.b.qp, b.port));
    for (int i = 0; i < 20; i++) {
      if (pause_ms != 0) Pause(pause_ms);
      Must(p.a.qp.Post(SendWr::Write(i, a.mr.Slice(0, kShort), b.mr.At(0))));
      ibv_wc wc = {};
      // Without a nap, which would leave the CPU to the poller.
      const auto late = std::chrono::steady_clock::now() + Patience();
      while (ibv_poll_cq(p.a.send_cq.get(), 1, &wc) == 0)
        if (std::chrono::steady_clock::now() > late) _exit(1);
      if (wc.status != IBV_WC_SUCCESS) _exit(2);
    }
    _exit(0);
  }
  pid_t StartedPoster() {
    const uint64_t before = Counter("polled");
    const pid_t child = Poster(nullptr);
    EXPECT_TRUE(Comes([&] { return Counter("polled") >= before + 5; }));
    return child;
  }

  const share::ScopedParameter longest_{"poller"};
};

TEST_P(RcPoller, MessagesTakeNoSystemCall) {
  Pair p = Connected();
  const int count = std::thread::hardware_concurrency() > 1 ? 500 : 30;
  AwaitLook(p);

  const uint64_t polled = Counter("polled");
  uint64_t before = Doorbells();
  for (int i = 0; i < count; i++) {
    Must(p.a.qp.Post(Write(i, kShort)));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(Doorbells(), before);
  // B's poller has looked in vain all the while, and may sleep by now.
  AwaitLook(p);
  before = Doorbells();
  Ping(p, count);
  for (int i = 0; i < count; i++) {
    Must(p.a.qp.Post(Write(i, kLong)));
    EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(Doorbells(), before);
  EXPECT_GE(Counter("polled"), polled + 3 * count / 2);
}

// What it has not seen when the QP stops goes all the same. With more CPUs it may be sending just
// then, and this sees only that nothing breaks.
TEST_P(RcPoller, PostsGoBeforeTheQpStops) {
  constexpr uint8_t kPosts = 20;
  for (const bool destroyed : {false, true}) {
    Pair p = Connected({.max_send_wr = kPosts}, {});
    AwaitLook(p);
    Fill(b_.bytes(0, kShort), 0);
    Fill(a_.bytes(0, kShort), kPosts);
    for (int i = 0; i < kPosts; i++) Must(p.a.qp.Post(Write(i, kShort).Unsignaled()));
    if (destroyed)
      Must(p.a.qp.Close());
    else
      Must(p.a.qp.ModifyState(IBV_QPS_ERR));
    if (std::thread::hardware_concurrency() == 1)
      EXPECT_EQ(static_cast<uint8_t>(b_.bytes(0, kShort).back()), kPosts);
  }
}

// A stream, kept full.
TEST_P(RcPoller, StreamsTakeNoSystemCall) {
  constexpr uint64_t kDepth = 64;
  Pair p = Connected({.max_send_wr = kDepth});
  AwaitLook(p);
  for (const size_t size : {kShort, kLong}) {
    const uint64_t before = Doorbells(), requests = size == kShort ? 5000 : 500;
    uint64_t posted = 0, done = 0;
    while (done < requests) {
      for (; posted < requests && posted - done < kDepth; posted++)
        Must(p.a.qp.Post(Write(posted, size)));
      const ibv_wc wc = Await(p.a.send_cq);
      ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
      ASSERT_EQ(wc.wr_id, done++);
    }
    EXPECT_EQ(Doorbells(), before) << size;
  }
}

// Around the moment when it falls asleep: nobody but a poller or a doorbell would ever serve these.
TEST_P(RcPoller, NoPostIsForgottenWhenItFallsAsleep) {
  ASSERT_TRUE(longest_.Set(kSleepy));
  Pair p = Connected();
  const uint64_t sleeps = Counter("poller_sleeps"), rung = Doorbells();
  for (int i = 0; i < 300; i++) {
    Must(p.a.qp.Post(Write(i, kShort)));
    ASSERT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS) << i;
    std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 1500));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GT(Counter("poller_sleeps"), sleeps);
  EXPECT_GT(Doorbells(), rung);
}

// It had looked for the last time, and had not said yet that it sleeps: so the post does not ring.
TEST_P(RcPoller, WhatIsPostedBeforeItSaysThatItSleepsIsServed) {
  Pair p = Connected();
  int tried = 0;
  bool forced = false;
  for (int i = 0; i < 10 && tried < 2; i++) {
    AwaitLook(p);
    const uint64_t rung = Doorbells();
    const Delay delay("poller_sleeps", 1000);
    forced = delay.works();
    ASSERT_TRUE(longest_.Set(kSleepy));
    Pause(50);
    Must(p.a.qp.Post(Write(i, kShort)));
    ASSERT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
    if (Doorbells() == rung) tried++;
    ASSERT_TRUE(longest_.Set(kAwake));
  }
  EXPECT_TRUE(tried > 0 || !forced);
}

// Who is second on the CPU behind the poller, and gives it back when he likes.
TEST_P(RcPoller, LeavesNoPostToARealTimeProgramOnItsCpu) {
  const int status = EndOf(RealTimePoster(5));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoRealTime) GTEST_SKIP() << "no such policy";
  EXPECT_EQ(status, 0);
}

// And before it had that CPU for the first time.
TEST_P(RcPoller, IsSaidToSleepUntilItRuns) {
  const int status = EndOf(RealTimePoster(0));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoRealTime) GTEST_SKIP() << "no such policy";
  EXPECT_EQ(status, 0);
}

// Nor does it look for ever.
TEST_P(RcPoller, SleepsWhereNothingIsPosted) {
  ASSERT_TRUE(longest_.Set(kSleepy));
  Pair p = Connected();
  Ping(p, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const uint64_t sleeps = Counter("poller_sleeps"), rung = Doorbells();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(Counter("poller_sleeps"), sleeps);
  Must(p.a.qp.Post(Write(0, kShort)));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(Doorbells(), rung + 1);
}

TEST_P(RcPoller, PostsInErrorAreFlushed) {
  Pair p = Connected();
  Ping(p, 1);
  Must(p.a.qp.ModifyState(IBV_QPS_ERR));
  for (int i = 0; i < 20; i++) {
    Must(p.a.qp.Post(Write(i, kShort)));
    ExpectFailed(Await(p.a.send_cq), i, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
  }
}

// Another has the turn of such a QP for long, asleep: beyond its vigil it burns no CPU for that.
TEST_P(RcPoller, WaitsAsleepForWhoIsBusyWithAQueuePairInError) {
  constexpr int kBusyMs = 800;
  Pair p = Connected();
  AwaitLook(p);
  Must(p.a.qp.ModifyState(IBV_QPS_ERR));
  ASSERT_TRUE(longest_.Set(kSleepy));
  const Delay delay("owned", kBusyMs);
  std::thread busy([&] { (void)p.a.qp.ModifyState(IBV_QPS_ERR); });
  Pause(kBusyMs / 8);
  const int64_t before = SystemTimeUs();
  Must(p.a.qp.Post(Write(0, kShort)));
  Pause(kBusyMs / 2);
  EXPECT_LT(SystemTimeUs() - before, kBusyMs * 1000 / 4);
  busy.join();
  ExpectFailed(Await(p.a.send_cq), 0, IBV_WC_WR_FLUSH_ERR, p.a.qp.num());
}

// One for each context, and each QP is looked after.
TEST_P(RcPoller, ManyQueuePairsAndContexts) {
  Host more = Host::Open(DeviceA(), GetParam(), 4096);
  std::vector<Pair> pairs;
  for (int i = 0; i < 70; i++) pairs.push_back(Connected());
  for (int round = 0; round < 2; round++)
    for (const Pair& p : pairs) Ping(p, 1);
  pairs.erase(pairs.begin(), pairs.begin() + 40);
  for (const Pair& p : pairs) Ping(p, 1);
}

TEST_P(RcPoller, WhoMayNotHaveOneHasNone) {
  ASSERT_TRUE(longest_.Set("0"));
  setenv("SRN_POLLER", "1", /*overwrite=*/1);
  const Host a = Host::Open(DeviceA(), GetParam(), 4096);
  unsetenv("SRN_POLLER");
  const End end = End::Create(a), peer = End::Create(b_);
  Must(Connect(end.qp, a.port, peer.qp, b_.port));
  const uint64_t before = Counter("polled"), rung = Doorbells();
  for (int i = 0; i < 3; i++) {
    Must(end.qp.Post(SendWr::Write(i, a.mr.Slice(0, kShort), b_.mr.At(0))));
    EXPECT_EQ(Await(end.send_cq).status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(Counter("polled"), before);
  EXPECT_GT(Doorbells(), rung);
}

TEST_P(RcPoller, EndsWithAProgramThatIsKilled) {
  const int references = References();
  const pid_t child = StartedPoster();
  kill(child, SIGKILL);
  const int status = EndOf(child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_TRUE(Comes([&] { return References() <= references; })) << References();
  Ping(Connected(), 1);
}

TEST_P(RcPoller, EndsWithAProgramThatIsStoppedAndKilled) {
  const int references = References();
  const pid_t child = StartedPoster();
  kill(child, SIGSTOP);
  Pause(50);
  kill(child, SIGKILL);
  const int status = EndOf(child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_TRUE(Comes([&] { return References() <= references; })) << References();
}

TEST_P(RcPoller, EndsWithAProgramThatExits) {
  const int status = EndOf(Poster([] { _exit(7); }));
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_P(RcPoller, EndsWithAProgramThatBecomesAnother) {
  const int status = EndOf(Poster([] { execl("/bin/true", "true", nullptr); }));
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The thread of a context that is closed ends; others go on.
TEST_P(RcPoller, ContextsComeAndGo) {
  const size_t before = Threads();
  for (int i = 0; i < 30; i++) Hosts(1);
  EXPECT_TRUE(Comes([&] { return Threads() <= before; })) << Threads();
  Ping(Connected(), 3);
}

// Also of one that sleeps: nobody but who closes it would ever wake that.
TEST_P(RcPoller, SleepingOnesEndWithTheirContexts) {
  constexpr size_t kHosts = 5;
  ASSERT_TRUE(longest_.Set(kSleepy));
  const size_t threads = Threads();
  const int references = References();
  const uint64_t slept = Counter("poller_sleeps");
  std::vector<Host> hosts = Hosts(kHosts);
  EXPECT_EQ(Threads(), threads + kHosts);
  EXPECT_TRUE(Comes([&] { return Counter("poller_sleeps") >= slept + kHosts; }));
  Pause(50);
  hosts.clear();
  EXPECT_TRUE(Comes([&] { return Threads() <= threads; })) << Threads();
  EXPECT_TRUE(Comes([&] { return References() <= references; })) << References();
}

// And of one that is about to, and has looked whether its context is there.
TEST_P(RcPoller, ThoseThatFallAsleepEndWithTheirContexts) {
  ASSERT_TRUE(longest_.Set(kSleepy));
  const size_t threads = Threads();
  const Delay delay("poller_sleeps", 1000);
  std::vector<Host> hosts = Hosts(3);
  Pause(50);
  hosts.clear();
  EXPECT_TRUE(Comes([&] { return Threads() <= threads; })) << Threads();
}

SRN_OVER_BOTH_IP(RcPoller);

}  // namespace
}  // namespace verbs_test
