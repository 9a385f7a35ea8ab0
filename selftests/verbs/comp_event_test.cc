// SPDX-License-Identifier: GPL-2.0-only
// Completion channels: who is notified, when, and how often.
#include <fcntl.h>

#include <chrono>
#include <thread>

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
  // The program's usual loop: wait, arm, drain. It must never sleep beside a completion.
  void WaitArmDrain(uint64_t messages);

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

void CompEvent::WaitArmDrain(uint64_t messages) {
  uint64_t posted = 0, received = 0;
  auto feed = [&] {
    for (; posted < messages && posted < received + 32; posted++) {
      Must(qp_.Post(RecvWr(posted, {b_.mr.Slice(0, 32)})));
      Must(a_end_.qp.Post(SendWr::Send(posted, a_.mr.Slice(0, 32))));
    }
    // Gives the slots of the send queue back.
    while (a_end_.send_cq.Poll()) continue;
  };
  Must(cq_.Arm());
  while (received < messages) {
    feed();
    ExpectEvent();
    Must(cq_.Arm());
    while (std::optional<ibv_wc> wc = cq_.Poll()) {
      EXPECT_EQ(wc->wr_id, received);
      received++;
    }
  }
  EXPECT_EQ(received, messages);
}

TEST_P(CompEvent, WaitArmDrainLosesNothing) { WaitArmDrain(400); }

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

// The same with moderation, on a CQ of 64 entries: so many completions, or so long after the first.
class ModeratedEvent : public CompEvent {
 protected:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kPeriod{4000};

  void SetUp() override {
    CompEvent::SetUp();
    if (Must(a_.ctx.QueryDeviceEx()).cq_mod_caps.max_cq_period == 0)
      SRN_SKIP_FOREIGN() << "no moderation";
  }
  void Moderate(uint16_t count) { Must(cq_.Moderate(count, kPeriod.count())); }
  int Drain() {
    int count = 0;
    while (cq_.Poll()) count++;
    return count;
  }
};

TEST_P(ModeratedEvent, ComesWhenThePeriodIsOver) {
  Moderate(32);
  for (int round = 0; round < 10; round++) {
    Must(cq_.Arm());
    const auto begin = Clock::now();
    Receive();
    ExpectEvent();
    EXPECT_GE(Clock::now() - begin, kPeriod);
    EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
  }
  ExpectNoEvent();
}

// Whoever is told before the period is over is told of enough, and some are, of however many rounds
// a slow host needs for that.
TEST_P(ModeratedEvent, ComesWhenThereIsEnough) {
  constexpr int kCount = 2;
  int early = 0;
  Moderate(kCount);
  for (int round = 0; round < 10 || (!early && round < 1000); round++) {
    Must(cq_.Arm());
    const auto begin = Clock::now();
    for (int i = 0; i < kCount; i++) Receive();
    ExpectEvent();
    const auto told = Clock::now();
    const int count = Drain();
    EXPECT_TRUE(count >= kCount || told - begin >= kPeriod) << count;
    early += told - begin < kPeriod;
    for (int i = count; i < kCount; i++) EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
  }
  EXPECT_GT(early, 0);
}

TEST_P(ModeratedEvent, WaitArmDrainLosesNothing) {
  for (uint16_t count : {2, 5, 32, 1000}) {
    Moderate(count);
    WaitArmDrain(200);
    // That loop leaves it armed.
    Must(cq_.Moderate(0, 0));
    while (channel_.Wait(Silence()).ok()) continue;
  }
}

TEST_P(ModeratedEvent, SolicitedOnlyIsToldOfNothingElse) {
  Moderate(2);
  Must(cq_.Arm(/*solicited_only=*/true));
  for (int i = 0; i < 4; i++) Receive();
  ExpectNoEvent();
  Receive(/*solicited=*/true);
  ExpectEvent();
}

TEST_P(ModeratedEvent, ErrorIsToldOfToo) {
  Must(qp_.Post(RecvWr(2, {b_.mr.Slice(0, 32)})));
  Moderate(32);
  Must(cq_.Arm());
  Must(qp_.ModifyState(IBV_QPS_ERR));
  ExpectEvent();
  EXPECT_EQ(Await(cq_).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(ModeratedEvent, SwitchedOffIsAsBefore) {
  Moderate(32);
  Must(cq_.Arm());
  Receive();
  Must(cq_.Moderate(0, 0));
  ExpectEvent();
  Must(cq_.Arm());
  Receive();
  ExpectEvent();
  ExpectNoEvent();
}

// A change tells of what waits: what the changes lost is seen when there are no more of them.
TEST_P(ModeratedEvent, ChangesUnderTrafficLoseNothing) {
  std::jthread changer([&](const std::stop_token& stop) {
    for (uint16_t count = 0; !stop.stop_requested(); count = (count + 1) % 40) {
      EXPECT_TRUE(cq_.Moderate(count, 100 * (count % 3)).ok());
      std::this_thread::yield();
    }
  });
  WaitArmDrain(400);
  changer.request_stop();
  changer.join();
  Must(cq_.Moderate(32, 100));
  WaitArmDrain(64);
}

// What waits goes with the CQ to its new ring.
TEST_P(ModeratedEvent, SurvivesAResize) {
  Moderate(32);
  for (int entries : {300, 64, 300}) {
    Must(cq_.Arm());
    Receive();
    Must(cq_.Resize(entries));
    ExpectEvent();
    EXPECT_EQ(Await(cq_).status, IBV_WC_SUCCESS);
  }
}

TEST_P(ModeratedEvent, MayWaitWhenItsQueueGoes) {
  for (int round = 0; round < 20; round++) {
    Cq cq = Must(Cq::Create(b_.ctx, 16, {.channel = &channel_}));
    Qp qp = Must(Qp::Create(b_.pd, cq, cq, {}));
    End peer = End::Create(a_);
    Must(Connect(peer.qp, a_.port, qp, b_.port));
    Must(cq.Moderate(8, kPeriod.count()));
    Must(cq.Arm());
    Must(qp.Post(RecvWr(3, {b_.mr.Slice(64, 32)})));
    Must(peer.qp.Post(SendWr::Send(1, a_.mr.Slice(0, 32))));
    EXPECT_EQ(Await(peer.send_cq).status, IBV_WC_SUCCESS);
    Must(qp.Close());
    Must(cq.Close());
  }
}

TEST_P(ModeratedEvent, BoundsAreKeptTo) {
  const ibv_cq_moderation_caps caps = Must(a_.ctx.QueryDeviceEx()).cq_mod_caps;
  EXPECT_GE(caps.max_cq_count, 1000);
  EXPECT_GE(caps.max_cq_period, 1000);
  Must(cq_.Moderate(caps.max_cq_count, caps.max_cq_period));
  if (caps.max_cq_period < UINT16_MAX) {
    EXPECT_EQ(cq_.Moderate(2, caps.max_cq_period + 1).error(), EINVAL);
  }
  // libibverbs refuses what it does not know with one or the other, by its version.
  ibv_modify_cq_attr attr = {};
  EXPECT_EQ(ibv_modify_cq(cq_.get(), &attr), EINVAL);
  attr.attr_mask = IBV_CQ_ATTR_RESERVED;
  const int err = ibv_modify_cq(cq_.get(), &attr);
  EXPECT_TRUE(err == EINVAL || err == EOPNOTSUPP) << err;
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
SRN_OVER_BOTH_IP(ModeratedEvent);

}  // namespace
}  // namespace verbs_test
