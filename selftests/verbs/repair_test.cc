// SPDX-License-Identifier: GPL-2.0-only
// How long it takes until what one loss was is repaired: whatever is lost, and at whatever position
// of a message of 64 packets, which fits into the window. What a message takes beside what it
// takes where nothing is lost, in round trips of the wire.
#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <share/parameter.h>

#include "ambush.h"
#include "dumbbell.h"

namespace verbs_test {
namespace {

constexpr int kPackets = 64;
constexpr uint32_t kMtu = 1024;
constexpr uint32_t kLength = kPackets * kMtu;
constexpr uint32_t kShort = 8;
// First PSNs of the first connection, which wraps in the measured message; and from one to the
// next, so that nothing takes what the former one left on the wire.
constexpr uint32_t kPsn = 0xffff00;
constexpr uint32_t kPsnStep = 0x3000;
constexpr uint32_t kPsnMask = 0xffffff;
constexpr int kTail = 3;  // positions at the end with fewer than three packets behind
constexpr int kDepth = 16;

struct Path {
  const char* recovery;
  int rtt;  // us
};

void PrintTo(const Path& path, std::ostream* os) { *os << path.recovery << path.rtt << "us"; }

// What a kind of loss may cost: round trips, and milliseconds beside them.
struct Cost {
  double rtts, ms;
};
constexpr Cost kInside{2.5, 0}, kAtTheEnd{3, 1}, kTwice{6, 0}, kTwiceAtTheEnd{6, 2};

class Repair : public testing::TestWithParam<Path> {
 protected:
  void SetUp() override {
    a_ = Host::Open(DeviceA(), Ip::kV4, 2 * kLength);
    b_ = Host::Open(DeviceB(), Ip::kV4, 2 * kLength);
    ASSERT_TRUE(share::SetParameter("recovery", GetParam().recovery));
    a_end_ = Stamped();
    b_end_ = End::Create(b_);
    const std::string delay = std::to_string(GetParam().rtt / 2) + "us";
    Shell("tc qdisc replace dev va root netem limit 10000 delay " + delay);
    Shell("tc -n peer qdisc replace dev vb root netem limit 10000 delay " + delay);
    Renew();
    rtt_ = BestShort();
    plain_ = Best(false);
    plain_read_ = Best(true);
    std::printf("# %s, RTT %.2f ms: a WRITE takes %.2f, a READ %.2f RTTs where nothing is lost\n",
                GetParam().recovery, rtt_ * 1e3, plain_ / Rtt(), plain_read_ / Rtt());
    EXPECT_LT(rtt_, GetParam().rtt * 1e-6 + 0.2e-3);
    EXPECT_LT(plain_, 2 * Rtt());
    EXPECT_LT(plain_read_, 2 * Rtt());
  }
  void TearDown() override {
    for (const auto& [what, worst] : worst_)
      std::printf("# %s: %.2f RTTs%s at most, %.2f of them allowed (position %d)\n", what.c_str(),
                  worst.took / Rtt(), worst.ms ? " (and 1 ms)" : "", worst.allowed / Rtt(),
                  worst.position);
    Shell("tc qdisc del dev va root");
    Shell("tc -n peer qdisc del dev vb root");
  }

  // What a short message takes: the wire's, and what both ends do.
  double Rtt() const { return rtt_; }
  bool Sacks() const { return std::string(GetParam().recovery) == "sack"; }

  // Its completions say when they came.
  End Stamped() {
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 4 * kDepth;
    attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    stamped_ = ibv_create_cq_ex(a_.ctx.get(), &attr);
    if (!stamped_) throw SetupFailure("no CQ with timestamps");
    End end{Cq(ibv_cq_ex_to_cq(stamped_)), Must(Cq::Create(a_.ctx, 1)), {}};
    end.qp = Must(Qp::Create(a_.pd, end.send_cq, end.recv_cq, {.max_send_wr = 4 * kDepth}));
    return end;
  }

  // A connection that knows its peer and the path, whose window takes the whole message.
  void Renew() {
    Must(a_end_.qp.ModifyState(IBV_QPS_RESET));
    Must(b_end_.qp.ModifyState(IBV_QPS_RESET));
    next_ = psn_ = (psn_ + kPsnStep) & kPsnMask;
    Must(Connect(
        a_end_.qp, a_.port, b_end_.qp, b_.port,
        {.mtu = IBV_MTU_1024, .timeout = 18, .rd_atomic = 16, .psn_a = psn_, .psn_b = psn_}));
    for (const int packets : {1, 1, 16, 30, 60, 64, 64}) {
      Post(packets * kMtu, false);
      Done();
    }
    Post(kLength, true);
    Done();
  }

  void Post(uint32_t length, bool read) {
    const auto here = a_.mr.Slice(0, length);
    Must(a_end_.qp.Post(read ? SendWr::Read(0, here, b_.mr.At(0))
                             : SendWr::Write(0, here, b_.mr.At(0))));
    next_ = (next_ + (length + kMtu - 1) / kMtu) & kPsnMask;
  }

  // When the next completion came, in seconds, by the device. The CPU, whose instructions are the
  // clock, is not kept busy.
  double Done() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    ibv_poll_cq_attr poll = {};
    while (ibv_start_poll(stamped_, &poll)) {
      if (std::chrono::steady_clock::now() > end) throw SetupFailure("no completion");
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    EXPECT_EQ(stamped_->status, IBV_WC_SUCCESS);
    const double at = ibv_wc_read_completion_ts(stamped_) * 1e-9;
    ibv_end_poll(stamped_);
    return at;
  }

  static double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  // The message, and so many short ones behind it. Return: how long all of it took.
  double Message(bool read, int behind) {
    const double begin = Now();
    Post(kLength, read);
    for (int i = 0; i < behind; ++i) Post(kShort, false);
    double end = 0;
    for (int i = 0; i <= behind; ++i) end = Done();
    return end - begin;
  }

  double BestShort() {
    double best = 1;
    for (int i = 0; i < 5; ++i) {
      const double begin = Now();
      Post(kShort, false);
      best = std::min(best, Done() - begin);
    }
    return best;
  }
  double Best(bool read) {
    double best = 1;
    for (int i = 0; i < 5; ++i) best = std::min(best, Message(read, 0));
    return best;
  }

  struct Loss {
    Prey prey;
    int position = -1;  // of the message; -1: any
    uint32_t times = 1;
    uint32_t skip = 0;
  };

  // What these losses cost a message of a connection of its own. Return: whether all of them were
  // met.
  bool Costs(const std::string& what, bool read, int behind, const std::vector<Loss>& losses,
             const Cost& cost) {
    Renew();
    const uint32_t first = next_;
    const auto psn = [&](const Loss& loss) {
      return loss.position < 0 ? Ambush::kAnyPsn : (first + loss.position) & kPsnMask;
    };
    for (const Loss& loss : losses) Where(loss).Lose(loss.prey, psn(loss), loss.times, loss.skip);
    const double took = Message(read, behind);
    bool met = true;
    for (const Loss& loss : losses) met &= Where(loss).Lost(loss.prey, psn(loss)) == loss.times;
    if (!met) return false;
    const double extra = took - (read ? plain_read_ : plain_);
    const double allowed = cost.rtts * Rtt() + cost.ms * 1e-3;
    EXPECT_LE(extra, allowed) << what << ", position " << losses.front().position << ": "
                              << extra / Rtt() << " RTTs";
    Worst& worst = worst_[what];
    if (extra > worst.took) worst = {extra, allowed, cost.ms > 0, losses.front().position};
    return true;
  }
  Ambush& Where(const Loss& loss) {
    return loss.prey == Prey::kRequest || loss.prey == Prey::kReadRequest ? to_b_ : to_a_;
  }

 private:
  struct Worst {
    double took = -1, allowed = 0;
    bool ms = false;
    int position = 0;
  };

  const share::ScopedParameter recovery_{"recovery"};
  Host a_, b_;
  End a_end_, b_end_;
  ibv_cq_ex* stamped_ = nullptr;
  Ambush to_a_{"", "va"}, to_b_{"peer", "vb"};
  uint32_t psn_ = (kPsn - kPsnStep) & kPsnMask;  // of this connection the first,
  uint32_t next_ = 0;                            // and that of the next packet
  double rtt_ = 0, plain_ = 0, plain_read_ = 0;
  std::map<std::string, Worst> worst_;
};

TEST_P(Repair, OfEachPacket) {
  for (int i = 0; i < kPackets; ++i) {
    const bool tail = i >= kPackets - kTail;
    EXPECT_TRUE(Costs(tail ? "data, at the end" : "data", false, 0, {{Prey::kRequest, i}},
                      tail ? kAtTheEnd : kInside));
  }
}

TEST_P(Repair, OfEachResponse) {
  for (int i = 0; i < kPackets; ++i) {
    const bool tail = i >= kPackets - kTail;
    EXPECT_TRUE(Costs(tail ? "READ response, at the end" : "READ response", true, 0,
                      {{Prey::kResponse, i}}, tail ? kAtTheEnd : kInside));
  }
}

TEST_P(Repair, OfTheReadRequest) {
  EXPECT_TRUE(Costs("READ request", true, 3, {{Prey::kReadRequest, 0}}, kInside));
  EXPECT_TRUE(Costs("READ request alone", true, 0, {{Prey::kReadRequest, 0}}, kAtTheEnd));
}

// Each of them, the first, the second and so on. The last one is what nothing comes behind.
TEST_P(Repair, OfEachAck) {
  uint32_t skip = 0;
  while (Costs("ACK", false, 0, {{.prey = Prey::kAck, .skip = skip}}, kAtTheEnd)) ++skip;
  EXPECT_GE(skip, 1u);
}

// What tells of a loss is lost as well: two in a row.
TEST_P(Repair, OfALossAndOfWhatTellsOfIt) {
  int met = 0;
  for (int i = 0; i < kPackets; i += 3) {
    const bool tail = i >= kPackets - kTail;
    for (uint32_t skip = 0; skip < 2; ++skip)
      met +=
          Costs(Sacks() ? "data and a SACK" : "data and the NAK", false, 0,
                {{Prey::kRequest, i}, {.prey = Sacks() ? Prey::kSack : Prey::kNak, .skip = skip}},
                tail ? kTwiceAtTheEnd : kTwice);
  }
  // The last one's tells of nothing, and where there is one NAK it is not lost as the second.
  EXPECT_GE(met, kPackets / 3 - 1);
}

TEST_P(Repair, OfTwoInARow) {
  for (int i = 0; i < kPackets - 1; i += 3) {
    const Cost& cost = i >= kPackets - kTail - 1 ? kTwiceAtTheEnd : kTwice;
    EXPECT_TRUE(
        Costs("two packets", false, 0, {{Prey::kRequest, i}, {Prey::kRequest, i + 1}}, cost));
    EXPECT_TRUE(Costs("two READ responses", true, 0,
                      {{Prey::kResponse, i}, {Prey::kResponse, i + 1}}, cost));
  }
}

TEST_P(Repair, OfTheSameTwice) {
  for (int i = 0; i < kPackets; i += 3) {
    const bool tail = i >= kPackets - kTail;
    const Cost& cost = tail ? kTwiceAtTheEnd : kTwice;
    EXPECT_TRUE(Costs(tail ? "data twice, at the end" : "data twice", false, 0,
                      {{.prey = Prey::kRequest, .position = i, .times = 2}}, cost));
    EXPECT_TRUE(Costs(tail ? "READ response twice, at the end" : "READ response twice", true, 0,
                      {{.prey = Prey::kResponse, .position = i, .times = 2}}, cost));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Repair,
                         testing::Values(Path{"sack", 1000}, Path{"hold", 1000},
                                         Path{"sack", 10000}, Path{"hold", 10000}),
                         [](const auto& info) { return testing::PrintToString(info.param); });

}  // namespace
}  // namespace verbs_test
