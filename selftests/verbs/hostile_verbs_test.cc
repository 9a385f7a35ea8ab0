// SPDX-License-Identifier: GPL-2.0-only
// A hostile program makes verbs fail, or repeats them without end, beside doorbells and
// traffic. Others go on, and get their share of the machine.
//
// Environment:
//   SRN_HOSTILE_SECONDS  of each load (default 1)
//   SRN_HOSTILE_QPS      in error at a time (default 100)
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "env.h"
#include "hostile_ring.h"

namespace verbs_test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

int FromEnv(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

std::chrono::seconds LoadTime() { return std::chrono::seconds(FromEnv("SRN_HOSTILE_SECONDS", 1)); }

// Makes the window of a race as long as @p ms, where the kernel is one for debugging.
class Delay {
 public:
  Delay(std::string point, int ms) : point_(std::move(point)) { Set(ms); }
  ~Delay() { Set(0); }

 private:
  void Set(int ms) {
    std::ofstream file("/sys/module/srn/parameters/delay");
    file << point_ << '=' << ms << std::flush;
  }

  std::string point_;
};

// Runs a function again and again until it is destroyed.
class Loop {
 public:
  explicit Loop(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          while (!stop_.load(std::memory_order_relaxed)) body();
        }) {}
  ~Loop() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// How late the first of all tasks runs on each CPU after its clock has fired: as long as
// interrupts, softirqs or preemption were off.
class Lateness {
 public:
  Lateness() {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < cpus; cpu++) threads_.emplace_back([this, cpu] { Watch(cpu); });
  }
  ~Lateness() { Stop(); }
  microseconds Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return microseconds(worst_.load());
  }

 private:
  void Watch(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
    const sched_param first = {.sched_priority = 99};
    sched_setscheduler(0, SCHED_FIFO, &first);
    while (!stop_) {
      const Clock::time_point due = Clock::now() + milliseconds(1);
      std::this_thread::sleep_until(due);
      const long late = duration_cast<microseconds>(Clock::now() - due).count();
      for (long worst = worst_; late > worst && !worst_.compare_exchange_weak(worst, late);) {
      }
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<bool> stop_ = false;
  std::atomic<long> worst_ = 0;
};

// Work of a neighbour that has nothing to do with RDMA, in short rounds.
class Victim {
 public:
  Victim() : began_(Clock::now()), loop_([this] { Round(); }) {}
  double Speed() const {
    return rounds_ / std::chrono::duration<double, std::milli>(Clock::now() - began_).count();
  }

 private:
  void Round() {
    for (int i = 0; i < 2000; i++) asm volatile("");
    rounds_++;
  }

  std::atomic<uint64_t> rounds_ = 0;
  Clock::time_point began_;
  Loop loop_;
};

double SpeedAlone() {
  Victim victim;
  std::this_thread::sleep_for(milliseconds(300));
  return victim.Speed();
}

// The raw command of create_qp, with a response whose driver's part can't be written.
class FailingCreate {
 public:
  FailingCreate(const Context& ctx, const Pd& pd, const Cq& cq)
      : fd_(ctx.get()->cmd_fd),
        pages_(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    mprotect(static_cast<char*>(pages_) + kPage, kPage, PROT_NONE);
    ib_uverbs_cmd_hdr hdr = {};
    hdr.command = IB_USER_VERBS_CMD_CREATE_QP;
    hdr.in_words = sizeof(command_) / 4;
    hdr.out_words = (sizeof(ib_uverbs_create_qp_resp) + sizeof(srn_create_qp_resp)) / 4;
    ib_uverbs_create_qp cmd = {};
    cmd.response = reinterpret_cast<uint64_t>(pages_) + kPage - sizeof(ib_uverbs_create_qp_resp);
    cmd.pd_handle = pd->handle;
    cmd.send_cq_handle = cq->handle;
    cmd.recv_cq_handle = cq->handle;
    cmd.max_send_wr = 16;
    cmd.max_recv_wr = 16;
    cmd.max_send_sge = 1;
    cmd.max_recv_sge = 1;
    cmd.qp_type = IBV_QPT_RC;
    std::memcpy(command_, &hdr, sizeof(hdr));
    std::memcpy(command_ + sizeof(hdr), &cmd, sizeof(cmd));
  }
  ~FailingCreate() { munmap(pages_, 2 * kPage); }

  int Call() const { return write(fd_, command_, sizeof(command_)) < 0 ? errno : 0; }

 private:
  static constexpr size_t kPage = 4096;

  int fd_;
  void* pages_;
  char command_[sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_create_qp) +
                sizeof(srn_create_qp_req)] = {};
};

void RingAll() {
  for (int fd : DoorbellFds()) (void)ioctl(fd, SRN_IOC_DOORBELL, uint64_t{0xffffffff});
}

class HostileVerbs : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    if (DoorbellFds().empty()) GTEST_SKIP() << DeviceA() << " has no doorbell descriptor";
    pair_ = Connected();
  }
  void Exchange() {
    ExpectWorks(a_, pair_.a, b_, pair_.b);
    ExpectWorks(b_, pair_.b, a_, pair_.a);
  }
  // The neighbours' traffic for as long as a load lasts, and what it costs them.
  void ExpectOthersGoOn(const char* load, double alone) {
    Lateness lateness;
    Victim victim;
    int exchanges = 0;
    for (const auto end = Clock::now() + LoadTime(); Clock::now() < end; exchanges++) {
      Exchange();
      if (HasFailure()) return;
    }
    const double share = victim.Speed() / alone;
    std::printf(
        "# %s: %d exchanges, a neighbour has %.0f %% of a CPU, longest stretch without"
        " scheduling %ld us\n",
        load, exchanges, 100 * share, static_cast<long>(lateness.Stop().count()));
    EXPECT_GT(exchanges, 0);
    EXPECT_GT(share, 0.02);
  }
  // A CQ with as many completions in it as make a program look like one that streams.
  Cq CqOfAStreamer() {
    Cq cq = Must(Cq::Create(a_.ctx, 256));
    Qp qp = ErrorQp(cq, 32);
    for (uint64_t id = 0; id < 24; id++) Must(qp.Post(RecvWr(id, {a_.mr.Slice(0, 8)})));
    return cq;
  }
  Qp ErrorQp(const Cq& cq, uint32_t depth) {
    Qp qp = Must(Qp::Create(a_.pd, cq, cq, {.max_send_wr = depth, .max_recv_wr = depth}));
    Must(ConnectTo(qp, a_.port, a_.port.gid, qp.num(), 0, 0, {}));
    Must(qp.ModifyState(IBV_QPS_ERR));
    return qp;
  }

  Pair pair_;
};

TEST_P(HostileVerbs, WithoutLoadForComparison) { ExpectOthersGoOn("no load", SpeedAlone()); }

TEST_P(HostileVerbs, FailingCreateBesideDoorbellsHarmsNobody) {
  const double alone = SpeedAlone();
  const Cq cq = CqOfAStreamer();
  const FailingCreate create(a_.ctx, a_.pd, cq);
  const Delay window("qp_answered", 1);
  ASSERT_EQ(create.Call(), EFAULT);
  {
    const Loop rings([] { RingAll(); });
    const Loop creates([&] { EXPECT_EQ(create.Call(), EFAULT); });
    ExpectOthersGoOn("failing create_qp beside doorbells", alone);
  }
  (void)Must(Qp::Create(a_.pd, cq, cq, {}));
}

TEST_P(HostileVerbs, WhoAsksForAQpDoesNotStopIt) {
  const Delay window("owned", 200);
  const auto began = Clock::now();
  for (int i = 0; i < 10; i++) EXPECT_EQ(pair_.a.qp.State(), IBV_QPS_RTS);
  Exchange();
  // Ten times the turn in a sleeper's hand would be two seconds.
  EXPECT_LT(Clock::now() - began, Patience(1500));
}

// QPs in error, whose tails move as if a program posted without end.
void MoveTails(const std::function<Qp()>& make, int count) {
  const std::vector<Mapping> before = MappedQueues();
  std::vector<Qp> qps;
  for (int i = 0; i < count; i++) qps.push_back(make());
  const std::vector<Mapping> queues = Added(before, MappedQueues());
  const Loop rings([] {
    for (int fd : DoorbellFds())
      for (uint64_t word = 0; word < 8; word++)
        (void)ioctl(fd, SRN_IOC_DOORBELL, word << 32 | 0xffffffff);
  });
  for (const auto end = Clock::now() + LoadTime() + std::chrono::seconds(1); Clock::now() < end;) {
    for (const Mapping& queue : queues) {
      __atomic_fetch_add(&queue.qp_page()->sq_tail, 1000, __ATOMIC_RELEASE);
      __atomic_fetch_add(&queue.qp_page()->rq_tail, 1000, __ATOMIC_RELEASE);
    }
  }
  for (Qp& qp : qps) (void)qp.Release();
}

TEST_P(HostileVerbs, QpsInErrorWithMovingTailsHarmNobody) {
  const double alone = SpeedAlone();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    {
      Host host = Host::Open(DeviceA(), Ip::kV4, 4096);
      Cq cq = Must(Cq::Create(host.ctx, 4096));
      MoveTails(
          [&] {
            Qp qp = Must(Qp::Create(host.pd, cq, cq, {.max_send_wr = 1024, .max_recv_wr = 1024}));
            Must(ConnectTo(qp, host.port, host.port.gid, qp.num(), 0, 0, {}));
            Must(qp.ModifyState(IBV_QPS_ERR));
            return qp;
          },
          FromEnv("SRN_HOSTILE_QPS", 100));
      (void)cq.Release();
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure());
    }
  }
  ASSERT_GT(child, 0);
  ExpectOthersGoOn("QPs in error with moving tails", alone);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  // What the kernel cleaned up behind the program is gone: destroying waited for nobody.
  Exchange();
}

TEST_P(HostileVerbs, ResizeUnderFullLoadLosesNothing) {
  const double alone = SpeedAlone();
  const Delay window("cq_copied", 2);
  Cq cq = Must(Cq::Create(a_.ctx, 4096));
  Qp qp = ErrorQp(cq, 1024);
  std::atomic<uint64_t> posted = 0, seen = 0;
  {
    const Loop posts([&] {
      if (posted - seen >= 1000) return;
      if (qp.Post(RecvWr(posted, {a_.mr.Slice(0, 8)})).ok()) posted++;
    });
    const Loop polls([&] {
      std::optional<ibv_wc> wc = cq.Poll();
      if (!wc) return;
      EXPECT_EQ(wc->wr_id, seen++);
    });
    const Loop resizes(
        [&, big = false]() mutable { Must(cq.Resize((big = !big) ? 65536 : 4096)); });
    ExpectOthersGoOn("resize under completions", alone);
  }
  EXPECT_GT(seen, 0u);
  while (seen < posted) ASSERT_EQ(Await(cq).wr_id, seen++);
}

INSTANTIATE_TEST_SUITE_P(Ip, HostileVerbs, testing::Values(Ip::kV4), IpName);

}  // namespace
}  // namespace verbs_test
