// SPDX-License-Identifier: GPL-2.0-only
// What the two ends tell each other beside the wire under test: objects of JSON, one a line.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <string>

#include <nlohmann/json.hpp>

#include <net/stream.h>

namespace srnverify {

class Exchange {
 public:
  // Waits end when `stop` is set, with a PeerFault: another thread has the reason.
  Exchange(net::Stream stream, std::chrono::milliseconds patience, const std::atomic<bool>& stop)
      : stream_(std::move(stream)), patience_(patience), stop_(stop) {}

  // Tells `mine` and returns what the other end tells at the same point. Throws PeerFault if that
  // has failed or gone, Fault if it says nothing or is at another point.
  nlohmann::json Swap(const std::string& point, nlohmann::json mine);
  // Throws PeerFault if the other end has told of a fault; does not wait.
  void Notice();
  // As well as it goes.
  void TellFault(const std::string& text);

 private:
  nlohmann::json Receive(std::chrono::milliseconds timeout);

  net::Stream stream_;
  std::chrono::milliseconds patience_;
  const std::atomic<bool>& stop_;
  std::deque<nlohmann::json> early_;
};

}  // namespace srnverify
