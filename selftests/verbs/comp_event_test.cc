// SPDX-License-Identifier: GPL-2.0-only
// Completion channels: who is notified, when, and how often.
#include <fcntl.h>

#include "env.h"

namespace verbs_test {
namespace {

class CompEvent : public WireTest {
 protected:
  void SetUp() override {
    WireTest::SetUp();
    channel_ = Must(CompChannel::Create(b_.ctx));
    cq_ = Must(Cq::Create(b_.ctx, 64, {.channel = &channel_, .context = this}));
    a_end_ = End::Create(a_);
    qp_ = Must(Qp::Create(b_.pd, cq_, cq_, {}));
    Must(Connect(a_end_.qp, a_.port, qp_, b_.port));
  }
  ~CompEvent() override { (void)qp_.Close(); }

  // One message that completes at B.
  void Receive(bool solicited = false) {
    SendWr wr = SendWr::Send(1, a_.mr.Slice(0, 32));
    if (solicited) wr.Solicited();
    Must(qp_.Post(RecvWr(2, {b_.mr.Slice(0, 32)})));
    Must(a_end_.qp.Post(std::move(wr)));
    EXPECT_EQ(Await(a_end_.send_cq).status, IBV_WC_SUCCESS);
  }
  void ExpectEvent() {
    CompChannel::Event event = Must(channel_.Wait(Patience()));
    EXPECT_EQ(event.cq, cq_.get());
    EXPECT_EQ(event.cq_context, this);
  }
  void ExpectNoEvent() { EXPECT_EQ(channel_.Wait(Silence()).error(), ETIMEDOUT); }

  CompChannel channel_;
  Cq cq_;
  End a_end_;
  Qp qp_;
};

TEST_P(CompEvent, UnarmedQueueIsSilent) {
  Receive();
  ExpectNoEvent();
  EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
}

TEST_P(CompEvent, ArmedQueueNotifiesOnce) {
  Must(cq_.Arm());
  Receive();
  ExpectEvent();
  Receive();
  Receive();
  ExpectNoEvent();
  for (int i = 0; i < 3; i++) EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
}

TEST_P(CompEvent, ArmingTwiceIsArmingOnce) {
  Must(cq_.Arm());
  Must(cq_.Arm());
  Receive();
  ExpectEvent();
  Receive();
  ExpectNoEvent();
}

TEST_P(CompEvent, ArmingAgainNotifiesAgain) {
  for (int round = 0; round < 50; round++) {
    Must(cq_.Arm());
    Receive();
    ExpectEvent();
    EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
  }
  ExpectNoEvent();
}

// The program's usual loop: wait, arm, drain. It must never sleep beside a
// completion.
TEST_P(CompEvent, WaitArmDrainLosesNothing) {
  constexpr uint64_t kMessages = 400;
  uint64_t posted = 0, received = 0;
  auto feed = [&] {
    for (; posted < kMessages && posted < received + 32; posted++) {
      Must(qp_.Post(RecvWr(posted, {b_.mr.Slice(0, 32)})));
      Must(a_end_.qp.Post(SendWr::Send(posted, a_.mr.Slice(0, 32))));
    }
    // Gives the slots of the send queue back.
    while (a_end_.send_cq.Poll()) continue;
  };
  Must(cq_.Arm());
  while (received < kMessages) {
    feed();
    ExpectEvent();
    Must(cq_.Arm());
    while (std::optional<ibv_wc> wc = cq_.Poll()) {
      EXPECT_EQ(wc->wr_id, received);
      received++;
    }
  }
  EXPECT_EQ(received, kMessages);
}

TEST_P(CompEvent, SolicitedOnlyWaitsForSolicitedMessages) {
  Must(cq_.Arm(/*solicited_only=*/true));
  Receive();
  ExpectNoEvent();
  Receive(/*solicited=*/true);
  ExpectEvent();
  Receive(/*solicited=*/true);
  ExpectNoEvent();
}

TEST_P(CompEvent, SolicitedWriteWithImmediateNotifies) {
  Must(cq_.Arm(/*solicited_only=*/true));
  Must(qp_.Post(RecvWr(2, {})));
  Must(a_end_.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 32), b_.mr.At(0)).Imm(1).Solicited()));
  ExpectEvent();
}

TEST_P(CompEvent, FailedCompletionIsSolicited) {
  Must(qp_.Post(RecvWr(2, {b_.mr.Slice(0, 32)})));
  Must(cq_.Arm(/*solicited_only=*/true));
  Must(qp_.ModifyState(IBV_QPS_ERR));
  ExpectEvent();
  EXPECT_EQ(Await(cq_).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(CompEvent, SolicitedDatagramNotifies) {
  constexpr uint32_t kQkey = 0x1234;
  Qp qp = Must(Qp::Create(b_.pd, cq_, cq_, {.type = IBV_QPT_UD}));
  End from = End::Create(a_, {.type = IBV_QPT_UD});
  Must(BringUpUd(qp, b_.port, kQkey));
  Must(BringUpUd(from.qp, a_.port, kQkey));
  Ah ah = Must(Ah::Create(a_.pd, AhAttr(a_.port, b_.port.gid)));
  for (uint64_t id = 1; id <= 2; id++) Must(qp.Post(RecvWr(id, {b_.mr.Slice(0, 1024)})));
  Must(cq_.Arm(/*solicited_only=*/true));
  Must(from.qp.Post(SendWr::Send(3, a_.mr.Slice(0, 32)).To(ah.get(), qp.num(), kQkey)));
  ExpectNoEvent();
  Must(from.qp.Post(SendWr::Send(4, a_.mr.Slice(0, 32)).Solicited().To(ah.get(), qp.num(), kQkey)));
  ExpectEvent();
  for (uint64_t id = 1; id <= 2; id++) EXPECT_EQ(Await(cq_).wr_id, id);
}

TEST_P(CompEvent, FailedSendIsSolicited) {
  Must(qp_.ModifyState(IBV_QPS_ERR));
  Must(cq_.Arm(/*solicited_only=*/true));
  Must(qp_.Post(SendWr::Send(3, b_.mr.Slice(0, 32))));
  ExpectEvent();
  EXPECT_EQ(Await(cq_).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(CompEvent, ArmingForAllIsNotWeakenedBySolicitedOnly) {
  Must(cq_.Arm(/*solicited_only=*/false));
  Must(cq_.Arm(/*solicited_only=*/true));
  Receive();
  ExpectEvent();
}

TEST_P(CompEvent, ArmingForAllStrengthensSolicitedOnly) {
  Must(cq_.Arm(/*solicited_only=*/true));
  Must(cq_.Arm(/*solicited_only=*/false));
  Receive();
  ExpectEvent();
}

TEST_P(CompEvent, SendCompletionsNotifyToo) {
  Must(cq_.Arm());
  Must(qp_.Post(SendWr::Write(1, b_.mr.Slice(0, 32), a_.mr.At(0))));
  ExpectEvent();
  EXPECT_EQ(Await(cq_).opcode, IBV_WC_RDMA_WRITE);
}

TEST_P(CompEvent, OneChannelTellsItsQueuesApart) {
  Cq second = Must(Cq::Create(b_.ctx, 16, {.channel = &channel_, .context = &second}));
  Qp qp = Must(Qp::Create(b_.pd, second, second, {}));
  End peer = End::Create(a_);
  Must(Connect(peer.qp, a_.port, qp, b_.port));

  Must(cq_.Arm());
  Must(second.Arm());
  Must(qp.Post(RecvWr(3, {b_.mr.Slice(64, 32)})));
  Must(peer.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 32))));
  CompChannel::Event event = Must(channel_.Wait(Patience()));
  EXPECT_EQ(event.cq, second.get());
  EXPECT_EQ(event.cq_context, &second);
  Receive();
  ExpectEvent();
  Must(qp.Close());
}

TEST_P(CompEvent, ResizedQueueStaysArmed) {
  Must(cq_.Arm());
  Must(cq_.Resize(300));
  Receive();
  ExpectEvent();
  EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
}

TEST_P(CompEvent, EmptyChannelCanBeReadWithoutWaiting) {
  ASSERT_EQ(fcntl(channel_->fd, F_SETFL, O_NONBLOCK), 0);
  ibv_cq* cq;
  void* context;
  EXPECT_EQ(ibv_get_cq_event(channel_.get(), &cq, &context), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_P(CompEvent, ChannelInUseIsBusy) { EXPECT_EQ(channel_.Close().error(), EBUSY); }

SRN_OVER_BOTH_IP(CompEvent);

}  // namespace
}  // namespace verbs_test
