// SPDX-License-Identifier: GPL-2.0-only
// What is not a lawful packet for this QP is dropped, counted by cause, and
// changes nothing: IBTA vol. 1, 9.6 (packet header validation), annex A17.
#include <functional>
#include <set>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

class Malformed : public WireTest {
 protected:
  // A WRITE that would succeed if it were sent as it is.
  Packet GoodWrite() {
    return Write(Operation::kWriteOnly, PeerPsn(used_), Pattern(32), Reth(kPlace, 32));
  }
  net::Datagram GoodDatagram() { return peer().Seal(GoodWrite()); }

  // The same from another address of the subnet.
  net::Datagram StrangersDatagram() { return FromStranger(GoodWrite()); }
  net::Datagram FromStranger(Packet p) {
    net::Datagram d = peer().Envelope();
    d.src = *net::IpAddress::Parse(GetParam() == net::IpVersion::kV4 ? "10.79.0.3" : "fd79::3");
    p.bth.dqpn = ep().qpn();
    roce::Encode(p, d);
    return d;
  }
  static Packet CongestionNotification() {
    Packet p = Request(Operation::kSendOnly, 0, Bytes(16, 0));
    p.bth.opcode = roce::kOpcodeCnp;
    p.bth.becn = true;
    p.bth.ack_req = false;
    return p;
  }

  // Sends the datagram; expects no answer, no effect, a step of the counter,
  // and that the QP goes on.
  void ExpectDropped(const std::string& what, const net::Datagram& bad,
                     const std::string& counter) {
    ExpectFrameDropped(what, net::BuildFrame(bad), counter);
  }
  void ExpectFrameDropped(const std::string& what, const net::Bytes& frame,
                          const std::string& counter) {
    SCOPED_TRACE(what);
    ep().Fill(0xee);
    const Counters counters;
    peer().SendFrame(frame);
    peer().ExpectNothing(std::chrono::milliseconds(2));
    EXPECT_EQ(ep().Copy(0, 2 * kPlace), Bytes(2 * kPlace, 0xee));
    EXPECT_TRUE(counter.empty() || counters.Counted(counter)) << counter;
    ExpectResponderWorks(PeerPsn(used_), static_cast<uint32_t>(used_));
    used_ += 2;
    EXPECT_EQ(ep().State(), IBV_QPS_RTS);
  }

  int used_ = 0;
};
SRN_BOTH_IP_VERSIONS(Malformed);

TEST_P(Malformed, TheGoodPacketIsGood) {
  Start();
  peer().SendDatagram(GoodDatagram());
  ExpectAckedUpTo(PeerPsn(), 1);
  EXPECT_EQ(ep().Copy(kPlace, 32), Pattern(32));
}

TEST_P(Malformed, BadIcrc) {
  Start();
  const size_t size = GoodDatagram().payload.size();
  for (const size_t at : {size - 1, size - 2, size - 3, size - 4, size - 5, size_t{9}, size_t{12},
                          size_t{20}, size_t{30}}) {
    net::Datagram d = GoodDatagram();
    d.payload[at] ^= 0x10;
    ExpectDropped("byte " + std::to_string(at), d, "rx_icrc_encapsulated");
  }
  net::Datagram swapped = GoodDatagram();
  std::reverse(swapped.payload.end() - 4, swapped.payload.end());
  ExpectDropped("ICRC in the other byte order", swapped, "rx_icrc_encapsulated");
  net::Datagram zero = GoodDatagram();
  std::fill(zero.payload.end() - 4, zero.payload.end(), uint8_t{0});
  ExpectDropped("ICRC of zeros", zero, "rx_icrc_encapsulated");
}

TEST_P(Malformed, IcrcCoversPortsAndIpId) {
  Start();
  net::Datagram d = GoodDatagram();
  d.sport ^= 1;
  ExpectDropped("source port changed on the way", d, "rx_icrc_encapsulated");
  if (GetParam() == net::IpVersion::kV4) {
    d = GoodDatagram();
    d.ip_id = 1;
    ExpectDropped("IP id changed on the way", d, "rx_icrc_encapsulated");
  }
}

TEST_P(Malformed, ShorterThanItsHeaders) {
  Start();
  for (const size_t size : {0u, 1u, 4u, 11u, 12u, 15u}) {
    net::Datagram d = GoodDatagram();
    d.payload.resize(size);
    ExpectDropped("size " + std::to_string(size), d, "rcvd_too_short");
  }
  for (const size_t size : {16u, 20u, 28u}) {
    net::Datagram d = GoodDatagram();
    d.payload.resize(size);
    roce::SealIcrc(d);
    ExpectDropped("half a RETH, size " + std::to_string(size), d, "rcvd_too_short");
  }
}

TEST_P(Malformed, LengthThatIsNoMultipleOfFour) {
  Start();
  for (const size_t less : {1u, 2u, 3u}) {
    net::Datagram d = GoodDatagram();
    d.payload.resize(d.payload.size() - less);
    roce::SealIcrc(d);
    ExpectDropped("shorter by " + std::to_string(less), d, "rcvd_bad_length");
  }
}

TEST_P(Malformed, PadBeyondThePayload) {
  Start();
  Packet p = Request(Operation::kSendOnly, PeerPsn());
  p.bth.pad = 3;
  net::Datagram d = peer().Seal(p);
  d.payload.erase(d.payload.begin() + 12, d.payload.begin() + 15);
  roce::SealIcrc(d);
  ExpectDropped("pad without payload", d, "rcvd_bad_pad");
}

TEST_P(Malformed, HeaderVersionIsNotZero) {
  Start();
  for (const int tver : {1, 15}) {
    Packet p = GoodWrite();
    p.bth.tver = static_cast<uint8_t>(tver);
    ExpectDropped("TVer " + std::to_string(tver), peer().Seal(p), "rcvd_bad_version");
  }
}

TEST_P(Malformed, OpcodeOfNoService) {
  Start();
  const Counters before;
  for (const int opcode : {0x80, 0x9f, 0xc0, 0xe0, 0xff}) {
    Packet p = GoodWrite();
    p.bth.opcode = static_cast<uint8_t>(opcode);
    ExpectDropped(roce::OpcodeName(p.bth.opcode), peer().Seal(p), "rcvd_bad_opcode");
  }
  // One packet, one reason.
  EXPECT_EQ(before.Growth("rcvd_no_qp"), 0u);
}

TEST_P(Malformed, ReservedOpcodeCountsOnceForEachService) {
  for (const auto& [type, service] : {std::pair{IBV_QPT_RC, Service::kRc},
                                      {IBV_QPT_UC, Service::kUc},
                                      {IBV_QPT_UD, Service::kUd}}) {
    SCOPED_TRACE(type);
    Restart({.type = type});
    const Counters counters;
    Packet p = Request(Operation::kSendOnly, PeerPsn());
    p.bth.opcode = roce::MakeOpcode(service, Operation{0x1e});
    peer().Send(p);
    EXPECT_TRUE(counters.Grew("rcvd_bad_opcode"));
    EXPECT_EQ(counters.Growth("rcvd_bad_opcode"), 1u);
    EXPECT_EQ(counters.Growth("rcvd_no_qp"), 0u);
  }
}

TEST_P(Malformed, OpcodeOfAnotherService) {
  Start();
  for (const Service service : {Service::kUc, Service::kRd, Service::kUd, Service::kXrc}) {
    Packet p = GoodWrite();
    p.bth.opcode = roce::MakeOpcode(service, Operation::kSendOnly);
    ExpectDropped(roce::OpcodeName(p.bth.opcode), peer().Seal(p), "");
  }
}

TEST_P(Malformed, NoSuchQp) {
  Start();
  for (const uint32_t qpn : {ep().qpn() + 0x7000, 0xffffffu, 0xfffffeu, 0x800000u}) {
    Packet p = GoodWrite();
    p.bth.dqpn = qpn;
    // 0xffffff is multicast, and needs a DETH to be any good.
    ExpectDropped("QPN " + std::to_string(qpn), peer().Seal(p), "rcvd_no_qp");
  }
}

TEST_P(Malformed, QpnZeroAndOneTakeNoRcPackets) {
  Start();
  for (const uint8_t qpn : {uint8_t{0}, uint8_t{1}}) {
    net::Datagram d = GoodDatagram();
    d.payload[5] = d.payload[6] = 0;
    d.payload[7] = qpn;
    roce::SealIcrc(d);
    ExpectDropped("QPN " + std::to_string(qpn), d, "rcvd_no_qp");
  }
}

TEST_P(Malformed, WrongPkey) {
  Start();
  for (const int pkey : {0x0000, 0x8000, 0xfffe, 0x1234}) {
    Packet p = GoodWrite();
    p.bth.pkey = static_cast<uint16_t>(pkey);
    ExpectDropped("P_Key " + std::to_string(pkey), peer().Seal(p), "rcvd_bad_pkey");
  }
}

TEST_P(Malformed, SourceAddressIsNotThePeers) {
  Start();
  ExpectDropped("another address of the subnet", StrangersDatagram(), "rcvd_bad_address");
}

// The ICRC is the last that is looked at: it costs a look at each byte, and is not spent on
// who is no peer.
TEST_P(Malformed, StrangersAreTurnedAwayBeforeTheIcrc) {
  Start();
  net::Datagram d = StrangersDatagram();
  d.payload.back() ^= 1;
  const Counters counters;
  ExpectDropped("another address, wrong ICRC", d, "rcvd_bad_address");
  EXPECT_EQ(counters.Growth("rx_icrc_encapsulated"), 0u);
}

TEST_P(Malformed, UdpShorterThanIp) {
  Start();
  net::Datagram d = GoodDatagram();
  d.udp_length = static_cast<uint16_t>(net::kUdpHeader + d.payload.size() - 8);
  ExpectDropped("UDP length too small", d, "rcvd_bad_length");
}

// These do not even reach the device; the counters are the stack's.
TEST_P(Malformed, LengthsThatTheStackRefuses) {
  Start();
  net::Datagram d = GoodDatagram();
  const size_t udp = net::kUdpHeader + d.payload.size();
  d.udp_length = static_cast<uint16_t>(udp + 4);
  ExpectDropped("UDP longer than IP", d, "");
  d = GoodDatagram();
  const size_t ip = GetParam() == net::IpVersion::kV4 ? udp + net::kIpv4Header : udp;
  d.ip_length = static_cast<uint16_t>(ip + 8);
  ExpectDropped("IP longer than the frame", d, "");
  d = GoodDatagram();
  d.ip_length = static_cast<uint16_t>(ip - 8);
  ExpectDropped("IP shorter than UDP", d, "");
  d = GoodDatagram();
  d.udp_checksum = net::UdpChecksum::kWrong;
  ExpectDropped("wrong UDP checksum", d, "");
}

// Short frames are padded on Ethernet: that is no fault of the packet.
TEST_P(Malformed, BytesBehindTheIpPacketAreNotItsOwn) {
  Start();
  net::Bytes frame = net::BuildFrame(GoodDatagram());
  frame.resize(frame.size() + 18, 0x5a);
  peer().SendFrame(frame);
  ExpectAckedUpTo(PeerPsn(), 1);
  EXPECT_EQ(ep().Copy(kPlace, 32), Pattern(32));
}

TEST_P(Malformed, OptionsAndExtensionHeaders) {
  Start();
  net::Bytes frame = net::BuildFrame(GoodDatagram());
  const auto ip = frame.begin() + net::kEthernetHeader;
  if (GetParam() == net::IpVersion::kV4) {
    ip[0] = 0x46;
    const uint16_t total = static_cast<uint16_t>((ip[2] << 8 | ip[3]) + 4);
    ip[2] = static_cast<uint8_t>(total >> 8);
    ip[3] = static_cast<uint8_t>(total);
    ip[10] = ip[11] = 0;
    frame.insert(frame.begin() + 34, {1, 1, 1, 0});  // three no-ops and an end
    const uint32_t sum = net::ChecksumAdd(0, std::span(frame).subspan(14, 24));
    frame[24] = static_cast<uint8_t>(~sum >> 8);
    frame[25] = static_cast<uint8_t>(~sum);
  } else {
    const uint16_t length = static_cast<uint16_t>((ip[4] << 8 | ip[5]) + 8);
    ip[4] = static_cast<uint8_t>(length >> 8);
    ip[5] = static_cast<uint8_t>(length);
    ip[6] = 60;  // destination options, one PadN of six bytes
    frame.insert(frame.begin() + 54, {17, 0, 1, 4, 0, 0, 0, 0});
  }
  ExpectFrameDropped("options", frame, "rcvd_bad_length");
}

TEST_P(Malformed, PayloadWhereTheOpcodeHasNone) {
  Start();
  Packet p = ReadRequest(PeerPsn(), Reth(kPlace, 8));
  p.payload = Bytes(8, 1);
  ExpectDropped("READ request with payload", peer().Seal(p), "rcvd_bad_length");
}

TEST_P(Malformed, CongestionNotificationIsTakenInSilence) {
  Start();
  ExpectDropped("CNP", peer().Seal(CongestionNotification()), "rp_cnp_handled");
}

TEST_P(Malformed, CongestionNotificationOfAStrangerIsNone) {
  Start();
  const Counters counters;
  ExpectDropped("a stranger's CNP", FromStranger(CongestionNotification()), "rcvd_bad_address");
  EXPECT_EQ(counters.Growth("rp_cnp_handled"), 0u);
}

}  // namespace
}  // namespace wire
