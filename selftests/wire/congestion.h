// SPDX-License-Identifier: GPL-2.0-only
// What the tests of congestion share.
#pragma once

#include <share/parameter.h>

#include "messages.h"

namespace wire {

// A congestion notification.
inline Packet Cnp() {
  Packet cnp = Request(Operation::kSendOnly, 0, Bytes(16, 0));
  cnp.bth.opcode = roce::kOpcodeCnp;
  cnp.bth.becn = true;
  cnp.bth.mig_req = false;
  cnp.bth.ack_req = false;
  return cnp;
}

// The module's parameter "cc", for connections that begin from now on.
inline bool SetCongestionControl(const char* mode) { return share::SetParameter("cc", mode); }

}  // namespace wire
