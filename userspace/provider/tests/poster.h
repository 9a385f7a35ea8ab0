// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Requests as a program posts them, and where the kernel finds them.
#pragma once

#include <array>

#include "fake_kernel.h"

namespace srn::test {

class PostTest : public ProviderTest {
 protected:
  ibv_send_wr SendWr(ibv_wr_opcode opcode) {
    ibv_send_wr wr = {};
    wr.wr_id = 0x1234;
    wr.opcode = opcode;
    wr.sg_list = sges_.data();
    wr.num_sge = 2;
    wr.send_flags = IBV_SEND_SIGNALED;
    return wr;
  }

  // Expects the request refused with EINVAL, and nothing posted.
  void ExpectInvalid(ibv_qp* qp, ibv_send_wr wr) {
    ibv_send_wr* bad = nullptr;
    const uint32_t tail = kernel_.Of(qp).page->sq_tail;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), EINVAL);
    EXPECT_EQ(bad, &wr);
    EXPECT_EQ(kernel_.Of(qp).page->sq_tail, tail);
  }

  const srn_send_wqe& Post(ibv_qp* qp, ibv_send_wr wr) {
    const uint32_t tail = kernel_.Of(qp).page->sq_tail;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(qp, &wr, &bad), 0);
    EXPECT_EQ(kernel_.Of(qp).page->sq_tail, tail + 1);
    return kernel_.Of(qp).send(tail);
  }

  std::array<ibv_sge, 2> sges_ = {
      {{.addr = 0x1000, .length = 10, .lkey = 7}, {.addr = 0x2000, .length = 20, .lkey = 8}}};
};

}  // namespace srn::test
