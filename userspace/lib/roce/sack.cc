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

// The first two words of all of them.
struct Words {
  uint32_t what = 0;
  uint32_t ahead = 0;
};

Words WordsOf(const Sack& sack) {
  return {kSackMagic << 16 | kSackVersion << 8 | static_cast<uint32_t>(sack.kind),
          sack.ahead | (sack.tells ? kTells : 0) | (sack.parts ? kParts : 0)};
}

std::optional<Sack> SackOf(const Words& words, uint32_t twice) {
  if (words.what >> 8 != (kSackMagic << 8 | kSackVersion)) return std::nullopt;
  return Sack{static_cast<SackKind>(words.what & 0xff),
              words.ahead & kPsns,
              twice,
              {},
              (words.ahead & kTells) != 0,
              (words.ahead & kParts) != 0};
}

Packet EncodeHello(uint32_t psn, const Sack& sack) {
  const Words words = WordsOf(sack);
  Packet packet;
  packet.bth.opcode = static_cast<uint8_t>(Operation::kWriteOnly);
  packet.bth.psn = psn;
  packet.reth = Reth{uint64_t{words.ahead} << 32, words.what, 0};
  return packet;
}

std::optional<Sack> DecodeHello(const Packet& packet) {
  const Reth& reth = *packet.reth;
  if (reth.length != 0 || !packet.payload.empty()) return std::nullopt;
  const std::optional<Sack> sack = SackOf({reth.rkey, static_cast<uint32_t>(reth.va >> 32)}, 0);
  if (!sack || sack->kind != SackKind::kHello) return std::nullopt;
  return sack;
}

}  // namespace

Packet EncodeSack(uint32_t psn, const Sack& sack) {
  if (sack.kind == SackKind::kHello) return EncodeHello(psn, sack);
  const Words words = WordsOf(sack);
  Packet packet;
  packet.bth.opcode = kOpcodeSack;
  packet.bth.psn = psn;
  packet.aeth = Aeth{sack.kind == SackKind::kHeld ? kNakSequence : kAnswerSyndrome, 0};
  PutWord(packet.payload, words.what);
  PutWord(packet.payload, words.ahead);
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
  if (packet.bth.opcode == static_cast<uint8_t>(Operation::kWriteOnly) && packet.reth)
    return DecodeHello(packet);
  const Bytes& bytes = packet.payload;
  if (packet.bth.opcode != kOpcodeSack || bytes.size() < kFields || bytes.size() % 4 != 0)
    return std::nullopt;
  std::optional<Sack> sack = SackOf({GetWord(bytes, 0), GetWord(bytes, 4)}, GetWord(bytes, 8));
  if (!sack || sack->kind == SackKind::kHello) return std::nullopt;
  for (size_t at = kFields; at < bytes.size(); at += 4)
    for (uint32_t bit = 0; bit < 32; ++bit)
      if (GetWord(bytes, at) >> bit & 1)
        sack->held.insert(static_cast<uint32_t>(at - kFields) * 8 + bit + 1);
  return sack;
}

}  // namespace roce
