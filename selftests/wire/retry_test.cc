// SPDX-License-Identifier: GPL-2.0-only
// Local ACK timeout and retries. IBTA vol. 1, 9.7.6.1.
#include "fixture.h"

namespace wire {
namespace {

// What a machine that does other things may be late.
constexpr std::chrono::milliseconds kSlack{25};

// The timeout that a QP attribute stands for.
std::chrono::nanoseconds LocalAckTimeout(uint8_t code) {
  return std::chrono::nanoseconds(int64_t{4096} << code);
}

class RcRetry : public WireTest {
 protected:
  // The next packet; none once the QP is in error and the wire was quiet for a while.
  std::optional<Packet> NextTransmission() {
    const auto deadline = Clock::now() + Wire::Get().Patience(kSoon);
    for (;;) {
      const bool over = ep().State() == IBV_QPS_ERR || Clock::now() > deadline;
      if (auto packet = peer().Receive(Wire::Get().Patience(kAWhile))) return packet;
      if (over) return std::nullopt;
    }
  }

  // The timeout of this QP: a slow machine has a longer one than the test asked for.
  std::chrono::nanoseconds Timeout() { return LocalAckTimeout(ep().options().timeout); }

  // The wait may be four times the timeout and no longer (9.7.6.1.3). A packet may be late on its
  // way to us, and so may the second one be less late than the first. Return: whether it was
  // longer, which a machine that stands still may bring about, by less than as much again.
  bool ExpectTimeoutPassed(std::chrono::nanoseconds apart) {
    const std::chrono::nanoseconds slack = Wire::Get().Patience(kSlack);
    EXPECT_GE(apart, Timeout() * 9 / 10);
    EXPECT_LE(apart, 8 * Timeout() + 2 * slack);
    return apart > 4 * Timeout() + slack;
  }

  // Reads transmissions of DevPsn() until there are no more; counts them.
  int CountTransmissions() {
    int count = 0, late = 0;
    Clock::time_point previous;
    while (const auto packet = NextTransmission()) {
      EXPECT_THAT(*packet, IsRequest(Operation::kSendOnly, DevPsn()));
      if (count != 0) late += ExpectTimeoutPassed(peer().last_arrival() - previous);
      previous = peer().last_arrival();
      ++count;
    }
    EXPECT_LE(late, count > 3 ? 1 : 0);
    return count;
  }
};
SRN_ANY_IP_VERSION(RcRetry);

TEST_P(RcRetry, SilenceFailsTheRequestAfterRetryCnt) {
  for (const uint8_t retries : {uint8_t{0}, uint8_t{1}, uint8_t{3}}) {
    SCOPED_TRACE("retry_cnt " + std::to_string(retries));
    Restart({.timeout = 12, .retry_cnt = retries});
    ep().PostSend(1, 0, 8);
    EXPECT_EQ(CountTransmissions(), 1 + retries);
    ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
  }
}

TEST_P(RcRetry, SevenRetriesAreFiniteToo) {
  Start({.timeout = 12, .retry_cnt = 7});
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(CountTransmissions(), 8);
  ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
}

TEST_P(RcRetry, EverythingBehindTheFailedRequestIsFlushed) {
  Start({.timeout = 12, .retry_cnt = 0});
  for (uint64_t id = 1; id <= 5; ++id) ep().PostSend(id, 0, 8);
  ep().PostRecv(9, 0, 64);
  ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
  for (uint64_t id = 2; id <= 5; ++id) {
    const ibv_wc wc = ep().WaitSend();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.wr_id, id);
  }
  EXPECT_EQ(ep().WaitRecv().status, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(RcRetry, TimeoutZeroWaitsForever) {
  Start({.timeout = 0, .retry_cnt = 0});
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().ExpectNothing(std::chrono::milliseconds(300));
  ep().ExpectNoCompletion();
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(RcRetry, RetransmissionIsTheSamePacket) {
  Start({.timeout = 13});
  ep().FillPattern(0, 600);
  ep().Post(SendWr::Write(1, ep().Data(0, 600), {0x7000, 7}));
  const Packet first = peer().Expect();
  const Packet again = peer().Expect();
  EXPECT_EQ(roce::EncodeTransport(first), roce::EncodeTransport(again));
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_RDMA_WRITE);
  peer().Drain();
  ep().ExpectNoCompletion();
}

TEST_P(RcRetry, TimeoutResendsFromTheOldestUnacknowledged) {
  Start({.timeout = 14});
  for (uint64_t id = 1; id <= 3; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
  const Packet again = peer().Expect();
  EXPECT_EQ(again.bth.psn, DevPsn(1));
  peer().Send(Ack(DevPsn(2), 3));
  ExpectSent(2, IBV_WC_SEND);
  ExpectSent(3, IBV_WC_SEND);
}

TEST_P(RcRetry, ProgressRefillsTheRetries) {
  Start({.timeout = 15, .retry_cnt = 1});
  for (uint64_t id = 0; id < 4; ++id) {
    const uint32_t psn = DevPsn(static_cast<int>(id));
    ep().PostSend(id, 0, 8);
    EXPECT_EQ(peer().Expect().bth.psn, psn);
    EXPECT_EQ(peer().Expect().bth.psn, psn);
    peer().Send(Ack(psn, static_cast<uint32_t>(id) + 1));
    ExpectSent(id, IBV_WC_SEND);
    peer().Drain(std::chrono::milliseconds(1));
  }
}

// The first NAK tells of a loss, and what it has sent again is none of the retries
// (Documentation/wire.rst); from the second on each costs one.
TEST_P(RcRetry, SequenceNaksWithoutProgressCostARetryEach) {
  for (const uint8_t retries : {uint8_t{0}, uint8_t{2}, uint8_t{7}}) {
    SCOPED_TRACE("retry_cnt " + std::to_string(retries));
    Restart({.retry_cnt = retries});
    ep().PostSend(1, 0, 8);
    int sent = 0;
    while (NextTransmission()) {
      ++sent;
      peer().Send(Nak(DevPsn(), 0, roce::kNakSequence));
    }
    EXPECT_EQ(sent, 2 + retries);
    ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
  }
}

TEST_P(RcRetry, LateAckOfAResentRequestCompletesItOnce) {
  Start({.timeout = 13});
  ep().PostSend(1, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn());
  peer().Send(Ack(DevPsn(), 1));
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
  ep().ExpectNoCompletion();
  EXPECT_EQ(ep().State(), IBV_QPS_RTS);
}

// The last packet before one that cannot be sent asked for no ACK, since its successor
// would: it has to ask after all.
TEST_P(RcRetry, RequestBeforeABadOneIsAcknowledged) {
  Start({.timeout = 0, .retry_cnt = 0});
  const ibv_sge good = ep().mr().Slice(0, 8);
  ibv_sge bad = good;
  bad.lkey ^= 0x5a5a5a00;
  SendWr list[] = {SendWr::Send(1, good), SendWr::Send(2, bad)};
  ASSERT_TRUE(ep().qp().Post(list, nullptr));
  Packet packet;
  do {
    packet = peer().Expect();
    ASSERT_THAT(packet, IsRequest(Operation::kSendOnly, DevPsn(0)));
  } while (!packet.bth.ack_req);
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(1, IBV_WC_SEND);
  ExpectSendFails(2, IBV_WC_LOC_PROT_ERR);
}

// Posts do not wait for answers while the window is open, however long those take.
TEST_P(RcRetry, PostsLeaveWhileTheWindowIsOpen) {
  constexpr int kPosts = 16;
  Start({.timeout = 0});
  for (int i = 0; i < kPosts; ++i) {
    ep().Post(SendWr::Write(static_cast<uint64_t>(i), ep().Data(0, 8), {0x7000, 7}));
    ASSERT_EQ(peer().Expect().bth.psn, DevPsn(i));
  }
  peer().Send(Ack(DevPsn(kPosts - 1), kPosts));
  for (int i = 0; i < kPosts; ++i) ExpectSent(static_cast<uint64_t>(i), IBV_WC_RDMA_WRITE);
}

// What a NAK has sent again has the whole timeout to be answered.
TEST_P(RcRetry, LateSequenceNakRestartsTheClock) {
  // Two silences of more than half a timeout: what is left of the second is for slow machines.
  Start({.timeout = 17, .retry_cnt = 0});
  const auto silence = std::chrono::duration_cast<std::chrono::milliseconds>(Timeout()) * 55 / 100;
  for (uint64_t id = 1; id <= 2; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().ExpectNothingYet(silence);
  peer().Send(Nak(DevPsn(0), 0, roce::kNakSequence));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  peer().ExpectNothingYet(silence);
  peer().Send(Ack(DevPsn(1), 2));
  for (uint64_t id = 1; id <= 2; ++id) ExpectSent(id, IBV_WC_SEND);
}

// After a loss the responder may have kept what came behind it: its ACK may
// pass more than what was sent again, which is less than the window before.
TEST_P(RcRetry, AckAheadOfTheResendIsTaken) {
  constexpr int kPosts = 16;
  Start();
  for (int i = 0; i < kPosts; ++i) {
    ep().PostSend(static_cast<uint64_t>(i), 0, 8);
    ASSERT_EQ(peer().Expect().bth.psn, DevPsn(i));
  }
  peer().Send(Nak(DevPsn(1), 1, roce::kNakSequence));
  const auto again = peer().Drain();
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(again.front().bth.psn, DevPsn(1));
  ASSERT_LT(roce::PsnDiff(again.back().bth.psn, DevPsn(kPosts - 1)), 0) << "all was sent again";
  peer().Send(Ack(DevPsn(kPosts - 1), kPosts));
  for (int i = 0; i < kPosts; ++i) ExpectSent(static_cast<uint64_t>(i), IBV_WC_SEND);
  ep().PostSend(kPosts, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(kPosts));
  peer().Send(Ack(DevPsn(kPosts), kPosts + 1));
  ExpectSent(kPosts, IBV_WC_SEND);
}

}  // namespace
}  // namespace wire
