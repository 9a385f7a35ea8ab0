// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Contexts, domains, and what happens when the kernel says no.

#include <fcntl.h>
#include <time.h>

#include "fake_kernel.h"

namespace srn::test {
namespace {

using ObjectTest = ProviderTest;

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST_F(ObjectTest, ClosingTheContextClosesTheDoorbell) {
  const int doorbell = kernel_.doorbell_fd();
  ASSERT_TRUE(IsOpen(doorbell));
  ASSERT_EQ(ibv_destroy_cq(cq_), 0);
  ASSERT_EQ(ibv_dealloc_pd(pd_), 0);
  cq_ = nullptr;
  pd_ = nullptr;
  ASSERT_EQ(ibv_close_device(context_), 0);
  context_ = nullptr;
  EXPECT_FALSE(IsOpen(doorbell));
}

TEST_F(ObjectTest, ContextThatTheKernelRefusesIsNone) {
  const int references = device_->refcount;
  kernel_.FailNext(EPERM);
  errno = 0;
  EXPECT_EQ(kDeviceOps.alloc_context(&device_->device, dup(kernel_.cmd_fd()), nullptr), nullptr);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(device_->refcount, references);
}

TEST_F(ObjectTest, RefusalsReachTheProgram) {
  kernel_.FailNext(ENOSPC);
  EXPECT_EQ(ibv_alloc_pd(context_), nullptr);
  EXPECT_EQ(errno, ENOSPC);
  kernel_.FailNext(EINVAL);
  EXPECT_EQ(ibv_create_cq(context_, 8, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  kernel_.FailNext(ENOMEM);
  EXPECT_EQ(MakeQp(IBV_QPT_RC), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  kernel_.FailNext(EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
}

TEST_F(ObjectTest, QueueThatCannotBeMappedIsDestroyedAgain) {
  const size_t cqs = kernel_.cqs.size();
  kernel_.BreakNextOffset();
  EXPECT_EQ(ibv_create_cq(context_, 8, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(kernel_.cqs.size(), cqs);
  kernel_.BreakNextOffset();
  EXPECT_EQ(MakeQp(IBV_QPT_RC), nullptr);
  EXPECT_TRUE(kernel_.qps.empty());
  ibv_srq_init_attr attr = {};
  attr.attr.max_wr = 4;
  kernel_.BreakNextOffset();
  EXPECT_EQ(ibv_create_srq(pd_, &attr), nullptr);
  EXPECT_TRUE(kernel_.srqs.empty());
}

TEST_F(ObjectTest, TypesThatSrnDoesNotHaveAreRefused) {
  for (ibv_qp_type type : {IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_DRIVER}) {
    errno = 0;
    EXPECT_EQ(MakeQp(type), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
}

// ibv_init_ah_from_wc() takes for the SL what a completion has there: the network type, 9 or 10.
TEST_F(ObjectTest, AddressHandleTakesNoNetworkTypeForAPriority) {
  for (uint8_t sl = 0; sl < 17; ++sl) {
    ibv_ah_attr attr = {};
    attr.sl = sl;
    ibv_ah* ah = ibv_create_ah(pd_, &attr);
    ASSERT_NE(ah, nullptr);
    // More than 15 is for the kernel to refuse.
    EXPECT_EQ(kernel_.ah_sl, sl < 8 || sl > 15 ? sl : 0) << int{sl};
    EXPECT_EQ(attr.sl, sl);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
  }
}

TEST_F(ObjectTest, FirmwareVersionIsReadable) {
  ibv_device_attr_ex attr = {};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_STREQ(attr.orig_attr.fw_ver, "3.2.1");
}

TEST_F(ObjectTest, RawClockIsTheClockOfTimestamps) {
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  ibv_values_ex values = {};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  ASSERT_EQ(ibv_query_rt_values_ex(context_, &values), 0);
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT_EQ(values.comp_mask, static_cast<uint32_t>(IBV_VALUES_MASK_RAW_CLOCK));
  EXPECT_EQ(values.raw_clock.tv_sec, 0);
  EXPECT_GE(values.raw_clock.tv_nsec, before.tv_sec * 1'000'000'000L + before.tv_nsec);
  EXPECT_LE(values.raw_clock.tv_nsec, after.tv_sec * 1'000'000'000L + after.tv_nsec);
}

TEST_F(ObjectTest, ParentDomainStandsForItsProtectionDomain) {
  ibv_td_init_attr td_attr = {};
  ibv_td* td = ibv_alloc_td(context_, &td_attr);
  ASSERT_NE(td, nullptr);
  ibv_parent_domain_init_attr attr = {};
  attr.pd = pd_;
  attr.td = td;
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr);
  EXPECT_EQ(parent->handle, pd_->handle);
  EXPECT_EQ(parent->context, context_);
  EXPECT_TRUE(IsSingleThreaded(parent));
  EXPECT_FALSE(IsSingleThreaded(pd_));
  EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td), 0);
}

TEST_F(ObjectTest, ParentDomainsThatMakeNoSenseAreRefused) {
  ibv_parent_domain_init_attr attr = {};
  EXPECT_EQ(ibv_alloc_parent_domain(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr.pd = pd_;
  attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
  EXPECT_EQ(ibv_alloc_parent_domain(context_, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  attr.comp_mask = 0;
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr);
  attr.pd = parent;
  EXPECT_EQ(ibv_alloc_parent_domain(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
}

TEST_F(ObjectTest, SrqExTakesTheBasicType) {
  ibv_srq_init_attr_ex attr = {};
  attr.attr.max_wr = 4;
  attr.attr.max_sge = 1;
  attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  attr.srq_type = IBV_SRQT_BASIC;
  attr.pd = pd_;
  ibv_srq* srq = ibv_create_srq_ex(context_, &attr);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  attr.srq_type = IBV_SRQT_XRC;
  EXPECT_EQ(ibv_create_srq_ex(context_, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace srn::test
