// SPDX-License-Identifier: GPL-2.0-only
#include "aeth.h"

#include <array>
#include <cstdio>

namespace roce {
namespace {

// Table 46, in units of 10 microseconds.
constexpr std::array<uint32_t, 32> kRnrTens = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

// Table 44. Code 31 is "invalid": no end-to-end credits.
constexpr std::array<uint32_t, 31> kCredits = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

}  // namespace

std::chrono::microseconds RnrDelay(uint8_t timer) {
  return std::chrono::microseconds(kRnrTens[timer & 0x1f] * 10);
}

std::optional<uint32_t> Credits(uint8_t code) {
  if (code >= kCredits.size()) return std::nullopt;
  return kCredits[code];
}

uint8_t CreditCode(uint32_t credits) {
  uint8_t code = 0;
  while (code + 1u < kCredits.size() && kCredits[code + 1u] <= credits) ++code;
  return code;
}

std::string SyndromeName(uint8_t syndrome) {
  static constexpr const char* kNaks[] = {"sequence error", "invalid request",
                                          "remote access error", "remote operational error",
                                          "invalid RD request"};
  char text[48];
  const uint8_t low = syndrome & 0x1f;
  switch (KindOf(syndrome)) {
    case AethKind::kAck:
      std::snprintf(text, sizeof(text), "ACK credits %u", low);
      break;
    case AethKind::kRnrNak:
      std::snprintf(text, sizeof(text), "RNR NAK timer %u", low);
      break;
    case AethKind::kNak:
      std::snprintf(text, sizeof(text), "NAK %s", low < 5 ? kNaks[low] : "reserved");
      break;
    case AethKind::kReserved:
      std::snprintf(text, sizeof(text), "reserved syndrome 0x%02x", syndrome);
      break;
  }
  return text;
}

}  // namespace roce
