// SPDX-License-Identifier: GPL-2.0-only
// Loads, and how others fare beside them: who repeats something, keeps CPUs busy, or looks how late
// and how fast others run.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace verbs_test {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// Runs a function again and again until it is destroyed.
class Loop {
 public:
  explicit Loop(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          while (!stop_.load(std::memory_order_relaxed)) body();
        }) {}
  ~Loop() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

inline void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

// How late the first of all tasks runs on each CPU after its clock has fired: as long as
// interrupts, softirqs or preemption were off.
class Lateness {
 public:
  Lateness() {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < cpus; cpu++) threads_.emplace_back([this, cpu] { Watch(cpu); });
  }
  ~Lateness() { Stop(); }
  microseconds Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return microseconds(worst_.load());
  }

 private:
  void Watch(int cpu) {
    PinTo(cpu);
    const sched_param first = {.sched_priority = 99};
    sched_setscheduler(0, SCHED_FIFO, &first);
    while (!stop_) {
      const Clock::time_point due = Clock::now() + milliseconds(1);
      std::this_thread::sleep_until(due);
      const long late = duration_cast<microseconds>(Clock::now() - due).count();
      for (long worst = worst_; late > worst && !worst_.compare_exchange_weak(worst, late);) {
      }
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<bool> stop_ = false;
  std::atomic<long> worst_ = 0;
};

// Keeps all CPUs busy.
class Hogs {
 public:
  Hogs() {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < cpus; cpu++) {
      loops_.push_back(std::make_unique<Loop>([cpu, pinned = false]() mutable {
        if (!pinned) PinTo(cpu);
        pinned = true;
      }));
    }
  }

 private:
  std::vector<std::unique_ptr<Loop>> loops_;
};

// Work of a neighbour that has nothing to do with RDMA, in short rounds.
class Victim {
 public:
  Victim() : began_(Clock::now()), loop_([this] { Round(); }) {}
  double Speed() const {
    return rounds_ / std::chrono::duration<double, std::milli>(Clock::now() - began_).count();
  }

 private:
  void Round() {
    for (int i = 0; i < 2000; i++) asm volatile("");
    rounds_++;
  }

  std::atomic<uint64_t> rounds_ = 0;
  Clock::time_point began_;
  Loop loop_;
};

inline double SpeedAlone() {
  Victim victim;
  std::this_thread::sleep_for(milliseconds(300));
  return victim.Speed();
}

}  // namespace verbs_test
