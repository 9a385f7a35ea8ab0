// SPDX-License-Identifier: GPL-2.0-only
// Connections on which messages never end, and how much each of them moves.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "env.h"

namespace verbs_test {

enum class Load { kWrite, kSend, kRead };

const char* ToString(Load load);

struct FlowOptions {
  Load load = Load::kWrite;
  int count = 1;             // connections
  uint32_t message = 16384;  // bytes
  int depth = 16;            // messages at once, of each
  WireOptions wire = {.timeout = 17, .rd_atomic = 16};
};

// From several hosts in turn to one: data flow there, whoever asks for them.
class Flows {
 public:
  Flows(std::vector<Host>& from, Host& to, const FlowOptions& options);

  // The first messages of each.
  void Start();
  // Takes what is done, and posts as much again. Return: whether something was.
  bool Poll();
  // No more is posted.
  void Stop() { stopped_ = true; }

  // Of messages that are done, by connection.
  const std::vector<uint64_t>& bytes() const { return bytes_; }
  uint64_t outstanding() const { return outstanding_; }
  // Completions with an error: connections that are dead.
  int errors() const { return errors_; }

 private:
  struct Flow {
    Qp from, to;
    size_t host;
  };

  const Host& HostOf(size_t i) const { return from_[flows_[i].host]; }
  void Connect(size_t i);
  void Post(size_t i);
  void PostReceive(size_t i);
  void Done(const ibv_wc& wc);

  FlowOptions options_;
  std::vector<Host>& from_;
  Host& to_;
  std::vector<Cq> from_cqs_;
  Cq to_cq_;
  std::vector<Flow> flows_;
  std::vector<uint64_t> bytes_;
  uint64_t outstanding_ = 0;
  int errors_ = 0;
  bool stopped_ = false;
};

// Jain's index of fairness: 1 where all have the same, 1 / n where one has all.
double Jain(const std::vector<uint64_t>& shares);

}  // namespace verbs_test
