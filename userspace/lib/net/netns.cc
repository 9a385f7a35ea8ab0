// SPDX-License-Identifier: GPL-2.0-only
#include "netns.h"

#include <fcntl.h>
#include <sched.h>

#include <cstdlib>

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

result::Result<NetnsScope> NetnsScope::Enter(const std::string& name) {
  UniqueFd home(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!home) return result::FromErrno("open own netns");
  UniqueFd target(::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!target) return result::FromErrno("open netns " + name);
  if (::setns(target.get(), CLONE_NEWNET) != 0) return result::FromErrno("setns " + name);
  return NetnsScope(std::move(home));
}

NetnsScope::~NetnsScope() {
  // Going on in the wrong namespace would make every later result a lie.
  if (home_ && ::setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
}

}  // namespace net
