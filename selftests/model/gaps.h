// SPDX-License-Identifier: GPL-2.0-only
// What is missing of the answers to READs, around the module's scoreboard, as board.c and gaps.c do
// it for a QP.
#pragma once

#include <cstdint>
#include <memory>

#include "rooms.h"

namespace model {

class Gaps {
 public:
  Gaps(srn_window& window, srn_rtt& rtt, srn_reorder& reorder)
      : window_(window), rtt_(rtt), reorder_(reorder) {}

  void Reached(uint32_t psn, uint64_t now);
  void Came(uint32_t psn, uint64_t now);
  void Twice();
  void Acked(uint64_t now);
  void Drop();
  uint32_t Next(uint64_t now, uint32_t* psn);
  // Return: whether that is the oldest one, for the first time.
  bool Sent(uint64_t now, uint32_t psn, uint32_t len);
  void SentNew(uint32_t len) {
    if (score_) srn_score_used(score_.get(), len);
  }
  bool is_open() const { return score_ != nullptr; }
  uint64_t Due(uint64_t now) const;

 private:
  void NoteTook(uint64_t now);
  srn_score* Get(uint32_t psn);
  srn_score_wait Wait() const;
  void NoteOut() { srn_window_set_coming(&window_, srn_score_out(score_.get(), window_.at.psn)); }

  srn_window& window_;
  srn_rtt& rtt_;
  srn_reorder& reorder_;
  std::unique_ptr<srn_score> score_;
};

}  // namespace model
