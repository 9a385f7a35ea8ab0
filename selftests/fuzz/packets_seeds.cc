// SPDX-License-Identifier: GPL-2.0-only
#include "packets_seeds.h"

#include <initializer_list>

namespace fuzz {
namespace {

// First byte of a piece: what is done (Packets::Step).
constexpr uint8_t kRequest = 0, kAnswer = 6, kPostSend = 10, kPostRecv = 12, kListen = 14;
// A request that is the right next one (Forger::Request, NextRequest), and one of those sent.
constexpr uint8_t kRight = 0, kNew = 0, kAgain = 7;
// Something of it is another (Forger::Request, Change): its PSN is one later, or two.
constexpr uint8_t kWrong = 3, kPsn = 0, kOne = 0, kTwo = 2;
// Any answer (Forger::Answer, AnyAnswer): a SACK, and what it says (Forger::Sack).
constexpr uint8_t kAny = 3, kSack = 0xff, kHeld = 0, kHello = 3, kIntroduced = 4;
// What a message begins with (kBegins), and its length: the first of the table.
constexpr uint8_t kSendOnly = 0, kWriteFirst = 1, kWriteOnly = 2, kRead = 7, kFetchAdd = 9,
                  kInvalidate = 11;

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

// The same of a connection that repairs loss by SACKs.
Input SackSeed(std::initializer_list<Piece> pieces) {
  Input input = Seed(true, pieces);
  input[kPacketsPiece - 1] = 1;
  return input;
}

}  // namespace

std::vector<Input> PacketsSeeds() {
  return {
      // The device WRITEs 9000 bytes; the peer says who it is, then what it has: all but two runs,
      // then all but one.
      SackSeed({{kPostSend, 2, 7},
                {kListen},
                {kAnswer, 0, kAny, kSack, kIntroduced},
                {kAnswer, 0, kAny, kSack, kHeld, 0, 0, 0, 0, 2, 0, 1, 0, 3, 0, 8, 0, 5},
                {kListen},
                {kAnswer, 0, kAny, kSack, kHeld, 0, 0, 0, 0, 1, 0, 1, 0, 11},
                {kListen},
                {kAnswer, 3},
                {kListen}}),
      // The device READs, and hears of what it has not asked for.
      SackSeed({{kPostSend, 4, 7},
                {kPostSend, 2, 6},
                {kListen},
                {kAnswer, 0, kAny, kSack, kHeld, 0, 0, 0, 0, 1, 0, 20, 0, 3},
                {kAnswer, 3},
                {kAnswer, 0, kAny, kSack, kHeld, 0, 0, 0, 0, 1, 7, 7, 0, 11},
                {kListen}}),
      // The peer says who it is, and leaves a gap in front of its WRITEs.
      SackSeed({{kAnswer, 0, kAny, kSack, kHello},
                {kRequest, 0, kRight, kNew, 0, kWriteOnly, 0, 0, 0, 0, 0, kWrong, kPsn, kOne},
                {kRequest, 0, kRight, kNew, 0, kWriteOnly, 0, 0, 0, 0, 0, kWrong, kPsn, kTwo},
                {kListen},
                {kRequest, 2, kRight, kNew, 0, kWriteOnly},
                {kListen}}),
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
