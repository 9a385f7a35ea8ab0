// SPDX-License-Identifier: GPL-2.0-only
// Packets that the peer sends, and matchers for those it receives.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <roce/aeth.h>
#include <roce/packet.h>
#include <roce/psn.h>

namespace roce {
inline void PrintTo(const Packet& packet, std::ostream* os) { *os << packet.ToString(); }
}  // namespace roce

namespace wire {

using roce::Bytes;
using roce::Operation;
using roce::Packet;
using roce::Service;

// `length` bytes that differ everywhere.
Bytes Pattern(size_t length, uint32_t seed = 0x40);

// Any request with a payload. AckReq is set.
Packet Request(Operation operation, uint32_t psn, Bytes payload = {},
               Service service = Service::kRc);
// A WRITE packet that carries a RETH.
Packet Write(Operation operation, uint32_t psn, Bytes payload, const roce::Reth& reth,
             Service service = Service::kRc);
Packet ReadRequest(uint32_t psn, const roce::Reth& reth);
Packet CompareSwap(uint32_t psn, uint64_t va, uint32_t rkey, uint64_t compare, uint64_t swap);
Packet FetchAdd(uint32_t psn, uint64_t va, uint32_t rkey, uint64_t add);

Packet Ack(uint32_t psn, uint32_t msn, uint8_t syndrome = roce::kAckNoCredits);
inline Packet Nak(uint32_t psn, uint32_t msn, uint8_t syndrome) { return Ack(psn, msn, syndrome); }
Packet ReadResponse(Operation operation, uint32_t psn, Bytes payload, uint32_t msn);
Packet AtomicAck(uint32_t psn, uint64_t value, uint32_t msn);

// A whole SEND, cut by `mtu`; AckReq on the last packet alone.
std::vector<Packet> SendMessage(uint32_t psn, const Bytes& data, uint32_t mtu,
                                Service service = Service::kRc);
// A whole WRITE to reth.va (length and PSNs follow from `data`).
std::vector<Packet> WriteMessage(uint32_t psn, const Bytes& data, uint32_t mtu, uint64_t va,
                                 uint32_t rkey, Service service = Service::kRc);
// All response packets to a READ of `data`.
std::vector<Packet> ReadResponses(uint32_t psn, const Bytes& data, uint32_t mtu, uint32_t msn);

Packet WithoutAckReq(Packet packet);
Packet WithImm(Packet packet, uint32_t imm);

// Lengths at which segmentation and padding change.
std::vector<uint32_t> LengthsAround(uint32_t mtu);

MATCHER_P2(IsRequest, operation, psn,
           "is " + roce::OpcodeName(static_cast<uint8_t>(operation)) + " with psn " +
               std::to_string(psn)) {
  return arg.bth.opcode == static_cast<uint8_t>(operation) && arg.bth.psn == psn;
}

MATCHER_P(IsAck, psn, "is an ACK with psn " + std::to_string(psn)) {
  return arg.bth.opcode == static_cast<uint8_t>(Operation::kAcknowledge) && arg.bth.psn == psn &&
         arg.aeth && roce::KindOf(arg.aeth->syndrome) == roce::AethKind::kAck;
}

MATCHER_P2(IsAckWithMsn, psn, msn,
           "is an ACK with psn " + std::to_string(psn) + " and msn " + std::to_string(msn)) {
  return testing::Matches(IsAck(psn))(arg) && arg.aeth->msn == static_cast<uint32_t>(msn);
}

MATCHER_P2(IsNak, psn, syndrome,
           "is " + roce::SyndromeName(syndrome) + " with psn " + std::to_string(psn)) {
  return arg.bth.opcode == static_cast<uint8_t>(Operation::kAcknowledge) && arg.bth.psn == psn &&
         arg.aeth && arg.aeth->syndrome == syndrome;
}

}  // namespace wire
