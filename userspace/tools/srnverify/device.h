// SPDX-License-Identifier: GPL-2.0-only
// The device of an end.
#pragma once

#include <optional>
#include <string>

#include <verbs/context.h>

#include "features.h"

namespace srnverify {

// Which device, and which of its GIDs: by index, by address, or the first of an IP version.
struct Choice {
  std::string device;
  std::optional<int> gid_index;
  std::optional<std::string> address;
  verbs::Ip ip = verbs::Ip::kV4;
};

struct Device {
  std::string name;
  verbs::Context context;
  verbs::Port port;
  verbs::Pd pd;
  Features features;

  // Throws Fault.
  static Device Open(const Choice& choice);
};

}  // namespace srnverify
