// SPDX-License-Identifier: GPL-2.0-only
// Address handles.
#include <cstring>

#include "env.h"

namespace verbs_test {
namespace {

class AddressHandle : public WireTest {};

TEST_P(AddressHandle, NeedsAGrh) {
  ibv_ah_attr attr = AhAttr(a_.port, b_.port.gid);
  attr.is_global = 0;
  EXPECT_EQ(Ah::Create(a_.pd, attr).error(), EINVAL);
}

TEST_P(AddressHandle, NeedsAPortOfTheDevice) {
  for (uint8_t port : {0, 2, 255}) {
    ibv_ah_attr attr = AhAttr(a_.port, b_.port.gid);
    attr.port_num = port;
    EXPECT_EQ(Ah::Create(a_.pd, attr).error(), EINVAL) << int{port};
  }
}

TEST_P(AddressHandle, NeedsAGidOfThePort) {
  ibv_ah_attr attr = AhAttr(a_.port, b_.port.gid);
  attr.grh.sgid_index = 250;
  EXPECT_NE(Ah::Create(a_.pd, attr).error(), 0);
}

TEST_P(AddressHandle, ManyLiveTogether) {
  std::vector<Ah> all;
  for (int i = 0; i < 500; i++)
    all.push_back(Must(Ah::Create(a_.pd, AhAttr(a_.port, b_.port.gid))));
  EXPECT_EQ(a_.pd.Close().error(), EBUSY);
}

TEST_P(AddressHandle, OneMadeFromACompletionReachesTheSender) {
  constexpr uint32_t kQkey = 0x1234;
  End x = End::Create(a_, {.type = IBV_QPT_UD});
  End y = End::Create(b_, {.type = IBV_QPT_UD});
  Must(BringUpUd(x.qp, a_.port, kQkey));
  Must(BringUpUd(y.qp, b_.port, kQkey));
  Ah there = Must(Ah::Create(a_.pd, AhAttr(a_.port, b_.port.gid)));

  Must(y.qp.Post(RecvWr(1, {b_.mr.Slice(0, 4096)})));
  Must(x.qp.Post(SendWr::Send(2, a_.mr.Slice(0, 32)).To(there.get(), y.qp.num(), kQkey)));
  ibv_wc wc = Await(y.recv_cq);
  ASSERT_EQ(wc.status, IBV_WC_SUCCESS);

  auto* grh = reinterpret_cast<ibv_grh*>(b_.buffer.data());
  Ah back(ibv_create_ah_from_wc(b_.pd.get(), &wc, grh, b_.port.num));
  ASSERT_TRUE(back) << std::strerror(errno);
  const size_t at = 8192;
  FillPattern(b_.bytes(at, 32), 6);
  Must(x.qp.Post(RecvWr(3, {a_.mr.Slice(at, 4096)})));
  Must(y.qp.Post(SendWr::Send(4, b_.mr.Slice(at, 32)).To(back.get(), wc.src_qp, kQkey)));
  EXPECT_EQ(Await(x.recv_cq).src_qp, y.qp.num());
  ExpectPattern(a_.bytes(at + 40, 32), 6);
}

TEST_P(AddressHandle, DestroyedAfterItsSendCompletedDoesNotLoseTheDatagram) {
  constexpr uint32_t kQkey = 0x1234;
  End x = End::Create(a_, {.type = IBV_QPT_UD});
  End y = End::Create(b_, {.type = IBV_QPT_UD});
  Must(BringUpUd(x.qp, a_.port, kQkey));
  Must(BringUpUd(y.qp, b_.port, kQkey));

  for (uint64_t id = 0; id < 50; id++) {
    Ah ah = Must(Ah::Create(a_.pd, AhAttr(a_.port, b_.port.gid)));
    Must(y.qp.Post(RecvWr(id, {b_.mr.Slice(0, 4096)})));
    Must(x.qp.Post(SendWr::Send(id, a_.mr.Slice(0, 32)).To(ah.get(), y.qp.num(), kQkey)));
    EXPECT_EQ(Await(x.send_cq).status, IBV_WC_SUCCESS);
    Must(ah.Close());
    EXPECT_EQ(Await(y.recv_cq).wr_id, id);
  }
}

SRN_OVER_BOTH_IP(AddressHandle);

}  // namespace
}  // namespace verbs_test
