// SPDX-License-Identifier: GPL-2.0-only
#include "hw_counters.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <rdma/rdma_netlink.h>

#include <result/must.h>

namespace verbs_test {
namespace {

using Values = std::map<std::string, uint64_t>;
using result::Must;

constexpr int kStatGet = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET);

struct MessageDeleter {
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};

result::Status FromNl(int rc, const char* what) {
  if (rc >= 0) return {};
  return result::Error{EIO, what, nl_geterror(rc)};
}

void AddEntry(nlattr* entry, Values* values) {
  const nlattr* name = nla_find(static_cast<nlattr*>(nla_data(entry)), nla_len(entry),
                                RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
  const nlattr* value = nla_find(static_cast<nlattr*>(nla_data(entry)), nla_len(entry),
                                 RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
  if (name && value) (*values)[nla_get_string(name)] = nla_get_u64(value);
}

int OnReply(nl_msg* message, void* values) {
  nlattr* table = nlmsg_find_attr(nlmsg_hdr(message), 0, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  nlattr* entry;
  int rest;

  if (!table) return NL_SKIP;
  nla_for_each_nested(entry, table, rest) AddEntry(entry, static_cast<Values*>(values));
  return NL_OK;
}

}  // namespace

uint64_t HwCounts::Sum(std::initializer_list<const char*> names) const {
  uint64_t sum = 0;
  for (const char* name : names) {
    const auto found = values_.find(name);
    if (found == values_.end()) Must(result::Status(result::Error{ENOENT, name}));
    sum += found->second;
  }
  return sum;
}

void HwCounters::Closer::operator()(nl_sock* socket) const { nl_socket_free(socket); }

result::Result<HwCounters> HwCounters::Open(const verbs::Context& context) {
  HwCounters counters;
  counters.device_ = ibv_get_device_index(context->device);
  counters.socket_.reset(nl_socket_alloc());
  if (!counters.socket_) return result::Error{ENOMEM, "nl_socket_alloc"};
  const result::Status connected =
      FromNl(nl_connect(counters.socket_.get(), NETLINK_RDMA), "nl_connect");
  if (!connected) return connected.failure();
  // The core answers, and acknowledges only what it refuses.
  nl_socket_disable_auto_ack(counters.socket_.get());
  return counters;
}

HwCounts HwCounters::Read() const {
  std::unique_ptr<nl_msg, MessageDeleter> message(nlmsg_alloc_simple(kStatGet, NLM_F_REQUEST));
  Values values;

  nla_put_u32(message.get(), RDMA_NLDEV_ATTR_DEV_INDEX, device_);
  nla_put_u32(message.get(), RDMA_NLDEV_ATTR_PORT_INDEX, 1);
  nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_CUSTOM, OnReply, &values);
  Must(FromNl(nl_send_auto(socket_.get(), message.get()), "nl_send_auto"));
  Must(FromNl(nl_recvmsgs_default(socket_.get()), "RDMA_NLDEV_CMD_STAT_GET"));
  return HwCounts(std::move(values));
}

}  // namespace verbs_test
