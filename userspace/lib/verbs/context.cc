// SPDX-License-Identifier: GPL-2.0-only
#include "context.h"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace verbs {
namespace {

constexpr size_t kMaxGids = 1024;

bool IsV4Mapped(const ibv_gid& gid) {
  static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
  return std::equal(std::begin(kPrefix), std::end(kPrefix), gid.raw);
}

bool IsLinkLocal(const ibv_gid& gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

bool IsSame(const ibv_gid& a, const ibv_gid& b) {
  return std::memcmp(a.raw, b.raw, sizeof(a.raw)) == 0;
}

std::string ToString(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  return inet_ntop(AF_INET6, gid.raw, text, sizeof(text));
}

// The RoCEv2 GIDs of a port.
Result<std::vector<ibv_gid_entry>> RoceGids(const Context& context, uint8_t port) {
  std::vector<ibv_gid_entry> table(kMaxGids);
  ssize_t count = ibv_query_gid_table(context.get(), table.data(), table.size(), 0);
  if (count < 0) return FromReturn(static_cast<int>(count), "ibv_query_gid_table").failure();

  table.resize(count);
  std::erase_if(table, [port](const ibv_gid_entry& entry) {
    return entry.port_num != port || entry.gid_type != IBV_GID_TYPE_ROCE_V2;
  });
  return table;
}

Result<Port> PortWith(const Context& context, const ibv_gid_entry& entry) {
  const auto num = static_cast<uint8_t>(entry.port_num);
  Result<ibv_port_attr> attr = context.QueryPort(num);
  if (!attr.ok()) return attr.failure();

  return Port{.num = num,
              .gid_index = static_cast<int>(entry.gid_index),
              .gid = entry.gid,
              .active_mtu = attr->active_mtu};
}

}  // namespace

const char* ToString(Ip ip) { return ip == Ip::kV4 ? "IPv4" : "IPv6"; }

Status WaitReadable(int fd, Timeout timeout) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  int rc = poll(&entry, 1, static_cast<int>(timeout.count()));

  if (rc < 0) return result::FromErrno("poll");
  if (rc == 0) return Error{ETIMEDOUT, "wait for an event"};
  return {};
}

Result<Context> Context::Open(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (!list) return result::FromErrno("ibv_get_device_list");

  Result<Context> opened = Error{ENODEV, "open " + name};
  for (int i = 0; i < count; i++) {
    if (name != ibv_get_device_name(list[i])) continue;
    errno = 0;
    opened = Adopt<Context>(ibv_open_device(list[i]), "ibv_open_device");
    break;
  }
  ibv_free_device_list(list);
  return opened;
}

Result<ibv_device_attr> Context::QueryDevice() const {
  ibv_device_attr attr = {};
  Status status = FromReturn(ibv_query_device(get(), &attr), "ibv_query_device");

  if (!status.ok()) return status.failure();
  return attr;
}

Result<ibv_device_attr_ex> Context::QueryDeviceEx() const {
  ibv_device_attr_ex attr = {};
  Status status = FromReturn(ibv_query_device_ex(get(), nullptr, &attr), "ibv_query_device_ex");

  if (!status.ok()) return status.failure();
  return attr;
}

Result<ibv_port_attr> Context::QueryPort(uint8_t port) const {
  ibv_port_attr attr = {};
  Status status = FromReturn(ibv_query_port(get(), port, &attr), "ibv_query_port");

  if (!status.ok()) return status.failure();
  return attr;
}

Result<Port> Context::FindPort(Ip ip, uint8_t port) const {
  Result<std::vector<ibv_gid_entry>> table = RoceGids(*this, port);
  if (!table.ok()) return table.failure();

  const ibv_gid_entry* best = nullptr;
  for (const ibv_gid_entry& entry : *table) {
    if (IsV4Mapped(entry.gid) != (ip == Ip::kV4)) continue;
    if (!best || (IsLinkLocal(best->gid) && !IsLinkLocal(entry.gid))) best = &entry;
  }
  if (!best) return Error{ENOENT, std::string("find a GID for ") + ToString(ip)};
  return PortWith(*this, *best);
}

Result<Port> Context::FindPort(const ibv_gid& gid, uint8_t port) const {
  Result<std::vector<ibv_gid_entry>> table = RoceGids(*this, port);
  if (!table.ok()) return table.failure();

  for (const ibv_gid_entry& entry : *table)
    if (IsSame(entry.gid, gid)) return PortWith(*this, entry);
  return Error{ENOENT, "find the GID " + ToString(gid)};
}

Result<ibv_async_event> Context::WaitEvent(Timeout timeout) const {
  Status status = WaitReadable(get()->async_fd, timeout);
  if (!status.ok()) return status.failure();

  ibv_async_event event = {};
  if (ibv_get_async_event(get(), &event)) return result::FromErrno("ibv_get_async_event");
  ibv_ack_async_event(&event);
  return event;
}

Result<Pd> Pd::Create(const Context& context) {
  errno = 0;
  return Adopt<Pd>(ibv_alloc_pd(context.get()), "ibv_alloc_pd");
}

}  // namespace verbs
