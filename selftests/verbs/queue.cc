// SPDX-License-Identifier: GPL-2.0-only
#include "queue.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>

#include <algorithm>
#include <cstring>

#include <result/must.h>

#include "inside.h"

namespace verbs_test {
namespace {

using result::Must;
using result::SetupFailure;

// Zeros where it is not there.
template <typename T>
T Find(nlattr* stats, int type) {
  T value = {};
  const nlattr* attr = nla_find(static_cast<nlattr*>(nla_data(stats)), nla_len(stats), type);
  if (attr) memcpy(&value, nla_data(attr), std::min<size_t>(sizeof(value), nla_len(attr)));
  return value;
}

int OnReply(nl_msg* message, void* to) {
  nlattr* stats = nlmsg_find_attr(nlmsg_hdr(message), sizeof(tcmsg), TCA_STATS2);
  if (nlmsg_hdr(message)->nlmsg_type != RTM_NEWQDISC || !stats) return NL_SKIP;
  const auto basic = Find<gnet_stats_basic>(stats, TCA_STATS_BASIC);
  const auto queue = Find<gnet_stats_queue>(stats, TCA_STATS_QUEUE);
  *static_cast<std::optional<QueueStats>*>(to) = {
      .bytes = basic.bytes,
      .packets = basic.packets,
      .backlog = queue.backlog,
      .drops = queue.drops,
      .marked = Find<tc_red_xstats>(stats, TCA_STATS_APP).marked};
  return NL_OK;
}

}  // namespace

QueueWatch::QueueWatch(const std::string& netns, const std::string& dev, uint16_t handle)
    : handle_(uint32_t{handle} << 16) {
  const Inside inside(netns);
  socket_ = Must(OpenNl(NETLINK_ROUTE));
  index_ = static_cast<int>(if_nametoindex(dev.c_str()));
  if (!index_) throw SetupFailure("no netdev " + dev);
}

QueueStats QueueWatch::Read() {
  // With NLM_F_ECHO it answers us, not only those who listen.
  const NlMessage request(nlmsg_alloc_simple(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO));
  tcmsg tc = {};
  tc.tcm_ifindex = index_;
  tc.tcm_handle = handle_;
  Must(FromNl(nlmsg_append(request.get(), &tc, sizeof(tc), NLMSG_ALIGNTO), "nlmsg_append"));
  std::optional<QueueStats> stats;
  Must(AskNl(socket_.get(), request.get(), OnReply, &stats, "RTM_GETQDISC"));
  if (!stats) throw SetupFailure("the queue does not answer");
  return *stats;
}

}  // namespace verbs_test
