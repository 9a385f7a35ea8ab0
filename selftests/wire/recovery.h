// SPDX-License-Identifier: GPL-2.0-only
// How connections of the module repair loss: its parameter "recovery".
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <roce/sack.h>

#include "fixture.h"

namespace wire {

// "hold", "sack" or "gbn", for connections that begin from now on. False if the module has no such
// mode; true of a foreign device.
bool SetRecovery(const std::string& mode);

// Nothing is repeated by the local ACK timeout: 4.3 s.
inline QpOptions Patient(uint32_t sq_psn = 0x00a000) { return {.sq_psn = sq_psn, .timeout = 20}; }

// Tests of who keeps what comes early, whatever the others run with: of "sack", the default, which
// is "hold" towards a peer that has not said hello.
class HoldTest : public WireTest {
 protected:
  void SetUp() override { ASSERT_TRUE(SetRecovery("sack")); }
  void TearDown() override { EXPECT_TRUE(SetRecovery(Wire::Get().config().recovery)); }

  // Says hello, as the peer's requester would with a PSN that was answered.
  void SayHello(int psn, roce::Sack hello = {}, bool ack_req = false);
  // The next packet is the answer to that: what it says, or nothing.
  std::optional<roce::Sack> HearAnswer(int psn);
  // Both, in front of all else. From then on there is no hello of the device's own, but on a long
  // path, where it wants to be known in turn.
  void Greet(const roce::Sack& hello = {});
};

// Tests of "sack" by a peer that says when it has got something: on a path that looks so long that
// no probe goes, and nothing is taken for lost again, before the test is over. To read a counter
// takes longer than the round trip of a scripted peer.
class LongPathTest : public HoldTest {
 protected:
  // Of the PSNs that a test counts with.
  uint32_t DevPsn(int i = 0) const { return WireTest::DevPsn(i + base_); }
  // `start` makes a new connection, on which nothing was sent.
  template <typename Start>
  void MakeLongPath(Start start) {
    for (int turn = 0; turn < 10; ++turn) {
      base_ = 0;
      start();
      if (LooksLong()) return;
    }
    ADD_FAILURE() << "never without a probe";
  }
  // Such a path, to a peer that has said `hello`.
  void StartMet(QpOptions options, const roce::Sack& hello = {});
  // There nothing is lost again, and no probe goes, for so long.
  static constexpr std::chrono::milliseconds kLost{250};
  // Long enough to see that nothing comes, of a path that may be slow, and no longer than it lasts.
  static std::chrono::microseconds Quiet();
  void ExpectNoneAgain() { peer().ExpectNothingYet(Quiet()); }

  int base_ = 0;

 private:
  // False: the machine was too busy to answer before it was asked again, which tells nothing.
  bool LooksLong();
};

}  // namespace wire
