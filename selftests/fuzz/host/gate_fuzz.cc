// SPDX-License-Identifier: GPL-2.0-only
// The module's gate against the wire library, which has another author's reading of the same
// specification: what one takes the other must take, and read the same from it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <roce/packet.h>

#include "gate.h"

namespace {

void Require(bool right, const char* what, const roce::Decoded& decoded) {
  if (right) return;
  std::fprintf(stderr, "%s: %s, %s\n", what, decoded.packet.ToString().c_str(),
               roce::FaultName(decoded.fault));
  std::abort();
}

// What the module refuses although it is well-formed, by rules of its own.
bool RefusedByRule(const roce::Decoded& decoded) {
  const roce::Packet& p = decoded.packet;
  const bool may_carry = p.info().payload != roce::PayloadRule::kNone;
  const size_t carried = p.payload.size() + *p.bth.pad;
  return p.bth.tver != 0 || p.payload.size() > 2 * 4096 || (!may_carry && carried > 0) ||
         (p.bth.opcode == roce::kOpcodeCnp && p.payload.size() != 16);
}

void Compare(const GateVerdict& gate, const roce::Decoded& decoded) {
  const roce::Packet& p = decoded.packet;
  if (gate.parse == 0 && !gate.opcode_unknown) {
    Require(decoded.fault == roce::Fault::kNone || decoded.fault == roce::Fault::kIcrc,
            "the gate lets pass what is not well-formed", decoded);
    Require(gate.icrc_ok == (decoded.fault == roce::Fault::kNone), "the ICRCs differ", decoded);
    Require(gate.opcode == p.bth.opcode && gate.pkey == p.bth.pkey && gate.qpn == p.bth.dqpn &&
                gate.psn == p.bth.psn && gate.len == p.payload.size() &&
                gate.headers == roce::HeadersSize(p.info().headers),
            "the gate reads something else", decoded);
  } else if (decoded.fault == roce::Fault::kNone && gate.parse != 0) {
    Require(RefusedByRule(decoded), "the gate refuses what is well-formed", decoded);
  }
}

// The first byte says how it comes: over which IP, how much of it is linear, with a right ICRC.
net::Datagram MakeDatagram(uint8_t how, const uint8_t* data, size_t size) {
  net::Datagram d;
  const bool v6 = how & 1;
  d.src = *net::IpAddress::Parse(v6 ? "fd79::2" : "10.79.0.2");
  d.dst = *net::IpAddress::Parse(v6 ? "fd79::1" : "10.79.0.1");
  d.sport = 0xc123;
  d.dport = roce::kUdpPort;
  d.payload.assign(data, data + size);
  if (how & 2) roce::SealIcrc(d);
  return d;
}

// What switches and hosts change on the way, or nobody can know: the ICRC is as if it were all
// ones. Offsets are of the IP header and the UDP header behind it.
bool IsMasked(const net::Datagram& d, size_t at) {
  const size_t ip = d.ip_header_size();
  if (at >= ip) return at == ip + 6 || at == ip + 7;
  if (d.version() == net::IpVersion::kV6) return at < 4 || at == 7;
  return at == 1 || at == 8 || at == 10 || at == 11;
}

GateVerdict Gate(const net::Bytes& bytes, size_t ip_size, size_t linear) {
  const size_t size = bytes.size() - ip_size;
  return gate(bytes.data(), ip_size, bytes.data() + ip_size, size, std::min(size, linear));
}

bool Passes(const GateVerdict& verdict) {
  return verdict.parse == 0 && !verdict.opcode_unknown && verdict.icrc_ok;
}

// One byte or two of the IP and the UDP header become others, by `choices`: a packet that passed is
// refused then, unless only what is masked has changed. The first byte tells IPv4 from IPv6, by
// which the device was called at all.
void ChangeHeaders(const net::Datagram& d, net::Bytes bytes, size_t linear,
                   const uint8_t choices[4]) {
  const size_t headers = d.ip_header_size() + net::kUdpHeader;
  bool masked = true;
  for (size_t i = 0; i < 1u + (choices[0] >> 2 & 1); ++i) {
    const size_t at = 1 + (choices[1 + i] + i * 8) % (headers - 1);
    const uint8_t change = choices[3] | 1;
    bytes[at] ^= change;
    masked &= IsMasked(d, at);
  }
  const bool passes = Passes(Gate(bytes, d.ip_header_size(), linear));
  if (choices[0] >> 2 & 1 && choices[1] % (headers - 1) == (choices[2] + 8u) % (headers - 1))
    return;  // twice the same byte: nothing has changed
  if (passes == masked) return;
  std::fprintf(stderr, masked ? "a change of what is masked is refused\n"
                              : "a change of the IP or UDP header passes\n");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 12000) return 0;
  const net::Datagram datagram = MakeDatagram(data[0], data + 1, size - 1);
  const net::Bytes headers = net::BuildIpUdp(datagram);
  net::Bytes transport(headers.begin() + static_cast<ptrdiff_t>(datagram.ip_header_size()),
                       headers.end());
  transport.insert(transport.end(), datagram.payload.begin(), datagram.payload.end());
  const size_t linear = std::min<size_t>(transport.size(), 8u + (data[0] >> 2));
  const GateVerdict verdict =
      gate(headers.data(), datagram.ip_header_size(), transport.data(), transport.size(), linear);
  Compare(verdict, roce::Decode(datagram));
  // The ICRC took the place of the last four bytes: they are there to choose by.
  if (!(data[0] & 2) || size < 5 || !Passes(verdict)) return 0;
  const uint8_t* choices = data + size - 4;
  if ((choices[0] & 3) == 0) return 0;
  net::Bytes all = headers;
  all.insert(all.end(), datagram.payload.begin(), datagram.payload.end());
  ChangeHeaders(datagram, std::move(all), linear, choices);
  return 0;
}
