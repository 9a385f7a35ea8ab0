// SPDX-License-Identifier: GPL-2.0-only
// The stage: a veth pair with the device under test on one end and nothing
// but this program on the other.
//
//      device under test          this program (Peer)
//            srn0                    AF_PACKET
//             |                          |
//            v0 ======== veth ========= v1     no IP address, no kernel
//     10.79.0.1, fd79::1                       socket that could answer
//
// The peer's addresses (10.79.0.2, fd79::2) exist only as permanent
// neighbour entries on v0.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <net/address.h>
#include <net/link.h>
#include <verbs/context.h>

namespace wire {

// Names from the environment; the defaults are what `--topology` creates.
struct Config {
  std::string device = "srn0";  // SRN_DEV
  std::string type = "srn";     // SRN_TYPE: link type that --topology adds
  std::string netdev = "v0";    // SRN_NETDEV
  std::string peer_dev = "v1";  // SRN_PEER_NETDEV
  std::string pcap_dir;         // SRN_WIRE_PCAP: a pcap file per test goes there
  double time_scale = 1;        // SRN_TIME_SCALE: patience on slow machines
  // SRN_RECOVERY: what the module does about loss. A scripted peer takes its time, and a probe is
  // an answer to that: what tests expect packet by packet is of "gbn", where they do not say so.
  std::string recovery = "gbn";
  int fuzz_packets = 20000;  // SRN_WIRE_FUZZ
  bool lax = false;          // SRN_WIRE_LAX: accept what other devices do (MigReq 0, IPv4 id)

  static Config FromEnvironment();
};

// Owns the veth pair and the RDMA link.
class Topology {
 public:
  static result::Result<std::unique_ptr<Topology>> Create(const Config& config);
  ~Topology();

 private:
  Topology(net::VethPair veth, std::string device)
      : veth_(std::move(veth)), device_(std::move(device)) {}
  net::VethPair veth_;
  std::string device_;
};

ibv_gid ToGid(const net::IpAddress& address);

// SRN_LONG: time does not matter.
bool IsLongRun();

// What every test needs to know about the stage. One per process.
class Wire {
 public:
  static Wire& Get();
  result::Status Open(const Config& config);
  void Close();

  const Config& config() const { return config_; }
  const verbs::Context& context() const { return context_; }
  net::MacAddress local_mac() const { return local_mac_; }
  net::MacAddress peer_mac() const { return *net::MacAddress::Parse("02:00:00:79:00:02"); }
  net::IpAddress local(net::IpVersion version) const;
  net::IpAddress peer(net::IpVersion version) const;
  // The device's port with the RoCEv2 GID that stands for local(version).
  result::Result<verbs::Port> Port(net::IpVersion version) const;

  // `base` stretched to this machine's speed.
  std::chrono::microseconds Patience(std::chrono::microseconds base) const;

 private:
  result::Status WaitForGids() const;

  Config config_;
  verbs::Context context_;
  net::MacAddress local_mac_;
};

}  // namespace wire
