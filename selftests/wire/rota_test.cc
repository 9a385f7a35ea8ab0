// SPDX-License-Identifier: GPL-2.0-only
// Connections of one protection domain to one address take turns: so many have data out at a time
// (Documentation/wire.rst).
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <result/must.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

using result::Must;

constexpr int kPlaces = 16, kQps = kPlaces + 4;
constexpr uint32_t kMtu = 1024, kPackets = 2;
// PSNs of one and of the next begin so far from each other.
constexpr uint32_t kApart = 0x1000;

std::string Knob() { return "/sys/kernel/debug/srn/" + Wire::Get().config().device + "/rota"; }

bool Take(const char* turns) {
  std::ofstream file(Knob());
  return static_cast<bool>(file << turns << std::flush);
}

std::string Turns() {
  std::string turns;
  std::ifstream(Knob()) >> turns;
  return turns;
}

// The peer hears packets of all of them, and knows whose they are by their PSNs.
class Rota : public WireTest {
 protected:
  void SetUp() override {
    SRN_SKIP_LAX() << "others have no rota";
    Start();
    peer().IgnoreRules();
    before_ = Turns();
    ASSERT_TRUE(Take("always"));
    const verbs::Context& context = Wire::Get().context();
    buffer_ = Must(verbs::Buffer::Map(kPackets * kMtu));
    pd_ = Must(verbs::Pd::Create(context));
    mr_ = Must(verbs::Mr::Register(pd_, buffer_.bytes(), IBV_ACCESS_LOCAL_WRITE));
    cq_ = Must(verbs::Cq::Create(context, 4 * kQps));
    port_ = Must(context.FindPort(ToGid(peer().device_address())));
    for (int i = 0; i < kQps; ++i) AddQp();
  }
  void TearDown() override {
    if (before_.empty()) return;
    EXPECT_TRUE(Take(before_.c_str()));
  }

  void AddQp() {
    const auto i = static_cast<uint32_t>(qps_.size());
    qps_.push_back(Must(verbs::Qp::Create(pd_, cq_, cq_, {.sq_sig_all = true})));
    Must(verbs::ConnectTo(qps_.back(), port_, ToGid(Wire::Get().peer(peer().version())),
                          peer().qpn(), 0x500, i * kApart,
                          {.mtu = verbs::MtuOf(kMtu), .timeout = 20}));
  }
  void Post(int i, size_t length = kPackets * kMtu) {
    Must(qps_[static_cast<size_t>(i)].Post(
        SendWr::Send(static_cast<uint64_t>(i), mr_.Slice(0, length))));
  }
  void PostAll() {
    for (int i = 0; i < kQps; ++i) Post(i);
  }
  // All that `i` has sent, `num` packets, is there.
  void Answer(int i, uint32_t num = kPackets, uint32_t msn = 1) {
    Packet ack = Ack(static_cast<uint32_t>(i) * kApart + num - 1, msn);
    ack.bth.dqpn = qps_[static_cast<size_t>(i)].num();
    peer().Send(ack);
  }
  // Who sent what comes from now on until it is quiet.
  std::set<int> Senders() {
    std::set<int> senders;
    for (const Packet& packet : peer().Drain())
      senders.insert(static_cast<int>(packet.bth.psn / kApart));
    return senders;
  }
  static std::set<int> FromTo(int first, int last) {
    std::set<int> all;
    for (int i = first; i <= last; ++i) all.insert(i);
    return all;
  }

  std::string before_;
  verbs::Buffer buffer_;
  verbs::Pd pd_;
  verbs::Mr mr_;
  verbs::Cq cq_;
  verbs::Port port_;
  std::vector<verbs::Qp> qps_;
};
SRN_ANY_IP_VERSION(Rota);

TEST_P(Rota, SomeHaveDataOutAndWhoIsDoneWakesTheNext) {
  const Counters counters;
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kPlaces - 1));
  EXPECT_TRUE(counters.Grew("shift_waits", kQps - kPlaces));
  // In the order in which they asked, whoever makes room.
  for (int i = 0; i < kQps - kPlaces; ++i) {
    Answer(5 + i);
    EXPECT_EQ(Senders(), FromTo(kPlaces + i, kPlaces + i));
  }
}

// Half of a message is no reason to give up the place.
TEST_P(Rota, WhoHasDataOutKeepsItsPlace) {
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kPlaces - 1));
  Answer(5, 1, 0);
  EXPECT_EQ(Senders(), std::set<int>());
}

TEST_P(Rota, WhoWaitsForAnAnswerToSmallMessagesNeedsNone) {
  for (int i = 0; i < kPlaces; ++i) Post(i);
  EXPECT_EQ(Senders(), FromTo(0, kPlaces - 1));
  Post(kPlaces, 64);
  EXPECT_EQ(Senders(), FromTo(kPlaces, kPlaces));
  Post(kPlaces, 64);
  EXPECT_EQ(Senders(), std::set<int>());
  Answer(kPlaces, 1, 1);
  EXPECT_EQ(Senders(), FromTo(kPlaces, kPlaces));
}

// By whatever way a connection ends, its place is another's.
TEST_P(Rota, WhoEndsWakesTheNext) {
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kPlaces - 1));
  // One that waits, too, is no longer there.
  ASSERT_TRUE(qps_[kPlaces].Close());
  ASSERT_TRUE(qps_[0].Close());
  EXPECT_EQ(Senders(), FromTo(kPlaces + 1, kPlaces + 1));
  Must(qps_[1].ModifyState(IBV_QPS_ERR));
  EXPECT_EQ(Senders(), FromTo(kPlaces + 2, kPlaces + 2));
  Must(qps_[2].ModifyState(IBV_QPS_RESET));
  EXPECT_EQ(Senders(), FromTo(kPlaces + 3, kPlaces + 3));
}

// A peer that refuses to take anything has nothing on its way.
TEST_P(Rota, WhoIsToldToWaitWakesTheNext) {
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kPlaces - 1));
  Packet rnr = Nak(3 * kApart, 0, roce::RnrNak(31));
  rnr.bth.dqpn = qps_[3].num();
  peer().Send(rnr);
  EXPECT_EQ(Senders(), FromTo(kPlaces, kPlaces));
}

TEST_P(Rota, NobodyWaitsWhereTurnsAreNotWanted) {
  ASSERT_TRUE(Take("off"));
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kQps - 1));
}

// Not before something is lost by a queue, if nobody says otherwise.
TEST_P(Rota, NobodyWaitsWhereNothingIsLost) {
  EXPECT_EQ(before_, "lossy");
  ASSERT_TRUE(Take("lossy"));
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kQps - 1));
}

// From then on they take turns. A loss before any answer was timed is taken for one by a queue.
TEST_P(Rota, SomeHaveDataOutOnceAQueueLosesSomething) {
  ASSERT_TRUE(Take("lossy"));
  // The path is known to be short: of many answers one is quick. Who begins as one of many times
  // them.
  AddQp();
  for (uint32_t i = 1; i <= 32; ++i) {
    Post(kQps);
    for (uint32_t k = 0; k < kPackets; ++k) peer().Expect();
    Answer(kQps, i * kPackets, i);
  }
  EXPECT_EQ(Senders(), std::set<int>());
  Post(0);
  EXPECT_EQ(Senders(), FromTo(0, 0));
  Packet lost = Nak(0, 0, roce::kNakSequence);
  lost.bth.dqpn = qps_[0].num();
  peer().Send(lost);
  EXPECT_EQ(Senders(), FromTo(0, 0));
  const Counters counters;
  for (int i = 1; i < kQps; ++i) Post(i);
  // With gbn what was lost goes with all behind it, for which a place is asked.
  const int places = Wire::Get().config().recovery == "gbn" ? kPlaces - 1 : kPlaces;
  EXPECT_EQ(Senders(), FromTo(1, places));
  EXPECT_TRUE(counters.Grew("shift_waits", kQps - 1 - places));
}

// Who waits when turns are given up is not forgotten.
TEST_P(Rota, WhoWaitsGoesOnWhenTurnsAreGivenUp) {
  PostAll();
  EXPECT_EQ(Senders(), FromTo(0, kPlaces - 1));
  ASSERT_TRUE(Take("off"));
  for (int i = 0; i < kQps - kPlaces; ++i) {
    Answer(i);
    EXPECT_EQ(Senders(), FromTo(kPlaces + i, kPlaces + i));
  }
}

}  // namespace
}  // namespace wire
