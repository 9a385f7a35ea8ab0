// SPDX-License-Identifier: GPL-2.0-only
#include "peer.h"

#include <algorithm>

#include <gtest/gtest.h>

#include <roce/sack.h>
#include <roce/udp_port.h>

#include "messages.h"
#include "stray.h"

namespace wire {
namespace {

constexpr uint32_t kNoQpn = 0x010000;
uint32_t last_qpn = kNoQpn;

// Of this peer or of another one, perhaps of an earlier test; QP1 is on every port.
bool IsAPeers(uint32_t qpn) { return qpn == 1 || (qpn > kNoQpn && qpn <= last_qpn); }

// Whether it comes from where the others go to, and goes to where those come from.
bool IsAnswerTo(const net::Datagram& ours, const net::Datagram& theirs) {
  return theirs.src == ours.dst && theirs.dst == ours.src && theirs.mac_src == ours.mac_dst &&
         theirs.mac_dst == ours.mac_src;
}

std::string PcapPath(const std::string& dir) {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info->test_suite_name()) + "." + info->name();
  std::replace(name.begin(), name.end(), '/', '_');
  return dir + "/" + name + ".pcap";
}

}  // namespace

std::unique_ptr<Peer> Peer::Create(net::IpVersion version) {
  auto socket = net::PacketSocket::Open(Wire::Get().config().peer_dev);
  if (!socket) {
    ADD_FAILURE() << socket.message();
    return nullptr;
  }
  return std::unique_ptr<Peer>(new Peer(std::move(socket).value(), version));
}

Peer::Peer(net::PacketSocket socket, net::IpVersion version)
    : socket_(std::move(socket)),
      version_(version),
      device_address_(Wire::Get().local(version)),
      qpn_(++last_qpn) {
  const std::string& dir = Wire::Get().config().pcap_dir;
  if (!dir.empty()) pcap_ = roce::PcapWriter::Create(PcapPath(dir));
}

Peer::~Peer() {
  while (const auto frame = socket_.Receive(std::chrono::microseconds(0)))
    if (const auto parsed = Parse(frame->bytes)) (void)IsForMe(roce::Decode(parsed->datagram));
}

void Peer::Connect(uint32_t qpn, uint32_t mtu, uint32_t first_psn) {
  remote_qpn_ = qpn;
  rules_.emplace(Wire::Get().config().lax, mtu);
  rules_->SetNextPsn(first_psn);
}

net::Datagram Peer::Envelope() const {
  const Wire& wire = Wire::Get();
  net::Datagram d;
  d.mac_src = wire.peer_mac();
  d.mac_dst = wire.local_mac();
  d.src = wire.peer(version_);
  d.dst = device_address_;
  d.sport = roce::SourcePort(roce::FlowLabelOf(qpn_, remote_qpn_));
  d.dport = roce::kUdpPort;
  return d;
}

net::Datagram Peer::Seal(roce::Packet packet) const {
  if (packet.bth.dqpn == 0) packet.bth.dqpn = remote_qpn_;
  net::Datagram d = Envelope();
  roce::Encode(packet, d);
  return d;
}

void Peer::Send(roce::Packet packet) { SendDatagram(Seal(std::move(packet))); }

void Peer::SendDatagram(const net::Datagram& datagram) { SendFrame(net::BuildFrame(datagram)); }

void Peer::SendFrame(std::span<const uint8_t> frame) {
  if (pcap_) pcap_->Write(frame);
  result::Status sent = socket_.Send(frame);
  if (!sent) ADD_FAILURE() << sent.message();
}

// What the device and its host say to nobody's port is a failure: an ICMP error, a fragment.
std::optional<net::ParsedDatagram> Peer::Parse(std::span<const uint8_t> frame) const {
  if (IsHousekeeping(frame)) return std::nullopt;
  auto parsed = net::ParseFrame(frame);
  if (!parsed)
    ADD_FAILURE() << "the device sent a frame that is no UDP datagram: "
                  << testing::PrintToString(frame.first(std::min<size_t>(frame.size(), 64)));
  else if (parsed->datagram.dport != roce::kUdpPort)
    ADD_FAILURE() << "the device sent to UDP port " << parsed->datagram.dport;
  else
    return parsed;
  return std::nullopt;
}

bool Peer::IsForMe(const roce::Decoded& decoded) const {
  if (decoded.fault == roce::Fault::kShort) return true;
  const uint32_t qpn = decoded.packet.bth.dqpn;
  EXPECT_TRUE(IsAPeers(qpn)) << "the device sent to nobody's QP: " << decoded.packet.ToString();
  return qpn == qpn_;
}

bool Peer::Accept(const net::PacketSocket::Frame& frame, roce::Packet& packet) {
  auto parsed = Parse(frame.bytes);
  if (!parsed) return false;
  const roce::Decoded decoded = roce::Decode(parsed->datagram);
  if (!IsForMe(decoded)) return false;
  if (rules_) {
    EXPECT_TRUE(IsAnswerTo(Envelope(), parsed->datagram))
        << "between other addresses: " << decoded.packet.ToString();
    for (const std::string& rule : rules_->Check(*parsed, decoded))
      ADD_FAILURE() << "broken rule: " << rule << "\n  in " << decoded.packet.ToString();
  }
  last_ = std::move(*parsed);
  last_arrival_ = frame.arrival;
  packet = decoded.packet;
  return decoded.fault == roce::Fault::kNone;
}

bool Peer::Hears(const roce::Packet& packet) {
  const std::optional<roce::Sack> sack = roce::DecodeSack(packet);
  if (hears_hellos_ || !sack || sack->kind != roce::SackKind::kHello) return true;
  ++num_unheard_;
  return false;
}

std::optional<roce::Packet> Peer::Receive(std::chrono::microseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
    const auto frame = socket_.Receive(std::max(left, std::chrono::microseconds(0)));
    if (!frame) return std::nullopt;
    if (pcap_) pcap_->Write(frame->bytes, frame->arrival.time_since_epoch());
    roce::Packet packet;
    if (Accept(*frame, packet) && Hears(packet)) return packet;
  }
}

roce::Packet Peer::Expect(std::chrono::microseconds timeout) {
  if (auto packet = Receive(Wire::Get().Patience(timeout))) return *packet;
  ADD_FAILURE() << "no packet came within " << timeout.count() << " us";
  roce::Packet none;
  none.bth.opcode = 0xff;
  return none;
}

void Peer::ExpectNothing(std::chrono::microseconds duration) {
  ExpectNothingYet(Wire::Get().Patience(duration));
}

void Peer::ExpectNothingYet(std::chrono::microseconds duration) {
  if (auto packet = Receive(duration)) ADD_FAILURE() << "unexpected: " << packet->ToString();
}

void Peer::ExpectOnly(const testing::Matcher<const roce::Packet&>& allowed,
                      std::chrono::microseconds quiet) {
  for (const roce::Packet& packet : Drain(Wire::Get().Patience(quiet)))
    EXPECT_THAT(packet, allowed);
}

std::vector<roce::Packet> Peer::Drain(std::chrono::microseconds quiet) {
  std::vector<roce::Packet> packets;
  while (auto packet = Receive(quiet)) packets.push_back(std::move(*packet));
  return packets;
}

void Peer::Forget() {
  while (socket_.Receive(std::chrono::microseconds(0))) continue;
}

}  // namespace wire
