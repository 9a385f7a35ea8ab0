// SPDX-License-Identifier: GPL-2.0-only
// Rights: each operation needs its own, from the region and from the QP, and
// no other one.
#include <functional>

#include "env.h"

namespace verbs_test {
namespace {

constexpr uint8_t kUntouched = 0x99;
constexpr size_t kSize = 8;

struct Op {
  const char* name;
  int right;
  std::function<SendWr(const ibv_sge&, Remote)> make;
};

std::vector<Op> Ops() {
  return {{"WRITE", IBV_ACCESS_REMOTE_WRITE,
           [](auto& sge, Remote to) { return SendWr::Write(1, sge, to); }},
          {"WRITE with immediate", IBV_ACCESS_REMOTE_WRITE,
           [](auto& sge, Remote to) { return SendWr::Write(1, sge, to).Imm(1); }},
          {"READ", IBV_ACCESS_REMOTE_READ,
           [](auto& sge, Remote to) { return SendWr::Read(1, sge, to); }},
          {"CAS", IBV_ACCESS_REMOTE_ATOMIC,
           [](auto& sge, Remote to) { return SendWr::CompareSwap(1, sge, to, 0, 1); }},
          {"FAA", IBV_ACCESS_REMOTE_ATOMIC,
           [](auto& sge, Remote to) { return SendWr::FetchAdd(1, sge, to, 1); }}};
}

constexpr int kRemoteRights =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

class Rights : public WireTest {
 protected:
  // Tries one operation on memory and a QP with these rights.
  void Try(const Op& op, int mr_access, int qp_access, ibv_wc_status status) {
    SCOPED_TRACE(testing::Message() << op.name << ", region " << mr_access << ", QP " << qp_access);
    Pair p = Connected({}, {.access = qp_access});
    Mr mr = Must(Mr::Register(b_.pd, b_.bytes(0, 4096), mr_access));
    Fill(b_.bytes(0, 4096), kUntouched);
    Fill(a_.bytes(0, 4096), 0);
    Must(p.b.qp.Post(RecvWr(2, {})));
    Must(p.a.qp.Post(op.make(a_.mr.Slice(0, kSize), mr.At(64))));
    if (status == IBV_WC_SUCCESS) {
      EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
      return;
    }
    ExpectFailed(Await(p.a.send_cq), 1, status, p.a.qp.num());
    // As for every refused request, see error_test.cc.
    ibv_wc wc = Await(p.b.recv_cq);
    ExpectFailed(wc, 2,
                 wc.status == IBV_WC_LOC_ACCESS_ERR ? IBV_WC_LOC_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR,
                 p.b.qp.num());
    ExpectAll(b_.bytes(0, 4096), kUntouched);
    ExpectAll(a_.bytes(0, 4096), 0);
  }
};

TEST_P(Rights, RegionNeedsExactlyTheRightOfTheOperation) {
  for (const Op& op : Ops()) {
    Try(op, op.right | IBV_ACCESS_LOCAL_WRITE, kRemoteRights, IBV_WC_SUCCESS);
    Try(op, (kRemoteRights & ~op.right) | IBV_ACCESS_LOCAL_WRITE, kRemoteRights,
        IBV_WC_REM_ACCESS_ERR);
    Try(op, 0, kRemoteRights, IBV_WC_REM_ACCESS_ERR);
  }
}

// An operation that the QP does not offer is an invalid request.
TEST_P(Rights, QpNeedsExactlyTheRightOfTheOperation) {
  for (const Op& op : Ops()) {
    Try(op, kAllAccess, op.right, IBV_WC_SUCCESS);
    Try(op, kAllAccess, kRemoteRights & ~op.right, IBV_WC_REM_INV_REQ_ERR);
    Try(op, kAllAccess, 0, IBV_WC_REM_INV_REQ_ERR);
  }
}

TEST_P(Rights, QpRightsCanBeChangedInRts) {
  Pair p = Connected({}, {.access = 0});
  ibv_qp_attr attr = {};
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  Must(p.b.qp.Modify(attr, IBV_QP_ACCESS_FLAGS));

  Must(p.a.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), b_.mr.At(0))));
  EXPECT_EQ(Await(p.a.send_cq).status, IBV_WC_SUCCESS);
  Must(p.a.qp.Post(SendWr::Read(2, a_.mr.Slice(0, 8), b_.mr.At(0))));
  ExpectFailed(Await(p.a.send_cq), 2, IBV_WC_REM_INV_REQ_ERR, p.a.qp.num());
}

TEST_P(Rights, SendNeedsNoneAtTheReceiversQp) {
  Pair p = Connected({}, {.access = 0});
  ExpectWorks(a_, p.a, b_, p.b);
}

class RightsAtHome : public HostTest {};

TEST_F(RightsAtHome, RemoteWriteWithoutLocalWriteIsRefused) {
  for (int access : {int{IBV_ACCESS_REMOTE_WRITE}, int{IBV_ACCESS_REMOTE_ATOMIC},
                     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ})
    EXPECT_EQ(Mr::Register(a_.pd, a_.bytes(0, 4096), access).error(), EINVAL) << access;
}

TEST_F(RightsAtHome, UnknownRightsAreRefused) {
  EXPECT_EQ(Mr::Register(a_.pd, a_.bytes(0, 4096), 1 << 15).error(), EINVAL);
}

SRN_OVER_BOTH_IP(Rights);

}  // namespace
}  // namespace verbs_test
