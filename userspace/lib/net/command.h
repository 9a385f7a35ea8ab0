// SPDX-License-Identifier: GPL-2.0-only
/// @file
/// Run a program and wait for it.
#pragma once

#include <string>
#include <vector>

#include "result.h"

namespace net {

/// Runs @p argv (found in PATH) without a shell. The error carries the exit
/// status and what the program wrote to stderr.
Status Run(const std::vector<std::string>& argv);

}  // namespace net
