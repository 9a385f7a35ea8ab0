// SPDX-License-Identifier: GPL-2.0-only
#include "messages.h"

#include <algorithm>
#include <span>

#include <verbs/buffer.h>

namespace wire {
namespace {

Bytes Slice(const Bytes& data, size_t offset, size_t mtu) {
  const auto begin = data.begin() + static_cast<ptrdiff_t>(offset);
  const auto end = data.begin() + static_cast<ptrdiff_t>(std::min(data.size(), offset + mtu));
  return {begin, end};
}

struct Positions {
  Operation only, first, middle, last;
};

Operation Pick(const Positions& names, size_t index, size_t count) {
  if (count == 1) return names.only;
  if (index == 0) return names.first;
  return index + 1 == count ? names.last : names.middle;
}

std::vector<Packet> Cut(const Positions& names, uint32_t psn, const Bytes& data, uint32_t mtu,
                        Service service) {
  const uint32_t count = roce::PsnCount(data.size(), mtu);
  std::vector<Packet> packets;
  for (uint32_t i = 0; i < count; ++i) {
    packets.push_back(Request(Pick(names, i, count), roce::PsnAdd(psn, i),
                              Slice(data, size_t{i} * mtu, mtu), service));
    packets.back().bth.ack_req = i + 1 == count && service == Service::kRc;
  }
  return packets;
}

constexpr Positions kSends = {Operation::kSendOnly, Operation::kSendFirst, Operation::kSendMiddle,
                              Operation::kSendLast};
constexpr Positions kWrites = {Operation::kWriteOnly, Operation::kWriteFirst,
                               Operation::kWriteMiddle, Operation::kWriteLast};
constexpr Positions kResponses = {Operation::kReadResponseOnly, Operation::kReadResponseFirst,
                                  Operation::kReadResponseMiddle, Operation::kReadResponseLast};

}  // namespace

Bytes Pattern(size_t length, uint32_t seed) {
  Bytes data(length);
  verbs::FillPattern(std::as_writable_bytes(std::span(data)), seed);
  return data;
}

Packet Request(Operation operation, uint32_t psn, Bytes payload, Service service) {
  Packet p;
  p.bth.opcode = roce::MakeOpcode(service, operation);
  p.bth.psn = psn;
  p.bth.ack_req = service == Service::kRc;
  p.payload = std::move(payload);
  return p;
}

Packet Write(Operation operation, uint32_t psn, Bytes payload, const roce::Reth& reth,
             Service service) {
  Packet p = Request(operation, psn, std::move(payload), service);
  p.reth = reth;
  return p;
}

Packet ReadRequest(uint32_t psn, const roce::Reth& reth) {
  return Write(Operation::kReadRequest, psn, {}, reth);
}

Packet CompareSwap(uint32_t psn, uint64_t va, uint32_t rkey, uint64_t compare, uint64_t swap) {
  Packet p = Request(Operation::kCompareSwap, psn);
  p.atomic = roce::AtomicEth{va, rkey, swap, compare};
  return p;
}

Packet FetchAdd(uint32_t psn, uint64_t va, uint32_t rkey, uint64_t add) {
  Packet p = Request(Operation::kFetchAdd, psn);
  p.atomic = roce::AtomicEth{va, rkey, add, 0};
  return p;
}

Packet Ack(uint32_t psn, uint32_t msn, uint8_t syndrome) {
  Packet p = WithoutAckReq(Request(Operation::kAcknowledge, psn));
  p.aeth = roce::Aeth{syndrome, msn};
  return p;
}

Packet ReadResponse(Operation operation, uint32_t psn, Bytes payload, uint32_t msn) {
  Packet p = WithoutAckReq(Request(operation, psn, std::move(payload)));
  if (operation != Operation::kReadResponseMiddle) p.aeth = roce::Aeth{roce::kAckNoCredits, msn};
  return p;
}

Packet AtomicAck(uint32_t psn, uint64_t value, uint32_t msn) {
  Packet p = Ack(psn, msn);
  p.bth.opcode = static_cast<uint8_t>(Operation::kAtomicAcknowledge);
  p.atomic_ack = value;
  return p;
}

std::vector<Packet> SendMessage(uint32_t psn, const Bytes& data, uint32_t mtu, Service service) {
  return Cut(kSends, psn, data, mtu, service);
}

std::vector<Packet> WriteMessage(uint32_t psn, const Bytes& data, uint32_t mtu, uint64_t va,
                                 uint32_t rkey, Service service) {
  std::vector<Packet> packets = Cut(kWrites, psn, data, mtu, service);
  packets[0].reth = roce::Reth{va, rkey, static_cast<uint32_t>(data.size())};
  return packets;
}

std::vector<Packet> ReadResponses(uint32_t psn, const Bytes& data, uint32_t mtu, uint32_t msn) {
  std::vector<Packet> packets = Cut(kResponses, psn, data, mtu, Service::kRc);
  for (Packet& p : packets)
    p = ReadResponse(static_cast<Operation>(p.bth.opcode), p.bth.psn, std::move(p.payload), msn);
  return packets;
}

Packet WithoutAckReq(Packet packet) {
  packet.bth.ack_req = false;
  return packet;
}

Packet WithImm(Packet packet, uint32_t imm) {
  packet.imm = imm;
  return packet;
}

std::vector<uint32_t> LengthsAround(uint32_t mtu) {
  return {0,       1,           2,       3,           4,       5,           mtu - 1,    mtu,
          mtu + 1, 2 * mtu - 1, 2 * mtu, 2 * mtu + 1, 3 * mtu, 3 * mtu + 5, 4 * mtu - 3};
}

}  // namespace wire
