// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The provider's objects. Each begins with what libibverbs knows of it.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "domain.h"
#include "doorbell.h"
#include "kernel_abi.h"
#include "lock.h"
#include "mapping.h"
#include "owned.h"
#include "ring.h"
#include "verbs_private.h"

namespace srn {

// Allocated, zeroed, by libibverbs: no constructor runs.
struct Context {
  verbs_context vctx;
  int doorbell_fd;  // -1 until the kernel has given one
  Gathered gathered;
  srn_poller_page* poller;  // null without one
  size_t poller_length;     // bytes of its mapping
};

inline const uint32_t& PollerSleeps(const Context& context) {
  return context.poller == nullptr ? kAlwaysAsleep : context.poller->asleep;
}

struct Qp;

struct Mw {
  ibv_mw mw;
  // Between ibv_wr_start() and ibv_wr_complete() of a QP that binds it: that QP, and no other may;
  // the next window that it binds, and the key that this one has again if nothing is posted.
  std::atomic<Qp*> binder;
  Mw* next;
  uint32_t old_rkey;
};

static_assert(offsetof(Mw, mw) == 0);

struct Mr {
  verbs_mr vmr;
};

struct Ah {
  ibv_ah ah;
  uint32_t index;  // what the kernel calls it
};

struct Cq {
  verbs_cq vcq;
  InDomain domain;
  Mapping mapping;
  srn_cq_page* page;
  Lock lock;  // the ring
  CompletionRing<srn_cqe> ring;
  const srn_cqe* current;  // between start_poll and end_poll, null when the ring ran dry
  // Guards `page` for those who arm: a program may arm while it polls, in the same thread, so that
  // the lock above will not do. Inside `lock` where both are held.
  Lock arm_lock;
};

struct Srq {
  verbs_srq vsrq;
  InDomain domain;
  Mapping mapping;
  srn_srq_page* page;
  uint32_t max_sge;
  Lock resize_lock;  // one resize at a time; the lock below is inside it
  Lock lock;         // the ring, and which one it is
  WorkRing ring;
};

struct Qp {
  verbs_qp vqp;
  InDomain domain;
  Mapping mapping;
  srn_qp_page* page;
  Doorbell doorbell;

  // Send queue.
  uint32_t opcodes;  // bit per enum ibv_wr_opcode that this type of QP takes
  uint32_t max_send_sge;
  uint32_t max_inline;
  Lock sq_lock;
  WorkRing sq;
  srn_send_wqe* wr_current;  // ibv_wr_*: the WQE that setters complete
  int wr_error;              // ibv_wr_*: the first error since wr_start
  Mw* wr_bound;              // ibv_wr_*: windows with a bind since wr_start

  // What the QP has for its peer (SRN_ECE_*, 0: nothing), and what the peer has once that is known.
  uint32_t ece_offered;
  uint32_t ece_peer;
  bool ece_known;

  // Receive queue.
  uint32_t max_recv_sge;
  Lock rq_lock;
  WorkRing rq;
};

// The object whose first member libibverbs gave us.
inline Context& ToContext(ibv_context* context) {
  return *reinterpret_cast<Context*>(reinterpret_cast<unsigned char*>(context) -
                                     offsetof(verbs_context, context));
}
inline Mw& ToMw(ibv_mw* mw) { return *reinterpret_cast<Mw*>(mw); }
inline Ah& ToAh(ibv_ah* ah) { return *reinterpret_cast<Ah*>(ah); }
inline Cq& ToCq(ibv_cq* cq) { return *reinterpret_cast<Cq*>(cq); }
inline Cq& ToCq(ibv_cq_ex* cq) { return *reinterpret_cast<Cq*>(cq); }
inline Srq& ToSrq(ibv_srq* srq) { return *reinterpret_cast<Srq*>(srq); }
inline Qp& ToQp(ibv_qp* qp) { return *reinterpret_cast<Qp*>(qp); }
inline Qp& ToQp(ibv_qp_ex* qp) { return *reinterpret_cast<Qp*>(qp); }
static_assert(offsetof(Context, vctx) == 0);

// A poll found nothing, a CQ is armed, a queue has no room, or a QP is to stop: what was posted and
// left goes.
inline void RingForGathered(ibv_context* ibcontext) {
  Context& context = ToContext(ibcontext);
  context.gathered.Ring(context.doorbell_fd);
}

// No completion comes any more. Those that came before are in the ring: look there once more.
inline bool IsDead(const Cq& cq) { return LoadAcquire(cq.page->dead) != 0; }

// What a QP says to a post of send requests: 0 or an errno. Before RTS there is nothing that would
// send; in SQE and ERR there is something that flushes.
inline int MayPostSend(const Qp& qp) {
  if (LoadRelaxed(qp.page->gone)) return EIO;
  return LoadRelaxed(qp.page->state) < IBV_QPS_RTS ? EINVAL : 0;
}

// For operations that return a pointer: null, with errno.
inline std::nullptr_t Fail(int error) {
  errno = error;
  return nullptr;
}

// srn.cc
extern const verbs_device_ops kDeviceOps;
extern const verbs_context_ops kContextOps;

// pd.cc
ibv_pd* AllocPd(ibv_context* context);
int DeallocPd(ibv_pd* pd);
ibv_td* AllocTd(ibv_context* context, ibv_td_init_attr* attr);
int DeallocTd(ibv_td* td);
ibv_pd* AllocParentDomain(ibv_context* context, ibv_parent_domain_init_attr* attr);

// mr.cc
ibv_mr* RegMr(ibv_pd* pd, void* addr, size_t length, uint64_t hca_va, int access);
int ReregMr(verbs_mr* vmr, int flags, ibv_pd* pd, void* addr, size_t length, int access);
int DeregMr(verbs_mr* vmr);

// mw.cc
ibv_mw* AllocMw(ibv_pd* pd, ibv_mw_type type);
// A bind to this key was posted: its low byte is the program's, the rest the kernel's.
void TakeKeyByte(ibv_mw& mw, uint32_t rkey);
int BindMw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
int DeallocMw(ibv_mw* mw);

// ah.cc
ibv_ah* CreateAh(ibv_pd* pd, ibv_ah_attr* attr);
int DestroyAh(ibv_ah* ah);

// cq.cc
ibv_cq* CreateCq(ibv_context* context, int cqe, ibv_comp_channel* channel, int comp_vector);
// Creates a CQ for either interface; null with errno.
Owned<Cq> MakeCq(ibv_context* context, const ibv_cq_init_attr_ex& attr);
// What a completion shows as its service level.
uint8_t ServiceLevel(const srn_cqe& cqe);
int PollCq(ibv_cq* cq, int num_entries, ibv_wc* wc);
int ReqNotifyCq(ibv_cq* cq, int solicited_only);
// Removes the completions of a QP that were not polled; null is no CQ.
void ForgetCompletions(ibv_cq* cq, uint32_t qp_num);
int ModifyCq(ibv_cq* cq, ibv_modify_cq_attr* attr);
int ResizeCq(ibv_cq* cq, int cqe);
int DestroyCq(ibv_cq* cq);

// cq_ex.cc
ibv_cq_ex* CreateCqEx(ibv_context* context, ibv_cq_init_attr_ex* attr);

// srq.cc
ibv_srq* CreateSrq(ibv_pd* pd, ibv_srq_init_attr* attr);
ibv_srq* CreateSrqEx(ibv_context* context, ibv_srq_init_attr_ex* attr);
int ModifySrq(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask);
int QuerySrq(ibv_srq* srq, ibv_srq_attr* attr);
int GetSrqNum(ibv_srq* srq, uint32_t* srq_num);
int DestroySrq(ibv_srq* srq);

// qp.cc
ibv_qp* CreateQp(ibv_pd* pd, ibv_qp_init_attr* attr);
ibv_qp* CreateQpEx(ibv_context* context, ibv_qp_init_attr_ex* attr);
int ModifyQp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask);
int SetEce(ibv_qp* qp, ibv_ece* ece);
int QueryEce(ibv_qp* qp, ibv_ece* ece);
// What the change to RTR tells the kernel of the peer; any other change tells nothing.
srn_modify_qp_req EceOf(const Qp& qp, int attr_mask);
int ModifyQpRateLimit(ibv_qp* qp, ibv_qp_rate_limit_attr* limit);
int QueryQp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr);
int DestroyQp(ibv_qp* qp);

// post.cc
int PostSend(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr);
int PostRecv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
int PostSrqRecv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr);
// PostSend() for a list whose BIND_MW requests are of windows of this type.
int PostSendBinding(Qp& qp, ibv_mw_type type, ibv_send_wr* wr, ibv_send_wr** bad_wr);

// wr.cc
// Fills the ibv_wr_* calls of a QP.
// Of what ibv_wr_bind_mw() bound since wr_start: the windows have their new keys, or, where it is
// not posted, the old ones. The owner of sq_lock.
void EndBinds(Qp& qp, bool posted);
void EnableWr(ibv_qp_ex& qp, uint64_t send_ops);

}  // namespace srn
