// SPDX-License-Identifier: GPL-2.0-only
#include "pcap.h"

namespace roce {
namespace {

constexpr uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr uint32_t kSnapLength = 262144;
constexpr uint32_t kLinkEthernet = 1;

// Host byte order: the magic number tells the reader which one it is.
template <typename T>
void Put(std::ofstream& file, T value) {
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::optional<PcapWriter> PcapWriter::Create(const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return std::nullopt;
  Put<uint32_t>(file, kMagicNanoseconds);
  Put<uint16_t>(file, 2);
  Put<uint16_t>(file, 4);
  Put<uint32_t>(file, 0);
  Put<uint32_t>(file, 0);
  Put<uint32_t>(file, kSnapLength);
  Put<uint32_t>(file, kLinkEthernet);
  return PcapWriter(std::move(file));
}

void PcapWriter::Write(std::span<const uint8_t> frame, std::chrono::nanoseconds since_epoch) {
  constexpr int64_t kSecond = 1'000'000'000;
  Put<uint32_t>(file_, static_cast<uint32_t>(since_epoch.count() / kSecond));
  Put<uint32_t>(file_, static_cast<uint32_t>(since_epoch.count() % kSecond));
  Put<uint32_t>(file_, static_cast<uint32_t>(frame.size()));
  Put<uint32_t>(file_, static_cast<uint32_t>(frame.size()));
  file_.write(reinterpret_cast<const char*>(frame.data()),
              static_cast<std::streamsize>(frame.size()));
  file_.flush();
}

void PcapWriter::Write(std::span<const uint8_t> frame) {
  Write(frame, std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace roce
