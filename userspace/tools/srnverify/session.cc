// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "exchange.h"
#include "fault.h"
#include "worker.h"

namespace srnverify {
namespace {

constexpr int kProtocol = 3;

std::vector<uint8_t> Raw(const ibv_gid& gid) { return {std::begin(gid.raw), std::end(gid.raw)}; }

struct Agreement {
  Plan plan;
  Ends ends;
};

Agreement Agree(Exchange& exchange, const Device& device, const Settings& settings) {
  const int side = settings.side;
  const nlohmann::json theirs = exchange.Swap("hello", {{"protocol", kProtocol},
                                                        {"name", device.name},
                                                        {"gid", Raw(device.port.gid)},
                                                        {"features", device.features.Json()},
                                                        {"recipe", settings.recipe.Json()}});
  if (theirs.at("protocol") != kProtocol) throw Fault("the other end is of another version");
  const Recipe recipe = side == 1 ? settings.recipe : Recipe::FromJson(theirs.at("recipe"));
  const Features other = Features::FromJson(theirs.at("features"));
  Agreement agreement{MakePlan(recipe, Common(device.features, other)), {}};
  Ends& ends = agreement.ends;
  ends.name[side] = device.name;
  ends.gid[side] = device.port.gid;
  theirs.at("name").get_to(ends.name[1 - side]);
  if (device.features.inv_by_kernel_flag) ends.inv_flag[side] = kKernelWithInv;
  if (other.inv_by_kernel_flag) ends.inv_flag[1 - side] = kKernelWithInv;
  const auto tells_sl = [&](const Features& features) {
    return features.Has("sl") && std::ranges::count(recipe.without, "sl") == 0;
  };
  ends.tells_sl[side] = tells_sl(device.features);
  ends.tells_sl[1 - side] = tells_sl(other);
  const auto gid = theirs.at("gid").get<std::vector<uint8_t>>();
  std::copy_n(gid.begin(), std::min(gid.size(), sizeof(ibv_gid)), ends.gid[1 - side].raw);
  return agreement;
}

void CheckNeed(const Settings& settings, const Plan& plan) {
  const std::vector<std::string> missing = NotPlanned(plan, settings.need);
  if (!missing.empty())
    throw Fault(fmt::format("needed, and not in the plan: {}", fmt::join(missing, ", ")));
}

// All threads of an end; the first fault of them is that of the end.
class Threads {
 public:
  Threads(const Device& device, const Agreement& agreement, const Settings& settings,
          Outcome& outcome)
      : device_(device), agreement_(agreement), settings_(settings), outcome_(outcome) {}

  void Run(std::vector<net::Stream> streams) {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < streams.size(); ++i)
      threads.emplace_back([this, i, stream = std::move(streams[i])]() mutable {
        RunOne(static_cast<int>(i), std::move(stream));
      });
  }

 private:
  void RunOne(int thread, net::Stream stream) {
    Exchange exchange(std::move(stream), settings_.patience + std::chrono::seconds(5), stop_);
    try {
      Worker worker(device_, agreement_.plan, thread, settings_.side, agreement_.ends, exchange,
                    settings_.patience);
      worker.Run();
      const std::lock_guard lock(mutex_);
      outcome_.tally.Add(worker.tally());
      outcome_.rounds += worker.rounds();
    } catch (const PeerFault& fault) {
      Failed(fault.what(), true);
    } catch (const std::exception& fault) {
      exchange.TellFault(fault.what());
      Failed(fault.what(), false);
    }
  }
  // What this end has found itself goes before what it was told.
  void Failed(const std::string& fault, bool follows) {
    const std::lock_guard lock(mutex_);
    if (!outcome_.fault || (outcome_.follows && !follows)) {
      outcome_.fault = fault;
      outcome_.follows = follows;
    }
    stop_ = true;
  }

  const Device& device_;
  const Agreement& agreement_;
  const Settings& settings_;
  Outcome& outcome_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
};

void CheckReached(const Settings& settings, Outcome& outcome) {
  if (outcome.fault) return;
  // A lossy wire that lets nothing through proves nothing.
  const std::vector<std::string> missing = settings.need.empty()
                                               ? Silent(*outcome.plan, outcome.tally)
                                               : NotReached(*outcome.plan, outcome.tally);
  if (!missing.empty())
    outcome.fault = fmt::format("no message arrived of: {}", fmt::join(missing, ", "));
  const std::vector<std::string> lost = LostTooMany(*outcome.plan, outcome.tally);
  if (!outcome.fault && !lost.empty())
    outcome.fault = fmt::format("more than {} % of the messages lost: {}",
                                outcome.plan->recipe.most_lost, fmt::join(lost, ", "));
}

}  // namespace

Outcome RunEnd(const Device& device, const Settings& settings, Line line) {
  Outcome outcome;
  const std::atomic<bool> stop{false};
  Exchange exchange(std::move(line.first), settings.patience, stop);
  try {
    const Agreement agreement = Agree(exchange, device, settings);
    outcome.plan = agreement.plan;
    settings.agreed(agreement.plan);
    CheckNeed(settings, agreement.plan);
    exchange.Swap("plan", {});
    Threads threads(device, agreement, settings, outcome);
    threads.Run(line.more(agreement.plan.recipe.threads));
    CheckReached(settings, outcome);
    if (outcome.fault) throw Fault(*outcome.fault);
    exchange.Swap("end", {});
  } catch (const PeerFault& fault) {
    outcome.fault = fault.what();
    outcome.follows = true;
  } catch (const std::exception& fault) {
    outcome.fault = fault.what();
    if (!outcome.follows) exchange.TellFault(fault.what());
  }
  return outcome;
}

Line Await(uint16_t port, std::chrono::milliseconds timeout) {
  auto listener = std::make_shared<net::Listener>(Need(net::Listener::Listen(port), "server"));
  net::Stream first = Need(listener->Accept(timeout), "client");
  auto more = [listener, timeout](int threads) {
    std::vector<std::optional<net::Stream>> by_thread(threads);
    for (int i = 0; i < threads; ++i) {
      net::Stream stream = Need(listener->Accept(timeout), "client's threads");
      const size_t thread = std::stoul(Need(stream.ReceiveLine(timeout), "client's threads"));
      by_thread.at(thread) = std::move(stream);
    }
    std::vector<net::Stream> streams;
    for (std::optional<net::Stream>& stream : by_thread) streams.push_back(std::move(*stream));
    return streams;
  };
  return {std::move(first), more};
}

Line Dial(const std::string& host, uint16_t port, std::chrono::milliseconds timeout) {
  net::Stream first = Need(net::Stream::Connect(host, port, timeout), "server");
  auto more = [host, port, timeout](int threads) {
    std::vector<net::Stream> streams;
    for (int i = 0; i < threads; ++i) {
      streams.push_back(Need(net::Stream::Connect(host, port, timeout), "server"));
      Need(streams.back().SendLine(std::to_string(i)), "server");
    }
    return streams;
  };
  return {std::move(first), more};
}

}  // namespace srnverify
