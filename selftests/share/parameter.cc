// SPDX-License-Identifier: GPL-2.0-only
#include "parameter.h"

#include <fstream>

namespace share {
namespace {

constexpr char kDirectory[] = "/sys/module/srn/parameters/";

}  // namespace

bool SetParameter(const std::string& name, const std::string& value) {
  std::ofstream file(kDirectory + name);
  return static_cast<bool>(file << value << std::flush);
}

std::string Parameter(const std::string& name) {
  std::string value;
  std::ifstream(kDirectory + name) >> value;
  return value;
}

}  // namespace share
