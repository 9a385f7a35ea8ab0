// SPDX-License-Identifier: GPL-2.0-only
#include "reading.h"

#include <algorithm>

namespace model {
namespace {

constexpr double kSecond = 1e9;
constexpr uint32_t kBeforeWrap = 2000;
// Nothing new is begun, and what was is to be done by then.
constexpr uint64_t kPatience = 60'000'000'000;

class Connection {
 public:
  explicit Connection(const ReadOptions& options)
      : options_(options),
        random_(options.seed),
        link_(events_, random_, options.link),
        psn_(static_cast<uint32_t>(SRN_PSN_MASK - random_() % kBeforeWrap)),
        answerer_(
            events_, psn_,
            [this](uint32_t psn) {
              link_.Send(kPacketBytes, [this, psn] { reader_.Arrived(psn); });
            },
            [this](const Answer& sack) {
              if (link_.IsDark() || link_.IsLost()) return;
              events_.After(options_.link.propagation, [this, sack] { reader_.Answered(sack); });
            }),
        reader_(events_, known_, psn_, options.reads, [this](const Ask& ask) {
          if (link_.IsDark() || link_.IsLost()) return;
          events_.After(options_.link.propagation, [this, ask] { answerer_.Arrived(ask); });
        }) {
    srn_lately_start(&known_, 0);
  }

  Report Run() {
    reader_.Start();
    RunUntil(options_.warm_up);
    const uint64_t done = reader_.done();
    const LinkCounts from = link_.counts();
    RunUntil(options_.warm_up + options_.seconds);
    const LinkCounts& to = link_.counts();
    const auto packets = static_cast<double>(std::max<uint64_t>(to.packets - from.packets, 1));
    Report report{.goodput = static_cast<double>(reader_.done() - done) * kPacketBytes * 8 /
                             options_.link.rate / options_.seconds,
                  .dropped = static_cast<double>(to.dropped - from.dropped) / packets,
                  .jain = 1,
                  .queue = static_cast<double>(to.found - from.found) / packets};
    report.cwnd = reader_.window().cwnd;
    reader_.Finish();
    events_.RunUntil(events_.now() + kPatience);
    report.delivered = reader_.done();
    report.again = link_.counts().packets - reader_.done();
    report.unrepaired = reader_.undone();
    return report;
  }

 private:
  void RunUntil(double seconds) { events_.RunUntil(static_cast<uint64_t>(seconds * kSecond)); }

  const ReadOptions options_;
  Events events_;
  std::mt19937_64 random_;
  Link link_;
  srn_lately known_;
  const uint32_t psn_;
  Answerer answerer_;
  Reader reader_;
};

}  // namespace

Report SimulateReads(const ReadOptions& options) { return Connection(options).Run(); }

}  // namespace model
