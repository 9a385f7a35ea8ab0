// SPDX-License-Identifier: GPL-2.0-only
// The first exchange of two that understand SACKs: what its tests begin with.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include <roce/sack.h>

#include "recovery.h"

namespace wire {

// What it says, if it is a hello.
inline std::optional<roce::Sack> HelloIn(const Packet& packet) {
  const std::optional<roce::Sack> sack = roce::DecodeSack(packet);
  return sack && sack->kind == roce::SackKind::kHello ? sack : std::nullopt;
}

// Tests of a peer that hears hellos, and may say one.
class HelloTest : public HoldTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(SetRecovery("sack"));
    HearHellos();
  }

  // One SEND, of which the next packet is.
  void PostSend(int psn) {
    ep().PostSend(static_cast<uint64_t>(psn), 0, 16);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(psn)));
  }
  void Acknowledge(int psn) {
    peer().Send(Ack(DevPsn(psn), static_cast<uint32_t>(psn + 1)));
    ExpectSent(static_cast<uint64_t>(psn), IBV_WC_SEND);
  }
  void PostReadAndExpect(int psn) {
    PostRead(static_cast<uint64_t>(psn), 16);
    ExpectReadRequest(DevPsn(psn), 16);
  }
  void AnswerRead(int psn) {
    Send(ReadResponses(DevPsn(psn), Bytes(16, 0x5a), mtu(), static_cast<uint32_t>(psn + 1)));
    ExpectSent(static_cast<uint64_t>(psn), IBV_WC_RDMA_READ);
  }
  void SendAndAcknowledge(int psn) {
    PostSend(psn);
    Acknowledge(psn);
  }
  // What is waited for the first answer where nothing is known is longer (250 ms).
  static constexpr std::chrono::milliseconds kLong{100};
  // Several of these in a row are over before a probe goes, on a slow host, too.
  static constexpr std::chrono::milliseconds kShort{20};
  // A connection whose first requests, which `post` posts, are answered late: then the path looks
  // so long that no probe goes before a test is over. Nothing comes with them. Where the machine
  // was too busy, and a probe went, that tells nothing: once more.
  void StartAnsweredLate(const std::function<void()>& post, const QpOptions& options = Patient()) {
    for (int turn = 0; turn < 10; ++turn) {
      Restart(options);
      post();
      std::this_thread::sleep_for(kLong);
      if (!peer().Receive(std::chrono::microseconds(0))) return;
    }
    ADD_FAILURE() << "never without another packet";
  }
  // A SEND that was acknowledged: a hello may go.
  void StartAcknowledged() {
    StartAnsweredLate([this] { PostSend(0); });
    Acknowledge(0);
  }
  void ExpectHello(int psn) {
    const Packet packet = peer().Expect();
    EXPECT_TRUE(HelloIn(packet)) << packet.ToString();
    EXPECT_EQ(packet.bth.psn, DevPsn(psn));
  }
  // Whoever is known to understand SACKs is told of a gap by one.
  void ExpectGapIsTold(int psn, bool by_sack) {
    Send(WriteTo(psn + 1, 1));
    const Packet packet = peer().Expect();
    if (by_sack)
      EXPECT_EQ(packet.bth.opcode, roce::kOpcodeSack) << packet.ToString();
    else
      EXPECT_THAT(packet, IsNak(PeerPsn(psn), roce::kNakSequence));
  }
  // Behind a first SEND that was acknowledged the second brings a hello, and with an answer to that
  // the peer is known.
  void ExpectAnswerIsEnough() {
    ep().PostSend(1, 0, 16);
    ExpectHello(0);
    EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn(1)));
    peer().Send(roce::EncodeSack(DevPsn(0), {roce::SackKind::kAnswer}));
    Acknowledge(1);
    for (int i = 2; i < 40; ++i) SendAndAcknowledge(i);
    ExpectGapIsTold(0, true);
  }
};

}  // namespace wire
