// SPDX-License-Identifier: GPL-2.0-only
// What a peer that behaves would know of its connection: what it sent, what the device expects, and
// what the device has asked for and not yet been told.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include <roce/opcode.h>
#include <roce/packet.h>
#include <verbs/memory.h>

namespace fuzz {

struct PeerState {
  // A request of the device's; of a READ `length` bytes, of which `given` have been answered.
  struct Asked {
    roce::Operation operation;
    uint32_t psn;
    uint32_t length;
    uint32_t given;
  };
  // The peer's message under way.
  struct Message {
    bool write;
    uint32_t left;  // bytes
  };

  roce::Service service = roce::Service::kRc;
  uint32_t mtu = 1024;
  uint32_t peer_qpn = 0;
  uint32_t qkey = 0;
  std::vector<verbs::Remote> windows;  // keys of memory windows, addresses within

  uint32_t peer_psn = 0;  // of the peer's next request
  uint32_t nxt_psn = 0;   // of the device's next
  uint32_t msn = 0;
  bool dead = false;  // the device has refused something for good
  std::optional<Message> message;
  std::deque<roce::Packet> sent;   // the last requests that were right
  std::deque<roce::Packet> again;  // of these, what the device wants once more
  std::deque<Asked> asked;         // in the order of their PSNs

  // The peer sent this; `right`: as it should be next.
  void Sent(const roce::Packet& packet, bool right);
  // The device sent this.
  void Heard(const roce::Packet& packet);
  // PSN of the oldest request of the device that has no answer.
  uint32_t una_psn() const { return asked.empty() ? nxt_psn : asked.front().psn; }

 private:
  void HeardRequest(const roce::Packet& packet);
  void HeardAnswer(const roce::Packet& packet);
  void Expect(uint32_t psn);
};

// PSNs that a request takes.
uint32_t SpanOf(const roce::Packet& packet, uint32_t mtu);

}  // namespace fuzz
