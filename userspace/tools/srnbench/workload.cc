// SPDX-License-Identifier: GPL-2.0-only
#include "workload.h"

#include <stdexcept>

#include <fmt/format.h>

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBulk = 65536;
constexpr size_t kSmall = 8;
constexpr size_t kTiny = 2;
// A completion that takes longer than this will not come.
constexpr std::chrono::seconds kStuck{20};

void Check(const verbs::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

void Post(const End& end, verbs::SendWr& request) {
  ibv_send_wr* bad;
  const int rc = ibv_post_send(end.qp.get(), request.raw(), &bad);
  if (rc != 0) Check(verbs::FromReturn(rc, "ibv_post_send"));
}

// Polls until something completed; the number of completions.
int Reap(const verbs::Cq& cq) {
  ibv_wc wc[16];
  const auto late = Clock::now() + kStuck;
  for (int spins = 0;; ++spins) {
    const int n = cq.PollRaw(wc, 16);
    for (int i = 0; i < n; ++i)
      if (wc[i].status != IBV_WC_SUCCESS) throw std::runtime_error(ibv_wc_status_str(wc[i].status));
    if (n > 0) return n;
    if (n < 0) throw std::runtime_error("the CQ is broken");
    if (spins % 4096 == 4095 && Clock::now() > late) throw std::runtime_error("no completion");
  }
}

// Keeps kDepth requests posted for `time`; requests per second.
double Stream(End& end, verbs::SendWr request, Duration time) {
  const auto start = Clock::now();
  long posted = 0, done = 0;
  for (; posted < kDepth; ++posted) Post(end, request);
  Duration elapsed{0};
  while (done < posted) {
    const int n = Reap(end.cq);
    done += n;
    elapsed = Clock::now() - start;
    if (elapsed >= time) continue;
    for (int i = 0; i < n; ++i, ++posted) Post(end, request);
  }
  return done / elapsed.count();
}

double Megabytes(double requests_per_second) { return requests_per_second * kBulk / 1e6; }

double WriteBandwidth(Pair& pair, Duration time) {
  return Megabytes(Stream(
      pair.a(), verbs::SendWr::Write(1, pair.a().mr.Slice(0, kBulk), pair.b().mr.At(0)), time));
}

double ReadBandwidth(Pair& pair, Duration time) {
  return Megabytes(Stream(
      pair.a(), verbs::SendWr::Read(1, pair.a().mr.Slice(0, kBulk), pair.b().mr.At(0)), time));
}

double WriteRate(Pair& pair, Duration time) {
  return Stream(pair.a(), verbs::SendWr::Write(1, pair.a().mr.Slice(0, kSmall), pair.b().mr.At(0)),
                time) /
         1e3;
}

// From the post on one end to the completion of the receive on the other.
void OneWay(End& from, End& to) {
  Check(to.qp.Post(verbs::RecvWr(2, {to.mr.Slice(0, kTiny)})));
  Check(from.qp.Post(std::move(verbs::SendWr::Send(1, from.mr.Slice(0, kTiny)).Unsignaled())));
  Reap(to.cq);
}

double SendLatency(Pair& pair, Duration time) {
  const auto start = Clock::now();
  long messages = 0;
  Duration elapsed{0};
  do {
    OneWay(pair.a(), pair.b());
    OneWay(pair.b(), pair.a());
    messages += 2;
    // An unsignalled send frees its slot only when a later one completes.
    if (messages % kDepth == 0) {
      for (End* end : {&pair.a(), &pair.b()}) {
        End& other = end == &pair.a() ? pair.b() : pair.a();
        Check(other.qp.Post(verbs::RecvWr(2, {other.mr.Slice(0, kTiny)})));
        Check(end->qp.Post(verbs::SendWr::Send(1, end->mr.Slice(0, kTiny))));
        Reap(other.cq);
        Reap(end->cq);
      }
      messages += 2;
    }
    elapsed = Clock::now() - start;
  } while (elapsed < time);
  return elapsed.count() * 1e6 / messages;
}

}  // namespace

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> kWorkloads = {
      {"write 64 KiB", "MB/s", true, WriteBandwidth},
      {"read 64 KiB", "MB/s", true, ReadBandwidth},
      {"write 8 B", "kop/s", true, WriteRate},
      {"send 2 B, one way", "us", false, SendLatency},
  };
  return kWorkloads;
}

}  // namespace srnbench
