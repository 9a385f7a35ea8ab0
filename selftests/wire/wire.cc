// SPDX-License-Identifier: GPL-2.0-only
#include "wire.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <thread>

#include <net/command.h>

namespace wire {
namespace {

constexpr int kNetdevMtu = 4500;  // room for a path MTU of 4096

std::string FromEnv(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

net::IpAddress Address(net::IpVersion version, const char* last) {
  const char* prefix = version == net::IpVersion::kV4 ? "10.79.0." : "fd79::";
  return *net::IpAddress::Parse(std::string(prefix) + last);
}

result::Status SetUpNetdev(const Config& config) {
  const Wire& wire = Wire::Get();
  for (const net::IpVersion version : {net::IpVersion::kV4, net::IpVersion::kV6}) {
    const int prefix = version == net::IpVersion::kV4 ? 24 : 64;
    result::Status status = net::AddAddress(config.netdev, wire.local(version), prefix);
    if (!status) return status;
    status = net::AddNeighbour(config.netdev, wire.peer(version), wire.peer_mac());
    if (!status) return status;
  }
  // No address ever, not even a link-local one: nobody but the test speaks on v1.
  return net::SetConf(net::IpVersion::kV6, config.peer_dev, "disable_ipv6", "1");
}

// What the peer reads must be packets: on a veth, a segment offload would hand
// over what the sending stack left for "the hardware" to cut. Devices without
// the feature refuse; that is as good.
void TurnOffloadsOff(const std::string& dev) {
  for (const char* feature : {"tso", "gso", "gro", "tx-udp-segmentation"})
    (void)net::Run({"ethtool", "-K", dev, feature, "off"});
}

}  // namespace

Config Config::FromEnvironment() {
  Config config;
  config.device = FromEnv("SRN_DEV", config.device);
  config.type = FromEnv("SRN_TYPE", config.type);
  config.netdev = FromEnv("SRN_NETDEV", config.netdev);
  config.peer_dev = FromEnv("SRN_PEER_NETDEV", config.peer_dev);
  config.pcap_dir = FromEnv("SRN_WIRE_PCAP", "");
  config.time_scale = std::max(1.0, std::atof(FromEnv("SRN_TIME_SCALE", "1").c_str()));
  config.fuzz_packets = std::atoi(FromEnv("SRN_WIRE_FUZZ", "20000").c_str());
  config.recovery = FromEnv("SRN_RECOVERY", config.recovery);
  config.lax = FromEnv("SRN_WIRE_LAX", "0") != "0";
  return config;
}

result::Result<std::unique_ptr<Topology>> Topology::Create(const Config& config) {
  auto veth = net::VethPair::Create(config.netdev, config.peer_dev, kNetdevMtu);
  if (!veth) return veth.failure();
  result::Status status = SetUpNetdev(config);
  if (!status) return status.failure();
  TurnOffloadsOff(config.netdev);
  TurnOffloadsOff(config.peer_dev);
  status = net::Run(
      {"rdma", "link", "add", config.device, "type", config.type, "netdev", config.netdev});
  if (!status) return status.failure();
  return std::unique_ptr<Topology>(new Topology(std::move(veth).value(), config.device));
}

Topology::~Topology() { (void)net::Run({"rdma", "link", "delete", device_}); }

ibv_gid ToGid(const net::IpAddress& address) { return std::bit_cast<ibv_gid>(address.gid()); }

bool IsLongRun() { return !FromEnv("SRN_LONG", "").empty(); }

Wire& Wire::Get() {
  static Wire wire;
  return wire;
}

result::Status Wire::Open(const Config& config) {
  config_ = config;
  result::Result<net::MacAddress> mac = net::GetMac(config.netdev);
  if (!mac) return mac.failure();
  local_mac_ = mac.value();
  result::Result<verbs::Context> context = verbs::Context::Open(config.device);
  if (!context) return context.failure();
  context_ = std::move(context).value();
  return WaitForGids();
}

// The core adds GIDs from a work item, some time after the address appeared.
result::Status Wire::WaitForGids() const {
  for (int tries = 0; tries < 500; ++tries) {
    if (Port(net::IpVersion::kV4) && Port(net::IpVersion::kV6)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return result::Error{ENOENT, "no RoCEv2 GIDs for 10.79.0.1 and fd79::1 on " + config_.device};
}

void Wire::Close() { (void)context_.Close(); }

net::IpAddress Wire::local(net::IpVersion version) const { return Address(version, "1"); }
net::IpAddress Wire::peer(net::IpVersion version) const { return Address(version, "2"); }

result::Result<verbs::Port> Wire::Port(net::IpVersion version) const {
  return context_.FindPort(ToGid(local(version)));
}

std::chrono::microseconds Wire::Patience(std::chrono::microseconds base) const {
  return std::chrono::microseconds(
      static_cast<int64_t>(static_cast<double>(base.count()) * config_.time_scale));
}

}  // namespace wire
