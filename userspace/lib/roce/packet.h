// SPDX-License-Identifier: GPL-2.0-only
// One RoCEv2 packet as a struct: BTH, the extension headers it has, payload.
// Encode() writes what the struct says, lawful or not; Decode() takes only
// what is lawful and names the first thing that is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <net/datagram.h>

#include "opcode.h"

namespace roce {

using Bytes = std::vector<uint8_t>;

inline constexpr uint16_t kUdpPort = 4791;
inline constexpr uint16_t kDefaultPkey = 0xffff;
inline constexpr uint32_t kGsiQkey = 0x80010000;

struct Bth {
  uint8_t opcode = 0;
  bool solicited = false;
  bool mig_req = true;
  std::optional<uint8_t> pad = std::nullopt;  // Encode(): nullopt pads the payload to four bytes
  uint8_t tver = 0;
  uint16_t pkey = kDefaultPkey;
  bool fecn = false, becn = false;
  uint8_t reserved6 = 0;
  uint32_t dqpn = 0;
  bool ack_req = false;
  uint8_t reserved7 = 0;
  uint32_t psn = 0;
};

struct Rdeth {
  uint32_t ee_context = 0;
};
struct Xrceth {
  uint32_t srqn = 0;
};
struct Deth {
  uint32_t qkey = 0;
  uint32_t sqpn = 0;
};
struct Feth {
  uint8_t selectivity = 0;  // 0 range, 1 whole region
  uint8_t placement = 0;    // bit 0 global visibility, bit 1 persistence
};
struct Reth {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint32_t length = 0;
};
struct AtomicEth {
  uint64_t va = 0;
  uint32_t rkey = 0;
  uint64_t swap_or_add = 0;
  uint64_t compare = 0;
};
struct Aeth {
  uint8_t syndrome = 0;
  uint32_t msn = 0;
};

struct Packet {
  Bth bth;
  std::optional<Rdeth> rdeth;
  std::optional<Xrceth> xrceth;
  std::optional<Deth> deth;
  std::optional<Feth> feth;
  std::optional<Reth> reth;
  std::optional<AtomicEth> atomic;
  std::optional<Aeth> aeth;
  std::optional<uint64_t> atomic_ack;  // the value before the atomic
  std::optional<uint32_t> imm;
  std::optional<uint32_t> invalidate_rkey;  // IETH
  Bytes payload;

  const OpcodeInfo& info() const { return GetOpcode(bth.opcode); }
  // For people: opcode, PSN, QPN and what else there is.
  std::string ToString() const;
};

enum class Fault {
  kNone,
  kShort,         // shorter than BTH and ICRC
  kOpcode,        // reserved or unknown opcode
  kShortHeaders,  // shorter than the headers the opcode names
  kPad,           // more pad than payload, or the sum is not a multiple of four
  kIcrc,
};

const char* FaultName(Fault fault);

// BTH to the last pad byte, without the ICRC.
Bytes EncodeTransport(const Packet& packet);

// Sets `datagram`'s payload to the packet and its ICRC, which covers the
// datagram's addresses and ports as well: set those first.
void Encode(const Packet& packet, net::Datagram& datagram);

// Recomputes the ICRC in the last four bytes of the payload.
void SealIcrc(net::Datagram& datagram);

struct Decoded {
  Packet packet;
  Fault fault = Fault::kNone;
  // Pad bytes are meant to be zero; nobody has to check.
  bool pad_is_zero = true;
};

Decoded Decode(const net::Datagram& datagram);

}  // namespace roce
