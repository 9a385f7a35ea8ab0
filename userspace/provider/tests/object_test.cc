// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Contexts, domains, and what happens when the kernel says no.

#include <fcntl.h>
#include <sys/mman.h>
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

// What the kernel does not let go of can be used, and destroyed another time.
TEST_F(ObjectTest, ObjectsInUseStay) {
  ibv_srq_init_attr attr = {};
  attr.attr.max_wr = 4;
  ibv_srq* srq = ibv_create_srq(pd_, &attr);
  ASSERT_NE(srq, nullptr);
  ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
  ASSERT_NE(mw, nullptr);
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ASSERT_NE(qp, nullptr);
  kernel_.FailNext(EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  kernel_.FailNext(EBUSY);
  EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  kernel_.FailNext(EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(mw), EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
  kernel_.FailNext(EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
}

bool IsMapped(void* page) { return msync(page, 4096, MS_ASYNC) == 0; }

TEST_F(ObjectTest, QueuesAreMappedAsLongAsTheyAreThere) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ASSERT_NE(qp, nullptr);
  void* page = ToQp(qp).page;
  EXPECT_TRUE(IsMapped(page));
  ASSERT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_FALSE(IsMapped(page));
  page = ToCq(cq_).page;
  ASSERT_EQ(ibv_resize_cq(cq_, 32), 0);
  EXPECT_NE(ToCq(cq_).page, page);
  EXPECT_FALSE(IsMapped(page));
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

// What a service level is worth the kernel knows, of connections as well.
TEST_F(ObjectTest, AddressHandleLeavesTheServiceLevelToTheKernel) {
  for (uint8_t sl = 0; sl < 17; ++sl) {
    ibv_ah_attr attr = {};
    attr.sl = sl;
    ibv_ah* ah = ibv_create_ah(pd_, &attr);
    ASSERT_NE(ah, nullptr);
    EXPECT_EQ(kernel_.ah_sl, sl);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
  }
}

TEST_F(ObjectTest, FirmwareVersionIsReadable) {
  ibv_device_attr_ex attr = {};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_STREQ(attr.orig_attr.fw_ver, "3.2.1");
}

TEST_F(ObjectTest, RatesThatTheKernelHasAreTold) {
  ibv_device_attr_ex attr = {};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_min, 100u);
  EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_max, 5000u);
  EXPECT_EQ(attr.packet_pacing_caps.supported_qpts, 1u << IBV_QPT_RC);
}

// Only one of the two commands has a place for it.
TEST_F(ObjectTest, RateLimitReachesTheKernel) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_qp_rate_limit_attr limit = {};
  limit.rate_limit = 1000;
  ASSERT_EQ(ibv_modify_qp_rate_limit(qp, &limit), 0);
  EXPECT_EQ(kernel_.rate_limit, 1000u);
  ibv_qp_attr attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.rate_limit = 2000;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT), 0);
  EXPECT_EQ(kernel_.rate_limit, 2000u);
  EXPECT_EQ(kernel_.Of(qp).page->state, uint32_t{IBV_QPS_RTS});
  kernel_.FailNext(EINVAL);
  EXPECT_EQ(ibv_modify_qp_rate_limit(qp, &limit), EINVAL);
}

TEST_F(ObjectTest, BurstsAreNotForTheProgram) {
  ibv_qp* qp = MakeQp(IBV_QPT_RC);
  ibv_qp_rate_limit_attr limit = {};
  limit.rate_limit = 1000;
  limit.max_burst_sz = 1;
  EXPECT_EQ(ibv_modify_qp_rate_limit(qp, &limit), EINVAL);
  limit.max_burst_sz = 0;
  limit.typical_pkt_sz = 1;
  EXPECT_EQ(ibv_modify_qp_rate_limit(qp, &limit), EINVAL);
  limit.typical_pkt_sz = 0;
  limit.comp_mask = 1;
  EXPECT_EQ(ibv_modify_qp_rate_limit(qp, &limit), EINVAL);
  EXPECT_EQ(kernel_.rate_limit, 0u);
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

TEST_F(ObjectTest, OnlyTheRawClockIsKnown) {
  ibv_values_ex values = {};
  values.comp_mask = 1 << 7;
  ASSERT_EQ(ibv_query_rt_values_ex(context_, &values), 0);
  EXPECT_EQ(values.comp_mask, 0u);
  EXPECT_EQ(values.raw_clock.tv_nsec, 0);
}

TEST_F(ObjectTest, UnknownThreadDomainsAreRefused) {
  ibv_td_init_attr attr = {.comp_mask = 1};
  errno = 0;
  EXPECT_EQ(ibv_alloc_td(context_, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
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

// What was made in it goes without locks on its thread domain's word.
TEST_F(ObjectTest, ParentDomainStaysWhileAQueueIsInIt) {
  ibv_parent_domain_init_attr attr = {};
  attr.pd = pd_;
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr);

  ibv_srq_init_attr srq_attr = {.srq_context = nullptr,
                                .attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = ibv_create_srq(parent, &srq_attr);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);

  ibv_cq_init_attr_ex cq_attr = {};
  cq_attr.cqe = 4;
  cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  cq_attr.parent_domain = parent;
  ibv_cq_ex* cq = ibv_create_cq_ex(context_, &cq_attr);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);

  ibv_qp_init_attr qp_attr = {};
  qp_attr.send_cq = qp_attr.recv_cq = ibv_cq_ex_to_cq(cq);
  qp_attr.qp_type = IBV_QPT_RC;
  qp_attr.cap = {.max_send_wr = 4,
                 .max_recv_wr = 4,
                 .max_send_sge = 1,
                 .max_recv_sge = 1,
                 .max_inline_data = 0};
  ibv_qp* qp = ibv_create_qp(parent, &qp_attr);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
  pd_ = ibv_alloc_pd(context_);
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

// A domain that the mask does not name is none, whatever stands there.
TEST_F(ObjectTest, SrqExNeedsADomain) {
  ibv_srq_init_attr_ex attr = {};
  attr.attr.max_wr = 4;
  attr.attr.max_sge = 1;
  attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
  attr.srq_type = IBV_SRQT_BASIC;
  attr.pd = pd_;
  errno = 0;
  EXPECT_EQ(ibv_create_srq_ex(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_TRUE(kernel_.srqs.empty());
}

}  // namespace
}  // namespace srn::test
