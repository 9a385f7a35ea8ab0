// SPDX-License-Identifier: GPL-2.0-only
#include "queue.h"

#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <result/must.h>

namespace verbs_test {
namespace {

using result::SetupFailure;

// This thread is in another network namespace.
class Inside {
 public:
  explicit Inside(const std::string& netns) : back_(::open("/proc/self/ns/net", O_RDONLY)) {
    const net::UniqueFd there(::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC));
    if (setns(there.get(), CLONE_NEWNET)) throw SetupFailure("no namespace " + netns);
  }
  ~Inside() { (void)setns(back_.get(), CLONE_NEWNET); }

 private:
  net::UniqueFd back_;
};

struct Request {
  nlmsghdr head = {};
  tcmsg tc = {};
};

template <typename T>
void Take(const rtattr* attr, T* to) {
  memcpy(to, RTA_DATA(attr), std::min<size_t>(sizeof(*to), RTA_PAYLOAD(attr)));
}

void TakeStats(const rtattr* stats, QueueStats* to) {
  int left = RTA_PAYLOAD(stats);
  gnet_stats_basic basic = {};
  gnet_stats_queue queue = {};
  tc_red_xstats red = {};

  for (auto* a = static_cast<const rtattr*>(RTA_DATA(stats)); RTA_OK(a, left);
       a = RTA_NEXT(a, left)) {
    if (a->rta_type == TCA_STATS_BASIC) Take(a, &basic);
    if (a->rta_type == TCA_STATS_QUEUE) Take(a, &queue);
    if (a->rta_type == TCA_STATS_APP && RTA_PAYLOAD(a) == sizeof(red)) Take(a, &red);
  }
  to->bytes = basic.bytes;
  to->packets = basic.packets;
  to->backlog = queue.backlog;
  to->drops = queue.drops;
  to->marked = red.marked;
}

}  // namespace

QueueWatch::QueueWatch(const std::string& netns, const std::string& dev, uint16_t handle)
    : handle_(uint32_t{handle} << 16) {
  const Inside inside(netns);
  fd_ = net::UniqueFd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const timeval patience = {.tv_sec = 5};
  setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  index_ = static_cast<int>(if_nametoindex(dev.c_str()));
  if (!index_) throw SetupFailure("no netdev " + dev);
}

QueueStats QueueWatch::Read() {
  Request request;
  request.head.nlmsg_len = sizeof(request);
  request.head.nlmsg_type = RTM_GETQDISC;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO;  // to us, not to who listens only
  request.tc.tcm_family = AF_UNSPEC;
  request.tc.tcm_ifindex = index_;
  request.tc.tcm_handle = handle_;
  alignas(nlmsghdr) char answer[8192];
  ssize_t got = -1;
  if (send(fd_.get(), &request, sizeof(request), 0) == sizeof(request))
    got = recv(fd_.get(), answer, sizeof(answer), 0);
  auto* head = reinterpret_cast<const nlmsghdr*>(answer);
  if (got < 0 || !NLMSG_OK(head, got) || head->nlmsg_type != RTM_NEWQDISC)
    throw SetupFailure("the queue does not answer");
  QueueStats stats;
  int left = TCA_PAYLOAD(head);
  for (auto* a = TCA_RTA(static_cast<const tcmsg*>(NLMSG_DATA(head))); RTA_OK(a, left);
       a = RTA_NEXT(a, left))
    if (a->rta_type == TCA_STATS2) TakeStats(a, &stats);
  return stats;
}

}  // namespace verbs_test
