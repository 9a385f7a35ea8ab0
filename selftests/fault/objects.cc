// SPDX-License-Identifier: GPL-2.0-only
#include "objects.h"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace fault {

std::string CountObjects() {
  std::string text;
  std::array<char, 4096> part;
  FILE* pipe = popen("rdma resource", "r");

  if (!pipe) throw std::runtime_error("rdma resource");
  while (size_t length = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), length);
  if (pclose(pipe) != 0 || text.empty()) throw std::runtime_error("rdma resource: " + text);
  return text;
}

}  // namespace fault
