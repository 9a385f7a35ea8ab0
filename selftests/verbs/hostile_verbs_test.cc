// SPDX-License-Identifier: GPL-2.0-only
// A hostile program makes verbs fail, or repeats them without end, beside doorbells and
// traffic. Others go on, and get their share of the machine.
//
// Environment:
//   SRN_HOSTILE_SECONDS  of each load (default 1)
//   SRN_HOSTILE_QPS      in error at a time (default 100)
//   SRN_HOSTILE_LATE_US  the longest stretch without scheduling that is forgiven (default: any;
//                        a machine that shares its processors makes long ones itself)
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include <share/parameter.h>

#include "delay.h"
#include "env.h"
#include "hostile_ring.h"
#include "load.h"
#include "raw_command.h"

namespace verbs_test {
namespace {

int FromEnv(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : otherwise;
}

std::chrono::seconds LoadTime() { return std::chrono::seconds(FromEnv("SRN_HOSTILE_SECONDS", 1)); }

void RingAll() {
  for (int fd : DoorbellFds()) (void)ioctl(fd, SRN_IOC_DOORBELL, uint64_t{0xffffffff});
}

class HostileVerbs : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    if (DoorbellFds().empty()) SRN_SKIP_FOREIGN() << DeviceA() << " has no doorbell descriptor";
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
    const microseconds late = lateness.Stop();
    std::printf(
        "# %s: %d exchanges, a neighbour has %.0f %% of a CPU, longest stretch without"
        " scheduling %ld us\n",
        load, exchanges, 100 * share, static_cast<long>(late.count()));
    EXPECT_GT(exchanges, 0);
    EXPECT_GT(share, 0.02);
    if (const int forgiven = FromEnv("SRN_HOSTILE_LATE_US", 0)) EXPECT_LT(late.count(), forgiven);
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

// A thread of no priority rings for a QP in error whose tail moves, on CPUs that others keep busy:
// it may lose its CPU for long, but not with the turn in hand that who modifies the QP waits for.
TEST_P(HostileVerbs, RingerOfNoPriorityKeepsNobody) {
  const Cq cq = Must(Cq::Create(a_.ctx, 64));
  const std::vector<Mapping> before = MappedQueues();
  Qp qp = ErrorQp(cq, 16384);
  const std::vector<Mapping> queues = Added(before, MappedQueues());
  ASSERT_EQ(queues.size(), 1u);
  uint32_t* const tail = &queues[0].qp_page()->rq_tail;
  microseconds worst{};
  {
    const Loop moves([&] {
      __atomic_fetch_add(tail, 16384, __ATOMIC_RELEASE);
      std::this_thread::sleep_for(milliseconds(1));
    });
    const Loop rings([] {
      const sched_param none = {};
      sched_setscheduler(0, SCHED_IDLE, &none);
      RingAll();
    });
    const Hogs hogs;
    for (int i = 0; i < 20; i++) {
      std::this_thread::sleep_for(milliseconds(50));
      const auto began = Clock::now();
      Must(qp.ModifyState(IBV_QPS_RESET));
      worst = std::max(worst, duration_cast<microseconds>(Clock::now() - began));
      Must(ConnectTo(qp, a_.port, a_.port.gid, qp.num(), 0, 0, {}));
      Must(qp.ModifyState(IBV_QPS_ERR));
    }
  }
  std::printf("# a QP that is rung for without priority was owned after at most %.1f ms\n",
              worst.count() / 1e3);
  EXPECT_LT(worst, Patience(400));
}

// UC QPs with two messages of 256 MiB each to nobody: what they are asked for is never done.
void StreamForEver(int count, int ready) noexcept {
  Host host = Host::Open(DeviceA(), Ip::kV4, 8 << 20);
  Cq cq = Must(Cq::Create(host.ctx, 64));
  const std::vector<ibv_sge> all(32, host.mr.Slice(0, 8 << 20));
  std::vector<Qp> qps;
  for (int i = 0; i < count; i++) {
    qps.push_back(Must(
        Qp::Create(host.pd, cq, cq,
                   {.type = IBV_QPT_UC, .max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 32})));
    Must(ConnectTo(qps.back(), host.port, host.port.gid, 0xfffff0, 0, 0, {.mtu = IBV_MTU_1024}));
  }
  for (Qp& qp : qps)
    for (int i = 0; i < 2; i++)
      Must(qp.Post(SendWr::Write(0, all, Remote{0x1000, 1}).Unsignaled()));
  (void)!write(ready, "", 1);
  pause();
}

uint64_t PacketsSent() {
  uint64_t packets = 0;
  std::ifstream("/sys/class/infiniband/" + DeviceA() + "/ports/1/hw_counters/sent_pkts") >> packets;
  return packets;
}

TEST_P(HostileVerbs, QpsThatNeverEndCanBeKilled) {
  const int count = 64;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    StreamForEver(count, ready[1]);
    _exit(1);
  }
  ASSERT_GT(child, 0);
  close(ready[1]);
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  const uint64_t before = PacketsSent();
  for (const auto limit = Clock::now() + Patience(5000);
       PacketsSent() == before && Clock::now() < limit;)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_GT(PacketsSent(), before);
  const auto began = Clock::now();
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  const auto took = duration_cast<milliseconds>(Clock::now() - began);
  std::printf("# %d QPs that never end were destroyed in %ld ms\n", count,
              static_cast<long>(took.count()));
  EXPECT_LT(took, Patience(15000));
  Exchange();
}

// A program's tail that runs ahead of the flush: without a doorbell it gets what the queue held.
TEST_P(HostileVerbs, FlushWithoutDoorbellsEnds) {
  const int depth = 1024;
  Cq cq = Must(Cq::Create(a_.ctx, 8 * depth));
  const std::vector<Mapping> before = MappedQueues();
  Qp qp = Must(Qp::Create(a_.pd, cq, cq, {.max_send_wr = depth, .max_recv_wr = depth}));
  const std::vector<Mapping> queues = Added(before, MappedQueues());
  ASSERT_EQ(queues.size(), 1u);
  Must(ConnectTo(qp, a_.port, a_.port.gid, qp.num(), 0, 0, {}));
  uint32_t* const tail = &queues[0].qp_page()->rq_tail;
  {
    const Loop moves([&] {
      __atomic_fetch_add(tail, depth, __ATOMIC_RELEASE);
      std::this_thread::yield();
    });
    while (!__atomic_load_n(tail, __ATOMIC_ACQUIRE)) std::this_thread::yield();
    Must(qp.ModifyState(IBV_QPS_ERR));
    int flushed = 0;
    for (const auto end = Clock::now() + LoadTime(); Clock::now() < end;)
      if (cq.Poll()) flushed++;
    std::printf("# %d WQEs were flushed without a doorbell\n", flushed);
    EXPECT_GE(flushed, depth);
    // Both queues, whichever of them moved, and the round in which the program was told to ring.
    const int round = 64;  // SRN_ROUND_BUDGET
    EXPECT_LE(flushed, 2 * depth + round);
    RingAll();
    EXPECT_TRUE(cq.Poll());
  }
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

// Neither half a change of a SRQ nor one that can't be told of is one.
TEST_P(HostileVerbs, StepsOfASrqThatFailLeaveTheRing) {
  Srq srq = Must(Srq::Create(a_.pd, 64));
  Must(srq.Post(RecvWr(1, {a_.mr.Slice(0, 8)})));
  const RawSrqStep blind(a_.ctx, srq, /*fails=*/true), step(a_.ctx, srq);
  EXPECT_EQ(blind.Call(SRN_MODIFY_SRQ_RING, 128), EFAULT);
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_MOVE, 128), EINVAL);
  EXPECT_EQ(step.CallAsOld(128), EINVAL);
  EXPECT_EQ(step.Call(0, 128), EINVAL);
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_RING | SRN_MODIFY_SRQ_MOVE, 128), EINVAL);
  EXPECT_EQ(step.Call(4, 128), EOPNOTSUPP);
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_RING, 0, IBV_SRQ_LIMIT), EINVAL);
  // Another size than that of the ring that was made, which is gone then.
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_RING, 128), 0);
  EXPECT_EQ(step.answer()->entries, 128u);
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_MOVE, 256), EINVAL);
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_MOVE, 128), EINVAL);
  EXPECT_EQ(Must(srq.Query()).max_wr, 64u);
  End from = End::Create(a_), to = End::Create(a_, {.srq = &srq});
  Must(Connect(from.qp, a_.port, to.qp, a_.port));
  Must(from.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 8))));
  EXPECT_EQ(Await(to.recv_cq).wr_id, 1u);
  // The one that nobody goes over to goes with the queue.
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_RING, 128), 0);
  EXPECT_EQ(step.Call(SRN_MODIFY_SRQ_RING, 4096), 0);
}

// The ring that a SRQ has now, and that it will have, as a program sees them that changes its size
// by itself.
class WildRing {
 public:
  WildRing(const Context& ctx, const Srq& srq) : ctx_(ctx), step_(ctx, srq) {}
  ~WildRing() { Take({}); }

  int Resize(uint32_t entries) {
    if (const int error = step_.Call(SRN_MODIFY_SRQ_RING, entries)) return error;
    const srn_modify_srq_resp& made = *step_.answer();
    void* start = mmap(nullptr, made.mmap_len, PROT_READ | PROT_WRITE, MAP_SHARED,
                       ctx_.get()->cmd_fd, static_cast<off_t>(made.mmap_offset));
    if (start == MAP_FAILED) return errno;
    const int error = step_.Call(SRN_MODIFY_SRQ_MOVE, entries);
    if (error) {
      munmap(start, made.mmap_len);
    } else {
      Take({reinterpret_cast<uint64_t>(start), made.mmap_len});
    }
    return error;
  }
  void SetTail(uint32_t tail) {
    const std::lock_guard guard(lock_);
    if (now_.size) {
      __atomic_store_n(&reinterpret_cast<srn_srq_page*>(now_.start)->tail, tail, __ATOMIC_RELEASE);
    }
  }

 private:
  void Take(Mapping next) {
    const std::lock_guard guard(lock_);
    if (now_.size) munmap(now_.data(), now_.size);
    now_ = next;
  }

  const Context& ctx_;
  const RawSrqStep step_;
  std::mutex lock_;
  Mapping now_ = {};
};

// Its tail runs wild while it is copied: nobody else minds, and what comes of it is an errno.
TEST_P(HostileVerbs, SrqIsResizedWhileItsTailIsGarbage) {
  const double alone = SpeedAlone();
  const Delay window("srq_copied", 1);
  const Srq srq = Must(Srq::Create(a_.pd, 1024));
  WildRing ring(a_.ctx, srq);
  ASSERT_EQ(ring.Resize(4096), 0);
  uint64_t done = 0;
  {
    const Loop writes([&, word = 0u]() mutable {
      word++;
      ring.SetTail(word % 7 ? word * 97 % 1024 : word * 0x9e3779b9);
    });
    const Loop resizes([&] {
      const int error = ring.Resize(done % 2 ? 4096 : 1024);
      EXPECT_TRUE(error == 0 || error == EINVAL || error == EAGAIN) << error;
      done += error == 0;
    });
    ExpectOthersGoOn("resize of a SRQ whose tail is garbage", alone);
  }
  EXPECT_GT(done, 0u);
}

// More receives than are copied under the lock, in a ring from which they are taken meanwhile.
TEST_P(HostileVerbs, ReceivesAreTakenWhileASrqIsCopied) {
  constexpr uint64_t kPosted = 600;  // more than is copied with the queue locked
  Srq srq = Must(Srq::Create(a_.pd, 1024));
  End from = End::Create(a_), to = End::Create(a_, {.srq = &srq});
  Must(Connect(from.qp, a_.port, to.qp, a_.port));
  for (uint64_t id = 0; id < kPosted; id++) Must(srq.Post(RecvWr(id, {a_.mr.Slice(0, 8)})));
  uint64_t received = 0;
  auto receive_to = [&](uint64_t end) {
    for (; received < end; received++) {
      Must(from.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 8))));
      ASSERT_EQ(Await(to.recv_cq).wr_id, received);
      EXPECT_EQ(Await(from.send_cq).status, IBV_WC_SUCCESS);
    }
  };
  const Delay window("srq_copied", 1000);
  Clock::time_point resized;
  std::jthread resizes([&] {
    Must(srq.Resize(4096));
    resized = Clock::now();
  });
  // Into the copying, most likely; before it, nothing is seen.
  std::this_thread::sleep_for(milliseconds(100));
  receive_to(3);
  const Clock::time_point came = Clock::now();
  resizes.join();
  if (window.works()) {
    EXPECT_GT(resized - came, milliseconds(200));
  }
  Must(srq.Post(RecvWr(kPosted, {a_.mr.Slice(0, 8)})));
  receive_to(kPosted + 1);
}

INSTANTIATE_TEST_SUITE_P(Ip, HostileVerbs, testing::Values(Ip::kV4), IpName);

}  // namespace
}  // namespace verbs_test
