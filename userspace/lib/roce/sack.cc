// SPDX-License-Identifier: GPL-2.0-only
#include "sack.h"

#include "aeth.h"

namespace roce {
namespace {

constexpr size_t kFields = 12;
constexpr uint32_t kTells = 0x80000000;
constexpr uint32_t kParts = 0x40000000;
constexpr uint32_t kPsns = 0xffffff;

void PutWord(Bytes& bytes, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
}

uint32_t GetWord(const Bytes& bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | bytes[at + i];
  return word;
}

}  // namespace

Packet EncodeSack(uint32_t psn, const Sack& sack) {
  Packet packet;
  packet.bth.opcode = kOpcodeSack;
  packet.bth.psn = psn;
  packet.aeth = Aeth{sack.kind == SackKind::kHeld ? kNakSequence : kHelloSyndrome, 0};
  PutWord(packet.payload, kSackMagic << 16 | kSackVersion << 8 | static_cast<uint32_t>(sack.kind));
  PutWord(packet.payload, sack.ahead | (sack.tells ? kTells : 0) | (sack.parts ? kParts : 0));
  PutWord(packet.payload, sack.twice);
  const uint32_t highest = sack.held.empty() ? 0 : *sack.held.rbegin();
  for (uint32_t first = 1; first <= highest; first += 32) {
    uint32_t word = 0;
    for (uint32_t bit = 0; bit < 32; ++bit)
      if (sack.held.contains(first + bit)) word |= uint32_t{1} << bit;
    PutWord(packet.payload, word);
  }
  return packet;
}

std::optional<Sack> DecodeSack(const Packet& packet) {
  const Bytes& bytes = packet.payload;
  if (packet.bth.opcode != kOpcodeSack || bytes.size() < kFields || bytes.size() % 4 != 0)
    return std::nullopt;
  const uint32_t what = GetWord(bytes, 0);
  if (what >> 8 != (kSackMagic << 8 | kSackVersion)) return std::nullopt;
  const uint32_t ahead = GetWord(bytes, 4);
  Sack sack{static_cast<SackKind>(what & 0xff),
            ahead & kPsns,
            GetWord(bytes, 8),
            {},
            (ahead & kTells) != 0,
            (ahead & kParts) != 0};
  for (size_t at = kFields; at < bytes.size(); at += 4)
    for (uint32_t bit = 0; bit < 32; ++bit)
      if (GetWord(bytes, at) >> bit & 1)
        sack.held.insert(static_cast<uint32_t>(at - kFields) * 8 + bit + 1);
  return sack;
}

}  // namespace roce
