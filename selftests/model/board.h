// SPDX-License-Identifier: GPL-2.0-only
// What is the same for both scoreboards of a connection, as board.c has it for a QP: of what is
// missing, what goes again and when.
#pragma once

#include <cstdint>
#include <memory>

#include "rooms.h"

namespace model {

class Board {
 public:
  Board(srn_window& window, srn_rtt& rtt, srn_reorder& reorder)
      : window_(window), rtt_(rtt), reorder_(reorder) {}

  // Something is missing.
  bool is_open() const { return score_ != nullptr; }
  srn_score* score() const { return score_.get(); }
  srn_score_wait Wait() const;
  // Return: whether it is new.
  bool Begin();
  void Drop() { score_.reset(); }

  // Something was heard of.
  void NoteTook(uint64_t now);
  // The window's una has moved. Return: false if nothing is missing any more.
  bool Acked(uint64_t now);
  // Return: how many PSNs from `psn` on are to go again, or 0.
  uint32_t Pick(uint64_t now, uint32_t* psn);
  void Sent(uint64_t now, uint32_t psn, uint32_t len);
  void SentNew(uint32_t len) {
    if (score_) srn_score_used(score_.get(), len);
  }
  // PSNs that are on their way.
  uint32_t Out() const { return srn_score_out(score_.get(), window_.at.psn); }
  // Return: in how many ns to look again; UINT64_MAX: not by itself.
  uint64_t Due(uint64_t now) const;

 private:
  void Conclude(const srn_score_wait& wait, uint64_t now);

  srn_window& window_;
  srn_rtt& rtt_;
  srn_reorder& reorder_;
  std::unique_ptr<srn_score> score_;
};

}  // namespace model
