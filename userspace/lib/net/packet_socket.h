// SPDX-License-Identifier: GPL-2.0-only
// Whole Ethernet frames to and from one interface.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <result/result.h>

#include "datagram.h"
#include "fd.h"

namespace net {

// An AF_PACKET socket bound to an interface. It receives all that arrives there; never what was
// sent from this host through the interface.
class PacketSocket {
 public:
  static result::Result<PacketSocket> Open(const std::string& dev);

  struct Frame {
    Bytes bytes;
    // When the kernel received it, not when this program came to read it.
    std::chrono::system_clock::time_point arrival;
  };

  result::Status Send(std::span<const uint8_t> frame);
  // The next frame, or nullopt when `timeout` has passed without one.
  std::optional<Frame> Receive(std::chrono::microseconds timeout);

 private:
  explicit PacketSocket(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace net
