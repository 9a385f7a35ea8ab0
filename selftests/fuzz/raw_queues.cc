// SPDX-License-Identifier: GPL-2.0-only
#include "raw_queues.h"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include <result/must.h>
#include <verbs/connect.h>
#include <wire/wire.h>

#include "call_time.h"

namespace fuzz {
namespace {

constexpr size_t kRoom = 1024;

struct Nothing {};

// What came back; the core's parts end in an array without a size.
template <typename Core, typename Driver>
struct Answers {
  Driver driver;
  Core core;
};

// A command and its answer, each the core's part and the driver's.
template <typename Answer = Nothing, typename DriverAnswer = Nothing, typename Command>
Answers<Answer, DriverAnswer> Do(int fd, uint32_t number, Command command, size_t driver_in = 0) {
  const auto size = [](auto value) { return std::is_empty_v<decltype(value)> ? 0 : sizeof(value); };
  Answers<Answer, DriverAnswer> result = {};
  alignas(8) char answer[kRoom] = {}, request[kRoom] = {};
  if constexpr (requires { command.response; })
    command.response = reinterpret_cast<uint64_t>(answer);
  const size_t in = sizeof(ib_uverbs_cmd_hdr) + sizeof(command) + driver_in;
  const size_t core = size(Answer()), out = core + size(DriverAnswer());
  const ib_uverbs_cmd_hdr hdr = {number, static_cast<uint16_t>(in / 4),
                                 static_cast<uint16_t>(out / 4)};
  std::memcpy(request, &hdr, sizeof(hdr));
  std::memcpy(request + sizeof(hdr), &command, sizeof(command));
  const CallTime time("a command that is written");
  if (write(fd, request, in) < 0)
    throw result::SetupFailure("uverbs command " + std::to_string(number) + ": " +
                               std::strerror(errno));
  std::memcpy(static_cast<void*>(&result.core), answer, core);
  std::memcpy(static_cast<void*>(&result.driver), answer + core, out - core);
  return result;
}

const verbs::Port& Port() {
  static const verbs::Port port = result::Must(wire::Wire::Get().Port(net::IpVersion::kV4));
  return port;
}

}  // namespace

RawQueues::RawQueues(const std::string& device, ibv_qp_type type, bool with_srq,
                     verbs::Bytes memory, verbs::Bytes still)
    : type_(type), fd_(open(device.c_str(), O_RDWR | O_CLOEXEC)) {
  if (fd_ < 0) throw result::SetupFailure("no " + device);
  const auto [driver, context] = Do<ib_uverbs_get_context_resp, srn_alloc_ucontext_resp>(
      fd_, IB_USER_VERBS_CMD_GET_CONTEXT, ib_uverbs_get_context{}, sizeof(srn_alloc_ucontext_req));
  async_ = static_cast<int>(context.async_fd);
  doorbell_ = driver.doorbell_fd;
  MakeMemory(memory, still);
  const auto [cq_driver, cq] = Do<ib_uverbs_create_cq_resp, srn_create_cq_resp>(
      fd_, IB_USER_VERBS_CMD_CREATE_CQ, ib_uverbs_create_cq{.cqe = 32, .comp_channel = -1},
      sizeof(srn_create_cq_req));
  cq_handle_ = cq.cq_handle;
  cq_ = Map(cq_driver.mmap_offset, cq_driver.mmap_len);
  const auto [srq_driver, srq] = Do<ib_uverbs_create_srq_resp, srn_create_srq_resp>(
      fd_, IB_USER_VERBS_CMD_CREATE_SRQ,
      ib_uverbs_create_srq{.pd_handle = pd_, .max_wr = 16, .max_sge = 2, .srq_limit = 0},
      sizeof(srn_create_srq_req));
  srq_handle_ = srq.srq_handle;
  srq_driver_ = srq_driver;
  srq_ = Map(srq_driver.mmap_offset, srq_driver.mmap_len);
  for (const bool shared : {false, with_srq}) MakeQp(type, shared);
  for (const RawQp& qp : qps_) Connect(qp);
  MakeAh();
}

RawQueues::~RawQueues() {
  for (const RawQp& qp : qps_) munmap(qp.queue.start, qp.queue.size);
  munmap(cq_.start, cq_.size);
  munmap(srq_.start, srq_.size);
  for (const int fd : {doorbell_, async_, fd_}) close(fd);
}

RawQueue RawQueues::Map(uint64_t offset, uint64_t length) const {
  void* start =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(offset));
  if (start == MAP_FAILED) throw result::SetupFailure("a queue can't be mapped");
  return {static_cast<char*>(start), length};
}

uint32_t RawQueues::Register(verbs::Bytes memory, uint32_t access) const {
  const auto at = reinterpret_cast<uint64_t>(memory.data());
  return Do<ib_uverbs_reg_mr_resp>(fd_, IB_USER_VERBS_CMD_REG_MR,
                                   ib_uverbs_reg_mr{.start = at,
                                                    .length = memory.size(),
                                                    .hca_va = at,
                                                    .pd_handle = pd_,
                                                    .access_flags = access})
      .core.rkey;
}

void RawQueues::MakeMemory(verbs::Bytes memory, verbs::Bytes still) {
  pd_ = Do<ib_uverbs_alloc_pd_resp>(fd_, IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{})
            .core.pd_handle;
  key_ = Register(memory, verbs::kAllAccess);
  still_key_ = Register(still, IBV_ACCESS_REMOTE_READ);
  window_ =
      Do<ib_uverbs_alloc_mw_resp>(fd_, IB_USER_VERBS_CMD_ALLOC_MW,
                                  ib_uverbs_alloc_mw{.pd_handle = pd_, .mw_type = IBV_MW_TYPE_2})
          .core.rkey;
}

void RawQueues::MakeQp(ibv_qp_type type, bool with_srq) {
  const ib_uverbs_create_qp command = {.pd_handle = pd_,
                                       .send_cq_handle = cq_handle_,
                                       .recv_cq_handle = cq_handle_,
                                       .srq_handle = srq_handle_,
                                       .max_send_wr = 16,
                                       .max_recv_wr = with_srq ? 0u : 16u,
                                       .max_send_sge = 3,
                                       .max_recv_sge = with_srq ? 0u : 3u,
                                       .max_inline_data = 64,
                                       .qp_type = static_cast<uint8_t>(type),
                                       .is_srq = with_srq};
  const auto [driver, core] = Do<ib_uverbs_create_qp_resp, srn_create_qp_resp>(
      fd_, IB_USER_VERBS_CMD_CREATE_QP, command, sizeof(srn_create_qp_req));
  qps_.push_back({core.qp_handle, core.qpn, driver, Map(driver.mmap_offset, driver.mmap_len)});
}

void RawQueues::MakeAh() {
  ib_uverbs_create_ah command = {};
  command.pd_handle = pd_;
  std::memcpy(command.attr.grh.dgid, Port().gid.raw, sizeof(command.attr.grh.dgid));
  command.attr.grh.sgid_index = static_cast<uint8_t>(Port().gid_index);
  command.attr.is_global = command.attr.port_num = 1;
  ah_ = Do<ib_uverbs_create_ah_resp, srn_create_ah_resp>(fd_, IB_USER_VERBS_CMD_CREATE_AH, command)
            .driver.ah;
}

void RawQueues::Connect(const RawQp& qp) const {
  const uint32_t dest = qps_[&qp == &qps_[0]].number;
  const verbs::WireOptions options = {
      .mtu = IBV_MTU_1024, .timeout = 8, .retry_cnt = 1, .rnr_retry = 1, .qkey = 0x11};
  for (const verbs::Transition& t : {verbs::ToInit(type_, Port(), options),
                                     verbs::ToRtr(type_, Port(), Port().gid, dest, 7, options),
                                     verbs::ToRts(type_, 7, options)}) {
    ib_uverbs_modify_qp command = {};
    std::memcpy(command.dest.dgid, Port().gid.raw, sizeof(command.dest.dgid));
    command.dest.sgid_index = static_cast<uint8_t>(Port().gid_index);
    command.dest.hop_limit = 64;
    command.dest.is_global = command.dest.port_num = command.port_num = 1;
    command.qp_handle = qp.handle;
    command.attr_mask = static_cast<uint32_t>(t.mask);
    command.qkey = t.attr.qkey;
    command.rq_psn = command.sq_psn = 7;
    command.dest_qp_num = dest;
    command.qp_access_flags = static_cast<uint32_t>(t.attr.qp_access_flags);
    command.qp_state = static_cast<uint8_t>(t.attr.qp_state);
    command.path_mtu = static_cast<uint8_t>(options.mtu);
    command.max_rd_atomic = command.max_dest_rd_atomic = 4;
    command.min_rnr_timer = 1;
    command.timeout = options.timeout;
    command.retry_cnt = options.retry_cnt;
    command.rnr_retry = options.rnr_retry;
    (void)Do(fd_, IB_USER_VERBS_CMD_MODIFY_QP, command);
  }
}

void RawQueues::Doorbell(uint64_t argument) const {
  const CallTime time("a doorbell");
  ioctl(doorbell_, SRN_IOC_DOORBELL, argument);
}

// Entries of a CQ that is garbage are nobody's loss.
void RawQueues::Consume() const {
  auto* page = reinterpret_cast<srn_cq_page*>(cq_.start);
  __atomic_store_n(&page->cons, __atomic_load_n(&page->prod, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

void RawQueues::SetState(const RawQp& qp, ibv_qp_state state) const {
  ib_uverbs_modify_qp command = {};
  command.qp_handle = qp.handle;
  command.attr_mask = IBV_QP_STATE;
  command.qp_state = static_cast<uint8_t>(state);
  (void)Do(fd_, IB_USER_VERBS_CMD_MODIFY_QP, command);
}

void RawQueues::Modify(const RawQp& qp, ibv_qp_state state) const {
  try {
    SetState(qp, state == IBV_QPS_RTS ? IBV_QPS_RESET : state);
    if (state == IBV_QPS_RTS) Connect(qp);
  } catch (const result::SetupFailure&) {
    // Not from every state.
  }
}

}  // namespace fuzz
