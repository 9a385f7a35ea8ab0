// SPDX-License-Identifier: GPL-2.0-only
#include "packets_seeds.h"

#include <initializer_list>

namespace fuzz {
namespace {

// First byte of a piece: what is done (Packets::Step).
constexpr uint8_t kRequest = 0, kAnswer = 6, kPostSend = 10, kPostRecv = 12, kListen = 14;
// A request that is the right next one (Forger::Request, NextRequest), and one of those sent.
constexpr uint8_t kRight = 0, kNew = 0, kAgain = 7;
// What a message begins with (kBegins), and its length: the first of the table.
constexpr uint8_t kSendOnly = 0, kWriteFirst = 1, kRead = 7, kFetchAdd = 9, kInvalidate = 11;

using Piece = std::initializer_list<uint8_t>;

// The head says RC, an MTU of 256, all rights; its last choice is for no receives.
Input Seed(bool receives, std::initializer_list<Piece> pieces) {
  Input input(kPacketsPiece);
  input[12] = receives ? 0 : 3;
  for (const Piece& piece : pieces) {
    const size_t at = input.size();
    input.resize(at + kPacketsPiece);
    std::copy(piece.begin(), piece.end(), input.begin() + static_cast<ptrdiff_t>(at));
  }
  return input;
}

}  // namespace

std::vector<Input> PacketsSeeds() {
  return {
      // The device READs 4096 bytes, sixteen packets answer it.
      Seed(true, {{kPostSend, 4, 6},
                  {kListen},
                  {kAnswer, 3},
                  {kAnswer, 3},
                  {kAnswer, 3},
                  {kAnswer, 3},
                  {kListen}}),
      // The peer READs three packets, and the same again.
      Seed(true, {{kRequest, 0, kRight, kNew, 0, kRead, 0, 1},
                  {kListen},
                  {kRequest, 0, kRight, kAgain, 0},
                  {kListen}}),
      // There is no receive, then there is one.
      Seed(false, {{kRequest, 0, kRight, kNew, 0, kSendOnly},
                   {kListen},
                   {kPostRecv},
                   {kRequest, 0, kRight},
                   {kListen}}),
      // A WRITE of three packets.
      Seed(true, {{kRequest, 0, kRight, kNew, 0, kWriteFirst},
                  {kRequest, 0, kRight, kNew, 0},
                  {kRequest, 0, kRight, kNew, 0},
                  {kListen}}),
      // An atomic, and its duplicate.
      Seed(true, {{kRequest, 0, kRight, kNew, 0, kFetchAdd},
                  {kListen},
                  {kRequest, 0, kRight, kAgain, 0},
                  {kListen}}),
      // A SEND takes the window from under the peer.
      Seed(true, {{kListen}, {kRequest, 0, kRight, kNew, 0, kInvalidate}, {kListen}}),
  };
}

}  // namespace fuzz
