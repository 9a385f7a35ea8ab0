// SPDX-License-Identifier: GPL-2.0-only
// Peers that are late, and peers that are dead, in each mode of recovery: what costs a retry, and
// when patience ends. IBTA vol. 1, 9.7.6.1.3 and 9.7.6.1.4. Timers know no IP version.
#include <optional>

#include "counters.h"
#include "recovery.h"

namespace wire {
namespace {

// What a machine that does other things may be late.
constexpr std::chrono::milliseconds kSlack{100};
// So often in a row it may be too late for what a test wants to see.
constexpr int kBusyMost = 20;
// Retries that are asked for: none, some, and the most there is.
constexpr int kCounts[] = {0, 3, 7};
// What is as late as this was in time.
constexpr int kTimesLate = 100;

class Late : public WireTest {
 protected:
  void TearDown() override { EXPECT_TRUE(SetRecovery(Wire::Get().config().recovery)); }

  // Runs `test` with connections of each mode; over IPv6, which timers know nothing of, of the
  // default one.
  void InEachMode(const std::function<void()>& test) {
    for (const std::string mode : {"gbn", "hold", "sack"}) {
      if (mode != "sack" && GetParam() == net::IpVersion::kV6 && !IsLongRun()) continue;
      SCOPED_TRACE(mode);
      ASSERT_TRUE(SetRecovery(mode));
      test();
    }
  }
  std::chrono::nanoseconds Timeout() {
    return std::chrono::nanoseconds(int64_t{4096} << ep().options().timeout);
  }
  void ExpectTheSend() { EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn())); }
  // Until `due` nothing comes but, where the mode asks before the timeout, the same packet.
  void ExpectNothingNewUntil(Clock::time_point due) {
    for (auto now = Clock::now(); now < due; now = Clock::now())
      if (const auto again =
              peer().Receive(std::chrono::ceil<std::chrono::microseconds>(due - now)))
        EXPECT_EQ(again->bth.psn, DevPsn());
  }
  // Answers the SEND that came last one and a half timeouts later. Returns how often it came again
  // until then, or nothing: this machine was too busy for that. A quarter later, on a path that is
  // known, an answer is overdue and asked for.
  std::optional<int> AnswerAfterHalfAgain(int psn) {
    const auto due = peer().last_arrival() + Timeout() * 3 / 2;
    int again = 0;
    for (auto now = Clock::now(); now < due; now = Clock::now())
      if (const auto packet =
              peer().Receive(std::chrono::ceil<std::chrono::microseconds>(due - now))) {
        EXPECT_EQ(packet->bth.psn, DevPsn(psn));
        ++again;
      }
    peer().Send(Ack(DevPsn(psn), static_cast<uint32_t>(psn + 1)));
    if (Clock::now() > due + Timeout() / 8) return std::nullopt;
    ExpectSent(static_cast<uint64_t>(psn), IBV_WC_SEND);
    return again;
  }
  std::optional<int> SendAndAnswerAfterHalfAgain(int psn) {
    ep().PostSend(static_cast<uint64_t>(psn), 0, 8);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(psn)));
    return AnswerAfterHalfAgain(psn);
  }
  // Shows a path that is half as long again as the timeout. False: this machine was too busy.
  bool ShowLongPath() {
    Restart({.timeout = 14, .retry_cnt = 1});
    for (int i = 0; i < 2; ++i)
      if (!SendAndAnswerAfterHalfAgain(i)) return false;
    const Counters counters;
    for (int i = 2; i < 5; ++i) {
      const std::optional<int> again = SendAndAnswerAfterHalfAgain(i);
      if (!again) return false;
      EXPECT_EQ(*again, 0);
    }
    EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 0u);
    return true;
  }
  // Answers the first SEND of a connection late, but in time. False: this machine was too busy for
  // that.
  bool AnswerLate() {
    const auto left = Clock::now();  // or later, so that the timer, too, began
    ep().PostSend(1, 0, 8);
    ExpectTheSend();
    ExpectNothingNewUntil(left + Timeout() * 9 / 10);
    peer().Send(Ack(DevPsn(), 1));
    if (Clock::now() > left + Timeout() * 97 / 100) return false;
    ExpectSent(1, IBV_WC_SEND);
    return true;
  }
  void AnswerLate(int times) {
    const QpOptions options = {.timeout = 11, .retry_cnt = 0};
    Restart(options);
    for (int done = 0, busy = 0; done < times && !HasFailure();) {
      if (AnswerLate()) {
        ++done;
        busy = 0;
        peer().Drain(std::chrono::milliseconds(0));
        ep().Reconnect(peer());
      } else {
        ASSERT_LT(++busy, kBusyMost) << "the test itself is never in time";
        Restart(options);
      }
    }
  }
};
SRN_BOTH_IP_VERSIONS(Late);

class LatePath : public Late {};
INSTANTIATE_TEST_SUITE_P(Ip, LatePath, testing::Values(net::IpVersion::kV4), VersionName);

// With a retry count of 0 the first retry would be an error. The default mode as often as was
// promised, the others, in which the timer is the same, a few times.
TEST_P(Late, AnswerWithinTheTimeoutCostsNoRetry) {
  ASSERT_TRUE(SetRecovery("sack"));
  AnswerLate(kTimesLate);
  InEachMode([&] { AnswerLate(IsLongRun() ? kTimesLate : 2); });
}

TEST_P(Late, DeadPeerIsGivenUpInTime) {
  InEachMode([&] {
    for (const int retries : kCounts) {
      SCOPED_TRACE("retry_cnt " + std::to_string(retries));
      Restart({.timeout = 11, .retry_cnt = static_cast<uint8_t>(retries)});
      const Counters counters;
      const Clock::time_point begin = Clock::now();
      ep().PostSend(1, 0, 8);
      ExpectSendFails(1, IBV_WC_RETRY_EXC_ERR);
      const auto took = Clock::now() - begin;
      EXPECT_EQ(counters.Growth("local_ack_timeout_err"), static_cast<uint64_t>(retries + 1));
      EXPECT_GE(took, (retries + 1) * Timeout());
      EXPECT_LE(took, 4 * (retries + 1) * Timeout() + Wire::Get().Patience(kSlack));
      peer().Drain(std::chrono::milliseconds(1));
    }
  });
}

// Whose answers to copies come while the oldest packet is waited for is late, and not dead: that is
// not charged, as often as there are retries. Then it is over all the same. The timeout is long
// beside what this machine may be late: of a timeout in which no answer came there is one less.
TEST_P(Late, WhoAnswersCopiesIsNotDead) {
  InEachMode([&] {
    constexpr int kRetries = 2;
    Restart({.timeout = 14, .retry_cnt = kRetries});
    ep().PostSend(0, 0, 8);
    ExpectTheSend();
    peer().Send(Ack(DevPsn(), 1));
    ExpectSent(0, IBV_WC_SEND);
    const Counters counters;
    ep().PostSend(1, 0, 8);
    std::optional<ibv_wc> wc;
    int again = -1;
    for (const auto end = Clock::now() + Wire::Get().Patience(std::chrono::seconds(4));
         Clock::now() < end && !(wc = ep().PollSend());) {
      if (const auto packet = peer().Receive(std::chrono::milliseconds(5))) {
        EXPECT_EQ(packet->bth.psn, DevPsn(1));
        ++again;
      }
      peer().Send(Ack(DevPsn(), 1));
    }
    ASSERT_TRUE(wc);
    EXPECT_EQ(wc->wr_id, 1u);
    EXPECT_EQ(wc->status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_GE(again, 2 * kRetries);
    EXPECT_EQ(counters.Growth("local_ack_timeout_err"), uint64_t{2 * kRetries + 1});
    peer().Drain(std::chrono::milliseconds(1));
  });
}

// On a path that is half as long again as the timeout all is sent again before its answer comes,
// until that was seen; go-back-N sees it where few may be in flight, which is after the first. From
// then on answers are waited for. A peer that is gone is given up in time all the same.
TEST_P(LatePath, PathLongerThanTheTimeoutIsLearned) {
  InEachMode([&] {
    for (int busy = 0; !ShowLongPath();)
      ASSERT_LT(++busy, kBusyMost) << "the test itself is never in time";
    const Counters counters;
    const Clock::time_point begin = Clock::now();
    peer().Drain(
        std::chrono::milliseconds(1));  // an answer is asked for where this machine was late
    ep().PostSend(5, 0, 8);
    ExpectSendFails(5, IBV_WC_RETRY_EXC_ERR);
    const auto took = Clock::now() - begin;
    EXPECT_EQ(counters.Growth("local_ack_timeout_err"), 2u);
    EXPECT_GE(took, 2 * Timeout());
    EXPECT_LE(took, 8 * Timeout() + Wire::Get().Patience(kSlack));
    peer().Drain(std::chrono::milliseconds(1));
  });
}

// 7 is without end: as often as anybody likes to try.
TEST_P(Late, NotReadyIsCountedExactly) {
  InEachMode([&] {
    for (const int retries : kCounts) {
      SCOPED_TRACE("rnr_retry " + std::to_string(retries));
      Restart({.retry_cnt = 0, .rnr_retry = static_cast<uint8_t>(retries)});
      const int refusals = retries == 7 ? 30 : retries + 1;
      const Counters counters;
      ep().PostSend(1, 0, 8);
      for (int i = 0; i < refusals; ++i) {
        ExpectTheSend();
        peer().Send(Nak(DevPsn(), 0, roce::RnrNak(1)));
      }
      if (retries == 7) {
        ExpectTheSend();
        peer().Send(Ack(DevPsn(), 1));
        ExpectSent(1, IBV_WC_SEND);
      } else {
        ExpectSendFails(1, IBV_WC_RNR_RETRY_EXC_ERR);
      }
      peer().ExpectNothing();
      EXPECT_EQ(counters.Growth("rnr_nak_retry_err"), static_cast<uint64_t>(refusals));
    }
  });
}

}  // namespace
}  // namespace wire
