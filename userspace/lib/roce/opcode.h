// SPDX-License-Identifier: GPL-2.0-only
// What each BTH opcode means: IBTA volume 1, section 9.2 and annexes A14
// (XRC), A17 (RoCEv2) and A19 (atomic write, flush).
#pragma once

#include <cstdint>
#include <string>

namespace roce {

// The upper three bits of an opcode.
enum class Service : uint8_t { kRc = 0, kUc = 1, kRd = 2, kUd = 3, kCnp = 4, kXrc = 5, kSack = 6 };

// The lower five bits of an opcode.
enum class Operation : uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImm = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImm = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
  kAtomicAcknowledge = 0x12,
  kCompareSwap = 0x13,
  kFetchAdd = 0x14,
  kSendLastInvalidate = 0x16,
  kSendOnlyInvalidate = 0x17,
  kFlush = 0x1c,
  kAtomicWrite = 0x1d,
};

constexpr uint8_t MakeOpcode(Service service, Operation operation) {
  return static_cast<uint8_t>(static_cast<uint8_t>(service) << 5 | static_cast<uint8_t>(operation));
}

inline constexpr uint8_t kOpcodeCnp = 0x81;
// Of the manufacturers' space, and of srn: sack.h.
inline constexpr uint8_t kOpcodeSack = 0xc7;

// Headers that may stand between BTH and payload, as bits, in wire order.
enum Header : uint16_t {
  kHasRdeth = 1 << 0,
  kHasXrceth = 1 << 1,
  kHasDeth = 1 << 2,
  kHasFeth = 1 << 3,
  kHasReth = 1 << 4,
  kHasAtomicEth = 1 << 5,
  kHasAeth = 1 << 6,
  kHasAtomicAck = 1 << 7,
  kHasImm = 1 << 8,
  kHasIeth = 1 << 9,
};

enum class Position : uint8_t { kFirst, kMiddle, kLast, kOnly };

// How many payload bytes an opcode carries.
enum class PayloadRule : uint8_t {
  kNone,     // none
  kFull,     // exactly the path MTU
  kSome,     // 1 to the path MTU
  kAny,      // 0 to the path MTU
  kEight,    // 8 (atomic write)
  kSixteen,  // 16 reserved bytes (CNP)
};

struct OpcodeInfo {
  bool valid = false;
  Service service = Service::kRc;
  Operation operation = Operation::kSendFirst;
  uint16_t headers = 0;
  Position position = Position::kOnly;
  PayloadRule payload = PayloadRule::kNone;
  bool is_response = false;
};

// Facts about `opcode`; .valid is false for reserved and unknown ones.
const OpcodeInfo& GetOpcode(uint8_t opcode);

// "RC SEND_ONLY", or the number for an unknown opcode.
std::string OpcodeName(uint8_t opcode);

// Bytes of one header.
size_t HeaderSize(Header header);

// Bytes of the BTH and all headers in `headers`.
size_t HeadersSize(uint16_t headers);

// True if `length` payload bytes are lawful for the opcode at this path MTU.
bool PayloadFits(const OpcodeInfo& info, size_t length, size_t mtu);

}  // namespace roce
