// SPDX-License-Identifier: GPL-2.0-only
// The module's parameters, as sysfs has them.
#pragma once

#include <string>

namespace share {

// For what begins from now on. Return: false if there is no such parameter, or it takes no such
// value.
bool SetParameter(const std::string& name, const std::string& value);

// Its value, up to the first blank; empty if there is no such parameter.
std::string Parameter(const std::string& name);

}  // namespace share
