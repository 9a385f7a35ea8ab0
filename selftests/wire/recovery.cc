// SPDX-License-Identifier: GPL-2.0-only
#include "recovery.h"

#include <algorithm>
#include <thread>

#include <share/parameter.h>

namespace wire {

bool SetRecovery(const std::string& mode) {
  if (Wire::Get().config().lax) return true;
  return share::SetParameter("recovery", mode);
}

void HoldTest::SayHello(int psn, roce::Sack hello, bool ack_req) {
  hello.kind = roce::SackKind::kHello;
  Packet packet = roce::EncodeSack(PeerPsn(psn), hello);
  packet.bth.ack_req = ack_req;
  peer().Send(packet);
}

std::optional<roce::Sack> HoldTest::HearAnswer(int psn) {
  const Packet packet = peer().Expect();
  EXPECT_EQ(packet.bth.opcode, roce::kOpcodeSack) << packet.ToString();
  EXPECT_EQ(packet.bth.psn, PeerPsn(psn));
  EXPECT_FALSE(packet.bth.ack_req);
  const std::optional<roce::Sack> answer = roce::DecodeSack(packet);
  if (!answer) return std::nullopt;
  EXPECT_EQ(answer->kind, roce::SackKind::kAnswer);
  EXPECT_EQ(packet.aeth->syndrome, roce::kAnswerSyndrome);
  EXPECT_GE(answer->ahead, 512u);
  EXPECT_TRUE(answer->parts);
  return answer;
}

void HoldTest::Greet(const roce::Sack& hello) {
  SayHello(-1, hello);
  EXPECT_TRUE(HearAnswer(-1));
}

void LongPathTest::StartMet(QpOptions options, const roce::Sack& hello) {
  options.timeout = Patient().timeout;
  MakeLongPath([&] {
    Restart(options);
    Greet(hello);
  });
}

std::chrono::microseconds LongPathTest::Quiet() {
  return std::min<std::chrono::microseconds>(Wire::Get().Patience(std::chrono::milliseconds(5)),
                                             kLost / 5);
}

bool LongPathTest::LooksLong() {
  ep().PostSend(77, 0, 16);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn()));
  // Less than what a path that is not known is given before it is asked: 250 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(77, IBV_WC_SEND);
  base_ = 1;
  return !peer().Receive(std::chrono::microseconds(0));
}

}  // namespace wire
