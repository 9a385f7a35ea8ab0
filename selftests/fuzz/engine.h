// SPDX-License-Identifier: GPL-2.0-only
// Runs inputs on a target until the time is up, and keeps those that reach something new.
#pragma once

#include <chrono>
#include <filesystem>

#include "coverage.h"
#include "input_log.h"
#include "kernel_watch.h"
#include "mutate.h"
#include "target.h"

namespace fuzz {

struct Options {
  int seconds = 20;
  uint64_t seed = 0;
  std::filesystem::path corpus;    // read
  std::filesystem::path keep;      // new inputs go there, if given
  std::filesystem::path evidence;  // the last inputs stay there, if something broke
  bool minimise = false;           // only run the corpus; keep what is needed of it
  int deadline = 20;               // seconds for one input
  LogWords log_words;              // what the kernel must not say
};

class Engine {
 public:
  Engine(Target& target, Coverage& coverage, const Options& options);

  // False, with a word on stderr, if something broke.
  bool Run();

 private:
  void RunCorpus();
  void RunNew();
  void RunOne(const Input& input);
  // What the batch reached; what is left of an unfinished one counts as well.
  void EndBatch();
  void CheckAll();
  void PrintRow();
  void CheckTarget();
  double elapsed() const;

  Target& target_;
  Coverage& coverage_;
  const Options& options_;
  Mutator mutator_;
  KernelWatch kernel_;
  std::vector<Input> corpus_;
  std::vector<Input> batch_;
  InputLog log_;
  size_t runs_ = 0;
  size_t found_ = 0;
  double next_row_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace fuzz
