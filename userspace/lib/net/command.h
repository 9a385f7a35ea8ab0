// SPDX-License-Identifier: GPL-2.0-only
// Run a program and wait for it.
#pragma once

#include <string>
#include <vector>

#include <result/result.h>

namespace net {

// Runs `argv` (found in PATH) without a shell. The error carries the exit
// status and what the program wrote to stderr.
result::Status Run(const std::vector<std::string>& argv);

}  // namespace net
