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
#include <stdexcept>
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

  bool works() const { return works_; }

 private:
  void Set(int ms) {
    std::ofstream file("/sys/module/srn/parameters/delay");
    works_ = static_cast<bool>(file << point_ << '=' << ms << std::flush);
  }

  std::string point_;
  bool works_ = false;
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

// Room for the response to a raw command. The driver's part has a page of its own, which can't
// be written if the command is to fail.
class Answer {
 public:
  explicit Answer(bool fails)
      : pages_(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (fails) mprotect(driver<char>(), kPage, PROT_NONE);
  }
  ~Answer() { munmap(pages_, 2 * kPage); }

  template <typename T>
  T* driver() const {
    return reinterpret_cast<T*>(static_cast<char*>(pages_) + kPage);
  }
  template <typename T>
  T* core() const {
    return driver<T>() - 1;
  }

 private:
  static constexpr size_t kPage = 4096;

  void* pages_;
};

// As libibverbs writes it to the device; each byte of the driver's part of the request is the same.
template <typename Command>
int Write(const Context& ctx, uint32_t number, const Command& command, size_t driver_in, size_t out,
          char driver_byte = 0) {
  const size_t in = sizeof(ib_uverbs_cmd_hdr) + sizeof(command) + driver_in;
  ib_uverbs_cmd_hdr hdr = {};
  hdr.command = number;
  hdr.in_words = in / 4;
  hdr.out_words = out / 4;
  std::vector<char> bytes(in, driver_byte);
  std::memcpy(bytes.data(), &hdr, sizeof(hdr));
  std::memcpy(bytes.data() + sizeof(hdr), &command, sizeof(command));
  return write(ctx.get()->cmd_fd, bytes.data(), in) < 0 ? errno : 0;
}

class RawCreate {
 public:
  RawCreate(const Context& ctx, const Pd& pd, const Cq& cq, bool fails)
      : ctx_(ctx), pd_(pd), cq_(cq), answer_(fails) {}

  int Call() const {
    ib_uverbs_create_qp cmd = {};
    cmd.response = reinterpret_cast<uint64_t>(answer_.core<ib_uverbs_create_qp_resp>());
    cmd.pd_handle = pd_->handle;
    cmd.send_cq_handle = cq_->handle;
    cmd.recv_cq_handle = cq_->handle;
    cmd.max_send_wr = 16;
    cmd.max_recv_wr = 16;
    cmd.max_send_sge = 1;
    cmd.max_recv_sge = 1;
    cmd.qp_type = IBV_QPT_RC;
    return Write(ctx_, IB_USER_VERBS_CMD_CREATE_QP, cmd, sizeof(srn_create_qp_req),
                 sizeof(ib_uverbs_create_qp_resp) + sizeof(srn_create_qp_resp));
  }
  int Destroy() const {
    ib_uverbs_destroy_qp_resp answer = {};
    ib_uverbs_destroy_qp cmd = {};
    cmd.response = reinterpret_cast<uint64_t>(&answer);
    cmd.qp_handle = answer_.core<ib_uverbs_create_qp_resp>()->qp_handle;
    return Write(ctx_, IB_USER_VERBS_CMD_DESTROY_QP, cmd, 0, sizeof(answer));
  }
  // The new QP's queues, as soon as the program can know of them.
  Mapping Queues() const {
    auto* answer = answer_.driver<srn_create_qp_resp>();
    const auto end = Clock::now() + Patience();
    // The last word of the answer.
    while (!__atomic_load_n(&answer->rq_stride, __ATOMIC_ACQUIRE) && Clock::now() < end)
      std::this_thread::yield();
    void* start = mmap(nullptr, answer->mmap_len, PROT_READ | PROT_WRITE, MAP_SHARED,
                       ctx_.get()->cmd_fd, static_cast<off_t>(answer->mmap_offset));
    if (start == MAP_FAILED) throw std::runtime_error("no queues to map");
    return {reinterpret_cast<uint64_t>(start), answer->mmap_len};
  }

 private:
  const Context& ctx_;
  const Pd& pd_;
  const Cq& cq_;
  Answer answer_;
};

// A resize whose response can't be written.
int FailingResize(const Context& ctx, const Cq& cq, uint32_t entries) {
  const Answer answer(/*fails=*/true);
  ib_uverbs_resize_cq cmd = {};
  cmd.response = reinterpret_cast<uint64_t>(answer.core<ib_uverbs_resize_cq_resp>());
  cmd.cq_handle = cq->handle;
  cmd.cqe = entries;
  return Write(ctx, IB_USER_VERBS_CMD_RESIZE_CQ, cmd, 0,
               sizeof(ib_uverbs_resize_cq_resp) + sizeof(srn_resize_cq_resp));
}

// An address handle for a program that knows more, or less, than this kernel.
class RawCreateAh {
 public:
  RawCreateAh(const Context& ctx, const Pd& pd, const ibv_ah_attr& attr) : ctx_(ctx) {
    cmd_.response = reinterpret_cast<uint64_t>(answer_.core<ib_uverbs_create_ah_resp>());
    cmd_.pd_handle = pd->handle;
    std::memcpy(cmd_.attr.grh.dgid, attr.grh.dgid.raw, sizeof(cmd_.attr.grh.dgid));
    cmd_.attr.grh.sgid_index = attr.grh.sgid_index;
    cmd_.attr.is_global = attr.is_global;
    cmd_.attr.port_num = attr.port_num;
  }

  int Call(size_t driver_in, char driver_byte, size_t driver_out) const {
    return Write(ctx_, IB_USER_VERBS_CMD_CREATE_AH, cmd_, driver_in,
                 sizeof(ib_uverbs_create_ah_resp) + driver_out, driver_byte);
  }
  int Destroy() const {
    ib_uverbs_destroy_ah cmd = {};
    cmd.ah_handle = answer_.core<ib_uverbs_create_ah_resp>()->ah_handle;
    return Write(ctx_, IB_USER_VERBS_CMD_DESTROY_AH, cmd, 0, 0);
  }

 private:
  const Context& ctx_;
  Answer answer_{/*fails=*/false};
  ib_uverbs_create_ah cmd_ = {};
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
  Qp ErrorQp(const Cq& cq, uint32_t depth) { return ErrorQp(cq, cq, depth); }
  Qp ErrorQp(const Cq& send_cq, const Cq& recv_cq, uint32_t depth) {
    Qp qp = Must(Qp::Create(a_.pd, send_cq, recv_cq, {.max_send_wr = depth, .max_recv_wr = depth}));
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
  const RawCreate create(a_.ctx, a_.pd, cq, /*fails=*/true);
  const Delay window("qp_answered", 1), away("away", 5);
  ASSERT_EQ(create.Call(), EFAULT);
  {
    const Loop rings([] { RingAll(); });
    const Loop creates([&] { EXPECT_EQ(create.Call(), EFAULT); });
    ExpectOthersGoOn("failing create_qp beside doorbells", alone);
  }
  (void)Must(Qp::Create(a_.pd, cq, cq, {}));
}

// Whether a doorbell runs the QP: the kernel then says anew that it wants to be rung.
bool Runs(const Mapping& queues) {
  __atomic_store_n(&queues.qp_page()->status, 0, __ATOMIC_SEQ_CST);
  RingAll();
  return __atomic_load_n(&queues.qp_page()->status, __ATOMIC_SEQ_CST) & SRN_QP_NEED_DB;
}

TEST_P(HostileVerbs, NothingRunsAQpBeforeItsCreationCannotFail) {
  const Cq cq = Must(Cq::Create(a_.ctx, 16));
  const RawCreate create(a_.ctx, a_.pd, cq, /*fails=*/false);
  const Delay window("qp_answered", 500);
  std::atomic<bool> created = false;
  std::jthread creates([&] {
    EXPECT_EQ(create.Call(), 0);
    created = true;
  });
  const Mapping queues = create.Queues();
  const bool ran = Runs(queues);
  if (window.works() && !created) {
    EXPECT_FALSE(ran);
  }
  creates.join();
  EXPECT_TRUE(Runs(queues));
  munmap(queues.data(), queues.size);
  EXPECT_EQ(create.Destroy(), 0);
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

// What a newer program asks for in words that this kernel does not know is not left out silently;
// what it leaves empty is.
TEST_P(HostileVerbs, UnknownInputForAnAddressHandleIsRefused) {
  const RawCreateAh create(a_.ctx, a_.pd, AhAttr(a_.port, b_.port.gid));
  const size_t out = sizeof(srn_create_ah_resp);
  EXPECT_EQ(create.Call(/*driver_in=*/8, /*driver_byte=*/1, out), EOPNOTSUPP);
  EXPECT_EQ(create.Call(8, 0, out - 4), EINVAL);
  for (size_t driver_in : {0, 8, 256}) {
    EXPECT_EQ(create.Call(driver_in, 0, out), 0);
    EXPECT_EQ(create.Destroy(), 0);
  }
}

// The program was not told of a new ring: the old one is still in use.
TEST_P(HostileVerbs, FailingResizeLeavesTheRing) {
  Cq cq = Must(Cq::Create(a_.ctx, 64));
  Qp qp = ErrorQp(cq, 32);
  Must(qp.Post(RecvWr(1, {a_.mr.Slice(0, 8)})));
  EXPECT_EQ(FailingResize(a_.ctx, cq, 1024), EFAULT);
  Must(qp.Post(RecvWr(2, {a_.mr.Slice(0, 8)})));
  EXPECT_EQ(Await(cq).wr_id, 1u);
  EXPECT_EQ(Await(cq).wr_id, 2u);
}

// Completions in a new ring, polled or not.
size_t Cqes(const Mapping& ring) {
  const auto* cqes = reinterpret_cast<const srn_cqe*>(ring.data() + SRN_QUEUE_OFFSET);
  const std::span all(cqes, (ring.size - SRN_QUEUE_OFFSET) / sizeof(srn_cqe));
  return std::ranges::count_if(all, [](const srn_cqe& cqe) { return cqe.wr_id != 0; });
}

// As many as the ring has slots would cost time, which a program could take again and again.
TEST_P(HostileVerbs, ResizeCopiesOnlyWhatWasNotPolled) {
  Cq cq = Must(Cq::Create(a_.ctx, 64));
  Qp qp = ErrorQp(cq, 64);
  uint64_t posted = 0, seen = 0;
  auto post = [&](int count) {
    for (; count; count--) Must(qp.Post(RecvWr(++posted, {a_.mr.Slice(0, 8)})));
  };
  post(50);
  while (seen < posted) ASSERT_EQ(Await(cq).wr_id, ++seen);
  post(3);
  const std::vector<Mapping> before = MappedQueues();
  Must(cq.Resize(1024));
  const std::vector<Mapping> added = Added(before, MappedQueues());
  ASSERT_EQ(added.size(), 1u);
  while (seen < posted) ASSERT_EQ(Await(cq).wr_id, ++seen);
  EXPECT_EQ(Cqes(added[0]), 3u);
}

// More CQEs than are copied under the CQ's lock. Of the send CQ none is left lying, so that who
// posts does not look like a streamer, and writes the CQE itself.
TEST_P(HostileVerbs, CompletionsComeWhileACqIsCopied) {
  const uint64_t before = 200;
  const Cq other = Must(Cq::Create(a_.ctx, 16));
  Cq cq = Must(Cq::Create(a_.ctx, 1024));
  Qp qp = ErrorQp(other, cq, 256);
  for (uint64_t id = 0; id < before; id++) Must(qp.Post(RecvWr(id, {a_.mr.Slice(0, 8)})));
  const Delay window("cq_copied", 1000);
  Clock::time_point resized;
  std::jthread resizes([&] {
    Must(cq.Resize(4096));
    resized = Clock::now();
  });
  // Into the copying, most likely; before it, nothing is seen.
  std::this_thread::sleep_for(milliseconds(100));
  Must(qp.Post(RecvWr(before, {a_.mr.Slice(0, 8)})));
  const Clock::time_point came = Clock::now();
  resizes.join();
  if (window.works()) {
    EXPECT_GT(resized - came, milliseconds(500));
  }
  for (uint64_t id = 0; id <= before; id++) EXPECT_EQ(Await(cq).wr_id, id);
}

INSTANTIATE_TEST_SUITE_P(Ip, HostileVerbs, testing::Values(Ip::kV4), IpName);

}  // namespace
}  // namespace verbs_test
