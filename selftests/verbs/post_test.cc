// SPDX-License-Identifier: GPL-2.0-only
// What ibv_post_send and ibv_post_recv refuse, with which errno, and which
// request they blame.
#include "env.h"

namespace verbs_test {
namespace {

// A QP whose requests stay outstanding: the peer's QP number does not exist
// and the first timeout is minutes away.
class Post : public HostTest {
 protected:
  static constexpr uint32_t kNobody = 0xfffffe;

  End Stuck(Qp::Options options = {}) {
    End end = End::Create(a_, options);
    Must(ConnectTo(end.qp, a_.port, a_.port.gid, kNobody, 0, 0, {.timeout = 25}));
    return end;
  }
  SendWr Send(uint64_t id) { return SendWr::Send(id, a_.mr.Slice(0, 8)); }
  RecvWr Recv(uint64_t id) { return RecvWr(id, {a_.mr.Slice(0, 8)}); }
};

TEST_F(Post, SendIsRefusedBeforeRts) {
  End end = End::Create(a_);
  auto refused = [&] { return end.qp.Post(Send(1)).error(); };

  EXPECT_EQ(refused(), EINVAL) << "RESET";
  Transition t = ToInit(IBV_QPT_RC, a_.port);
  Must(end.qp.Modify(t.attr, t.mask));
  EXPECT_EQ(refused(), EINVAL) << "INIT";
  t = ToRtr(IBV_QPT_RC, a_.port, a_.port.gid, kNobody, 0, {});
  Must(end.qp.Modify(t.attr, t.mask));
  EXPECT_EQ(refused(), EINVAL) << "RTR";
  EXPECT_FALSE(end.send_cq.Poll());
}

TEST_F(Post, ReceiveIsRefusedInResetAndTakenFromInitOn) {
  End end = End::Create(a_);

  EXPECT_EQ(end.qp.Post(Recv(1)).error(), EINVAL);
  Transition t = ToInit(IBV_QPT_RC, a_.port);
  Must(end.qp.Modify(t.attr, t.mask));
  EXPECT_EQ(end.qp.Post(Recv(1)).error(), 0);
}

TEST_F(Post, FullSendQueueBlamesTheFirstRequestThatDoesNotFit) {
  End end = Stuck({.max_send_wr = 10});
  const size_t depth = end.qp.cap().max_send_wr;
  ASSERT_GE(depth, 10u);

  std::vector<SendWr> list;
  for (uint64_t id = 0; id < depth + 3; id++) list.push_back(Send(id));
  size_t posted = 0;
  EXPECT_EQ(end.qp.Post(list, &posted).error(), ENOMEM);
  EXPECT_EQ(posted, depth);
  EXPECT_EQ(end.qp.Post(Send(99)).error(), ENOMEM);

  // What was taken is really there: all of it is flushed.
  Must(end.qp.ModifyState(IBV_QPS_ERR));
  for (uint64_t id = 0; id < depth; id++)
    ExpectFailed(Await(end.send_cq), id, IBV_WC_WR_FLUSH_ERR, end.qp.num());
  ExpectQuiet(end.send_cq);
}

TEST_F(Post, FullReceiveQueueBlamesTheFirstRequestThatDoesNotFit) {
  End end = Stuck({.max_recv_wr = 10});
  const size_t depth = end.qp.cap().max_recv_wr;
  ASSERT_GE(depth, 10u);

  std::vector<RecvWr> list;
  for (uint64_t id = 0; id < depth + 3; id++) list.push_back(Recv(id));
  size_t posted = 0;
  EXPECT_EQ(end.qp.Post(list, &posted).error(), ENOMEM);
  EXPECT_EQ(posted, depth);
  EXPECT_EQ(end.qp.Post(Recv(99)).error(), ENOMEM);

  Must(end.qp.ModifyState(IBV_QPS_ERR));
  for (uint64_t id = 0; id < depth; id++)
    ExpectFailed(Await(end.recv_cq), id, IBV_WC_WR_FLUSH_ERR, end.qp.num());
  ExpectQuiet(end.recv_cq);
}

TEST_F(Post, TooManyElementsAreRefused) {
  End end = Stuck({.max_send_sge = 2, .max_recv_sge = 2});
  const size_t send_max = end.qp.cap().max_send_sge;
  const size_t recv_max = end.qp.cap().max_recv_sge;
  std::vector<ibv_sge> sges(std::max(send_max, recv_max) + 1, a_.mr.Slice(0, 1));

  sges.resize(send_max + 1);
  EXPECT_EQ(end.qp.Post(SendWr::Send(1, sges)).error(), EINVAL);
  sges.resize(recv_max + 1, a_.mr.Slice(0, 1));
  EXPECT_EQ(end.qp.Post(RecvWr(1, sges)).error(), EINVAL);
}

TEST_F(Post, TooMuchInlineDataIsRefused) {
  End end = Stuck({.max_inline = 32});
  const size_t max = end.qp.cap().max_inline_data;

  EXPECT_EQ(end.qp.Post(SendWr::Send(1, a_.mr.Slice(0, max)).Inline()).error(), 0);
  EXPECT_EQ(end.qp.Post(SendWr::Send(2, a_.mr.Slice(0, max + 1)).Inline()).error(), EINVAL);
  // The sum of the lengths must not wrap around the check.
  EXPECT_EQ(end.qp.Post(SendWr::Send(3, {a_.mr.Slice(0, 0xfffffff0), a_.mr.Slice(0, 32)}).Inline())
                .error(),
            EINVAL);
}

TEST_F(Post, MessageBeyondTheLargestFailsLocally) {
  const uint32_t max = Must(a_.ctx.QueryPort(1)).max_msg_sz;
  const ibv_sge half = a_.mr.Slice(0, max / 2);
  const SendWr::Sges too_much = {half, half, a_.mr.Slice(0, 1)};

  for (SendWr wr : {SendWr::Send(1, too_much), SendWr::Write(1, too_much, a_.mr.At(0)),
                    SendWr::Read(1, too_much, a_.mr.At(0))}) {
    End end = Stuck();
    if (int error = end.qp.Post(wr).error()) {
      EXPECT_EQ(error, EINVAL);
      continue;
    }
    ExpectFailed(Await(end.send_cq), 1, IBV_WC_LOC_LEN_ERR, end.qp.num());
  }
}

TEST_F(Post, UnknownOpcodesAreRefused) {
  End end = Stuck();

  for (int opcode : {int{IBV_WR_TSO}, int{IBV_WR_DRIVER1}, 13, 16, 77, 255}) {
    SendWr wr = Send(1);
    wr.raw()->opcode = ibv_wr_opcode(opcode);
    EXPECT_EQ(end.qp.Post(wr).error(), EINVAL) << opcode;
  }
}

TEST_F(Post, RequestsBeforeTheBadOneArePosted) {
  End end = Stuck();
  std::vector<SendWr> list = {Send(0), Send(1), Send(2), Send(3)};
  list[2].raw()->opcode = ibv_wr_opcode(77);

  size_t posted = 9;
  EXPECT_EQ(end.qp.Post(list, &posted).error(), EINVAL);
  EXPECT_EQ(posted, 2u);
  Must(end.qp.ModifyState(IBV_QPS_ERR));
  for (uint64_t id = 0; id < 2; id++)
    ExpectFailed(Await(end.send_cq), id, IBV_WC_WR_FLUSH_ERR, end.qp.num());
  ExpectQuiet(end.send_cq);
}

TEST_F(Post, UcKnowsNeitherReadsNorAtomics) {
  End end = End::Create(a_, {.type = IBV_QPT_UC});
  Must(ConnectTo(end.qp, a_.port, a_.port.gid, kNobody, 0, 0, {}));
  const ibv_sge sge = a_.mr.Slice(0, 8);

  EXPECT_EQ(end.qp.Post(SendWr::Read(1, sge, a_.mr.At(8))).error(), EINVAL);
  EXPECT_EQ(end.qp.Post(SendWr::FetchAdd(1, sge, a_.mr.At(8), 1)).error(), EINVAL);
  EXPECT_EQ(end.qp.Post(SendWr::CompareSwap(1, sge, a_.mr.At(8), 0, 0)).error(), EINVAL);
  EXPECT_EQ(end.qp.State(), IBV_QPS_RTS);
}

TEST_F(Post, UdKnowsOnlySend) {
  End end = End::Create(a_, {.type = IBV_QPT_UD});
  Must(BringUpUd(end.qp, a_.port, 0x11111111));
  Ah ah = Must(Ah::Create(a_.pd, AhAttr(a_.port, a_.port.gid)));
  const ibv_sge sge = a_.mr.Slice(0, 8);
  auto refused = [&](SendWr wr) { return end.qp.Post(std::move(wr)).error(); };

  EXPECT_EQ(refused(SendWr::Write(1, sge, a_.mr.At(8))), EINVAL);
  EXPECT_EQ(refused(SendWr::Read(1, sge, a_.mr.At(8))), EINVAL);
  EXPECT_EQ(refused(SendWr::FetchAdd(1, sge, a_.mr.At(8), 1)), EINVAL);
  EXPECT_EQ(refused(SendWr::Send(1, sge).To(ah.get(), end.qp.num(), 0x11111111).Invalidate(1)),
            EINVAL);
  EXPECT_EQ(end.qp.State(), IBV_QPS_RTS);
}

TEST_F(Post, ReceiveOnAQpWithSharedReceiveQueueIsRefused) {
  Srq srq = Must(Srq::Create(a_.pd, 16));
  End end = Stuck({.srq = &srq});

  EXPECT_EQ(end.qp.Post(Recv(1)).error(), EINVAL);
}

}  // namespace
}  // namespace verbs_test
