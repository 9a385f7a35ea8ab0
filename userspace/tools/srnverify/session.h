// SPDX-License-Identifier: GPL-2.0-only
// A run of one end, from the first word with the other one to the last.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <net/stream.h>

#include "checker.h"
#include "device.h"
#include "plan.h"

namespace srnverify {

// The connection that the ends agree over, and as many more as there are threads.
struct Line {
  net::Stream first;
  std::function<std::vector<net::Stream>(int threads)> more;
};

struct Settings {
  int side = 0;
  // Of the server, the client's is taken.
  Recipe recipe;
  // Features that must be in the plan; "all" is every one.
  std::vector<std::string> need;
  // Called when the ends have agreed.
  std::function<void(const Plan&)> agreed = [](const Plan&) {};
  std::chrono::milliseconds patience{60000};
};

// What became of it.
struct Outcome {
  std::optional<std::string> fault;
  // The other end has the reason.
  bool follows = false;
  // Set as soon as the ends have agreed.
  std::optional<Plan> plan;
  Tally tally;
  uint32_t rounds = 0;
};

// Never throws; ends no later than when nothing has happened for Settings::patience.
Outcome RunEnd(const Device& device, const Settings& settings, Line line);

// Over TCP. Throw Fault.
Line Await(uint16_t port, std::chrono::milliseconds timeout);
Line Dial(const std::string& host, uint16_t port, std::chrono::milliseconds timeout);

}  // namespace srnverify
