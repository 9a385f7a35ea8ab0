// SPDX-License-Identifier: GPL-2.0-only
// A hostile program writes garbage to every word that is mapped into it, while
// others, in the same process and in another one, go on exchanging data.
//
// The hostile program is a child: it opens the device itself, and leaves by
// _exit(), so that no provider code walks the queues it has destroyed.
#include "hostile_ring.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include <share/seed.h>

#include "env.h"

namespace verbs_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kGuard = 64 << 10;
constexpr uint8_t kUntouched = 0xee;

// QPs of every type with queues of their own, in a protection domain of their
// own, ready to send.
struct Target {
  Cq cq;
  Srq srq;
  std::vector<Qp> qps;
  std::vector<Mapping> queues;

  // Handles are given up: only the kernel may clean up behind a vandal.
  void Abandon() {
    for (Qp& qp : qps) (void)qp.Release();
    (void)srq.Release();
    (void)cq.Release();
  }
};

Target MakeTarget(const Host& host, const Pd& pd) {
  const std::vector<Mapping> before = MappedQueues();
  Target t;
  t.cq = Must(Cq::Create(host.ctx, 64));
  t.srq = Must(Srq::Create(pd, 32, 2));
  auto create = [&](ibv_qp_type type, const Srq* srq) -> Qp& {
    t.qps.push_back(Must(Qp::Create(pd, t.cq, t.cq, {.type = type, .max_inline = 64, .srq = srq})));
    return t.qps.back();
  };
  t.qps.reserve(7);
  for (ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    Qp& one = create(type, nullptr);
    Qp& two = create(type, nullptr);
    Must(Connect(one, host.port, two, host.port, {.timeout = 8, .retry_cnt = 1, .rnr_retry = 1}));
  }
  Qp& shared = create(IBV_QPT_RC, &t.srq);
  Must(ConnectTo(shared, host.port, host.port.gid, shared.num(), 0, 0, {.timeout = 8}));
  Must(BringUpUd(create(IBV_QPT_UD, nullptr), host.port, 0x11));
  t.queues = Added(before, MappedQueues());
  return t;
}

// The hostile program, and two QPs of the same process that must not notice.
class Hostile {
 public:
  explicit Hostile(uint32_t seed)
      : x_(Host::Open(DeviceA(), Ip::kV4, 256 << 10)),
        y_(Host::Open(DeviceB(), Ip::kV4, 256 << 10)),
        good_{End::Create(x_), End::Create(y_)},
        memory_(Must(Buffer::Map(3 * kGuard))),
        pd_(Must(Pd::Create(x_.ctx))),
        mr_(Must(Mr::Register(pd_, memory_.Slice(kGuard, kGuard)))),
        mw_(Must(Mw::Create(pd_, IBV_MW_TYPE_2))),
        vandal_(seed, TakeLoot()) {
    Must(Connect(good_.a.qp, x_.port, good_.b.qp, y_.port));
    Fill(memory_.bytes(), kUntouched);
    FillPattern(x_.buffer.bytes(), 1);
    FillPattern(y_.buffer.bytes(), 2);
    doorbells_ = DoorbellFds();
  }

  const std::vector<int>& doorbells() const { return doorbells_; }
  Vandal& vandal() { return vandal_; }
  Target NewTarget() { return MakeTarget(x_, pd_); }

  void Ring() {
    for (int fd : doorbells_) {
      EXPECT_EQ(ioctl(fd, SRN_IOC_DOORBELL, uint64_t{0xffffffff}), 0);
      const uint64_t arg = uint64_t{vandal_.Edge()} << 32 | vandal_.Word();
      EXPECT_EQ(ioctl(fd, SRN_IOC_DOORBELL, arg), 0);
    }
  }
  void Vandalise(const Target& target) {
    for (const Mapping& queue : target.queues) {
      switch (vandal_.Word() % 7) {
        case 0:
          vandal_.Scribble(queue);
          break;
        case 1:
          vandal_.Flood(queue, vandal_.Word() % 2 ? ~0u : 0);
          break;
        case 2:
          vandal_.Sprinkle(queue, 50);
          break;
        case 3:
          vandal_.ShiftIndices(queue);
          break;
        default:
          vandal_.ForgeWqes(queue);
      }
    }
    Ring();
  }
  // The neighbours work, and nothing outside the vandal's region changed.
  void ExpectOthersUnharmed() {
    ExpectWorks(x_, good_.a, y_, good_.b);
    ExpectWorks(y_, good_.b, x_, good_.a);
    ExpectAll(memory_.Slice(0, kGuard), kUntouched);
    ExpectAll(memory_.Slice(2 * kGuard, kGuard), kUntouched);
    // The health checks use the last bytes only.
    const size_t part = x_.buffer.size() / 2;
    ExpectPattern(x_.buffer.Slice(0, part), 1);
    ExpectPattern(y_.buffer.Slice(0, part), 2);
  }

 private:
  Loot TakeLoot() const {
    return {.remotes = {mr_.At(0),
                        mr_.At(kGuard - 64),
                        x_.mr.At(0),
                        y_.mr.At(0),
                        {0, 0},
                        {mr_.At(0).addr, mw_->rkey}},
            .sges = {mr_.Slice(0, 64), mr_.Slice(100, 5000), x_.mr.Slice(0, 64), y_.mr.Slice(0, 64),
                     mr_.Slice(kGuard - 100, 200)},
            .qpns = {good_.a.qp.num(), good_.b.qp.num(), 0, 1, 0xffffff}};
  }

  Host x_, y_;
  Pair good_;
  Buffer memory_;
  Pd pd_;
  Mr mr_;
  Mw mw_;
  Vandal vandal_;
  std::vector<int> doorbells_;
};

// Runs `body` in a child. Failures are printed there; its status tells them.
pid_t Spawn(const std::function<void()>& body) {
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid != 0) return pid;
  try {
    body();
  } catch (const SetupFailure& failure) {
    ADD_FAILURE() << failure.what();
  }
  std::fflush(nullptr);
  _exit(testing::Test::HasFailure());
}

// Runs `body` in a child to its end, which must be a good one.
void RunInChild(
    const std::function<void()>& body, const std::function<void()>& meanwhile = [] {}) {
  pid_t pid = Spawn(body);
  ASSERT_GE(pid, 0);
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the hostile program saw a failure";
}

class HostileRing : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    if (DoorbellFds().empty())
      SRN_SKIP_FOREIGN() << DeviceA() << " has no doorbell descriptor: not srn";
    pair_ = Connected();
  }
  // Traffic of this process, the other one.
  void Exchange() {
    ExpectWorks(a_, pair_.a, b_, pair_.b);
    ExpectWorks(b_, pair_.b, a_, pair_.a);
    exchanges_++;
  }

  Pair pair_;
  int exchanges_ = 0;
};

TEST_P(HostileRing, QueuesAndDoorbellAreFound) {
  // What the other tests stand on.
  RunInChild([] {
    Hostile hostile(1);
    Target target = hostile.NewTarget();
    // A CQ, a SRQ and six QPs, each a mapping of more than its control block.
    EXPECT_EQ(target.queues.size(), 8u);
    for (const Mapping& queue : target.queues) EXPECT_GT(queue.size, size_t{SRN_QUEUE_OFFSET});
    EXPECT_GE(hostile.doorbells().size(), 2u);
    hostile.ExpectOthersUnharmed();
    target.Abandon();
  });
}

// Of thousands of connections, what each takes counts.
TEST_P(HostileRing, SmallQueuesAreOnePage) {
  RunInChild([] {
    const Host host = Host::Open(DeviceA(), Ip::kV4, 4096);
    const std::vector<Mapping> before = MappedQueues();
    const Cq cq = Must(Cq::Create(host.ctx, 32));
    const Qp::Options options = {
        .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1};
    const Qp qp = Must(Qp::Create(host.pd, cq, cq, options));
    const std::vector<Mapping> queues = Added(before, MappedQueues());
    ASSERT_EQ(queues.size(), 2u);
    for (const Mapping& queue : queues) EXPECT_EQ(queue.size, size_t{4096});
  });
}

TEST_P(HostileRing, ForgedWqesOfTheVandalReallyRun) {
  // Else the garbage below might never be looked at.
  RunInChild([] {
    Host host = Host::Open(DeviceA(), Ip::kV4, 64 << 10);
    const std::vector<Mapping> before = MappedQueues();
    Qp qp;
    Cq cq = Must(Cq::Create(host.ctx, 16));
    const std::vector<Mapping> with_cq = MappedQueues();
    qp = Must(Qp::Create(host.pd, cq, cq, {.max_send_wr = 1}));
    Must(ConnectTo(qp, host.port, host.port.gid, qp.num(), 0, 0, {}));
    std::vector<Mapping> queues = Added(with_cq, MappedQueues());
    ASSERT_EQ(queues.size(), 1u);

    const Remote to = host.mr.At(4096);
    srn_send_wqe wqe = {};
    wqe.wr_id = 77;
    wqe.opcode = IBV_WR_RDMA_WRITE;
    wqe.flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    wqe.inline_len = 0;
    wqe.rdma.remote_addr = to.addr;
    wqe.rdma.rkey = to.rkey;
    std::memcpy(queues[0].data() + SRN_QUEUE_OFFSET, &wqe, sizeof(wqe));
    __atomic_store_n(&queues[0].qp_page()->sq_tail, 1, __ATOMIC_SEQ_CST);
    for (int fd : DoorbellFds()) EXPECT_EQ(ioctl(fd, SRN_IOC_DOORBELL, uint64_t{0xffffffff}), 0);
    ibv_wc wc = Await(cq);
    EXPECT_EQ(wc.wr_id, 77u);
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    (void)qp.Release();
    (void)cq.Release();
  });
}

TEST_P(HostileRing, GarbageInEveryMappedWordHarmsNobodyElse) {
  RunInChild(
      [] {
        const uint64_t first = share::SeedOfTest();
        for (uint32_t i = 0; i < 8; i++) {
          Hostile hostile(static_cast<uint32_t>(first + i));
          for (int generation = 0; generation < 15; generation++) {
            Target target = hostile.NewTarget();
            for (int round = 0; round < 6; round++) {
              hostile.Vandalise(target);
              if (round == 2) hostile.ExpectOthersUnharmed();
            }
            target.Abandon();
          }
          hostile.ExpectOthersUnharmed();
          if (testing::Test::HasFailure()) return;
        }
      },
      [this] { Exchange(); });
  EXPECT_GT(exchanges_, 10);
  Exchange();
}

TEST_P(HostileRing, WordsThatChangeWhileTheKernelReadsThemHarmNobodyElse) {
  RunInChild(
      [] {
        Hostile hostile(99);
        for (int generation = 0; generation < 6; generation++) {
          Target target = hostile.NewTarget();
          std::jthread scribbler([&](const std::stop_token& stop) {
            Vandal other(generation, {.remotes = {{0, 0}}, .sges = {{0, 64, 0}}, .qpns = {1}});
            while (!stop.stop_requested())
              for (const Mapping& queue : target.queues) other.Sprinkle(queue, 200);
          });
          for (int round = 0; round < 40; round++) {
            for (const Mapping& queue : target.queues) hostile.vandal().ForgeWqes(queue);
            hostile.Ring();
          }
          scribbler.request_stop();
          scribbler.join();
          hostile.ExpectOthersUnharmed();
          target.Abandon();
        }
      },
      [this] { Exchange(); });
  Exchange();
}

TEST_P(HostileRing, UnmappedQueuesHarmNobodyElse) {
  RunInChild(
      [] {
        Hostile hostile(5);
        for (int round = 0; round < 10; round++) {
          Target target = hostile.NewTarget();
          hostile.Vandalise(target);
          for (const Mapping& queue : target.queues) EXPECT_EQ(munmap(queue.data(), queue.size), 0);
          hostile.Ring();
          hostile.ExpectOthersUnharmed();
          target.Abandon();
        }
      },
      [this] { Exchange(); });
  Exchange();
}

TEST_P(HostileRing, VandalKilledInTheMiddleIsCleanedUp) {
  const uint64_t first = share::SeedOfTest();
  for (uint32_t i = 0; i < 5; i++) {
    pid_t pid = Spawn([first, i] {
      Hostile hostile(static_cast<uint32_t>(first + i));
      Target target = hostile.NewTarget();
      for (;;) hostile.Vandalise(target);
    });
    ASSERT_GE(pid, 0);
    const auto end = Clock::now() + Patience(300);
    while (Clock::now() < end) Exchange();
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << "ended by itself: " << status;
    Exchange();
  }
}

TEST_P(HostileRing, DoorbellTakesAnyArgument) {
  std::mt19937_64 random(share::SeedOfTest());
  for (int fd : DoorbellFds()) {
    for (int i = 0; i < 2000; i++) EXPECT_EQ(ioctl(fd, SRN_IOC_DOORBELL, random()), 0);
    EXPECT_EQ(ioctl(fd, SRN_IOC_DOORBELL, ~uint64_t{0}), 0);
  }
  Exchange();
}

TEST_P(HostileRing, DoorbellKnowsNothingElse) {
  std::byte bytes[16] = {};
  for (int fd : DoorbellFds()) {
    for (unsigned long command : {0ul, 1ul, SRN_IOC_DOORBELL + 1ul, 0x5401ul, 0xfffffffful}) {
      EXPECT_EQ(ioctl(fd, command, bytes), -1);
      EXPECT_TRUE(errno == EINVAL || errno == ENOTTY) << errno;
    }
    EXPECT_EQ(read(fd, bytes, sizeof(bytes)), -1);
    EXPECT_EQ(write(fd, bytes, sizeof(bytes)), -1);
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
  }
  Exchange();
}

TEST_P(HostileRing, OnlyOwnQueuesCanBeMapped) {
  const int fd = a_.ctx->cmd_fd;
  std::mt19937_64 random(share::SeedOfTest());
  auto map = [&](size_t size, off_t offset) {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  };
  // Far from anything that has been given out.
  for (int i = 0; i < 500; i++) {
    const off_t offset = (random() | uint64_t{1} << 40) & 0x7ffffffffffff000;
    EXPECT_EQ(map(4096, offset), MAP_FAILED) << offset;
  }
  // Near: a queue may be found, but never more than the queue.
  for (off_t offset = 0; offset < 64 * 4096; offset += 4096) {
    EXPECT_EQ(map(size_t{1} << 30, offset), MAP_FAILED) << offset;
    void* p = map(4096, offset);
    if (p != MAP_FAILED) munmap(p, 4096);
  }
  Exchange();
}

SRN_OVER_BOTH_IP(HostileRing);

}  // namespace
}  // namespace verbs_test
