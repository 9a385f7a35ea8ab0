// SPDX-License-Identifier: GPL-2.0-only
#include "recovery.h"

#include <fstream>

namespace wire {

bool SetRecovery(const std::string& mode) {
  if (Wire::Get().config().lax) return true;
  std::ofstream file("/sys/module/srn/parameters/recovery");
  file << mode << std::flush;
  return file.good();
}

}  // namespace wire
