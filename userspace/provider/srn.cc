// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Registration with libibverbs, the table of operations, contexts and queries of the device.

#include "srn.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace srn {
namespace {

int QueryDevice(ibv_context* context, const ibv_query_device_ex_input* input,
                ibv_device_attr_ex* attr, size_t attr_size) {
  QueryDeviceResponse resp;
  size_t resp_size = resp.size();
  const int err =
      ibv_cmd_query_device_any(context, input, attr, attr_size, resp.data(), &resp_size);
  if (err) return err;

  const uint64_t version = resp.core().base.fw_ver;
  snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
           static_cast<unsigned>(version >> 32), static_cast<unsigned>(version >> 16 & 0xffff),
           static_cast<unsigned>(version & 0xffff));
  // Where the program's structure ends before it, it does not ask.
  constexpr size_t kEnd = offsetof(ibv_device_attr_ex, packet_pacing_caps) +
                          sizeof(ibv_device_attr_ex::packet_pacing_caps);
  if (attr_size >= kEnd) {
    const srn_query_device_resp driver = resp.driver();
    attr->packet_pacing_caps = {driver.rate_limit_min, driver.rate_limit_max,
                                driver.rate_limit_qpts};
  }
  return 0;
}

int QueryPort(ibv_context* context, uint8_t port_num, ibv_port_attr* attr) {
  QueryPortRequest cmd;
  return ibv_cmd_query_port(context, port_num, attr, cmd.data(), cmd.size());
}

// The clock of completion timestamps, in the shape that other providers give it: ticks in tv_nsec.
int QueryRtValues(ibv_context*, ibv_values_ex* values) {
  uint32_t provided = 0;

  if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
    timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now)) return errno;
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = now.tv_sec * 1'000'000'000L + now.tv_nsec;
    provided |= IBV_VALUES_MASK_RAW_CLOCK;
  }
  values->comp_mask = provided;
  return 0;
}

// The program's user asks for a thread that looks for posts, with SRN_POLLER=1 and nothing else: it
// takes a CPU, so whoever says "N" or "no" is not to have it.
bool WantsPoller() {
  // Not from who starts a program with set-uid: it is a thread with the program's rights.
  const char* value = secure_getenv("SRN_POLLER");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

int GetContext(Context& context, bool poller, GetContextResponse& resp) {
  GetContextRequest cmd;
  const srn_alloc_ucontext_req request = {.comp_mask = poller ? SRN_UCONTEXT_POLLER : 0};
  cmd.set_driver(request);
  resp = {};
  return ibv_cmd_get_context(&context.vctx, cmd.data(), cmd.size(), resp.data(), resp.size());
}

// Without a poller all works, by system calls: who cannot have one is told of it where he asks.
void SayNoPoller(const Context& context, int err) {
  if (std::getenv("IBV_SHOW_WARNINGS") == nullptr) return;
  fprintf(stderr, "srn: no poller for %s: %s\n", context.vctx.context.device->name, strerror(err));
}

int GetContextAsWished(Context& context, GetContextResponse& resp) {
  if (WantsPoller()) {
    const int err = GetContext(context, /*poller=*/true, resp);
    if (!err) return 0;
    SayNoPoller(context, err);
  }
  return GetContext(context, /*poller=*/false, resp);
}

// Who cannot map its page rings for each post, and the poller finds nothing.
void MapPoller(Context& context, const srn_alloc_ucontext_resp& resp) {
  if (!(resp.comp_mask & SRN_UCONTEXT_POLLER)) return;
  void* page = mmap(nullptr, resp.poller_len, PROT_READ, MAP_SHARED, context.vctx.context.cmd_fd,
                    static_cast<off_t>(resp.poller_offset));
  if (page == MAP_FAILED) {
    SayNoPoller(context, errno);
    return;
  }
  context.poller = static_cast<srn_poller_page*>(page);
  context.poller_length = resp.poller_len;
}

void CloseContext(Context* context) {
  if (context->poller != nullptr) munmap(context->poller, context->poller_length);
  if (context->doorbell_fd >= 0) close(context->doorbell_fd);
  verbs_uninit_context(&context->vctx);
  std::free(context);
}

void FreeContext(ibv_context* context) { CloseContext(&ToContext(context)); }

verbs_context* AllocContext(ibv_device* device, int cmd_fd, void*) {
  auto* context = static_cast<Context*>(_verbs_init_and_alloc_context(
      device, cmd_fd, sizeof(Context), /*offset=*/nullptr, SRN_DRIVER_ID));
  if (context == nullptr) return nullptr;
  context->doorbell_fd = -1;

  GetContextResponse resp;
  if (const int err = GetContextAsWished(*context, resp)) {
    CloseContext(context);
    return Fail(err);
  }
  context->doorbell_fd = resp.driver().doorbell_fd;
  MapPoller(*context, resp.driver());
  verbs_set_ops(&context->vctx, &kContextOps);
  return &context->vctx;
}

verbs_device* AllocDevice(verbs_sysfs_dev*) { return Make<verbs_device>().release(); }

void UninitDevice(verbs_device* device) { Drop(device); }

// The id finds the device whatever `rdma link add` called it. The name is for kernels that do not
// tell ids.
constexpr verbs_match_ent kMatchTable[] = {
    {.u = {.driver_id = SRN_DRIVER_ID}, .kind = VERBS_MATCH_DRIVER_ID},
    {.u = {.modalias = "rdma_device:*Nsrn*"}, .kind = VERBS_MATCH_MODALIAS},
    {},
};

}  // namespace

const verbs_context_ops kContextOps = {
    .alloc_mw = AllocMw,
    .alloc_parent_domain = AllocParentDomain,
    .alloc_pd = AllocPd,
    .alloc_td = AllocTd,
    .attach_mcast = ibv_cmd_attach_mcast,
    .bind_mw = BindMw,
    .create_ah = CreateAh,
    .create_cq = CreateCq,
    .create_cq_ex = CreateCqEx,
    .create_qp = CreateQp,
    .create_qp_ex = CreateQpEx,
    .create_srq = CreateSrq,
    .create_srq_ex = CreateSrqEx,
    .dealloc_mw = DeallocMw,
    .dealloc_pd = DeallocPd,
    .dealloc_td = DeallocTd,
    .dereg_mr = DeregMr,
    .destroy_ah = DestroyAh,
    .destroy_cq = DestroyCq,
    .destroy_qp = DestroyQp,
    .destroy_srq = DestroySrq,
    .detach_mcast = ibv_cmd_detach_mcast,
    .free_context = FreeContext,
    .get_srq_num = GetSrqNum,
    .modify_cq = ModifyCq,
    .modify_qp = ModifyQp,
    .modify_qp_rate_limit = ModifyQpRateLimit,
    .modify_srq = ModifySrq,
    .poll_cq = PollCq,
    .post_recv = PostRecv,
    .post_send = PostSend,
    .post_srq_recv = PostSrqRecv,
    .query_device_ex = QueryDevice,
    .query_ece = QueryEce,
    .query_port = QueryPort,
    .query_qp = QueryQp,
    .query_rt_values = QueryRtValues,
    .query_srq = QuerySrq,
    .reg_mr = RegMr,
    .req_notify_cq = ReqNotifyCq,
    .rereg_mr = ReregMr,
    .resize_cq = ResizeCq,
    .set_ece = SetEce,
};

const verbs_device_ops kDeviceOps = {
    .name = "srn",
    .match_min_abi_version = SRN_ABI_VERSION,
    .match_max_abi_version = SRN_ABI_VERSION,
    .match_table = kMatchTable,
    .static_providers = nullptr,
    .match_device = nullptr,
    .alloc_context = AllocContext,
    .import_context = nullptr,
    .alloc_device = AllocDevice,
    .uninit_device = UninitDevice,
};

namespace {
__attribute__((constructor)) void Register() { verbs_register_driver(&kDeviceOps); }
}  // namespace

}  // namespace srn
