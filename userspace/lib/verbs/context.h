// SPDX-License-Identifier: GPL-2.0-only
// An open device, its port and GIDs, and its asynchronous events.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "handle.h"

namespace verbs {

using Timeout = std::chrono::milliseconds;

// Which kind of RoCEv2 GID a connection uses.
enum class Ip { kV4, kV6 };

const char* ToString(Ip ip);

// One end of the wire: a port and one of its GIDs.
struct Port {
  uint8_t num = 1;
  int gid_index = 0;
  ibv_gid gid = {};
  ibv_mtu active_mtu = IBV_MTU_1024;
};

class Context : public Handle<ibv_context> {
 public:
  using Handle::Handle;

  // ENODEV if no device has this name.
  static Result<Context> Open(const std::string& name);

  Result<ibv_device_attr> QueryDevice() const;
  Result<ibv_device_attr_ex> QueryDeviceEx() const;
  Result<ibv_port_attr> QueryPort(uint8_t port) const;

  // The first RoCEv2 GID of that IP version; a routable IPv6 address goes
  // before a link-local one. ENOENT if there is none.
  Result<Port> FindPort(Ip ip, uint8_t port = 1) const;
  // The same with the RoCEv2 GID that is @p gid and no other.
  Result<Port> FindPort(const ibv_gid& gid, uint8_t port = 1) const;

  // The next asynchronous event, already acknowledged; its element pointer
  // is only good for comparing. ETIMEDOUT if none came.
  Result<ibv_async_event> WaitEvent(Timeout timeout) const;
};

class Pd : public Handle<ibv_pd> {
 public:
  using Handle::Handle;

  static Result<Pd> Create(const Context& context);
};

// Waits until `fd` is readable. ETIMEDOUT if it does not become so.
Status WaitReadable(int fd, Timeout timeout);

}  // namespace verbs
