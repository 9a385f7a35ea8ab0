// SPDX-License-Identifier: GPL-2.0-only
#include "iwarp.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "posting.h"

namespace srnbench {
namespace {

constexpr int kPatienceMs = 5000;
constexpr uint8_t kReads = 8;

void Demand(int rc, const char* what) {
  if (rc != 0) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

sockaddr_in AddressOf(const std::string& text) {
  sockaddr_in address = {};

  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error(fmt::format("'{}' is no IPv4 address", text));
  return address;
}

sockaddr* Generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

struct Event {
  rdma_cm_id *id, *listener;
  rdma_cm_event_type type;
  int status;
};

Event Next(rdma_event_channel* channel) {
  rdma_cm_event* event;

  Check(verbs::WaitReadable(channel->fd, kStuck));
  Demand(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
  const Event next{event->id, event->listen_id, event->event, event->status};
  rdma_ack_cm_event(event);
  return next;
}

// The next event of `id`, or of a connection that asked it, which has to be this one; whose it is.
// Those of connections that are over are passed over.
rdma_cm_id* Await(rdma_event_channel* channel, const rdma_cm_id* id, rdma_cm_event_type wanted) {
  Event event;

  do {
    event = Next(channel);
  } while (event.id != id && (event.type != RDMA_CM_EVENT_CONNECT_REQUEST || event.listener != id));
  if (event.type != wanted)
    throw std::runtime_error(fmt::format("rdma_cm: {} with status {}, not {}",
                                         rdma_event_str(event.type), event.status,
                                         rdma_event_str(wanted)));
  return event.id;
}

void ToInit(rdma_cm_id* id, const verbs::Qp& qp) {
  ibv_qp_attr attr = {};
  int mask;

  attr.qp_state = IBV_QPS_INIT;
  Demand(rdma_init_qp_attr(id, &attr, &mask), "rdma_init_qp_attr");
  Check(qp.Modify(attr, mask));
}

rdma_conn_param ParamOf(const verbs::Qp& qp) {
  rdma_conn_param param = {};

  param.responder_resources = kReads;
  param.initiator_depth = kReads;
  param.qp_num = qp.num();
  return param;
}

rdma_event_channel* NewChannel() {
  rdma_event_channel* const channel = rdma_create_event_channel();
  Demand(channel ? 0 : -1, "rdma_create_event_channel");
  return channel;
}

CmId NewId(rdma_event_channel* channel) {
  rdma_cm_id* id;
  Demand(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
  return CmId(id);
}

}  // namespace

IwarpConnector::IwarpConnector(const std::string& active, const std::string& passive)
    : from_(AddressOf(active)),
      to_(AddressOf(passive)),
      active_channel_(NewChannel()),
      passive_channel_(NewChannel()),
      listener_(NewId(passive_channel_.get())) {
  Demand(rdma_bind_addr(listener_.get(), Generic(to_)), "rdma_bind_addr");
  Demand(rdma_listen(listener_.get(), 1), "rdma_listen");
  to_.sin_port = rdma_get_src_port(listener_.get());
}

CmId IwarpConnector::Resolve() {
  CmId id = NewId(active_channel_.get());

  Demand(rdma_resolve_addr(id.get(), Generic(from_), Generic(to_), kPatienceMs),
         "rdma_resolve_addr");
  Await(active_channel_.get(), id.get(), RDMA_CM_EVENT_ADDR_RESOLVED);
  Demand(rdma_resolve_route(id.get(), kPatienceMs), "rdma_resolve_route");
  Await(active_channel_.get(), id.get(), RDMA_CM_EVENT_ROUTE_RESOLVED);
  return id;
}

IwarpLink IwarpConnector::Connect(const verbs::Qp& active, const verbs::Qp& passive) {
  IwarpLink link;

  link.active = Resolve();
  rdma_conn_param param = ParamOf(active);
  ToInit(link.active.get(), active);
  Demand(rdma_connect(link.active.get(), &param), "rdma_connect");
  link.passive =
      CmId(Await(passive_channel_.get(), listener_.get(), RDMA_CM_EVENT_CONNECT_REQUEST));
  param = ParamOf(passive);
  ToInit(link.passive.get(), passive);
  Demand(rdma_accept(link.passive.get(), &param), "rdma_accept");
  Await(active_channel_.get(), link.active.get(), RDMA_CM_EVENT_ESTABLISHED);
  Await(passive_channel_.get(), link.passive.get(), RDMA_CM_EVENT_ESTABLISHED);
  return link;
}

}  // namespace srnbench
