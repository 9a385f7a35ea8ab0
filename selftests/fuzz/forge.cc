// SPDX-License-Identifier: GPL-2.0-only
#include "forge.h"

#include <algorithm>

#include <roce/aeth.h>
#include <roce/psn.h>
#include <roce/sack.h>

namespace fuzz {
namespace {

using roce::Operation;

// What a message may begin with; those of RC alone come last.
constexpr Operation kBegins[] = {
    Operation::kSendOnly,     Operation::kWriteFirst,  Operation::kWriteOnly,
    Operation::kSendFirst,    Operation::kWriteFirst,  Operation::kSendOnlyImm,
    Operation::kWriteOnlyImm, Operation::kReadRequest, Operation::kReadRequest,
    Operation::kFetchAdd,     Operation::kCompareSwap, Operation::kSendOnlyInvalidate,
    Operation::kAtomicWrite,  Operation::kFlush};
constexpr uint32_t kUcBegins = 7;
// The order is that of what follows what: a change of one makes a message of other packets.
constexpr Operation kRequests[] = {
    Operation::kSendFirst,    Operation::kSendMiddle,         Operation::kSendLast,
    Operation::kSendLastImm,  Operation::kSendOnly,           Operation::kSendOnlyImm,
    Operation::kWriteFirst,   Operation::kWriteMiddle,        Operation::kWriteLast,
    Operation::kWriteLastImm, Operation::kWriteOnly,          Operation::kWriteOnlyImm,
    Operation::kReadRequest,  Operation::kCompareSwap,        Operation::kFetchAdd,
    Operation::kAtomicWrite,  Operation::kSendOnlyInvalidate, Operation::kSendLastInvalidate,
    Operation::kReadRequest,  Operation::kWriteFirst,         Operation::kFlush};
constexpr Operation kAnswers[] = {Operation::kAcknowledge,       Operation::kAcknowledge,
                                  Operation::kAcknowledge,       Operation::kReadResponseOnly,
                                  Operation::kReadResponseFirst, Operation::kReadResponseMiddle,
                                  Operation::kReadResponseLast,  Operation::kAtomicAcknowledge};
// That the wire takes, spoilt or not.
constexpr uint32_t kLongest = 4200;
constexpr int kPsnSteps[] = {0, 0, 0, 0, 0,  0, 0,  0,  0,     0,         0,
                             0, 0, 0, 1, -1, 2, -2, -9, 0x100, -0x7fffff, 0x7fffff};
constexpr int kWrongSteps[] = {1, -1, 2, -2, -9, 0x100, -0x7fffff, 0x7fffff};

// Bytes that tell packets, and places in them, from each other.
void FillPayload(roce::Packet& p, size_t length) {
  p.payload.resize(std::min<size_t>(length, kLongest));
  for (size_t i = 0; i < p.payload.size(); ++i)
    p.payload[i] = static_cast<uint8_t>(p.bth.psn * 5 + i * 3);
}

}  // namespace

void Forger::SetOperation(roce::Packet& p, Operation operation) const {
  p.bth.opcode = roce::MakeOpcode(state_.service, operation);
}

uint32_t Forger::PayloadLength() {
  const uint32_t mtu = state_.mtu;
  switch (source_.Below(12)) {
    case 0:
      return 0;
    case 1:
      return source_.Below(9);
    case 2:
      return mtu - 1 - source_.Below(4);
    case 3:
      return mtu + 1 + source_.Below(4);
    case 4:
      return source_.Take<uint16_t>() % std::min(2 * mtu, kLongest);
    case 5:
      return 16;
    default:
      return mtu;
  }
}

// One that is bound to this QP, one that is another's, while there are such.
verbs::Remote Forger::Window() {
  if (state_.windows.empty()) return memory_.open().At(0);
  return source_.Pick(state_.windows);
}

uint32_t Forger::InvalidateKey() {
  return source_.OneIn(8) ? source_.Pick(memory_.remotes()).rkey : Window().rkey;
}

// A range of memory; where its end is that of a region, or a little behind, is where bounds are
// proven.
roce::Reth Forger::Reth() {
  static constexpr uint32_t kBehind[] = {0, 1, 4, 8, 64};
  const uint32_t lengths[] = {state_.mtu, 2 * state_.mtu, 3 * state_.mtu + 5, 16,
                              8,          source_.Byte(), source_.Edge()};
  const uint32_t length = source_.Pick(lengths);
  const verbs::Mr& open = memory_.open();
  verbs::Remote remote = open.At(source_.Take<uint16_t>() / 2);
  switch (source_.Below(8)) {
    case 0:
      remote = source_.Pick(memory_.remotes());
      break;
    case 1:
    case 2:
      remote = open.At(open->length);
      remote.addr += source_.Pick(kBehind) - uint64_t{length};
      break;
    case 3:
      remote = open.At(0);
      remote.addr -= source_.Pick(kBehind);
      break;
    case 4:
      remote = Window();
      remote.addr += source_.Edge();
      break;
    default:
      break;
  }
  return {remote.addr, remote.rkey, length};
}

// A range that the peer may use.
roce::Reth Forger::RightReth(uint32_t length) {
  const verbs::Mr& open = memory_.open();
  const size_t last = open->length - std::min<size_t>(open->length, length);
  verbs::Remote remote = open.At(0);
  switch (source_.Below(4)) {
    case 0:
      remote = open.At(std::min<size_t>(source_.Take<uint16_t>() & ~7u, last));
      break;
    case 1:
      remote = open.At(last);
      break;
    case 2:
      remote = Window();
      break;
    default:
      break;
  }
  return {remote.addr, remote.rkey, length};
}

uint8_t Forger::Syndrome() {
  static constexpr uint8_t kSyndromes[] = {roce::kAckNoCredits,
                                           roce::kAckNoCredits,
                                           roce::kAckNoCredits,
                                           0,
                                           5,
                                           0x1e,
                                           0x20,
                                           0x21,
                                           0x2c,
                                           0x3f,  // RNR
                                           0x60,
                                           0x60,
                                           0x61,
                                           0x62,
                                           0x63,
                                           0x64,
                                           0x65,
                                           0x7f,  // NAK
                                           0x40,
                                           0x80,
                                           0xff};
  return source_.OneIn(8) ? source_.Byte() : source_.Pick(kSyndromes);
}

void Forger::FillHeaders(roce::Packet& p) {
  const uint16_t headers = p.info().headers;
  if (headers & roce::kHasDeth)
    p.deth = roce::Deth{source_.OneIn(8) ? source_.Word() : state_.qkey, state_.peer_qpn};
  if (headers & roce::kHasReth) p.reth = Reth();
  if (headers & roce::kHasAtomicEth) {
    const roce::Reth place = Reth();
    p.atomic = roce::AtomicEth{place.va & (source_.OneIn(8) ? ~uint64_t{0} : ~uint64_t{7}),
                               place.rkey, source_.Word(), source_.Byte()};
  }
  if (headers & roce::kHasAeth) p.aeth = roce::Aeth{Syndrome(), state_.msn + source_.Below(4)};
  if (headers & roce::kHasAtomicAck) p.atomic_ack = source_.Word();
  if (headers & roce::kHasImm) p.imm = source_.Word();
  if (headers & roce::kHasFeth) p.feth = roce::Feth{source_.Byte(), source_.Byte()};
  if (headers & roce::kHasIeth)
    p.invalidate_rkey = source_.OneIn(4) ? source_.Word() : InvalidateKey();
  if (p.info().payload != roce::PayloadRule::kNone || source_.OneIn(16))
    FillPayload(p, PayloadLength());
  // The whole message, as its header says.
  if (p.reth && p.info().position == roce::Position::kOnly && !p.payload.empty() &&
      !source_.OneIn(8))
    FillPayload(p, p.reth->length);
}

void Forger::ChangeBth(roce::Packet& p) {
  switch (source_.Below(8)) {
    case 0:
      p.bth.opcode = source_.Byte();
      break;
    case 1:
      p.bth.pad = static_cast<uint8_t>(source_.Below(4));
      break;
    case 2:
      p.bth.tver = source_.Byte() & 15;
      break;
    case 3:
      p.bth.pkey = source_.Take<uint16_t>();
      break;
    case 4:
      p.bth.fecn = source_.OneIn(2);
      p.bth.becn = source_.OneIn(2);
      break;
    case 5:
      p.bth.mig_req = false;
      p.bth.reserved6 = source_.Byte() & 63;
      p.bth.reserved7 = source_.Byte() & 127;
      break;
    default:
      p.bth.psn = source_.Word() & 0xffffff;
  }
}

void Forger::Change(roce::Packet& p) {
  switch (source_.Below(8)) {
    case 0:
      p.bth.psn = roce::PsnAdd(p.bth.psn, source_.Pick(kWrongSteps));
      break;
    case 1:
      if (p.reth) p.reth = Reth();
      if (p.aeth) p.aeth->syndrome = Syndrome();
      break;
    case 2:
      if (p.reth) p.reth->rkey = source_.OneIn(2) ? Window().rkey : source_.Word();
      if (p.invalidate_rkey) p.invalidate_rkey = source_.Word();
      break;
    case 3:
      if (p.reth) p.reth->length = source_.Edge();
      if (p.atomic) p.atomic->va += source_.Byte();
      break;
    case 4:
      FillPayload(p, PayloadLength());
      break;
    case 5:
      SetOperation(p, p.info().is_response ? source_.Pick(kAnswers) : source_.Pick(kRequests));
      FillHeaders(p);
      break;
    default:
      ChangeBth(p);
  }
}

roce::Packet Forger::Begin() {
  const uint32_t mtu = state_.mtu;
  const uint32_t below =
      state_.service == roce::Service::kRc ? static_cast<uint32_t>(std::size(kBegins)) : kUcBegins;
  Operation operation = kBegins[source_.Below(below)];
  if (state_.service == roce::Service::kUd)
    operation = source_.OneIn(3) ? Operation::kSendOnlyImm : Operation::kSendOnly;
  roce::Packet p;
  SetOperation(p, operation);
  p.bth.psn = state_.peer_psn;
  const uint32_t lengths[] = {mtu, 16, mtu - 3, 1, 0, source_.Byte() % mtu};
  const uint32_t long_lengths[] = {3 * mtu, 2 * mtu, 2 * mtu + 5, mtu + 1, 5 * mtu - 1};
  const bool is_long = p.info().position == roce::Position::kFirst ||
                       (operation == Operation::kReadRequest && source_.OneIn(2));
  const uint32_t length = operation == Operation::kAtomicWrite ? 8
                          : is_long                            ? source_.Pick(long_lengths)
                                                               : source_.Pick(lengths);
  const uint16_t headers = p.info().headers;
  if (headers & roce::kHasDeth) p.deth = roce::Deth{state_.qkey, state_.peer_qpn};
  if (headers & roce::kHasReth) p.reth = RightReth(length);
  // Where nobody may write can be read.
  if (operation == Operation::kReadRequest && source_.OneIn(4))
    p.reth = roce::Reth{memory_.still().At(0).addr, memory_.still()->rkey,
                        std::min<uint32_t>(length, 4096)};
  if (headers & roce::kHasAtomicEth) {
    const roce::Reth place = RightReth(8);
    p.atomic = roce::AtomicEth{place.va & ~uint64_t{7}, place.rkey, source_.Word(), source_.Byte()};
  }
  if (headers & roce::kHasImm) p.imm = source_.Word();
  if (headers & roce::kHasFeth)
    p.feth = roce::Feth{static_cast<uint8_t>(source_.Below(2)),
                        static_cast<uint8_t>(1 + source_.Below(3))};
  if (headers & roce::kHasIeth) p.invalidate_rkey = InvalidateKey();
  if (p.info().payload != roce::PayloadRule::kNone) FillPayload(p, std::min(length, mtu));
  return p;
}

roce::Packet Forger::GoOn() {
  static constexpr Operation kSendEnds[] = {Operation::kSendLast, Operation::kSendLastImm,
                                            Operation::kSendLastInvalidate};
  static constexpr Operation kWriteEnds[] = {Operation::kWriteLast, Operation::kWriteLastImm};
  const auto [write, left] = *state_.message;
  roce::Packet p;
  p.bth.psn = state_.peer_psn;
  if (left > state_.mtu)
    SetOperation(p, write ? Operation::kWriteMiddle : Operation::kSendMiddle);
  else
    SetOperation(p, write ? source_.Pick(kWriteEnds) : source_.Pick(kSendEnds));
  if (p.info().headers & roce::kHasImm) p.imm = source_.Word();
  if (p.info().headers & roce::kHasIeth) p.invalidate_rkey = InvalidateKey();
  FillPayload(p, std::min(left, state_.mtu));
  return p;
}

roce::Packet Forger::NextRequest() {
  if (!state_.again.empty()) {
    roce::Packet p = std::move(state_.again.front());
    state_.again.pop_front();
    return p;
  }
  if (source_.OneIn(8) && !state_.sent.empty())
    return state_.sent[source_.Byte() % state_.sent.size()];
  const uint8_t flags = source_.Byte();
  roce::Packet p = state_.message ? GoOn() : Begin();
  p.bth.ack_req = !(flags & 1);
  p.bth.solicited = flags & 2;
  return p;
}

roce::Packet Forger::AnyRequest() {
  roce::Packet p;
  Operation operation = source_.Pick(kRequests);
  if (state_.service == roce::Service::kUd)
    operation = source_.OneIn(3) ? Operation::kSendOnlyImm : Operation::kSendOnly;
  SetOperation(p, operation);
  p.bth.psn = roce::PsnAdd(state_.peer_psn, source_.Pick(kPsnSteps));
  const uint8_t flags = source_.Byte();
  p.bth.ack_req = flags & 1;
  p.bth.solicited = flags & 2;
  FillHeaders(p);
  if (source_.OneIn(6)) ChangeBth(p);
  return p;
}

Forged Forger::Request() {
  if (source_.OneIn(4)) return {AnyRequest(), false};
  Forged forged = {NextRequest(), true};
  if (source_.OneIn(4)) {
    Change(forged.packet);
    forged.right = false;
  }
  return forged;
}

// What the oldest request of the device waits for; of a READ one packet after the other.
roce::Packet Forger::NextAnswer() {
  PeerState::Asked& one = state_.asked.front();
  const uint32_t rest = one.length - one.given, size = std::min(rest, state_.mtu);
  const bool first = one.given == 0, last = rest <= state_.mtu;
  roce::Packet p;
  p.bth.psn = roce::PsnAdd(one.psn, one.given / state_.mtu);
  Operation operation = Operation::kAcknowledge;
  if (one.operation == Operation::kReadRequest) {
    operation = first ? (last ? Operation::kReadResponseOnly : Operation::kReadResponseFirst)
                      : (last ? Operation::kReadResponseLast : Operation::kReadResponseMiddle);
    FillPayload(p, size);
    one.given += size;
  } else if (one.operation == Operation::kCompareSwap || one.operation == Operation::kFetchAdd) {
    operation = Operation::kAtomicAcknowledge;
    p.atomic_ack = source_.Word();
  }
  p.bth.opcode = roce::MakeOpcode(roce::Service::kRc, operation);
  if (p.info().headers & roce::kHasAeth) p.aeth = roce::Aeth{roce::kAckNoCredits, state_.msn};
  if (operation != Operation::kReadResponseFirst && operation != Operation::kReadResponseMiddle)
    state_.asked.pop_front();
  return p;
}

// Some of it lies behind what is in flight, or behind what can be.
std::set<uint32_t> Forger::Held() {
  static constexpr uint32_t kFar[] = {200, 255, 256, 511, 512, 1023, 3583, 3584, 4094, 4095, 4096};
  std::set<uint32_t> held;
  for (uint32_t ranges = source_.Below(5); ranges > 0; --ranges) {
    const uint32_t first = source_.OneIn(8) ? source_.Pick(kFar) : 1 + source_.Below(40);
    const uint32_t length = source_.OneIn(16) ? 1000 : 1 + source_.Below(12);
    for (uint32_t i = 0; i < length; ++i) held.insert(first + i);
  }
  return held;
}

roce::Packet Forger::Sack() {
  static constexpr roce::SackKind kKinds[] = {roce::SackKind::kHeld, roce::SackKind::kHeld,
                                              roce::SackKind::kHeld, roce::SackKind::kHello,
                                              roce::SackKind::kAnswer};
  static constexpr uint32_t kAhead[] = {3584, 3584, 512, 256, 16, 0, 4096, 0xffffff};
  const roce::SackKind kind = source_.Pick(kKinds);
  // What it names: what it misses of the device's requests; with a hello, and its answer, what was
  // done last.
  const uint32_t base = kind == roce::SackKind::kHello    ? roce::PsnAdd(state_.peer_psn, -1)
                        : kind == roce::SackKind::kAnswer ? roce::PsnAdd(state_.una_psn(), -1)
                                                          : state_.una_psn();
  const uint32_t psn = roce::PsnAdd(base, source_.Pick(kPsnSteps));
  const uint8_t flags = source_.Byte();
  roce::Packet p = roce::EncodeSack(psn, {.kind = kind,
                                          .ahead = source_.Pick(kAhead),
                                          .twice = source_.OneIn(4) ? source_.Word() : 0,
                                          .held = Held(),
                                          .tells = (flags & 1) != 0,
                                          .parts = (flags & 2) == 0});
  if (source_.OneIn(8) && !p.payload.empty())
    p.payload[source_.Byte() % p.payload.size()] = source_.Byte();
  if (source_.OneIn(8)) p.payload.resize(source_.Byte());
  if (source_.OneIn(8) && p.aeth) p.aeth->syndrome = Syndrome();
  return p;
}

roce::Packet Forger::AnyAnswer() {
  // The same byte says which answer it is, if it is none of these.
  const uint8_t choice = source_.Byte();
  if (choice >= 192) return Sack();
  roce::Packet p;
  p.bth.opcode = roce::MakeOpcode(roce::Service::kRc, kAnswers[choice % std::size(kAnswers)]);
  const uint32_t base = source_.OneIn(3) ? roce::PsnAdd(state_.nxt_psn, -1) : state_.una_psn();
  p.bth.psn = roce::PsnAdd(base, source_.Pick(kPsnSteps));
  FillHeaders(p);
  if (source_.OneIn(6)) ChangeBth(p);
  return p;
}

Forged Forger::Answer() {
  if (source_.OneIn(4) || state_.asked.empty()) return {AnyAnswer(), false};
  Forged forged = {NextAnswer(), true};
  if (source_.OneIn(4)) {
    Change(forged.packet);
    forged.right = false;
  }
  return forged;
}

void Forger::Spoil(net::Datagram& datagram) {
  constexpr size_t kBehindQpn = 8;  // it shall still reach the QP that it is meant for
  net::Bytes& bytes = datagram.payload;
  switch (source_.Below(4)) {
    case 0:
      bytes.resize(std::min<size_t>(bytes.size(), kBehindQpn + source_.Below(64)));
      break;
    case 1:
      bytes.resize(bytes.size() + source_.Below(64), 0x11);
      break;
    default:
      for (uint32_t count = 1 + source_.Below(4); count > 0 && bytes.size() > kBehindQpn; --count)
        bytes[kBehindQpn + source_.Byte() % std::min<size_t>(56, bytes.size() - kBehindQpn)] =
            source_.Byte();
  }
  roce::SealIcrc(datagram);
}

}  // namespace fuzz
