// SPDX-License-Identifier: GPL-2.0-only
#include "network.h"

#include <algorithm>
#include <limits>

namespace model {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// Connections begin within this time of each other, ns.
constexpr uint64_t kBegin = 5'000'000;
// PSNs from the first one on until they wrap, at most: they shall, in each run.
constexpr uint32_t kBeforeWrap = 2000;
// An ACK as an Ethernet frame, and what a SACK without its map has beside that.
constexpr uint32_t kAckBytes = 62;
constexpr uint32_t kSackBytes = 12;
// Without anything that is acknowledged, the end.
constexpr uint64_t kPatience = 20 * kSecond;

uint64_t Ns(double seconds) { return static_cast<uint64_t>(seconds * kSecond); }

double Jain(const std::vector<double>& parts) {
  double sum = 0, squares = 0;
  for (const double part : parts) {
    sum += part;
    squares += part * part;
  }
  return squares > 0 ? sum * sum / squares / static_cast<double>(parts.size()) : 0;
}

// What holds of a window whatever happens.
bool IsSane(const srn_window& window) {
  return srn_psn_diff(window.at.psn, window.una) >= 0 &&
         srn_psn_diff(window.end, window.at.psn) >= 0 && window.cwnd >= 1 &&
         window.cwnd <= window.most && srn_window_inflight(&window) <= window.reach &&
         window.gone <= srn_window_inflight(&window);
}

}  // namespace

Network::Connection::Connection(Network& network, Domain& domain, uint32_t psn)
    : receiver(network.events_, psn,
               [this, &network](const Answer& answer) { network.SendBack(*this, answer); }),
      sender(network.events_, domain, psn, network.options_.timeout, network.options_.program,
             [this, &network](const Request& request) {
               network.link_.Send(kPacketBytes, [this, request] { receiver.Arrived(request); });
             }) {}

// Its packets are as long; their answers are lost as others are.
Network::Rival::Rival(Network& network)
    : sender(network.events_, [this, &network](uint64_t serial) {
        network.link_.Send(kPacketBytes, [this, &network, serial] {
          if (network.link_.IsDark() || network.link_.IsLost()) return;
          network.events_.After(network.options_.link.propagation,
                                [this, serial] { sender.Answered(serial); });
        });
      }) {}

Network::Network(const Options& options)
    : options_(options),
      random_(options.seed),
      link_(events_, random_, options.link),
      domains_(static_cast<size_t>(options.domains)) {
  for (Domain& domain : domains_) {
    srn_lately_start(&domain.known, 0);
    srn_rota_init(&domain.rota);
    domain.spreads = options.spread;
    domain.has_rota = options.rota && options.connections > options.domains * SRN_ROTA_FEW;
    domain.users = static_cast<uint32_t>(options.connections / options.domains);
    if (options.lossy) domain.when = SRN_ROTA_LOSSY;
  }
  for (int i = 0; i < options.connections; ++i) {
    const auto psn = static_cast<uint32_t>(SRN_PSN_MASK - random_() % kBeforeWrap);
    Connection& connection =
        connections_.emplace_back(*this, domains_[static_cast<size_t>(i % options.domains)], psn);
    events_.After(random_() % kBegin, [&connection] { connection.sender.Start(); });
  }
  if (options.calm > 0) events_.After(Ns(options.calm), [this] { Calm(); });
  if (options.sheds > 0) events_.After(Ns(options.sheds), [this] { Shed(); });
  for (int i = 0; i < options.rivals; ++i) {
    Rival& rival = rivals_.emplace_back(*this);
    events_.After(Ns(options.rivals_from) + random_() % kBegin, [&rival] { rival.sender.Start(); });
  }
}

void Network::Calm() {
  for (Domain& domain : domains_) {
    calmed_ += domain.rota.needed;
    domain.rota.lost_ns -= SRN_ROTA_LATELY_NS;
  }
}

void Network::Shed() {
  for (Connection& c : connections_) c.receiver.Shed();
  events_.After(Ns(options_.sheds), [this] { Shed(); });
}

// A sender knows of no more than has come.
void Network::SendBack(Connection& connection, const Answer& answer) {
  told_ += kAckBytes + (answer.num ? kSackBytes + answer.num / 8 : 0);
  if (link_.IsDark() || link_.IsLost()) return;
  events_.After(options_.link.propagation, [this, &connection, answer] {
    connection.sender.Answered(answer);
    faults_ += connection.sender.acked() > connection.receiver.delivered();
    faults_ += !IsSane(connection.sender.window());
  });
}

Network::Tally Network::Look() const {
  Tally tally{.delivered = {}, .told = told_, .link = link_.counts()};
  for (const Rival& r : rivals_) tally.rivals += r.sender.acked();
  for (const Connection& c : connections_) tally.delivered.push_back(c.receiver.delivered());
  return tally;
}

Report Network::Difference(const Tally& from, const Tally& to) const {
  std::vector<double> parts;
  double sum = 0;
  for (size_t i = 0; i < to.delivered.size(); ++i) {
    parts.push_back(static_cast<double>(to.delivered[i] - from.delivered[i]));
    sum += parts.back();
  }
  const auto packets =
      static_cast<double>(std::max<uint64_t>(to.link.packets - from.link.packets, 1));
  return {
      .goodput = sum * kPacketBytes * 8 / options_.link.rate / options_.seconds,
      .dropped = static_cast<double>(to.link.dropped - from.link.dropped) / packets,
      .jain = Jain(parts),
      .rival = static_cast<double>(to.rivals - from.rivals) * kPacketBytes * 8 /
               options_.link.rate / options_.seconds,
      .told = static_cast<double>(to.told - from.told) * 8 / options_.link.rate / options_.seconds,
      .queue = static_cast<double>(to.link.found - from.link.found) / packets};
}

void Network::AddState(Report& report) const {
  uint64_t least = UINT64_MAX;
  for (const Connection& c : connections_) {
    report.cwnd += static_cast<double>(c.sender.window().cwnd) / options_.connections;
    least = std::min<uint64_t>(least, c.sender.window().crowd.least_ns);
  }
  report.calmed = calmed_;
  report.least_rtt = least == UINT64_MAX ? std::numeric_limits<double>::infinity()
                                         : static_cast<double>(least) / kSecond;
}

uint64_t Network::Unacked() const {
  uint64_t unacked = 0;
  for (const Connection& c : connections_) unacked += c.sender.unacked();
  return unacked;
}

// Nothing new is posted, and all that was is to be there in the end.
void Network::Repair(Report& report) {
  for (Connection& c : connections_) c.sender.Finish();
  for (Rival& r : rivals_) r.sender.Finish();
  uint64_t before;
  do {
    before = Unacked();
    events_.RunUntil(events_.now() + kPatience);
  } while (Unacked() < before);
  report.unrepaired = before;
  for (const Connection& c : connections_) {
    report.delivered += c.receiver.delivered();
    report.timeouts += c.sender.timeouts();
    faults_ += c.receiver.faults() + (c.sender.acked() != c.receiver.delivered());
  }
  report.lost = link_.counts().dropped + link_.counts().lost;
  report.again = link_.counts().packets - report.delivered;
  report.faults = faults_;
}

Report Network::Run() {
  events_.RunUntil(Ns(options_.warm_up));
  const Tally from = Look();
  events_.RunUntil(Ns(options_.warm_up + options_.seconds));
  Report report = Difference(from, Look());
  AddState(report);
  Repair(report);
  return report;
}

}  // namespace model
