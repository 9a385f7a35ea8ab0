// SPDX-License-Identifier: GPL-2.0-only
#include "engine.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "call_time.h"
#include "corpus.h"

namespace fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCheckEvery = 64;
constexpr int kRows = 20;

// A call that does not return can't be left. The harness kills who stays in the kernel.
void TooLate(int) {
  static constexpr char kWord[] = "an input did not end within its time\n";
  (void)!write(STDERR_FILENO, kWord, sizeof(kWord) - 1);
  _exit(2);
}

}  // namespace

Engine::Engine(Target& target, Coverage& coverage, const Options& options)
    : target_(target),
      coverage_(coverage),
      options_(options),
      mutator_(options.seed, target.piece(), target.max_pieces()),
      kernel_(options.log_words),
      log_(options.evidence),
      began_(Clock::now()) {
  std::signal(SIGALRM, TooLate);
}

double Engine::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void Engine::PrintRow() {
  fmt::print("{:8.0f} {:10} {:8} {:8}\n", elapsed(), runs_, corpus_.size(), coverage_.total());
  std::fflush(stdout);
}

void Engine::EndBatch() {
  if (batch_.empty()) return;
  if (coverage_.End()) {
    for (Input& input : batch_) {
      ++found_;
      if (!options_.keep.empty()) SaveInput(options_.keep, input);
      corpus_.push_back(std::move(input));
    }
  }
  batch_.clear();
  kernel_.CheckReports();
}

// What healthy traffic reaches is no input's merit.
void Engine::CheckTarget() {
  alarm(static_cast<unsigned>(options_.deadline));
  target_.Check();
  alarm(0);
  coverage_.Discard();
}

void Engine::CheckAll() {
  EndBatch();
  CheckTarget();
  kernel_.CheckReports();
  kernel_.CheckMemory();
  log_.Clear();
}

void Engine::RunOne(const Input& input) {
  log_.Append(input);
  if (batch_.empty()) coverage_.Begin();
  alarm(static_cast<unsigned>(options_.deadline));
  target_.Run(input);
  alarm(0);
  CallTime::Check();
  batch_.push_back(input);
  const size_t batch = options_.minimise ? 1 : static_cast<size_t>(coverage_.batch());
  if (batch_.size() >= batch) EndBatch();
  if (++runs_ % kCheckEvery == 0) CheckAll();
  if (elapsed() < next_row_) return;
  PrintRow();
  next_row_ += std::max(1.0, static_cast<double>(options_.seconds) / kRows);
}

// The corpus counts as new, too: what another build does not reach by it goes. What the target
// begins with is no file, and always there to be changed.
void Engine::RunCorpus() {
  const std::vector<Input> old = LoadCorpus(options_.corpus), seeds = target_.Seeds();
  for (const Input& input : old) RunOne(input);
  EndBatch();
  fmt::print("{} inputs of the corpus reach {} {}\n", old.size(), coverage_.total(),
             coverage_.unit());
  if (options_.minimise) return;
  for (const Input& input : seeds) RunOne(input);
  EndBatch();
  corpus_.insert(corpus_.end(), seeds.begin(), seeds.end());
}

void Engine::RunNew() {
  while (elapsed() < options_.seconds) {
    const bool fresh = corpus_.empty() || mutator_.Below(16) == 0;
    const auto any = [this] { return corpus_[mutator_.Below(corpus_.size())]; };
    RunOne(fresh ? mutator_.Fresh() : mutator_.Mutate(any(), any()));
  }
  EndBatch();
}

bool Engine::Run() {
  fmt::print("{:>8} {:>10} {:>8} {:>8}\n", "seconds", "inputs", "corpus", coverage_.unit());
  try {
    CheckTarget();
    RunCorpus();
    if (!options_.minimise) RunNew();
    CheckAll();
  } catch (const std::exception& broken) {
    alarm(0);
    // One failure is enough; what is taken down now shall go down.
    GTEST_FLAG_SET(throw_on_failure, false);
    PrintRow();
    fmt::print(stderr, "broken: {}\n", broken.what());
    if (!options_.evidence.empty())
      fmt::print(stderr, "the inputs since the last good check are in {}\n",
                 options_.evidence.string());
    return false;
  }
  log_.Close();
  PrintRow();
  return true;
}

}  // namespace fuzz
