// SPDX-License-Identifier: GPL-2.0-only
#include "device.h"

#include <algorithm>

#include <net/address.h>

#include "fault.h"

namespace srnverify {
namespace {

verbs::Port PortByIndex(const verbs::Context& context, int index) {
  verbs::Port port;
  port.gid_index = index;
  if (ibv_query_gid(context.get(), port.num, index, &port.gid) != 0)
    throw Fault("no GID of index " + std::to_string(index));
  port.active_mtu = Need(context.QueryPort(port.num), "query port").active_mtu;
  return port;
}

verbs::Port PortByAddress(const verbs::Context& context, const std::string& text) {
  const std::optional<net::IpAddress> address = net::IpAddress::Parse(text);
  if (!address) throw Fault("'" + text + "' is no address");
  ibv_gid gid;
  std::copy(address->gid().begin(), address->gid().end(), gid.raw);
  return Need(context.FindPort(gid), "GID of " + text);
}

}  // namespace

Device Device::Open(const Choice& choice) {
  Device device;
  device.name = choice.device;
  device.context = Need(verbs::Context::Open(choice.device), "device");
  if (choice.gid_index)
    device.port = PortByIndex(device.context, *choice.gid_index);
  else if (choice.address)
    device.port = PortByAddress(device.context, *choice.address);
  else
    device.port = Need(device.context.FindPort(choice.ip), choice.device);
  device.pd = Need(verbs::Pd::Create(device.context), "PD");
  device.features = Probe(device.context, device.port);
  return device;
}

}  // namespace srnverify
