// SPDX-License-Identifier: GPL-2.0-only
// Whether what a peer reads is what is there. It can be told while all that the peer sent was
// right, and nothing has written since it asked.
#pragma once

#include <deque>

#include "forge.h"

namespace fuzz {

class ReadCheck {
 public:
  explicit ReadCheck(const GuardedMemory& memory) : memory_(memory) {}

  // A new connection.
  void Reset();
  // The peer sent this.
  void Sent(const Forged& forged);
  // The device sent this; throws Broken if it is a READ's response with other bytes.
  void Heard(const roce::Packet& packet, uint32_t mtu) const;

 private:
  struct Read {
    uint32_t psn;
    roce::Reth reth;
    size_t writes;
  };

  const GuardedMemory& memory_;
  bool strict_ = true;  // the peer has sent nothing that was not right
  size_t writes_ = 0;   // packets that may have written
  std::deque<Read> reads_;
};

}  // namespace fuzz
