// SPDX-License-Identifier: GPL-2.0-only
// Connecting over iWARP, which knows no other way than rdma_cm's.
#pragma once

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <string>

#include <verbs/qp.h>

namespace srnbench {

struct DestroyId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
using CmId = std::unique_ptr<rdma_cm_id, DestroyId>;

// Two QPs are connected as long as it lives, and they do. It goes before who made it.
struct IwarpLink {
  CmId active, passive;
};

class IwarpConnector {
 public:
  // Of the IPv4 addresses of two netdevs; QPs of the first one's device have to send first. Throws
  // std::runtime_error that says what failed, as Connect() does.
  IwarpConnector(const std::string& active, const std::string& passive);

  // Connects two new QPs.
  IwarpLink Connect(const verbs::Qp& active, const verbs::Qp& passive);

 private:
  struct CloseChannel {
    void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
  };
  using Channel = std::unique_ptr<rdma_event_channel, CloseChannel>;

  CmId Resolve();

  sockaddr_in from_, to_;
  // Channels go after their ids.
  Channel active_channel_, passive_channel_;
  CmId listener_;
};

}  // namespace srnbench
