// SPDX-License-Identifier: GPL-2.0-only
#include "hw_counters.h"

#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>

#include <result/must.h>

namespace verbs_test {
namespace {

using Values = std::map<std::string, uint64_t>;
using result::Must;

constexpr int kStatGet = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET);

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

result::Result<HwCounters> HwCounters::Open(const verbs::Context& context) {
  HwCounters counters;
  counters.device_ = ibv_get_device_index(context->device);
  result::Result<NlSocket> socket = OpenNl(NETLINK_RDMA);
  if (!socket) return socket.failure();
  counters.socket_ = std::move(*socket);
  return counters;
}

HwCounts HwCounters::Read() const {
  const NlMessage message(nlmsg_alloc_simple(kStatGet, NLM_F_REQUEST));
  Values values;

  nla_put_u32(message.get(), RDMA_NLDEV_ATTR_DEV_INDEX, device_);
  nla_put_u32(message.get(), RDMA_NLDEV_ATTR_PORT_INDEX, 1);
  Must(AskNl(socket_.get(), message.get(), OnReply, &values, "RDMA_NLDEV_CMD_STAT_GET"));
  return HwCounts(std::move(values));
}

}  // namespace verbs_test
