// SPDX-License-Identifier: GPL-2.0-only
#include "uverbs_abi.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/srn-abi.h>

#include <cstddef>

namespace fuzz {
namespace {

#define FIELD(type, member, kind) \
  { kind, offsetof(type, member), sizeof(type::member) }
#define RESPONSE(type) FIELD(type, response, Kind::kResponse)

using enum Kind;

std::vector<Command> Queries() {
  return {
      {.number = IB_USER_VERBS_CMD_QUERY_DEVICE,
       .size = sizeof(ib_uverbs_query_device),
       .fields = {RESPONSE(ib_uverbs_query_device)},
       .answer = sizeof(ib_uverbs_query_device_resp)},
      {.number = IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
       .extended = true,
       .size = sizeof(ib_uverbs_ex_query_device),
       .fields = {},
       .answer = sizeof(ib_uverbs_ex_query_device_resp)},
      {.number = IB_USER_VERBS_CMD_QUERY_PORT,
       .size = sizeof(ib_uverbs_query_port),
       .fields = {RESPONSE(ib_uverbs_query_port), FIELD(ib_uverbs_query_port, port_num, kOne)},
       .answer = sizeof(ib_uverbs_query_port_resp)},
      {.number = IB_USER_VERBS_CMD_QUERY_QP,
       .size = sizeof(ib_uverbs_query_qp),
       .fields = {RESPONSE(ib_uverbs_query_qp), FIELD(ib_uverbs_query_qp, qp_handle, kQp)},
       .answer = sizeof(ib_uverbs_query_qp_resp)},
      {.number = IB_USER_VERBS_CMD_QUERY_SRQ,
       .size = sizeof(ib_uverbs_query_srq),
       .fields = {RESPONSE(ib_uverbs_query_srq), FIELD(ib_uverbs_query_srq, srq_handle, kSrq)},
       .answer = sizeof(ib_uverbs_query_srq_resp)},
  };
}

std::vector<Command> Memory() {
  return {
      {.number = IB_USER_VERBS_CMD_ALLOC_PD,
       .size = sizeof(ib_uverbs_alloc_pd),
       .fields = {RESPONSE(ib_uverbs_alloc_pd)},
       .answer = sizeof(ib_uverbs_alloc_pd_resp),
       .makes = kPd},
      {.number = IB_USER_VERBS_CMD_REG_MR,
       .size = sizeof(ib_uverbs_reg_mr),
       .fields = {RESPONSE(ib_uverbs_reg_mr), FIELD(ib_uverbs_reg_mr, start, kAddress),
                  FIELD(ib_uverbs_reg_mr, length, kLength),
                  FIELD(ib_uverbs_reg_mr, hca_va, kAddress),
                  FIELD(ib_uverbs_reg_mr, pd_handle, kPd),
                  FIELD(ib_uverbs_reg_mr, access_flags, kAccess)},
       .answer = sizeof(ib_uverbs_reg_mr_resp),
       .makes = kMr},
      {.number = IB_USER_VERBS_CMD_REREG_MR,
       .size = sizeof(ib_uverbs_rereg_mr),
       .fields = {RESPONSE(ib_uverbs_rereg_mr), FIELD(ib_uverbs_rereg_mr, mr_handle, kMr),
                  FIELD(ib_uverbs_rereg_mr, flags, kAccess),
                  FIELD(ib_uverbs_rereg_mr, start, kAddress),
                  FIELD(ib_uverbs_rereg_mr, length, kLength),
                  FIELD(ib_uverbs_rereg_mr, hca_va, kAddress),
                  FIELD(ib_uverbs_rereg_mr, pd_handle, kPd),
                  FIELD(ib_uverbs_rereg_mr, access_flags, kAccess)},
       .answer = sizeof(ib_uverbs_rereg_mr_resp)},
      {.number = IB_USER_VERBS_CMD_ALLOC_MW,
       .size = sizeof(ib_uverbs_alloc_mw),
       .fields = {RESPONSE(ib_uverbs_alloc_mw), FIELD(ib_uverbs_alloc_mw, pd_handle, kPd),
                  FIELD(ib_uverbs_alloc_mw, mw_type, kOne)},
       .answer = sizeof(ib_uverbs_alloc_mw_resp),
       .makes = kMw},
      {.number = IB_USER_VERBS_CMD_CREATE_AH,
       .size = sizeof(ib_uverbs_create_ah),
       .fields = {RESPONSE(ib_uverbs_create_ah), FIELD(ib_uverbs_create_ah, pd_handle, kPd),
                  FIELD(ib_uverbs_create_ah, attr.grh.dgid, kGid),
                  FIELD(ib_uverbs_create_ah, attr.is_global, kOne),
                  FIELD(ib_uverbs_create_ah, attr.port_num, kOne)},
       .answer = sizeof(ib_uverbs_create_ah_resp),
       .driver_out = sizeof(srn_create_ah_resp),
       .makes = kAh},
  };
}

std::vector<Command> CompletionQueues() {
  return {
      {.number = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
       .size = sizeof(ib_uverbs_create_comp_channel),
       .fields = {RESPONSE(ib_uverbs_create_comp_channel)},
       .answer = sizeof(ib_uverbs_create_comp_channel_resp),
       .makes = kChannel},
      {.number = IB_USER_VERBS_CMD_CREATE_CQ,
       .size = sizeof(ib_uverbs_create_cq),
       .fields = {RESPONSE(ib_uverbs_create_cq), FIELD(ib_uverbs_create_cq, cqe, kCount),
                  FIELD(ib_uverbs_create_cq, comp_channel, kChannel)},
       .answer = sizeof(ib_uverbs_create_cq_resp),
       .driver_in = sizeof(srn_create_cq_req),
       .driver_out = sizeof(srn_create_cq_resp),
       .makes = kCq,
       .mmap_at = offsetof(srn_create_cq_resp, mmap_offset)},
      {.number = IB_USER_VERBS_EX_CMD_CREATE_CQ,
       .extended = true,
       .size = sizeof(ib_uverbs_ex_create_cq),
       .fields = {FIELD(ib_uverbs_ex_create_cq, cqe, kCount),
                  FIELD(ib_uverbs_ex_create_cq, comp_channel, kChannel)},
       .answer = sizeof(ib_uverbs_ex_create_cq_resp),
       .driver_in = sizeof(srn_create_cq_req),
       .driver_out = sizeof(srn_create_cq_resp),
       .makes = kCq,
       .mmap_at = offsetof(srn_create_cq_resp, mmap_offset)},
      {.number = IB_USER_VERBS_CMD_RESIZE_CQ,
       .size = sizeof(ib_uverbs_resize_cq),
       .fields = {RESPONSE(ib_uverbs_resize_cq), FIELD(ib_uverbs_resize_cq, cq_handle, kCq),
                  FIELD(ib_uverbs_resize_cq, cqe, kCount)},
       .answer = sizeof(ib_uverbs_resize_cq_resp),
       .driver_out = sizeof(srn_resize_cq_resp),
       .mmap_at = offsetof(srn_resize_cq_resp, mmap_offset)},
      {.number = IB_USER_VERBS_CMD_POLL_CQ,
       .size = sizeof(ib_uverbs_poll_cq),
       .fields = {RESPONSE(ib_uverbs_poll_cq), FIELD(ib_uverbs_poll_cq, cq_handle, kCq),
                  FIELD(ib_uverbs_poll_cq, ne, kOne)},
       .answer = 64},
      {.number = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
       .size = sizeof(ib_uverbs_req_notify_cq),
       .fields = {FIELD(ib_uverbs_req_notify_cq, cq_handle, kCq)},
       .answer = 0},
      {.number = IB_USER_VERBS_EX_CMD_MODIFY_CQ,
       .extended = true,
       .size = sizeof(ib_uverbs_ex_modify_cq),
       .fields = {FIELD(ib_uverbs_ex_modify_cq, cq_handle, kCq),
                  FIELD(ib_uverbs_ex_modify_cq, attr_mask, kOne),
                  FIELD(ib_uverbs_ex_modify_cq, attr.cq_count, kCount),
                  FIELD(ib_uverbs_ex_modify_cq, attr.cq_period, kCount)},
       .answer = 0},
  };
}

std::vector<Command> QueuePairs() {
  return {
      {.number = IB_USER_VERBS_CMD_CREATE_SRQ,
       .size = sizeof(ib_uverbs_create_srq),
       .fields = {RESPONSE(ib_uverbs_create_srq), FIELD(ib_uverbs_create_srq, pd_handle, kPd),
                  FIELD(ib_uverbs_create_srq, max_wr, kCount),
                  FIELD(ib_uverbs_create_srq, max_sge, kOne)},
       .answer = sizeof(ib_uverbs_create_srq_resp),
       .driver_in = sizeof(srn_create_srq_req),
       .driver_out = sizeof(srn_create_srq_resp),
       .makes = kSrq,
       .mmap_at = offsetof(srn_create_srq_resp, mmap_offset)},
      {.number = IB_USER_VERBS_CMD_MODIFY_SRQ,
       .size = sizeof(ib_uverbs_modify_srq),
       .fields = {FIELD(ib_uverbs_modify_srq, srq_handle, kSrq),
                  FIELD(ib_uverbs_modify_srq, attr_mask, kOne),
                  FIELD(ib_uverbs_modify_srq, srq_limit, kCount)},
       .answer = 0},
      {.number = IB_USER_VERBS_CMD_CREATE_QP,
       .size = sizeof(ib_uverbs_create_qp),
       .fields = {RESPONSE(ib_uverbs_create_qp), FIELD(ib_uverbs_create_qp, pd_handle, kPd),
                  FIELD(ib_uverbs_create_qp, send_cq_handle, kCq),
                  FIELD(ib_uverbs_create_qp, recv_cq_handle, kCq),
                  FIELD(ib_uverbs_create_qp, srq_handle, kSrq),
                  FIELD(ib_uverbs_create_qp, max_send_wr, kCount),
                  FIELD(ib_uverbs_create_qp, max_recv_wr, kCount),
                  FIELD(ib_uverbs_create_qp, max_send_sge, kOne),
                  FIELD(ib_uverbs_create_qp, max_recv_sge, kOne),
                  FIELD(ib_uverbs_create_qp, qp_type, kQpType)},
       .answer = sizeof(ib_uverbs_create_qp_resp),
       .driver_in = sizeof(srn_create_qp_req),
       .driver_out = sizeof(srn_create_qp_resp),
       .makes = kQp,
       .mmap_at = offsetof(srn_create_qp_resp, mmap_offset)},
      {.number = IB_USER_VERBS_EX_CMD_CREATE_QP,
       .extended = true,
       .size = sizeof(ib_uverbs_ex_create_qp),
       .fields = {FIELD(ib_uverbs_ex_create_qp, pd_handle, kPd),
                  FIELD(ib_uverbs_ex_create_qp, send_cq_handle, kCq),
                  FIELD(ib_uverbs_ex_create_qp, recv_cq_handle, kCq),
                  FIELD(ib_uverbs_ex_create_qp, max_send_wr, kCount),
                  FIELD(ib_uverbs_ex_create_qp, max_recv_wr, kCount),
                  FIELD(ib_uverbs_ex_create_qp, max_send_sge, kOne),
                  FIELD(ib_uverbs_ex_create_qp, max_recv_sge, kOne),
                  FIELD(ib_uverbs_ex_create_qp, qp_type, kQpType)},
       .answer = sizeof(ib_uverbs_ex_create_qp_resp),
       .driver_in = sizeof(srn_create_qp_req),
       .driver_out = sizeof(srn_create_qp_resp),
       .makes = kQp,
       .mmap_at = offsetof(srn_create_qp_resp, mmap_offset)},
      {.number = IB_USER_VERBS_CMD_MODIFY_QP,
       .size = sizeof(ib_uverbs_modify_qp),
       .fields = {FIELD(ib_uverbs_modify_qp, qp_handle, kQp)},
       .answer = 0},
      {.number = IB_USER_VERBS_EX_CMD_MODIFY_QP,
       .extended = true,
       .size = sizeof(ib_uverbs_ex_modify_qp),
       .fields = {FIELD(ib_uverbs_ex_modify_qp, base.qp_handle, kQp)},
       .answer = sizeof(ib_uverbs_ex_modify_qp_resp),
       .driver_in = sizeof(srn_modify_qp_req)},
      {.number = IB_USER_VERBS_CMD_POST_SEND,
       .size = sizeof(ib_uverbs_post_send) + 128,
       .fields = {RESPONSE(ib_uverbs_post_send), FIELD(ib_uverbs_post_send, qp_handle, kQp),
                  FIELD(ib_uverbs_post_send, wr_count, kOne),
                  FIELD(ib_uverbs_post_send, wqe_size, kCount)},
       .answer = 4},
      {.number = IB_USER_VERBS_CMD_ATTACH_MCAST,
       .size = sizeof(ib_uverbs_attach_mcast),
       .fields = {FIELD(ib_uverbs_attach_mcast, gid, kGid),
                  FIELD(ib_uverbs_attach_mcast, qp_handle, kQp)},
       .answer = 0},
  };
}

// All of the same form: a handle, and an answer that tells of events.
std::vector<Command> Ends() {
  constexpr uint16_t kSize = sizeof(ib_uverbs_destroy_qp);
  const auto end = [](uint32_t number, Kind kind, bool answers) -> Command {
    if (!answers) return {.number = number, .size = 4, .fields = {{kind, 0, 4}}, .answer = 0};
    return {.number = number,
            .size = kSize,
            .fields = {{kResponse, 0, 8}, {kind, 8, 4}},
            .answer = sizeof(ib_uverbs_destroy_cq_resp)};
  };
  return {
      end(IB_USER_VERBS_CMD_DESTROY_QP, kQp, true),   end(IB_USER_VERBS_CMD_DESTROY_CQ, kCq, true),
      end(IB_USER_VERBS_CMD_DESTROY_SRQ, kSrq, true), end(IB_USER_VERBS_CMD_DEREG_MR, kMr, false),
      end(IB_USER_VERBS_CMD_DEALLOC_MW, kMw, false),  end(IB_USER_VERBS_CMD_DESTROY_AH, kAh, false),
      end(IB_USER_VERBS_CMD_DEALLOC_PD, kPd, false)};
}

Attribute In(uint16_t id, uint16_t size, Kind kind = kNone) {
  return {id, Attribute::kIn, kind, size};
}
Attribute Out(uint16_t id, uint16_t size) { return {id, Attribute::kOut, kNone, size}; }
Attribute Of(uint16_t id, Kind kind) { return {id, Attribute::kHandle, kind, 0}; }
Attribute New(uint16_t id, Kind kind) { return {id, Attribute::kNew, kind, 0}; }

// Not GET_CONTEXT: where it fails, Linux 6.12 forgets a reference to the task, and kmemleak finds
// it when the fuzzer has ended. The write command of the same name does not, and is here.
std::vector<Method> DeviceMethods() {
  return {
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_INFO_HANDLES,
       {In(UVERBS_ATTR_INFO_OBJECT_ID, 8, kOne), Out(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4),
        Out(UVERBS_ATTR_INFO_HANDLES_LIST, 64)}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_PORT,
       {In(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, kOne), Out(UVERBS_ATTR_QUERY_PORT_RESP, 48)}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_CONTEXT,
       {Out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
        Out(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8),
        Out(UVERBS_ATTR_UHW_OUT, sizeof(srn_alloc_ucontext_resp))}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_TABLE,
       {In(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 8, kCount),
        In(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4),
        Out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 320),
        Out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)}},
      {UVERBS_OBJECT_DEVICE,
       UVERBS_METHOD_QUERY_GID_ENTRY,
       {In(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, kOne), In(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4),
        In(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4), Out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, 40)}},
      {UVERBS_OBJECT_ASYNC_EVENT,
       UVERBS_METHOD_ASYNC_EVENT_ALLOC,
       {New(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, kChannel)}},
  };
}

std::vector<Method> QueueMethods() {
  return {
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_CREATE,
       {New(UVERBS_ATTR_CREATE_CQ_HANDLE, kCq), In(UVERBS_ATTR_CREATE_CQ_CQE, 4, kCount),
        In(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8), In(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4),
        In(UVERBS_ATTR_CREATE_CQ_FLAGS, 4), Out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
        In(UVERBS_ATTR_UHW_IN, sizeof(srn_create_cq_req)),
        Out(UVERBS_ATTR_UHW_OUT, sizeof(srn_create_cq_resp))}},
      {UVERBS_OBJECT_CQ,
       UVERBS_METHOD_CQ_DESTROY,
       {Of(UVERBS_ATTR_DESTROY_CQ_HANDLE, kCq), Out(UVERBS_ATTR_DESTROY_CQ_RESP, 8)}},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_CREATE,
       {New(UVERBS_ATTR_CREATE_QP_HANDLE, kQp), Of(UVERBS_ATTR_CREATE_QP_PD_HANDLE, kPd),
        Of(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, kCq),
        Of(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, kCq), In(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8),
        In(UVERBS_ATTR_CREATE_QP_CAP, 20, kCount), In(UVERBS_ATTR_CREATE_QP_TYPE, 8, kQpType),
        Out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20), Out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
        In(UVERBS_ATTR_UHW_IN, sizeof(srn_create_qp_req)),
        Out(UVERBS_ATTR_UHW_OUT, sizeof(srn_create_qp_resp))}},
      {UVERBS_OBJECT_QP,
       UVERBS_METHOD_QP_DESTROY,
       {Of(UVERBS_ATTR_DESTROY_QP_HANDLE, kQp), Out(UVERBS_ATTR_DESTROY_QP_RESP, 4)}},
      {UVERBS_OBJECT_SRQ,
       UVERBS_METHOD_SRQ_CREATE,
       {New(UVERBS_ATTR_CREATE_SRQ_HANDLE, kSrq), Of(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, kPd),
        In(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8), In(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, kCount),
        In(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, kOne), In(UVERBS_ATTR_CREATE_SRQ_LIMIT, 4),
        In(UVERBS_ATTR_CREATE_SRQ_TYPE, 8), Out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
        Out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4), In(UVERBS_ATTR_UHW_IN, 8),
        Out(UVERBS_ATTR_UHW_OUT, sizeof(srn_create_srq_resp))}},
      {UVERBS_OBJECT_SRQ,
       UVERBS_METHOD_SRQ_DESTROY,
       {Of(UVERBS_ATTR_DESTROY_SRQ_HANDLE, kSrq), Out(UVERBS_ATTR_DESTROY_SRQ_RESP, 4)}},
  };
}

std::vector<Method> MemoryMethods() {
  return {
      {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, {Of(UVERBS_ATTR_DESTROY_MR_HANDLE, kMr)}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_QUERY_MR,
       {Of(UVERBS_ATTR_QUERY_MR_HANDLE, kMr), Out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4),
        Out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4), Out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8),
        Out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8)}},
      {UVERBS_OBJECT_MR,
       UVERBS_METHOD_ADVISE_MR,
       {Of(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, kPd), In(UVERBS_ATTR_ADVISE_MR_ADVICE, 8),
        In(UVERBS_ATTR_ADVISE_MR_FLAGS, 4), In(UVERBS_ATTR_ADVISE_MR_SGE_LIST, 32, kAddress)}},
      {UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, {Of(UVERBS_ATTR_DESTROY_MW_HANDLE, kMw)}},
      {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, {Of(UVERBS_ATTR_DESTROY_AH_HANDLE, kAh)}},
      {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, {Of(UVERBS_ATTR_DESTROY_PD_HANDLE, kPd)}},
  };
}

template <typename T>
std::vector<T> Joined(std::initializer_list<std::vector<T>> lists) {
  std::vector<T> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

const std::vector<Command>& Commands() {
  static const auto commands =
      Joined<Command>({Queries(), Memory(), CompletionQueues(), QueuePairs(), Ends()});
  return commands;
}

const std::vector<Method>& Methods() {
  static const auto methods = Joined<Method>({DeviceMethods(), QueueMethods(), MemoryMethods()});
  return methods;
}

}  // namespace fuzz
