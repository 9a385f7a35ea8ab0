// SPDX-License-Identifier: GPL-2.0-only
#include "netns.h"

#include "command.h"

namespace net {

result::Result<Netns> Netns::Create(const std::string& name) {
  result::Status made = Run({"ip", "netns", "add", name});
  if (!made) return made.failure();
  Netns ns(name);
  // lo is down in a fresh namespace; what binds to local addresses needs it up.
  result::Status up = Run({"ip", "-n", name, "link", "set", "lo", "up"});
  if (!up) return up.failure();
  return ns;
}

Netns::~Netns() {
  if (!name_.empty()) (void)Run({"ip", "netns", "del", name_});
}

}  // namespace net
