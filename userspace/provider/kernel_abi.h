// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Commands to the kernel and their responses, as bytes.
//
// The uverbs structs end in a flexible array, so C++ cannot put srn's part behind them as a member.
// Here each is an array of exactly the size that libibverbs expects, zeroed: but for that of a
// context, and of a change of a QP or a SRQ, the requests of srn carry nothing but a comp_mask of
// 0.
#pragma once

#include <rdma/ib_user_verbs.h>
#include <rdma/srn-abi.h>

#include <cstddef>
#include <cstring>

namespace srn {

// No driver part.
struct None {};

template <typename T>
inline constexpr size_t kSizeOf = sizeof(T);
template <>
inline constexpr size_t kSizeOf<None> = 0;

// Header, core request, driver request.
template <size_t kHeader, typename Core, typename Driver>
struct BasicRequest {
  static constexpr size_t kSize = kHeader + sizeof(Core) + kSizeOf<Driver>;
  alignas(8) unsigned char bytes[kSize] = {};

  void* data() { return bytes; }
  static constexpr size_t size() { return kSize; }
  void set_driver(const Driver& driver) {
    std::memcpy(bytes + kHeader + sizeof(Core), &driver, kSizeOf<Driver>);
  }
};

inline constexpr size_t kHeaderSize = sizeof(ib_uverbs_cmd_hdr);
inline constexpr size_t kExHeaderSize = kHeaderSize + sizeof(ib_uverbs_ex_cmd_hdr);

template <typename Core, typename Driver = None>
using Request = BasicRequest<kHeaderSize, Core, Driver>;
template <typename Core, typename Driver = None>
using ExRequest = BasicRequest<kExHeaderSize, Core, Driver>;

// Core response, driver response.
template <typename Core, typename Driver = None>
struct Response {
  static constexpr size_t kSize = sizeof(Core) + kSizeOf<Driver>;
  alignas(8) unsigned char bytes[kSize] = {};

  void* data() { return bytes; }
  static constexpr size_t size() { return kSize; }

  Core core() const {
    Core out;
    std::memcpy(static_cast<void*>(&out), bytes, sizeof(Core));
    return out;
  }

  Driver driver() const {
    Driver out;
    std::memcpy(static_cast<void*>(&out), bytes + sizeof(Core), sizeof(Driver));
    return out;
  }
};

using GetContextRequest = Request<ib_uverbs_get_context, srn_alloc_ucontext_req>;
using GetContextResponse = Response<ib_uverbs_get_context_resp, srn_alloc_ucontext_resp>;
using QueryDeviceResponse = Response<ib_uverbs_ex_query_device_resp, srn_query_device_resp>;
using QueryPortRequest = Request<ib_uverbs_query_port>;

using AllocPdRequest = Request<ib_uverbs_alloc_pd>;
using AllocPdResponse = Response<ib_uverbs_alloc_pd_resp>;
using RegMrRequest = Request<ib_uverbs_reg_mr>;
using RegMrResponse = Response<ib_uverbs_reg_mr_resp>;
using ReregMrRequest = Request<ib_uverbs_rereg_mr>;
using ReregMrResponse = Response<ib_uverbs_rereg_mr_resp>;
using AllocMwRequest = Request<ib_uverbs_alloc_mw>;
using AllocMwResponse = Response<ib_uverbs_alloc_mw_resp>;

using CreateCqRequest = ExRequest<ib_uverbs_ex_create_cq, srn_create_cq_req>;
using CreateCqResponse = Response<ib_uverbs_ex_create_cq_resp, srn_create_cq_resp>;
using ModifyCqRequest = ExRequest<ib_uverbs_ex_modify_cq>;
using ResizeCqRequest = Request<ib_uverbs_resize_cq>;
using ResizeCqResponse = Response<ib_uverbs_resize_cq_resp, srn_resize_cq_resp>;

using CreateSrqRequest = Request<ib_uverbs_create_srq, srn_create_srq_req>;
using CreateSrqResponse = Response<ib_uverbs_create_srq_resp, srn_create_srq_resp>;
using ModifySrqRequest = Request<ib_uverbs_modify_srq, srn_modify_srq_req>;
using QuerySrqRequest = Request<ib_uverbs_query_srq>;

using CreateQpRequest = ExRequest<ib_uverbs_ex_create_qp, srn_create_qp_req>;
using CreateQpResponse = Response<ib_uverbs_ex_create_qp_resp, srn_create_qp_resp>;
using QueryQpRequest = Request<ib_uverbs_query_qp>;
using ModifyQpRequest = Request<ib_uverbs_modify_qp>;
using ModifyQpExRequest = ExRequest<ib_uverbs_ex_modify_qp, srn_modify_qp_req>;
using ModifyQpExResponse = Response<ib_uverbs_ex_modify_qp_resp>;

using CreateAhResponse = Response<ib_uverbs_create_ah_resp, srn_create_ah_resp>;

// Where libibverbs looks for the driver's part.
static_assert(GetContextRequest::kSize == 16 + sizeof(srn_alloc_ucontext_req));
static_assert(GetContextResponse::kSize == 8 + sizeof(srn_alloc_ucontext_resp));
static_assert(QueryDeviceResponse::kSize == 304 + sizeof(srn_query_device_resp));
static_assert(QueryPortRequest::kSize == 24);
static_assert(AllocPdRequest::kSize == 16);
static_assert(AllocPdResponse::kSize == 4);
static_assert(RegMrRequest::kSize == 48);
static_assert(RegMrResponse::kSize == 12);
static_assert(ReregMrRequest::kSize == 56);
static_assert(AllocMwRequest::kSize == 24);
static_assert(CreateCqRequest::kSize == 56 + sizeof(srn_create_cq_req));
static_assert(CreateCqResponse::kSize == 16 + sizeof(srn_create_cq_resp));
static_assert(ModifyCqRequest::kSize == 40);
static_assert(ResizeCqRequest::kSize == 24);
static_assert(ResizeCqResponse::kSize == 8 + sizeof(srn_resize_cq_resp));
static_assert(CreateSrqRequest::kSize == 40 + sizeof(srn_create_srq_req));
static_assert(CreateSrqResponse::kSize == 16 + sizeof(srn_create_srq_resp));
static_assert(ModifySrqRequest::kSize == 24 + sizeof(srn_modify_srq_req));
static_assert(QuerySrqRequest::kSize == 24);
static_assert(CreateQpRequest::kSize == 88 + sizeof(srn_create_qp_req));
static_assert(CreateQpResponse::kSize == 40 + sizeof(srn_create_qp_resp));
static_assert(QueryQpRequest::kSize == 24);
static_assert(ModifyQpRequest::kSize == 120);
static_assert(ModifyQpExRequest::kSize == 144 + sizeof(srn_modify_qp_req));
static_assert(ModifyQpExResponse::kSize == 8);
static_assert(CreateAhResponse::kSize == 4 + sizeof(srn_create_ah_resp));

// The shared pages, as the kernel lays them out.
static_assert(sizeof(srn_sge) == sizeof(ibv_sge) && sizeof(srn_sge) == 16);
static_assert(sizeof(srn_send_wqe) == 64);
static_assert(sizeof(srn_recv_wqe) == 16);
static_assert(sizeof(srn_cqe) == 64);
static_assert(sizeof(srn_qp_page) == 192);
static_assert(sizeof(srn_srq_page) == 128);
static_assert(sizeof(srn_cq_page) == 192);
static_assert(sizeof(srn_poller_page) == 64);

}  // namespace srn
