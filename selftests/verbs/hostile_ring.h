// SPDX-License-Identifier: GPL-2.0-only
// What a hostile program can do with srn's mapped queues: find them, write
// anything to them, ring the doorbell with anything.
#pragma once

#include <rdma/srn-abi.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <verbs/wr.h>

namespace verbs_test {

// One mapping of an uverbs device in this process: a queue of srn.
struct Mapping {
  uint64_t start;
  uint64_t size;

  bool operator==(const Mapping&) const = default;

  std::byte* data() const { return reinterpret_cast<std::byte*>(start); }
  std::span<uint32_t> words() const {
    return {reinterpret_cast<uint32_t*>(start), size / sizeof(uint32_t)};
  }
  srn_qp_page* qp_page() const { return reinterpret_cast<srn_qp_page*>(start); }
};

// Every mapping of an uverbs device, from /proc/self/maps.
std::vector<Mapping> MappedQueues();
// Those of `now` that are not in `before`.
std::vector<Mapping> Added(const std::vector<Mapping>& before, const std::vector<Mapping>& now);

// The doorbell descriptors of this process.
std::vector<int> DoorbellFds();

// Keys and handles that a random WQE may name: its own and other people's.
struct Loot {
  std::vector<verbs::Remote> remotes;
  std::vector<ibv_sge> sges;
  std::vector<uint32_t> qpns;
};

// Writes to mapped queues what no provider would.
class Vandal {
 public:
  Vandal(uint32_t seed, Loot loot) : random_(seed), loot_(std::move(loot)) {}

  // Random words over all of a mapping, its control block included.
  void Scribble(const Mapping& queue);
  // The same word everywhere.
  void Flood(const Mapping& queue, uint32_t word);
  // A few random words at random places.
  void Sprinkle(const Mapping& queue, int count);
  // WQEs at every place where one may begin: plausible in parts, wrong in
  // others.
  void ForgeWqes(const Mapping& queue);
  // Only the indices, so that old slots are run again or far ones are read.
  void ShiftIndices(const Mapping& queue);

  uint32_t Word() { return random_(); }
  // A number that is interesting to whoever checks bounds.
  uint32_t Edge();

 private:
  void ForgeWqe(std::byte* slot);
  ibv_sge ForgeSge();
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }

  std::mt19937 random_;
  Loot loot_;
};

}  // namespace verbs_test
