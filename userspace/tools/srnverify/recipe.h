// SPDX-License-Identifier: GPL-2.0-only
// What is to be run: all that both ends must agree on. The client's holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace srnverify {

struct Recipe {
  uint64_t seed = 0;
  int threads = 2;
  // Of each thread. With two threads each type of queue pair has six, and so all of what there are
  // at most six of: path MTUs, and manners of receiving.
  int qps = 9;
  int rounds = 16;
  // Not 0: rounds go on for so long.
  double seconds = 0;
  // The path MTU in bytes; 0: each queue pair another.
  uint32_t mtu = 0;
  // Of a message.
  uint32_t max_size = (1 << 20) + 1;
  // UC and UD may lose messages, of each so many percent.
  bool lossy = false;
  uint32_t most_lost = 50;
  // Features that are left out though they are there.
  std::vector<std::string> without;

  nlohmann::json Json() const;
  static Recipe FromJson(const nlohmann::json& json);
};

}  // namespace srnverify
