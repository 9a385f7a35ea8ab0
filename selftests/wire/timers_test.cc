// SPDX-License-Identifier: GPL-2.0-only
// Timers from above: the standard lets a requester wait for up to four local ACK timeouts and as
// long as it likes after an RNR NAK; srn promises less. Timers know no IP version; so IPv4 alone.
#include "fixture.h"

namespace wire {
namespace {

class Timers : public WireTest {
 protected:
  std::chrono::nanoseconds Timeout() {
    return std::chrono::nanoseconds(int64_t{4096} << ep().options().timeout);
  }
  // Since the arrival of the packet before; it has this PSN.
  std::chrono::nanoseconds UntilNext(uint32_t psn) {
    const Clock::time_point before = peer().last_arrival();
    EXPECT_EQ(peer().Expect(std::chrono::seconds(4)).bth.psn, psn);
    return peer().last_arrival() - before;
  }
};
INSTANTIATE_TEST_SUITE_P(Ip, Timers, testing::Values(net::IpVersion::kV4), VersionName);

// The first loss is repaired after one timeout; a peer that is silent then gets more time.
TEST_P(Timers, FirstLossIsRepairedAfterOneTimeout) {
  SRN_SKIP_LAX() << "srn's own promise";
  Start({.timeout = 16});
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  const auto first = UntilNext(DevPsn());
  EXPECT_GE(first, Timeout() * 9 / 10);
  EXPECT_LE(first, Timeout() * 3 / 2);
  EXPECT_GE(UntilNext(DevPsn()), Timeout() * 18 / 10);
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

// A window sent again for nothing would make a late peer later.
TEST_P(Timers, AfterSilenceOnePacketAsks) {
  SRN_SKIP_LAX() << "how much is sent again is free";
  Start({.timeout = 15});
  for (uint64_t id = 1; id <= 3; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  const Packet again = peer().Expect();
  EXPECT_EQ(again.bth.psn, DevPsn(0));
  EXPECT_TRUE(again.bth.ack_req);
  peer().ExpectNothing();
  // With the answer the rest goes, as far as the window is.
  peer().Send(Ack(DevPsn(0), 1));
  for (int i = 1; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(2), 3));
  for (uint64_t id = 1; id <= 3; ++id) ExpectSent(id, IBV_WC_SEND);
}

// What was acknowledged inside of a message is not sent again.
TEST_P(Timers, RestOfAMessageIsSentAgain) {
  Start({.timeout = 15});
  ep().PostSend(1, 0, 3 * mtu());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(0), 0));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(1));
  peer().Send(Ack(DevPsn(2), 1));
  ExpectSent(1, IBV_WC_SEND);
}

// The timeout is that of the oldest packet that is left, from the answer on.
TEST_P(Timers, ProgressWindsTheClock) {
  Start({.timeout = 15});
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(Timeout() * 6 / 10);
  for (uint64_t id = 1; id <= 2; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().ExpectNothingYet(most);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
  peer().ExpectNothingYet(most);
  peer().Send(Ack(DevPsn(1), 2));
  ExpectSent(2, IBV_WC_SEND);
}

// A NAK says what was lost, and nobody need ask any more.
TEST_P(Timers, NakEndsTheAsking) {
  Start({.timeout = 15});
  for (uint64_t id = 1; id <= 2; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(1), 2));
  for (uint64_t id = 1; id <= 2; ++id) ExpectSent(id, IBV_WC_SEND);
}

TEST_P(Timers, RnrWaitIsNotMuchLongerThanItIsTold) {
  Start();
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  const Clock::time_point told = Clock::now();
  peer().Send(Nak(DevPsn(), 0, roce::RnrNak(0)));
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  EXPECT_LE(peer().last_arrival() - told, roce::RnrDelay(0) * 3 / 2);
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

}  // namespace
}  // namespace wire
