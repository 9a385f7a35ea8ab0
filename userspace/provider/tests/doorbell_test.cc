// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// When posts ring, when that is put off, and when a poller looks for them.
#include <array>
#include <cstdlib>

#include <gmock/gmock.h>

#include "poster.h"

namespace srn::test {
namespace {

TEST_F(PostTest, DoorbellRingsOncePerCallIfTheKernelIsIdle) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  std::array<ibv_send_wr, 2> wrs = {SendWr(IBV_WR_SEND), SendWr(IBV_WR_SEND)};
  wrs[0].next = &wrs[1];
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(qp, wrs.data(), &bad), 0);
  EXPECT_TRUE(kernel_.doorbells.empty());
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  ASSERT_EQ(ibv_post_send(qp, wrs.data(), &bad), 0);
  // Index 37: the second word of the bitmap, bit 5.
  EXPECT_EQ(kernel_.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | (1u << 5)});
}

// A context of its own, opened as the environment says.
class PollerTest : public PostTest {
 protected:
  void SetUp() override {}
  void TearDown() override {
    PostTest::TearDown();
    unsetenv("SRN_POLLER");
  }
  void Open(const char* wish) {
    setenv("SRN_POLLER", wish, /*overwrite=*/1);
    PostTest::SetUp();
  }
};

// Its thread looks for what is posted, unless it says that it sleeps.
TEST_F(PollerTest, PostsRingOnlyWhileItSleeps) {
  Open("1");
  ASSERT_NE(kernel_.poller, nullptr);
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_TRUE(kernel_.doorbells.empty());
  kernel_.poller->asleep = 1;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
  kernel_.Of(qp).page->status = 0;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// An older module knows no pollers, and a kernel may have none.
TEST_F(PollerTest, WhoCannotHaveOneRings) {
  kernel_.poller_error = EOPNOTSUPP;
  Open("1");
  EXPECT_EQ(kernel_.poller, nullptr);
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// The module has made it, and its page cannot be mapped.
TEST_F(PollerTest, WhoCannotSeeWhetherItSleepsRingsAndIsTold) {
  setenv("IBV_SHOW_WARNINGS", "1", /*overwrite=*/1);
  testing::internal::CaptureStderr();
  kernel_.BreakNextOffset();
  Open("1");
  unsetenv("IBV_SHOW_WARNINGS");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("srn: no poller for "));
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// Whatever else it says.
class PollerWishTest : public PollerTest, public testing::WithParamInterface<const char*> {};

TEST_P(PollerWishTest, NobodyHasOneWhoDoesNotWantIt) {
  Open(GetParam());
  EXPECT_EQ(kernel_.poller, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Wishes, PollerWishTest,
                         testing::Values("", "0", "N", "no", "n", "off", "10", "01", "1 ", "Y"));

TEST_F(PollerTest, NobodyHasOneWhoSaysNothing) {
  unsetenv("SRN_POLLER");
  PostTest::SetUp();
  EXPECT_EQ(kernel_.poller, nullptr);
}

// Posts that the kernel gathers are rung for by who finds nothing to poll, for all QPs in one call.
TEST_F(PostTest, WhatIsGatheredIsRungForWhenNothingIsThereToPoll) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_wc wc;
  kernel_.Of(qp).page->status = SRN_QP_GATHERS;
  Post(qp, SendWr(IBV_WR_SEND));
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_TRUE(kernel_.doorbells.empty());
  kernel_.Of(cq_).Post({});
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 1);
  EXPECT_EQ(ibv_poll_cq(cq_, 0, &wc), 0);
  EXPECT_TRUE(kernel_.doorbells.empty());
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(kernel_.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | (1u << 5)});
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

// The doorbell that was put off is one of them.
TEST_F(PostTest, DoorbellThatIsPutOffIsRungForWhenNothingIsThereToPoll) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_wc wc;
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  int rung = 0;
  kernel_.on_doorbell = [&] {
    ++rung;
    kernel_.Of(qp).page->status = SRN_QP_GATHERS;
  };
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(rung, 1);
  EXPECT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  EXPECT_EQ(rung, 2);
  Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_EQ(rung, 2);
  kernel_.Of(cq_).Post({});
  ibv_wc two[2];
  EXPECT_EQ(ibv_poll_cq(cq_, 2, two), 1);
  EXPECT_EQ(rung, 3);
  EXPECT_EQ(ibv_poll_cq(cq_, 1, &wc), 0);
  EXPECT_EQ(rung, 3);
}

// Who can post no more gets room by that, also if he does not poll.
TEST_F(PostTest, WhatIsGatheredIsRungForWhenTheQueueIsFull) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_GATHERS;
  for (uint32_t i = 0; i < kMaxSendWr; ++i) Post(qp, SendWr(IBV_WR_SEND));
  EXPECT_TRUE(kernel_.doorbells.empty());
  ibv_send_wr wr = SendWr(IBV_WR_SEND);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
  EXPECT_EQ(kernel_.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | (1u << 5)});
  EXPECT_EQ(ibv_post_send(qp, &wr, &bad), ENOMEM);
  EXPECT_EQ(kernel_.doorbells.size(), 1u);
}

TEST(GatheredTest, KeepsOneWordOfTheBitmap) {
  FakeKernel kernel;
  Gathered gathered{};
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(33)));
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(35)));
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(33)));
  EXPECT_FALSE(gathered.Keep(SRN_DB_ARG(1)));
  EXPECT_FALSE(gathered.Keep(SRN_DB_ARG(65)));
  gathered.Ring(kernel.doorbell_fd());
  EXPECT_EQ(kernel.doorbells, std::vector<uint64_t>{(uint64_t{1} << 32) | 0b1010});
  EXPECT_TRUE(gathered.Keep(SRN_DB_ARG(1)));
}

TEST_F(PostTest, NothingPostedRingsNothing) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  kernel_.Of(qp).page->status = SRN_QP_NEED_DB;
  ExpectInvalid(qp, SendWr(IBV_WR_TSO));
  EXPECT_TRUE(kernel_.doorbells.empty());
}

}  // namespace
}  // namespace srn::test
