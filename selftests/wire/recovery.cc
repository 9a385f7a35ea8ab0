// SPDX-License-Identifier: GPL-2.0-only
#include "recovery.h"

#include <share/parameter.h>

namespace wire {

bool SetRecovery(const std::string& mode) {
  if (Wire::Get().config().lax) return true;
  return share::SetParameter("recovery", mode);
}

}  // namespace wire
