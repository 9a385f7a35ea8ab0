// SPDX-License-Identifier: GPL-2.0-only
// What connections leave each other, by what they have to send: small messages beside large ones,
// and a connection's own requests beside the answers to its peer's READs.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "dumbbell.h"

namespace verbs_test {
namespace {

constexpr double kHeaders = 14 + 20 + 8 + 12 + 4;
constexpr double kReth = 16;

class Beside : public Dumbbell {
 protected:
  void SetUp() override {
    Dumbbell::SetUp();
    Set("cc", "always");
    MarkingWire();
  }
  void TearDown() override { Set("cc", "dcqcn"); }
};

// Of what is on the wire, of which a rate is one: frames are counted with their headers, of which
// small messages have more. The goal is 0.9 to 1.1, and it has that; but runs differ: the upper one
// is a bound against becoming worse. (With an rp_ai_rate of 2 it was 1.26. Where each mark on a
// short packet is told of it is 0.32; where of so many bytes of them one is, in turn and not by
// lot, 0.76 to 0.85.)
TEST_F(Beside, SmallMessagesHaveTheirPart) {
  constexpr uint32_t kSmall = 256, kLarge = 4096, kMtu = 1024;
  constexpr int kOthers = 3;
  constexpr double kLeast = 0.9, kRegression = 1.2;
  std::vector<Host> last;
  last.push_back(std::move(from_.back()));
  from_.pop_back();
  Flows large(from_, to_, {.count = kOthers, .message = kLarge, .depth = 64});
  Flows small(last, to_, {.count = 1, .message = kSmall, .depth = 256});
  small.Start();
  large.Start();
  const auto go_on = [&] {
    while (small.Poll()) continue;
    return false;
  };
  RunUntil(large, 2, go_on);
  const uint64_t before = small.bytes()[0];
  const Course course = RunUntil(large, 4, go_on);
  const double ours = (small.bytes()[0] - before) * (kSmall + kHeaders + kReth) / kSmall;
  const double frames = kLarge + kLarge / kMtu * kHeaders + kReth;
  double theirs = 0;
  for (uint64_t bytes : course.bytes) theirs += bytes * frames / kLarge / kOthers;
  printf("# 256 B beside %d of 4 KiB: %.3f of what each of these has, %.3f of the wire in all\n",
         kOthers, ours / theirs, course.Rate() / kWire);
  EXPECT_EQ(small.errors() + large.errors(), 0);
  EXPECT_GE(ours / theirs, kLeast);
  EXPECT_LE(ours / theirs, kRegression);
}

// What limits both: a queue that marks, of which one pace is the answer; one that drops, of which
// each end's window is; or nothing but the hosts.
enum class Limit { kMarks, kDrops, kHosts };

const char* ToString(Limit limit) {
  return limit == Limit::kMarks ? "Marks" : limit == Limit::kDrops ? "Drops" : "Hosts";
}

// One connection, both ways: what its end here sends is SENDs, and what the other end READs.
class OwnRequests : public Beside, public testing::WithParamInterface<Limit> {
 protected:
  static constexpr uint32_t kSend = 16 << 10, kRead = 1 << 20;
  static constexpr int kSends = 32, kReads = 16;
  static constexpr uint64_t kIsRead = 1;

  void Connect() {
    Host& from = from_[0];
    from_cq_ = Must(Cq::Create(from.ctx, 256));
    to_cq_ = Must(Cq::Create(to_.ctx, 256));
    const Qp::Options options = {.max_send_wr = 64, .max_recv_wr = 2 * kSends};
    from_qp_ = Must(Qp::Create(from.pd, from_cq_, from_cq_, options));
    to_qp_ = Must(Qp::Create(to_.pd, to_cq_, to_cq_, options));
    Must(verbs::Connect(from_qp_, from.port, to_qp_, to_.port, {.timeout = 17, .rd_atomic = 16}));
    for (int i = 0; i < 2 * kSends; ++i) Receive();
    for (int i = 0; i < kReads; ++i) Read();
    for (int i = 0; i < kSends; ++i) Send();
  }
  void Receive() { Must(to_qp_.Post(RecvWr(0, {to_.mr.Slice(0, kSend)}))); }
  void Send() { Must(from_qp_.Post(SendWr::Send(0, from_[0].mr.Slice(0, kSend)))); }
  void Read() {
    Must(to_qp_.Post(SendWr::Read(kIsRead, to_.mr.Slice(0, kRead), from_[0].mr.At(0))));
  }

  // Takes what is done, and posts as much again. Return: whether something was.
  bool Poll() {
    bool any = false;
    for (const Cq* cq : {&from_cq_, &to_cq_})
      while (const auto wc = cq->Poll()) {
        any = true;
        EXPECT_EQ(wc->status, IBV_WC_SUCCESS);
        if (wc->status != IBV_WC_SUCCESS) throw SetupFailure("the connection has failed");
        if (wc->opcode == IBV_WC_RECV) {
          Receive();
        } else if (wc->wr_id == kIsRead) {
          read_ += kRead;
          Read();
        } else {
          sent_ += kSend;
          Send();
        }
      }
    return any;
  }
  void RunFor(double seconds) {
    const double end = Now() + seconds;
    while (Now() < end)
      if (!Poll()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  Cq from_cq_, to_cq_;
  Qp from_qp_, to_qp_;
  uint64_t sent_ = 0, read_ = 0;
};

// READs have a part as well. Where a queue drops SENDs had 0.62 in two runs (0.25 to 0.28 while of
// a READ the first response alone told how long the queue is): READs may have somewhat less, since
// what is timed of them is always behind a whole request of their own.
TEST_P(OwnRequests, HaveTheirPartBesideReads) {
  constexpr double kSeconds = 1.5, kGoal = 0.4, kLeastOfReads = 0.3;
  if (GetParam() == Limit::kDrops) Wire("bfifo limit 200000");
  if (GetParam() == Limit::kHosts) Shell("tc -n router qdisc replace dev out root noqueue");
  Connect();
  RunFor(0.5);
  sent_ = read_ = 0;
  RunFor(kSeconds);
  const double part = static_cast<double>(sent_) / static_cast<double>(sent_ + read_);
  printf("# SENDs beside a peer's READs, limited by %s: %.3f of %.1f MB/s\n", ToString(GetParam()),
         part, (sent_ + read_) / kSeconds / 1e6);
  EXPECT_GE(part, kGoal);
  EXPECT_GE(1 - part, GetParam() == Limit::kDrops ? kLeastOfReads : kGoal);
}
INSTANTIATE_TEST_SUITE_P(By, OwnRequests,
                         testing::Values(Limit::kMarks, Limit::kDrops, Limit::kHosts),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace verbs_test
