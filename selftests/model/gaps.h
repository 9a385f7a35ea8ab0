// SPDX-License-Identifier: GPL-2.0-only
// What is missing of the answers to READs, as gaps.c has it for a QP.
#pragma once

#include <cstdint>

#include "board.h"
#include "rooms.h"

namespace model {

class Gaps {
 public:
  Gaps(srn_window& window, srn_rtt& rtt, srn_reorder& reorder)
      : window_(window), rtt_(rtt), reorder_(reorder), board_(window, rtt, reorder) {}

  void Reached(uint32_t psn, uint64_t now);
  void Came(uint32_t psn, uint64_t now);
  void Twice();
  void Acked(uint64_t now);
  void Drop();
  uint32_t Next(uint64_t now, uint32_t* psn);
  // Return: whether that is the oldest one, for the first time.
  bool Sent(uint64_t now, uint32_t psn, uint32_t len);
  void SentNew(uint32_t len) { board_.SentNew(len); }
  bool is_open() const { return board_.is_open(); }
  uint64_t Due(uint64_t now) const { return board_.Due(now); }

 private:
  srn_score* Get(uint32_t psn);
  void NoteOut() { srn_window_set_coming(&window_, board_.Out()); }

  srn_window& window_;
  srn_rtt& rtt_;
  srn_reorder& reorder_;
  Board board_;
};

}  // namespace model
