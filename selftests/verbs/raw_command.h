// SPDX-License-Identifier: GPL-2.0-only
// Commands of uverbs as libibverbs writes them to the device, with answers that can't be written or
// input that it would not send.
#pragma once

#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "env.h"
#include "hostile_ring.h"

namespace verbs_test {

// Room for the response to a raw command. The driver's part has a page of its own, which can't
// be written if the command is to fail.
class Answer {
 public:
  explicit Answer(bool fails)
      : pages_(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (fails) mprotect(driver<char>(), kPage, PROT_NONE);
  }
  ~Answer() { munmap(pages_, 2 * kPage); }

  template <typename T>
  T* driver() const {
    return reinterpret_cast<T*>(static_cast<char*>(pages_) + kPage);
  }
  template <typename T>
  T* core() const {
    return driver<T>() - 1;
  }

 private:
  static constexpr size_t kPage = 4096;

  void* pages_;
};

// As libibverbs writes it to the device; each byte of the driver's part of the request is the same.
template <typename Command>
int Write(const Context& ctx, uint32_t number, const Command& command, size_t driver_in, size_t out,
          char driver_byte = 0) {
  const size_t in = sizeof(ib_uverbs_cmd_hdr) + sizeof(command) + driver_in;
  ib_uverbs_cmd_hdr hdr = {};
  hdr.command = number;
  hdr.in_words = in / 4;
  hdr.out_words = out / 4;
  std::vector<char> bytes(in, driver_byte);
  std::memcpy(bytes.data(), &hdr, sizeof(hdr));
  std::memcpy(bytes.data() + sizeof(hdr), &command, sizeof(command));
  return write(ctx.get()->cmd_fd, bytes.data(), in) < 0 ? errno : 0;
}

class RawCreate {
 public:
  RawCreate(const Context& ctx, const Pd& pd, const Cq& cq, bool fails)
      : ctx_(ctx), pd_(pd), cq_(cq), answer_(fails) {}

  int Call() const {
    ib_uverbs_create_qp cmd = {};
    cmd.response = reinterpret_cast<uint64_t>(answer_.core<ib_uverbs_create_qp_resp>());
    cmd.pd_handle = pd_->handle;
    cmd.send_cq_handle = cq_->handle;
    cmd.recv_cq_handle = cq_->handle;
    cmd.max_send_wr = 16;
    cmd.max_recv_wr = 16;
    cmd.max_send_sge = 1;
    cmd.max_recv_sge = 1;
    cmd.qp_type = IBV_QPT_RC;
    return Write(ctx_, IB_USER_VERBS_CMD_CREATE_QP, cmd, sizeof(srn_create_qp_req),
                 sizeof(ib_uverbs_create_qp_resp) + sizeof(srn_create_qp_resp));
  }
  int Destroy() const {
    ib_uverbs_destroy_qp_resp answer = {};
    ib_uverbs_destroy_qp cmd = {};
    cmd.response = reinterpret_cast<uint64_t>(&answer);
    cmd.qp_handle = answer_.core<ib_uverbs_create_qp_resp>()->qp_handle;
    return Write(ctx_, IB_USER_VERBS_CMD_DESTROY_QP, cmd, 0, sizeof(answer));
  }
  // The new QP's queues, as soon as the program can know of them.
  Mapping Queues() const {
    auto* answer = answer_.driver<srn_create_qp_resp>();
    const auto end = std::chrono::steady_clock::now() + Patience();
    // The last word of the answer.
    while (!__atomic_load_n(&answer->rq_stride, __ATOMIC_ACQUIRE) &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    void* start = mmap(nullptr, answer->mmap_len, PROT_READ | PROT_WRITE, MAP_SHARED,
                       ctx_.get()->cmd_fd, static_cast<off_t>(answer->mmap_offset));
    if (start == MAP_FAILED) throw std::runtime_error("no queues to map");
    return {reinterpret_cast<uint64_t>(start), answer->mmap_len};
  }

 private:
  const Context& ctx_;
  const Pd& pd_;
  const Cq& cq_;
  Answer answer_;
};

// A resize whose response can't be written.
inline int FailingResize(const Context& ctx, const Cq& cq, uint32_t entries) {
  const Answer answer(/*fails=*/true);
  ib_uverbs_resize_cq cmd = {};
  cmd.response = reinterpret_cast<uint64_t>(answer.core<ib_uverbs_resize_cq_resp>());
  cmd.cq_handle = cq->handle;
  cmd.cqe = entries;
  return Write(ctx, IB_USER_VERBS_CMD_RESIZE_CQ, cmd, 0,
               sizeof(ib_uverbs_resize_cq_resp) + sizeof(srn_resize_cq_resp));
}

// A step of a change of a SRQ's size, or what is none. An older provider sends no driver's part.
class RawSrqStep {
 public:
  RawSrqStep(const Context& ctx, const Srq& srq, bool fails = false)
      : ctx_(ctx), handle_(srq->handle), answer_(fails) {}

  int Call(uint32_t step, uint32_t max_wr, uint32_t mask = IBV_SRQ_MAX_WR) const {
    Command cmd = {.core = {handle_, mask, max_wr, /*srq_limit=*/0}, .driver = {}};
    cmd.driver.comp_mask = step;
    if (step & SRN_MODIFY_SRQ_RING) {
      cmd.driver.resp_len = sizeof(srn_modify_srq_resp);
      cmd.driver.resp_addr = reinterpret_cast<uint64_t>(answer());
    }
    return Write(ctx_, IB_USER_VERBS_CMD_MODIFY_SRQ, cmd, 0, 0);
  }
  int CallAsOld(uint32_t max_wr) const {
    const Core core = {handle_, IBV_SRQ_MAX_WR, max_wr, /*srq_limit=*/0};
    return Write(ctx_, IB_USER_VERBS_CMD_MODIFY_SRQ, core, 0, 0);
  }
  srn_modify_srq_resp* answer() const { return answer_.driver<srn_modify_srq_resp>(); }

 private:
  // ib_uverbs_modify_srq, without its end of any length.
  struct Core {
    uint32_t handle, mask, max_wr, limit;
  };
  struct Command {
    Core core;
    srn_modify_srq_req driver;
  };

  const Context& ctx_;
  uint32_t handle_;
  Answer answer_;
};

// An address handle for a program that knows more, or less, than this kernel.
class RawCreateAh {
 public:
  RawCreateAh(const Context& ctx, const Pd& pd, const ibv_ah_attr& attr) : ctx_(ctx) {
    cmd_.response = reinterpret_cast<uint64_t>(answer_.core<ib_uverbs_create_ah_resp>());
    cmd_.pd_handle = pd->handle;
    std::memcpy(cmd_.attr.grh.dgid, attr.grh.dgid.raw, sizeof(cmd_.attr.grh.dgid));
    cmd_.attr.grh.sgid_index = attr.grh.sgid_index;
    cmd_.attr.is_global = attr.is_global;
    cmd_.attr.port_num = attr.port_num;
  }

  int Call(size_t driver_in, char driver_byte, size_t driver_out) const {
    return Write(ctx_, IB_USER_VERBS_CMD_CREATE_AH, cmd_, driver_in,
                 sizeof(ib_uverbs_create_ah_resp) + driver_out, driver_byte);
  }
  int Destroy() const {
    ib_uverbs_destroy_ah cmd = {};
    cmd.ah_handle = answer_.core<ib_uverbs_create_ah_resp>()->ah_handle;
    return Write(ctx_, IB_USER_VERBS_CMD_DESTROY_AH, cmd, 0, 0);
  }

 private:
  const Context& ctx_;
  Answer answer_{/*fails=*/false};
  ib_uverbs_create_ah cmd_ = {};
};

}  // namespace verbs_test
