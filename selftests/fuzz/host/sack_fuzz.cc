// SPDX-License-Identifier: GPL-2.0-only
// SACK packets of any bytes, read by the module and by the wire library, which must understand the
// same; and what follows from them for a sender: the scoreboard, held to a plain one.
#include <fuzz/source.h>

#include <algorithm>
#include <vector>

#include <roce/sack.h>

#include "board.h"
#include "require.h"

extern "C" {
#include "reader.h"
}

namespace {

using fuzz::Board;
using fuzz::Source;

// Mostly a SACK as it should be, in front of any map; but for the ICRC, which is none.
std::vector<uint8_t> Packet(Source& source) {
  const roce::Packet good = roce::EncodeSack(0, {.ahead = source.Word() & 0xffffff,
                                                 .twice = source.Byte(),
                                                 .tells = source.OneIn(2),
                                                 .parts = source.OneIn(2)});
  std::vector<uint8_t> bytes(SACK_HEADERS);
  bytes[0] = roce::kOpcodeSack;
  bytes.insert(bytes.end(), good.payload.begin(), good.payload.end());
  if (source.OneIn(8)) bytes[SACK_HEADERS + source.Below(12)] = source.Byte();
  // Words of it: most are all ones or all zeros.
  const uint32_t words = source.OneIn(8) ? 248 + source.Below(20) : source.Below(12);
  for (uint32_t i = 0; i < words; ++i) {
    const uint8_t how = source.Byte();
    for (int byte = 0; byte < 4; ++byte)
      bytes.push_back(how < 64 ? 0 : how < 128 ? 0xff : source.Byte());
  }
  if (source.OneIn(8)) bytes.resize(SACK_HEADERS + source.Byte() % (bytes.size() - SACK_HEADERS));
  return bytes;
}

// What the wire library knows of it; bits behind what the module has room for are nothing to it.
void Compare(const std::vector<uint8_t>& bytes, bool ours, const srn_sack& sack,
             const srn_sack_map& map) {
  roce::Packet packet;
  packet.bth.opcode = roce::kOpcodeSack;
  packet.payload.assign(bytes.begin() + SACK_HEADERS, bytes.end());
  packet.payload.resize(packet.payload.size() & ~size_t{3});  // what fills no word is not looked at
  const auto read = roce::DecodeSack(packet);
  Require(ours == read.has_value(), "one of them takes it for a SACK");
  if (!ours) return;
  Require(sack.kind == static_cast<uint8_t>(read->kind) && sack.ahead == read->ahead &&
              sack.twice == read->twice && sack.tells == read->tells && sack.parts == read->parts,
          "the fields are read otherwise");
  Require(map.num <= SRN_PSNS && map.num % 32 == 0, "no such map");
  uint32_t held = 0;
  for (uint32_t i = 0; i < map.num; ++i) held += test_bit(i, map.bits);
  const auto end = read->held.upper_bound(map.num);
  Require(held == static_cast<uint32_t>(std::distance(read->held.begin(), end)),
          "the map is read otherwise");
  for (auto at = read->held.begin(); at != end; ++at)
    Require(test_bit(*at - 1, map.bits), "another bit is set");
}

// As srn_lost_heard() does it.
void Hear(Board& board, uint64_t expected, const srn_sack_map& map) {
  const int64_t left = static_cast<int64_t>(board.nxt() - expected) - 1;
  const auto num = static_cast<uint32_t>(std::clamp<int64_t>(left, 0, map.num));
  if (board.una() == board.nxt() || expected >= board.nxt() || bitmap_empty(map.bits, num)) return;
  board.Heard(expected, map.bits, num);
}

void Sack(Source& source, Board& board) {
  const uint64_t expected = board.una() + (source.OneIn(4) ? source.Byte() : 0);
  std::vector<uint8_t> bytes = Packet(source);
  const std::vector<uint8_t> proven = bytes;
  bytes.insert(bytes.end(), SACK_ICRC, 0x53);
  const size_t linear = std::min<size_t>(bytes.size(), 12 + source.Byte());
  srn_sack sack;
  srn_sack_map map;
  const bool ours = read_sack(bytes.data(), bytes.size(), linear, &sack, &map);
  Compare(proven, ours, sack, map);
  if (ours) Hear(board, expected, map);
}

uint64_t PlaceInFlight(Source& source, const Board& board) {
  const uint64_t flight = board.nxt() - board.una();
  return board.una() + (source.OneIn(4) ? source.Take<uint16_t>() : source.Below(40)) % flight;
}

// Once, or as often as what is lost may go; mostly with room for it.
void Resend(Source& source, Board& board) {
  const uint8_t how = source.Byte();
  const uint32_t most = how & 1 ? 1 + source.Byte() : 1;
  for (uint32_t times = how & 8 ? SRN_SCORE_TRIES + 2 : 1; times > 0; --times) {
    board.SendAgain(most, (how & 3) != 3, how & 4, how >= 240);
    board.Wait(how >> 4 & 1);  // each is a try of its own, or goes in a row with the last one
  }
}

void Step(Source& source, Board& board) {
  static constexpr uint32_t kNew[] = {1, 2, 16, 64, 256, 1000, 4000};
  const uint32_t act = source.Below(12);
  if (board.una() == board.nxt() || act == 0) return board.SendNew(source.Pick(kNew));
  switch (act) {
    case 1:
    case 2:
      return board.Wait(uint64_t{1} << source.Below(24));
    case 3:
      return board.Acked(PlaceInFlight(source, board) + 1);
    case 4:
      return board.Came(PlaceInFlight(source, board));
    case 5:
      return board.Reached(PlaceInFlight(source, board) + 1);
    case 6:
    case 7:
    case 8:
      return Resend(source, board);
    default:
      return Sack(source, board);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static constexpr uint32_t kPsns[] = {0, 0xfffffe, 0xfff000, 0x7fffff, 4095, 63};
  static constexpr uint64_t kWaits[] = {0, 0, 1000, 25'000, 1'000'000};
  Source source({data, size});
  const uint32_t psn = source.Pick(kPsns);
  const uint64_t reorder = source.Pick(kWaits);
  Board board(psn, {reorder, 1000 + source.Pick(kWaits), source.Pick(kWaits) / 2});
  const uint64_t pause = source.Pick(kWaits);  // between two steps
  while (!source.empty()) {
    board.Wait(pause);
    Step(source, board);
    board.Check();
  }
  return 0;
}
