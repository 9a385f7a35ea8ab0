// SPDX-License-Identifier: GPL-2.0-only
// The scripted peer: one QP played by hand, packet by packet.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <net/packet_socket.h>
#include <roce/packet.h>
#include <roce/pcap.h>

#include "conformance.h"
#include "wire.h"

namespace wire {

// What the kernel stamps packets with.
using Clock = std::chrono::system_clock;

// How long Expect() waits for what should come at once.
inline constexpr std::chrono::milliseconds kSoon{2000};
// How long ExpectNothing() listens.
inline constexpr std::chrono::milliseconds kAWhile{30};

class Peer {
 public:
  // Opens the wire. Fails the running test (and returns nullptr) if it cannot.
  static std::unique_ptr<Peer> Create(net::IpVersion version);
  // Looks at what nobody has received.
  ~Peer();

  // From now on packets without a destination go to `qpn`, and what comes
  // from there is held to the rules for this path MTU.
  void Connect(uint32_t qpn, uint32_t mtu, uint32_t first_psn);

  // The address of the device that packets go to, and come from.
  void SetDeviceAddress(const net::IpAddress& address) { device_address_ = address; }
  const net::IpAddress& device_address() const { return device_address_; }

  // The QPN that the device under test must send to. A new one for each Peer,
  // so that stragglers of an earlier test go unheard.
  uint32_t qpn() const { return qpn_; }
  net::IpVersion version() const { return version_; }

  // Fills in destination QPN (if 0), addresses and ICRC, and sends.
  void Send(roce::Packet packet);
  // An envelope with the right addresses, to be spoilt and sent by SendDatagram().
  net::Datagram Envelope() const;
  net::Datagram Seal(roce::Packet packet) const;
  void SendDatagram(const net::Datagram& datagram);
  void SendFrame(std::span<const uint8_t> frame);

  // The next packet to qpn(); checked against the rules.
  std::optional<roce::Packet> Receive(std::chrono::microseconds timeout);
  // As Receive(), but it is a test failure if none comes; then the opcode is 0xff.
  roce::Packet Expect(std::chrono::microseconds timeout = kSoon);
  // It is a test failure if a packet comes: meanwhile, on a slow machine longer.
  void ExpectNothing(std::chrono::microseconds duration = kAWhile);
  // The same for no longer than so, since then one must come.
  void ExpectNothingYet(std::chrono::microseconds duration);
  // It is a test failure if another packet than those comes until it has been quiet for so long, on
  // a slow machine longer.
  void ExpectOnly(const testing::Matcher<const roce::Packet&>& allowed,
                  std::chrono::microseconds quiet = kAWhile);
  // Everything that comes until it has been quiet for `quiet`. No proof that nothing follows: on a
  // slow machine it may be late.
  std::vector<roce::Packet> Drain(std::chrono::microseconds quiet = kAWhile);
  // What has come, unseen: for who only sends.
  void Forget();
  // From now on hellos (roce/sack.h) are packets as others. Until then they pass unheard, as they
  // do a peer that goes by the standard.
  void HearHellos() { hears_hellos_ = true; }
  // So many did.
  int num_unheard() const { return num_unheard_; }

  // Envelope and arrival of the packet that Receive() returned last.
  const net::ParsedDatagram& last() const { return last_; }
  Clock::time_point last_arrival() const { return last_arrival_; }

  // The rules are off: for tests that receive from several QPs.
  void IgnoreRules() { rules_.reset(); }

 private:
  Peer(net::PacketSocket socket, net::IpVersion version);
  bool Accept(const net::PacketSocket::Frame& frame, roce::Packet& packet);
  std::optional<net::ParsedDatagram> Parse(std::span<const uint8_t> frame) const;
  bool IsForMe(const roce::Decoded& decoded) const;
  bool Hears(const roce::Packet& packet);

  net::PacketSocket socket_;
  net::IpVersion version_;
  net::IpAddress device_address_;
  uint32_t qpn_;
  uint32_t remote_qpn_ = 0;
  std::optional<Conformance> rules_;
  bool hears_hellos_ = false;
  int num_unheard_ = 0;
  net::ParsedDatagram last_;
  Clock::time_point last_arrival_;
  std::optional<roce::PcapWriter> pcap_;
};

}  // namespace wire
