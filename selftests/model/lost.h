// SPDX-License-Identifier: GPL-2.0-only
// What a sender knows of holes at its peer, as lost.c has it for a QP.
#pragma once

#include <cstdint>

#include "board.h"
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
  // It is quiet, or the peer named the oldest one: it may have let go of that.
  void Missed();

  // Return: how many PSNs from `psn` on go again now, or 0.
  uint32_t Next(uint64_t now, uint32_t* psn);
  void Sent(uint64_t now, uint32_t psn);
  void SentNew() { board_.SentNew(1); }

  bool is_open() const { return board_.is_open(); }
  bool Has(uint32_t psn) const { return is_open() && srn_psns_has(&board_.score()->has, psn); }
  // Return: in how many ns to look at Next() again; UINT64_MAX: not by itself.
  uint64_t Due(uint64_t now) const { return board_.Due(now); }

 private:
  void NoteTwice(uint32_t twice);
  void NoteOut() { srn_window_set_out(&window_, board_.Out()); }

  srn_window& window_;
  srn_rtt& rtt_;
  srn_reorder reorder_ = {};
  Board board_{window_, rtt_, reorder_};
};

}  // namespace model
