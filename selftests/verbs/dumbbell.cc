// SPDX-License-Identifier: GPL-2.0-only
#include "dumbbell.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include <net/command.h>
#include <share/parameter.h>

namespace verbs_test {
namespace {

constexpr size_t kBuffer = 1 << 20;
constexpr double kLook = 1e-3;
// The CPU, whose instructions are the clock, is left to others.
constexpr std::chrono::microseconds kNap{100};

}  // namespace

void Shell(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> argv;
  for (std::string word; words >> word;) argv.push_back(word);
  Must(net::Run(argv));
}

double Course::Rate() const {
  return (samples.back().queue.bytes - samples.front().queue.bytes) / Seconds();
}

double Course::MeanBacklog() const {
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.queue.backlog;
  return sum / samples.size();
}

uint32_t Course::Backlog(double part) const {
  std::vector<uint32_t> all;
  for (const Sample& sample : samples) all.push_back(sample.queue.backlog);
  std::sort(all.begin(), all.end());
  return all[static_cast<size_t>(part * (all.size() - 1))];
}

uint32_t Course::Drops() const { return samples.back().queue.drops - samples.front().queue.drops; }

uint32_t Course::Packets() const {
  return samples.back().queue.packets - samples.front().queue.packets;
}

uint32_t Course::Marked() const {
  return samples.back().queue.marked - samples.front().queue.marked;
}

void Dumbbell::SetUp() {
  for (const char* name : {"src1", "src2", "src3", "src4"})
    from_.push_back(Host::Open(name, Ip::kV4, kBuffer));
  to_ = Host::Open("dst", Ip::kV4, kBuffer);
}

void Dumbbell::Set(const char* parameter, const char* value) {
  if (!share::SetParameter(parameter, value))
    throw SetupFailure(std::string("no parameter ") + parameter);
}

void Dumbbell::Wire(const std::string& leaf) {
  Shell("tc -n router qdisc replace dev out root noqueue");
  Shell("tc -n router qdisc replace dev out root handle 1: htb default 1");
  Shell(
      "tc -n router class add dev out parent 1: classid 1:1 htb rate 200mbit burst 3000 cburst "
      "3000");
  Shell("tc -n router qdisc add dev out parent 1:1 handle 10: " + leaf);
  queue_.emplace("router", "out", 0x10);
}

void Dumbbell::MarkingWire(uint32_t limit) {
  Wire("red limit " + std::to_string(limit) +
       " min 5000 max 120000 avpkt 1000 burst 5 probability 0.5 bandwidth 200mbit ecn");
}

double Dumbbell::Now() {
  using std::chrono::steady_clock;
  return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count();
}

Course Dumbbell::RunUntil(Flows& flows, double seconds, const std::function<bool()>& until) {
  Course course;
  const std::vector<uint64_t> before = flows.bytes();
  const auto look = [&] { course.samples.push_back({Now(), queue_->Read()}); };
  look();
  const double end = course.samples.back().at + seconds;
  while (Now() < end && !until()) {
    if (!flows.Poll()) std::this_thread::sleep_for(kNap);
    if (Now() - course.samples.back().at >= kLook) look();
  }
  look();
  for (size_t i = 0; i < before.size(); ++i) course.bytes.push_back(flows.bytes()[i] - before[i]);
  return course;
}

Course Dumbbell::Run(Flows& flows, double seconds) {
  return RunUntil(flows, seconds, [] { return false; });
}

void Dumbbell::Drain(Flows& flows) {
  flows.Stop();
  RunUntil(flows, 10, [&] { return flows.outstanding() == 0; });
  EXPECT_EQ(flows.outstanding(), 0u);
}

}  // namespace verbs_test
