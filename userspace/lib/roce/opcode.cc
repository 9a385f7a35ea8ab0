// SPDX-License-Identifier: GPL-2.0-only
#include "opcode.h"

#include <array>
#include <cstdio>

namespace roce {
namespace {

using enum Operation;

// One row per operation, as RC has it. The other services are derived below.
struct Row {
  Operation operation;
  const char* name;
  uint16_t headers;
  Position position;
  PayloadRule payload;
  bool is_response;
};

constexpr Row kRows[] = {
    {kSendFirst, "SEND_FIRST", 0, Position::kFirst, PayloadRule::kFull, false},
    {kSendMiddle, "SEND_MIDDLE", 0, Position::kMiddle, PayloadRule::kFull, false},
    {kSendLast, "SEND_LAST", 0, Position::kLast, PayloadRule::kSome, false},
    {kSendLastImm, "SEND_LAST_IMM", kHasImm, Position::kLast, PayloadRule::kSome, false},
    {kSendOnly, "SEND_ONLY", 0, Position::kOnly, PayloadRule::kAny, false},
    {kSendOnlyImm, "SEND_ONLY_IMM", kHasImm, Position::kOnly, PayloadRule::kAny, false},
    {kWriteFirst, "WRITE_FIRST", kHasReth, Position::kFirst, PayloadRule::kFull, false},
    {kWriteMiddle, "WRITE_MIDDLE", 0, Position::kMiddle, PayloadRule::kFull, false},
    {kWriteLast, "WRITE_LAST", 0, Position::kLast, PayloadRule::kSome, false},
    {kWriteLastImm, "WRITE_LAST_IMM", kHasImm, Position::kLast, PayloadRule::kSome, false},
    {kWriteOnly, "WRITE_ONLY", kHasReth, Position::kOnly, PayloadRule::kAny, false},
    {kWriteOnlyImm, "WRITE_ONLY_IMM", kHasReth | kHasImm, Position::kOnly, PayloadRule::kAny,
     false},
    {kReadRequest, "READ_REQUEST", kHasReth, Position::kOnly, PayloadRule::kNone, false},
    {kReadResponseFirst, "READ_RESPONSE_FIRST", kHasAeth, Position::kFirst, PayloadRule::kFull,
     true},
    {kReadResponseMiddle, "READ_RESPONSE_MIDDLE", 0, Position::kMiddle, PayloadRule::kFull, true},
    {kReadResponseLast, "READ_RESPONSE_LAST", kHasAeth, Position::kLast, PayloadRule::kSome, true},
    {kReadResponseOnly, "READ_RESPONSE_ONLY", kHasAeth, Position::kOnly, PayloadRule::kAny, true},
    {kAcknowledge, "ACKNOWLEDGE", kHasAeth, Position::kOnly, PayloadRule::kNone, true},
    {kAtomicAcknowledge, "ATOMIC_ACKNOWLEDGE", kHasAeth | kHasAtomicAck, Position::kOnly,
     PayloadRule::kNone, true},
    {kCompareSwap, "COMPARE_SWAP", kHasAtomicEth, Position::kOnly, PayloadRule::kNone, false},
    {kFetchAdd, "FETCH_ADD", kHasAtomicEth, Position::kOnly, PayloadRule::kNone, false},
    {kSendLastInvalidate, "SEND_LAST_INVALIDATE", kHasIeth, Position::kLast, PayloadRule::kSome,
     false},
    {kSendOnlyInvalidate, "SEND_ONLY_INVALIDATE", kHasIeth, Position::kOnly, PayloadRule::kAny,
     false},
    {kFlush, "FLUSH", kHasFeth | kHasReth, Position::kOnly, PayloadRule::kNone, false},
    {kAtomicWrite, "ATOMIC_WRITE", kHasReth, Position::kOnly, PayloadRule::kEight, false},
};

constexpr bool Carries(Service service, Operation operation) {
  switch (service) {
    case Service::kRc:
      return true;
    case Service::kUc:
      return operation <= kWriteOnlyImm;
    case Service::kRd:
      return operation <= kFetchAdd;
    case Service::kUd:
      return operation == kSendOnly || operation == kSendOnlyImm;
    case Service::kXrc:
      return operation <= kSendOnlyInvalidate;
    case Service::kCnp:
    case Service::kSack:
      return false;
  }
  return false;
}

constexpr uint16_t ServiceHeaders(Service service, bool is_response) {
  switch (service) {
    case Service::kRd:
      return is_response ? kHasRdeth : kHasRdeth | kHasDeth;
    case Service::kUd:
      return kHasDeth;
    case Service::kXrc:
      return is_response ? 0 : kHasXrceth;
    default:
      return 0;
  }
}

constexpr std::array<OpcodeInfo, 256> MakeTable() {
  std::array<OpcodeInfo, 256> table{};
  for (const Service service :
       {Service::kRc, Service::kUc, Service::kRd, Service::kUd, Service::kXrc}) {
    for (const Row& row : kRows) {
      if (!Carries(service, row.operation)) continue;
      OpcodeInfo& info = table[MakeOpcode(service, row.operation)];
      info = {true,
              service,
              row.operation,
              static_cast<uint16_t>(row.headers | ServiceHeaders(service, row.is_response)),
              row.position,
              row.payload,
              row.is_response};
    }
  }
  table[kOpcodeCnp] = {true, Service::kCnp,   Operation::kSendMiddle,
                       0,    Position::kOnly, PayloadRule::kSixteen,
                       false};
  table[kOpcodeSack] = {true,     Service::kSack,  Operation::kSendMiddle,
                        kHasAeth, Position::kOnly, PayloadRule::kAny,
                        true};
  return table;
}

constexpr std::array<OpcodeInfo, 256> kTable = MakeTable();

const char* ServiceName(Service service) {
  static constexpr const char* kNames[] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "SACK"};
  return kNames[static_cast<size_t>(service)];
}

}  // namespace

const OpcodeInfo& GetOpcode(uint8_t opcode) { return kTable[opcode]; }

std::string OpcodeName(uint8_t opcode) {
  const OpcodeInfo& info = kTable[opcode];
  if (opcode == kOpcodeCnp) return "CNP";
  if (opcode == kOpcodeSack) return "SACK";
  if (info.valid) {
    for (const Row& row : kRows)
      if (row.operation == info.operation)
        return std::string(ServiceName(info.service)) + " " + row.name;
  }
  char text[16];
  std::snprintf(text, sizeof(text), "opcode 0x%02x", opcode);
  return text;
}

size_t HeaderSize(Header header) {
  switch (header) {
    case kHasDeth:
    case kHasAtomicAck:
      return 8;
    case kHasReth:
      return 16;
    case kHasAtomicEth:
      return 28;
    case kHasRdeth:
    case kHasXrceth:
    case kHasFeth:
    case kHasAeth:
    case kHasImm:
    case kHasIeth:
      return 4;
  }
  return 0;
}

size_t HeadersSize(uint16_t headers) {
  size_t size = 12;
  for (uint16_t bit = kHasRdeth; bit <= kHasIeth; bit = static_cast<uint16_t>(bit << 1))
    if (headers & bit) size += HeaderSize(static_cast<Header>(bit));
  return size;
}

bool PayloadFits(const OpcodeInfo& info, size_t length, size_t mtu) {
  switch (info.payload) {
    case PayloadRule::kNone:
      return length == 0;
    case PayloadRule::kFull:
      return length == mtu;
    case PayloadRule::kSome:
      return length >= 1 && length <= mtu;
    case PayloadRule::kAny:
      return length <= mtu;
    case PayloadRule::kEight:
      return length == 8;
    case PayloadRule::kSixteen:
      return length == 16;
  }
  return false;
}

}  // namespace roce
