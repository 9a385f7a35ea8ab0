// SPDX-License-Identifier: GPL-2.0-only
// A RC responder as small as the specification allows: in memory, go-back-N,
// nothing kept of what comes early. The loss tests hold the device to it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "messages.h"

namespace wire {

class ModelResponder {
 public:
  using Reply = std::function<void(const Packet&)>;

  // Remote memory of `size` bytes at `va`.
  ModelResponder(uint64_t va, size_t size, uint32_t first_psn, uint32_t mtu, Reply reply)
      : va_(va), memory_(size), expected_psn_(first_psn), mtu_(mtu), reply_(std::move(reply)) {}

  void Handle(const Packet& packet);

  Bytes& memory() { return memory_; }
  // The SENDs that arrived whole, in order.
  const std::vector<Bytes>& sends() const { return sends_; }

 private:
  void Repeat(const Packet& packet);
  void Execute(const Packet& packet);
  void Place(const Packet& packet);
  void Collect(const Packet& packet);
  void AnswerRead(const Packet& packet);
  void Add(const Packet& packet);
  static bool EndsMessage(const Packet& packet);

  uint64_t va_;
  Bytes memory_;
  uint32_t expected_psn_;
  uint32_t mtu_;
  Reply reply_;
  uint32_t msn_ = 0;
  bool nak_sent_ = false;
  uint64_t write_cursor_ = 0;
  Bytes send_;
  std::vector<Bytes> sends_;
  std::map<uint32_t, uint64_t> atomic_results_;  // by PSN
};

}  // namespace wire
