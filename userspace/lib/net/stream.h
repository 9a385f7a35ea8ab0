// SPDX-License-Identifier: GPL-2.0-only
// Lines of text between two processes over TCP, or between two threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <result/result.h>

#include "fd.h"

namespace net {

// One end of a connection.
class Stream {
 public:
  explicit Stream(UniqueFd fd) : fd_(std::move(fd)) {}

  // Tries every address of `host` until one answers or `timeout` has passed: the other end may
  // not be there yet.
  static result::Result<Stream> Connect(const std::string& host, uint16_t port,
                                        std::chrono::milliseconds timeout);
  // Two ends in one process.
  static result::Result<std::pair<Stream, Stream>> Pair();

  // `line` has no newline.
  result::Status SendLine(std::string_view line);
  // ETIMEDOUT if none came, ECONNRESET if the other end has gone.
  result::Result<std::string> ReceiveLine(std::chrono::milliseconds timeout);

 private:
  std::optional<std::string> TakeLine();

  UniqueFd fd_;
  // Received, and not yet taken.
  std::string pending_;
};

class Listener {
 public:
  // On all addresses, IPv6 and IPv4.
  static result::Result<Listener> Listen(uint16_t port);
  // ETIMEDOUT if nobody came.
  result::Result<Stream> Accept(std::chrono::milliseconds timeout);

 private:
  explicit Listener(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace net
