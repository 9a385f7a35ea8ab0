// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "fake_kernel.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstring>

namespace srn::test {
namespace {

FakeKernel* current = nullptr;

// Puts the driver's part behind the core's part of a response.
template <typename Core, typename Driver>
void Answer(void* resp, size_t resp_size, const Driver& driver) {
  ASSERT_EQ(resp_size, sizeof(Core) + sizeof(Driver));
  std::memcpy(static_cast<unsigned char*>(resp) + sizeof(Core), &driver, sizeof(Driver));
}

}  // namespace

FakeKernel& FakeKernel::Get() { return *current; }

FakeKernel::FakeKernel()
    : memory_fd_(memfd_create("queues", MFD_CLOEXEC)),
      doorbell_fd_(memfd_create("doorbell", MFD_CLOEXEC)) {
  current = this;
}

FakeKernel::~FakeKernel() { current = nullptr; }

int FakeKernel::TakeFailure() {
  const int error = fail_next_;
  fail_next_ = 0;
  return error;
}

unsigned char* FakeKernel::MakeQueue(uint64_t length, uint64_t* offset) {
  const uint64_t rounded = (length + 4095) & ~uint64_t{4095};
  *offset = used_;
  used_ += rounded;
  EXPECT_EQ(ftruncate(memory_fd_, static_cast<off_t>(used_)), 0);
  void* base = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_,
                    static_cast<off_t>(*offset));
  EXPECT_NE(base, MAP_FAILED);
  if (break_offset_) *offset += 1;  // not a page
  break_offset_ = false;
  return static_cast<unsigned char*>(base);
}

namespace {

// The ring of another size; what is posted is at the same indices.
void MoveSrq(KernelSrq& from, const KernelSrq& to) {
  for (uint32_t i = from.page->head; i != from.page->tail; ++i) {
    std::memcpy(const_cast<srn_recv_wqe*>(&to.recv(i)), &from.recv(i), to.layout.stride);
  }
  to.page->head = from.page->head;
  to.page->tail = from.page->tail;
  from.page->gone = 1;
  from = to;
}

}  // namespace

int FakeKernel::ModifySrq(const ibv_srq* srq, uint32_t max_wr, const srn_modify_srq_req& req) {
  srq_steps.push_back(req.comp_mask);
  if (req.comp_mask == SRN_MODIFY_SRQ_RING) {
    srn_create_srq_resp layout = Of(srq).layout;
    layout.entries = std::bit_ceil(max_wr);
    layout.mmap_len = SRN_QUEUE_OFFSET + uint64_t{layout.entries} * layout.stride;
    uint64_t offset;
    unsigned char* base = MakeQueue(layout.mmap_len, &offset);
    next_srq_ = {layout, reinterpret_cast<srn_srq_page*>(base), base};
    const srn_modify_srq_resp resp = {.comp_mask = 0,
                                      .entries = layout.entries,
                                      .mmap_offset = offset,
                                      .mmap_len = layout.mmap_len};
    EXPECT_EQ(req.resp_len, sizeof(resp));
    std::memcpy(reinterpret_cast<void*>(req.resp_addr), &resp, sizeof(resp));
  } else if (req.comp_mask == SRN_MODIFY_SRQ_MOVE) {
    if (srq_move_error) return srq_move_error;
    EXPECT_EQ(next_srq_.layout.entries, std::bit_ceil(max_wr));
    MoveSrq(Of(srq), next_srq_);
  }
  return 0;
}

void ProviderTest::SetUp() {
  device_ = kDeviceOps.alloc_device(nullptr);
  ASSERT_NE(device_, nullptr);
  device_->refcount = 100;  // never freed by libibverbs
  std::strcpy(device_->device.name, "fake");
  verbs_context* vctx = kDeviceOps.alloc_context(&device_->device, kernel_.cmd_fd(), nullptr);
  ASSERT_NE(vctx, nullptr);
  context_ = &vctx->context;
  // ibv_open_device(), which needs a device file, would put a function of its own here.
  vctx->create_cq_ex = kContextOps.create_cq_ex;
  pd_ = ibv_alloc_pd(context_);
  ASSERT_NE(pd_, nullptr);
  cq_ = ibv_create_cq(context_, 8, nullptr, nullptr, 0);
  ASSERT_NE(cq_, nullptr);
}

void ProviderTest::TearDown() {
  for (const auto& [qp, queue] : std::map(kernel_.qps)) {
    EXPECT_EQ(ibv_destroy_qp(const_cast<ibv_qp*>(qp)), 0);
  }
  if (cq_ != nullptr) {
    EXPECT_EQ(ibv_destroy_cq(cq_), 0);
  }
  if (pd_ != nullptr) {
    EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
  }
  if (context_ != nullptr) ibv_close_device(context_);
  if (device_ != nullptr) kDeviceOps.uninit_device(device_);
}

ibv_qp* ProviderTest::MakeQp(ibv_qp_type type, ibv_srq* srq) {
  ibv_qp_init_attr attr = {};
  attr.send_cq = cq_;
  attr.recv_cq = cq_;
  attr.srq = srq;
  attr.qp_type = type;
  attr.cap = {kMaxSendWr, kMaxRecvWr, kMaxSge, kMaxSge, kMaxInline};
  ibv_qp* qp = ibv_create_qp(pd_, &attr);
  if (qp != nullptr) SetState(qp, IBV_QPS_RTS);
  return qp;
}

ibv_qp_ex* ProviderTest::MakeQpEx(ibv_qp_type type, uint64_t send_ops) {
  ibv_qp_init_attr_ex attr = {};
  attr.send_cq = cq_;
  attr.recv_cq = cq_;
  attr.qp_type = type;
  attr.cap = {kMaxSendWr, kMaxRecvWr, kMaxSge, kMaxSge, kMaxInline};
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attr.pd = pd_;
  attr.send_ops_flags = send_ops;
  ibv_qp* qp = ibv_create_qp_ex(context_, &attr);
  if (qp == nullptr) return nullptr;
  SetState(qp, IBV_QPS_RTS);
  return ibv_qp_to_qp_ex(qp);
}

}  // namespace srn::test

using srn::test::FakeKernel;

extern "C" {

int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list args;
  va_start(args, request);
  const uint64_t argument = va_arg(args, uint64_t);
  va_end(args);

  if (srn::test::current != nullptr && fd == FakeKernel::Get().doorbell_fd() &&
      request == SRN_IOC_DOORBELL) {
    FakeKernel& kernel = FakeKernel::Get();
    if (kernel.on_doorbell) {
      kernel.on_doorbell();
    } else {
      kernel.doorbells.push_back(argument);
    }
    return 0;
  }
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

int ibv_cmd_get_context(verbs_context* context, void* cmd, size_t cmd_size, void* resp,
                        size_t resp_size) {
  FakeKernel& kernel = FakeKernel::Get();
  EXPECT_EQ(cmd_size, 24u);
  if (const int err = kernel.TakeFailure()) return err;
  srn_alloc_ucontext_req request;
  std::memcpy(&request, static_cast<unsigned char*>(cmd) + 16, sizeof(request));
  EXPECT_EQ(request.reserved, 0u);
  srn_alloc_ucontext_resp driver = {};
  if (request.comp_mask != 0) {
    EXPECT_EQ(request.comp_mask, SRN_UCONTEXT_POLLER);
    if (kernel.poller_error != 0) return kernel.poller_error;
    uint64_t offset;
    kernel.poller = reinterpret_cast<srn_poller_page*>(kernel.MakeQueue(4096, &offset));
    driver.comp_mask = SRN_UCONTEXT_POLLER;
    driver.poller_offset = offset;
    driver.poller_len = 4096;
    // The real libibverbs has it by now.
    context->context.cmd_fd = kernel.cmd_fd();
  }
  driver.doorbell_fd = FakeKernel::Get().doorbell_fd();
  driver.max_inline = srn::test::kMaxInline;
  srn::test::Answer<ib_uverbs_get_context_resp>(resp, resp_size, driver);
  return 0;
}

int ibv_cmd_query_device_any(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*,
                             size_t, void* resp, size_t* resp_size) {
  ib_uverbs_ex_query_device_resp core = {};
  core.base.fw_ver = (uint64_t{3} << 32) | (2 << 16) | 1;
  std::memcpy(resp, &core, sizeof(core));
  const srn_query_device_resp driver = {0, 100, 5000, 1U << IBV_QPT_RC};
  EXPECT_EQ(*resp_size, sizeof(core) + sizeof(driver));
  std::memcpy(static_cast<unsigned char*>(resp) + sizeof(core), &driver, sizeof(driver));
  return 0;
}

int ibv_cmd_alloc_pd(ibv_context* context, ibv_pd* pd, void*, size_t, void*, size_t) {
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  pd->context = context;
  pd->handle = FakeKernel::Get().next_handle++;
  return 0;
}

int ibv_cmd_dealloc_pd(ibv_pd*) { return FakeKernel::Get().TakeFailure(); }

int ibv_cmd_create_cq_ex(ibv_context* context, const ibv_cq_init_attr_ex* attr, verbs_cq* cq, void*,
                         size_t cmd_size, void* resp, size_t resp_size, uint32_t) {
  FakeKernel& kernel = FakeKernel::Get();
  EXPECT_EQ(cmd_size, 64u);
  if (const int err = kernel.TakeFailure()) return err;
  kernel.cq_wc_flags = attr->wc_flags;
  kernel.cq_flags = attr->flags;

  srn_create_cq_resp driver = {};
  driver.entries = std::bit_ceil(attr->cqe);
  driver.mmap_len = SRN_QUEUE_OFFSET + uint64_t{driver.entries} * sizeof(srn_cqe);
  uint64_t offset;
  unsigned char* base = kernel.MakeQueue(driver.mmap_len, &offset);
  driver.mmap_offset = offset;
  srn::test::Answer<ib_uverbs_ex_create_cq_resp>(resp, resp_size, driver);

  cq->cq.context = context;
  cq->cq.cqe = static_cast<int>(driver.entries);
  kernel.cqs[&cq->cq] = {driver.entries, reinterpret_cast<srn_cq_page*>(base),
                         reinterpret_cast<srn_cqe*>(base + SRN_QUEUE_OFFSET)};
  return 0;
}

int ibv_cmd_modify_cq(ibv_cq*, ibv_modify_cq_attr* attr, void*, size_t cmd_size) {
  EXPECT_EQ(cmd_size, 40u);
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  FakeKernel::Get().moderate = attr->moderate;
  return 0;
}

int ibv_cmd_resize_cq(ibv_cq* cq, int cqe, void*, size_t, void* resp, size_t resp_size) {
  FakeKernel& kernel = FakeKernel::Get();
  if (const int err = kernel.TakeFailure()) return err;

  srn_resize_cq_resp driver = {};
  driver.entries = std::bit_ceil(static_cast<uint32_t>(cqe));
  driver.mmap_len = SRN_QUEUE_OFFSET + uint64_t{driver.entries} * sizeof(srn_cqe);
  uint64_t offset;
  unsigned char* base = kernel.MakeQueue(driver.mmap_len, &offset);
  driver.mmap_offset = offset;
  srn::test::Answer<ib_uverbs_resize_cq_resp>(resp, resp_size, driver);

  srn::test::KernelCq& old = kernel.Of(cq);
  srn::test::KernelCq fresh = {driver.entries, reinterpret_cast<srn_cq_page*>(base),
                               reinterpret_cast<srn_cqe*>(base + SRN_QUEUE_OFFSET)};
  for (uint32_t i = old.page->cons; i != old.page->prod; ++i) {
    fresh.cqes[i & (fresh.entries - 1)] = old.cqes[i & (old.entries - 1)];
  }
  fresh.page->cons = old.page->cons;
  fresh.page->prod = old.page->prod;
  fresh.page->arm = old.page->arm;
  old = fresh;
  cq->cqe = static_cast<int>(driver.entries);
  return 0;
}

int ibv_cmd_destroy_cq(ibv_cq* cq) {
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  FakeKernel::Get().cqs.erase(cq);
  return 0;
}

int ibv_cmd_create_srq(ibv_pd* pd, ibv_srq* srq, ibv_srq_init_attr* attr, void*, size_t cmd_size,
                       void* resp, size_t resp_size) {
  FakeKernel& kernel = FakeKernel::Get();
  EXPECT_EQ(cmd_size, 48u);
  if (const int err = kernel.TakeFailure()) return err;

  srn_create_srq_resp driver = {};
  driver.srqn = 77;
  driver.entries = std::bit_ceil(attr->attr.max_wr);
  driver.stride = 128;
  driver.mmap_len = SRN_QUEUE_OFFSET + uint64_t{driver.entries} * driver.stride;
  uint64_t offset;
  unsigned char* base = kernel.MakeQueue(driver.mmap_len, &offset);
  driver.mmap_offset = offset;
  srn::test::Answer<ib_uverbs_create_srq_resp>(resp, resp_size, driver);

  srq->context = pd->context;
  srq->pd = pd;
  kernel.srqs[srq] = {driver, reinterpret_cast<srn_srq_page*>(base), base};
  return 0;
}

int ibv_cmd_modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask, void* cmd,
                       size_t cmd_size) {
  EXPECT_EQ(cmd_size, 40u);
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  srn_modify_srq_req req;
  std::memcpy(&req, static_cast<unsigned char*>(cmd) + 24, sizeof(req));
  EXPECT_EQ(req.comp_mask != 0, (attr_mask & IBV_SRQ_MAX_WR) != 0);
  return FakeKernel::Get().ModifySrq(srq, attr->max_wr, req);
}

int ibv_cmd_destroy_srq(ibv_srq* srq) {
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  FakeKernel::Get().srqs.erase(srq);
  return 0;
}

int ibv_cmd_create_qp_ex2(ibv_context* context, verbs_qp* vqp, ibv_qp_init_attr_ex* attr, void*,
                          size_t cmd_size, void* resp, size_t resp_size) {
  FakeKernel& kernel = FakeKernel::Get();
  EXPECT_EQ(cmd_size, 96u);
  if (const int err = kernel.TakeFailure()) return err;

  srn_create_qp_resp driver = {};
  driver.db_index = 37;
  driver.sq_offset = SRN_QUEUE_OFFSET;
  driver.sq_entries = std::bit_ceil(attr->cap.max_send_wr);
  driver.sq_stride = 128;
  driver.rq_offset = SRN_QUEUE_OFFSET + driver.sq_entries * driver.sq_stride;
  driver.rq_entries = attr->srq != nullptr ? 0 : std::bit_ceil(attr->cap.max_recv_wr);
  driver.rq_stride = 128;
  driver.ece = kernel.ece_offered;
  driver.mmap_len = driver.rq_offset + uint64_t{driver.rq_entries} * driver.rq_stride;
  uint64_t offset;
  unsigned char* base = kernel.MakeQueue(driver.mmap_len, &offset);
  driver.mmap_offset = offset;
  srn::test::Answer<ib_uverbs_ex_create_qp_resp>(resp, resp_size, driver);

  ibv_qp* qp = &vqp->qp;
  qp->context = context;
  qp->pd = attr->pd;
  qp->srq = attr->srq;
  qp->send_cq = attr->send_cq;
  qp->recv_cq = attr->recv_cq;
  qp->qp_type = attr->qp_type;
  vqp->comp_mask = 0;
  kernel.qps[qp] = {driver, reinterpret_cast<srn_qp_page*>(base), base};
  return 0;
}

int ibv_cmd_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, void*, size_t cmd_size) {
  EXPECT_EQ(cmd_size, 120u);
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  if (attr_mask & IBV_QP_STATE) {
    srn_qp_page* page = FakeKernel::Get().Of(qp).page;
    page->state = attr->qp_state;
    if (attr->qp_state == IBV_QPS_RESET) {
      page->sq_head = page->sq_tail;
      page->rq_head = page->rq_tail;
    }
  }
  return 0;
}

int ibv_cmd_modify_qp_ex(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, void* cmd, size_t cmd_size,
                         void*, size_t resp_size) {
  constexpr size_t kCore = 144;
  EXPECT_EQ(cmd_size, kCore + sizeof(srn_modify_qp_req));
  EXPECT_EQ(resp_size, 8u);
  FakeKernel& kernel = FakeKernel::Get();
  if (const int err = kernel.TakeFailure()) return err;
  std::memcpy(&kernel.modify, static_cast<unsigned char*>(cmd) + kCore, sizeof(kernel.modify));
  EXPECT_TRUE(attr_mask & IBV_QP_RATE_LIMIT || kernel.modify.comp_mask != 0);
  if (attr_mask & IBV_QP_RATE_LIMIT) kernel.rate_limit = attr->rate_limit;
  if (attr_mask & IBV_QP_STATE) kernel.Of(qp).page->state = attr->qp_state;
  return 0;
}

int ibv_cmd_destroy_qp(ibv_qp* qp) {
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  FakeKernel::Get().qps.erase(qp);
  return 0;
}

int ibv_cmd_alloc_mw(ibv_pd* pd, ibv_mw_type type, ibv_mw* mw, void*, size_t, void*, size_t) {
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  mw->context = pd->context;
  mw->pd = pd;
  mw->type = type;
  mw->rkey = 0x12ff;
  return 0;
}

int ibv_cmd_dealloc_mw(ibv_mw*) { return FakeKernel::Get().TakeFailure(); }

int ibv_cmd_create_ah(ibv_pd* pd, ibv_ah* ah, ibv_ah_attr* attr, void* resp, size_t resp_size) {
  if (const int err = FakeKernel::Get().TakeFailure()) return err;
  FakeKernel::Get().ah_sl = attr->sl;
  ah->context = pd->context;
  ah->pd = pd;
  srn::test::Answer<ib_uverbs_create_ah_resp>(resp, resp_size, srn_create_ah_resp{.ah = 4711});
  return 0;
}

int ibv_cmd_destroy_ah(ibv_ah*) { return 0; }

}  // extern "C"
