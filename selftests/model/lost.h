// SPDX-License-Identifier: GPL-2.0-only
// What a sender knows of holes at its peer, around the module's scoreboard, as board.c and lost.c
// do it for a QP.
#pragma once

#include <cstdint>
#include <memory>

#include "packets.h"
#include "rooms.h"

namespace model {

class Lost {
 public:
  Lost(srn_window& window, srn_rtt& rtt) : window_(window), rtt_(rtt) {}

  // Return: whether a SACK says anything new.
  bool Heard(const Answer& sack, uint64_t now);
  // The window's una has moved.
  void Acked(uint64_t now);
  void Drop();

  // Return: how many PSNs from `psn` on go again now, or 0.
  uint32_t Next(uint64_t now, uint32_t* psn);
  void Sent(uint64_t now, uint32_t psn);
  void SentNew() {
    if (score_) srn_score_used(score_.get(), 1);
  }

  bool is_open() const { return score_ != nullptr; }
  bool Has(uint32_t psn) const { return score_ && srn_psns_has(&score_->has, psn); }
  // Return: in how many ns to look at Next() again; UINT64_MAX: not by itself.
  uint64_t Due(uint64_t now) const;

 private:
  srn_score_wait Wait() const;
  void NoteTwice(uint32_t twice);
  void NoteTook(uint64_t now);
  void Conclude(const srn_score_wait& wait, uint64_t now);
  void NoteOut() { srn_window_set_out(&window_, srn_score_out(score_.get(), window_.at.psn)); }

  srn_window& window_;
  srn_rtt& rtt_;
  srn_reorder reorder_ = {};
  std::unique_ptr<srn_score> score_;
};

}  // namespace model
