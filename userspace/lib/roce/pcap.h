// SPDX-License-Identifier: GPL-2.0-only
// Writes Ethernet frames to a pcap file (the classic format, nanoseconds).
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>

namespace roce {

class PcapWriter {
 public:
  // Creates or truncates `path`. nullopt if that fails.
  static std::optional<PcapWriter> Create(const std::string& path);
  void Write(std::span<const uint8_t> frame, std::chrono::nanoseconds since_epoch);
  // Stamps the frame with the time of the call.
  void Write(std::span<const uint8_t> frame);

 private:
  explicit PcapWriter(std::ofstream file) : file_(std::move(file)) {}
  std::ofstream file_;
};

}  // namespace roce
