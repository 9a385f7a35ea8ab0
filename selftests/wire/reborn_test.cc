// SPDX-License-Identifier: GPL-2.0-only
// A QP that went through RESET remembers nothing of its former life. IBTA vol. 1, 10.3.1.
#include "fixture.h"

namespace wire {
namespace {

class Reborn : public WireTest {
 protected:
  Packet GoodWrite(int psn) {
    return Write(Operation::kWriteOnly, PeerPsn(psn), Bytes(8, 1), Reth(kPlace, 8));
  }
};
SRN_BOTH_IP_VERSIONS(Reborn);

TEST_P(Reborn, AnswersOfTheFormerLifeAreForgotten) {
  Start();
  ep().Store64(0, 7);
  peer().Send(FetchAdd(PeerPsn(0), ep().Va(0), ep().rkey(), 1));
  EXPECT_EQ(peer().Expect().atomic_ack, 7u);
  ep().Reconnect(peer());
  // The same PSN is that of a WRITE now: the atomic is no duplicate of anything.
  peer().Send(GoodWrite(0));
  ExpectAckedUpTo(PeerPsn(0), 1);
  peer().Send(FetchAdd(PeerPsn(0), ep().Va(0), ep().rkey(), 1));
  peer().ExpectNothing();
  EXPECT_EQ(ep().Load64(0), 8u);
}

TEST_P(Reborn, PacketsOfTheFormerLifeAreNotAcknowledged) {
  Start();
  for (int i = 0; i < 3; ++i) peer().Send(GoodWrite(i));
  ExpectAckedUpTo(PeerPsn(2), 3);
  ep().Reconnect(peer());
  peer().Send(GoodWrite(-1));
  peer().ExpectOnly(IsAckWithMsn(PeerPsn(-1), 0));
  ExpectResponderWorks(PeerPsn(0), 0);
}

TEST_P(Reborn, MessageOfTheFormerLifeDoesNotGoOn) {
  Start();
  peer().Send(Request(Operation::kSendFirst, PeerPsn(0), Pattern(mtu())));
  peer().Drain();  // RNR
  ep().PostRecv(1, kPlace, 8192);
  peer().Send(Request(Operation::kSendFirst, PeerPsn(0), Pattern(mtu())));
  ExpectAckedUpTo(PeerPsn(0), 0);
  ep().Reconnect(peer());
  // Its receive has gone with it.
  Send(SendMessage(PeerPsn(0), Pattern(8), mtu()));
  EXPECT_THAT(peer().Expect(), IsNak(PeerPsn(0), roce::RnrNak(12)));
  ep().ExpectNoCompletion();
  ep().PostRecv(2, kPlace, 64);
  Send(SendMessage(PeerPsn(0), Pattern(8), mtu()));
  ExpectAckedUpTo(PeerPsn(0), 1);
  ExpectReceived(2, 8);
}

TEST_P(Reborn, RequestsOfTheFormerLifeAreNotSentAgain) {
  Start({.timeout = 14});
  for (uint64_t id = 1; id <= 3; ++id) ep().PostSend(id, 0, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(peer().Expect().bth.psn, DevPsn(i));
  ep().Reconnect(peer());
  peer().ExpectNothing(std::chrono::milliseconds(200));
  ep().PostSend(4, 0, 8);
  EXPECT_EQ(peer().Expect().bth.psn, DevPsn(0));
  peer().Send(Ack(DevPsn(0), 1));
  ExpectSent(4, IBV_WC_SEND);
  ep().ExpectNoCompletion();
}

}  // namespace
}  // namespace wire
