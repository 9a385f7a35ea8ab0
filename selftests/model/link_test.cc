// SPDX-License-Identifier: GPL-2.0-only
// The model itself: a path that adds or takes nothing would prove nothing of what is sent over it.
#include "link.h"

#include <cmath>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "receiver.h"

namespace model {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMicro = 1000;

// A packet of 1000 bytes takes 40 us.
class LinkTest : public testing::Test {
 protected:
  void Open(LinkOptions options) { link_.emplace(events_, random_, options); }
  void Send(int packet) {
    link_->Send(1000, [this, packet] {
      arrived_.push_back(packet);
      times_.push_back(events_.now());
    });
  }

  Events events_;
  std::mt19937_64 random_{1};
  std::optional<Link> link_;
  std::vector<int> arrived_;
  std::vector<uint64_t> times_;
};

TEST_F(LinkTest, AnEmptyOneTakesSerializationAndPropagation) {
  Open({.rate = 200e6, .propagation = 100 * kMicro});
  events_.RunUntil(7 * kMicro);
  Send(0);
  events_.RunUntil(1000 * kMicro);
  EXPECT_THAT(times_, ElementsAre((7 + 40 + 100) * kMicro));
}

TEST_F(LinkTest, PacketsWaitForThoseBeforeThemAndKeepTheirOrder) {
  Open({.rate = 200e6, .propagation = 100 * kMicro});
  for (int i = 0; i < 3; ++i) Send(i);
  events_.RunUntil(1000 * kMicro);
  EXPECT_THAT(arrived_, ElementsAre(0, 1, 2));
  EXPECT_THAT(times_, ElementsAre(140 * kMicro, 180 * kMicro, 220 * kMicro));
}

TEST_F(LinkTest, AFullQueueDropsAndTakesAgainWhenItHasRoom) {
  Open({.rate = 200e6, .propagation = 0, .queue = 2500});
  for (int i = 0; i < 4; ++i) Send(i);
  EXPECT_EQ(link_->counts().dropped, 2u);
  events_.RunUntil(39 * kMicro);
  Send(4);
  events_.RunUntil(40 * kMicro);
  Send(5);
  events_.RunUntil(1000 * kMicro);
  EXPECT_THAT(arrived_, ElementsAre(0, 1, 5));
  EXPECT_EQ(link_->counts().dropped, 3u);
  EXPECT_EQ(link_->counts().packets, 6u);
}

TEST_F(LinkTest, APolicerLetsPassWhatItsRateHasAndDelaysNothing) {
  Open({.rate = 200e6, .propagation = 100 * kMicro, .queue = 2500, .polices = true});
  for (int i = 0; i < 4; ++i) Send(i);
  EXPECT_EQ(link_->counts().dropped, 2u);
  events_.RunUntil(20 * kMicro);
  Send(4);
  Send(5);
  events_.RunUntil(1000 * kMicro);
  for (int i = 6; i < 9; ++i) Send(i);
  events_.RunUntil(2000 * kMicro);
  EXPECT_THAT(arrived_, ElementsAre(0, 1, 4, 6, 7));
  EXPECT_THAT(times_,
              ElementsAre(100 * kMicro, 100 * kMicro, 120 * kMicro, 1100 * kMicro, 1100 * kMicro));
}

TEST_F(LinkTest, NothingPassesWhileItIsDark) {
  Open({.propagation = 0, .dark_from = 50 * kMicro, .dark_until = 60 * kMicro});
  for (const int at : {49, 50, 59, 60}) {
    events_.RunUntil(static_cast<uint64_t>(at) * kMicro);
    Send(at);
  }
  events_.RunUntil(1000 * kMicro);
  EXPECT_THAT(arrived_, ElementsAre(49, 60));
  EXPECT_EQ(link_->counts().dropped, 0u);
}

TEST_F(LinkTest, LosesItsPartBehindTheQueue) {
  constexpr int kPackets = 100'000;
  for (const double loss : {0.0, 0.05, 1.0}) {
    arrived_.clear();
    Open({.queue = 1000 * kPackets, .loss = loss});
    for (int i = 0; i < kPackets; ++i) Send(i);
    events_.RunUntil(events_.now() + 10'000'000 * kMicro);
    EXPECT_EQ(link_->counts().dropped, 0u);
    // Five times the standard deviation, of which there is none at the ends.
    EXPECT_NEAR(static_cast<double>(arrived_.size()), kPackets * (1 - loss),
                5 * std::sqrt(kPackets * loss * (1 - loss)));
  }
}

// What the other end says of what comes: a judge that cannot see a fault sees none.
class ReceiverTest : public testing::Test {
 protected:
  void Arrive(uint32_t psn, uint64_t serial) { receiver_.Arrived({psn, serial, true}); }

  Events events_;
  std::vector<Answer> answers_;
  Receiver receiver_{events_, SRN_PSN_MASK, [this](const Answer& a) { answers_.push_back(a); }};
};

TEST_F(ReceiverTest, TellsWhatIsHeldAndAcknowledgesAllWhenTheGapCloses) {
  events_.RunUntil(100 * kMicro);
  Arrive(1, 2);
  Arrive(3, 4);  // too soon for another SACK
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0].expected, SRN_PSN_MASK);
  EXPECT_THAT(answers_[0].held, ElementsAre(0b10u));
  events_.RunUntil(200 * kMicro);
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_THAT(answers_[1].held, ElementsAre(0b1010u));
  Arrive(SRN_PSN_MASK, 0);
  Arrive(0, 1);
  Arrive(2, 3);
  EXPECT_EQ(answers_.back().expected, 4u);
  EXPECT_EQ(answers_.back().num, 0u);
  EXPECT_EQ(receiver_.delivered(), 5u);
  EXPECT_EQ(receiver_.faults(), 0u);
}

TEST_F(ReceiverTest, DeliversNothingTwice) {
  for (int i = 0; i < 2; ++i) {
    Arrive(SRN_PSN_MASK, 0);
    Arrive(1, 2);
  }
  Arrive(0, 1);
  EXPECT_EQ(answers_.back().twice, 2u);
  EXPECT_EQ(receiver_.delivered(), 3u);
  EXPECT_EQ(receiver_.faults(), 0u);
}

TEST_F(ReceiverTest, SeesAPacketThatHasThePsnOfAnother) {
  Arrive(SRN_PSN_MASK, 0);
  Arrive(0, 1 + SRN_PSN_MASK);
  EXPECT_EQ(receiver_.faults(), 1u);
}

}  // namespace
}  // namespace model
