// SPDX-License-Identifier: GPL-2.0-only
// RoCE packets out of an input: most of each is what a peer would send next, something of it is
// not.
#pragma once

#include <set>

#include <roce/packet.h>

#include "memory.h"
#include "peer_state.h"
#include "source.h"

namespace fuzz {

// A packet, and whether it is just what the protocol would have come next.
struct Forged {
  roce::Packet packet;
  bool right = false;
};

class Forger {
 public:
  Forger(Source& source, PeerState& state, const GuardedMemory& memory)
      : source_(source), state_(state), memory_(memory) {}

  // A request. Three of four go on with the message under way, or begin one, some of them with a
  // field changed; one is any.
  Forged Request();
  // An answer, three of four to what the device has asked.
  Forged Answer();
  // Changes bytes or the length of the datagram behind its BTH, and seals it again.
  void Spoil(net::Datagram& datagram);

 private:
  roce::Packet AnyRequest();
  roce::Packet NextRequest();
  roce::Packet Begin();
  roce::Packet GoOn();
  roce::Packet AnyAnswer();
  // What two devices of this kind say to each other: a SACK of some ranges of what is in flight, or
  // of what is not; a hello, or the answer to one.
  roce::Packet Sack();
  std::set<uint32_t> Held();
  roce::Packet NextAnswer();
  void SetOperation(roce::Packet& packet, roce::Operation operation) const;
  uint32_t PayloadLength();
  uint8_t Syndrome();
  roce::Reth Reth();
  roce::Reth RightReth(uint32_t length);
  verbs::Remote Window();
  uint32_t InvalidateKey();
  void FillHeaders(roce::Packet& packet);
  // One field is another.
  void Change(roce::Packet& packet);
  void ChangeBth(roce::Packet& packet);

  Source& source_;
  PeerState& state_;
  const GuardedMemory& memory_;
};

}  // namespace fuzz
