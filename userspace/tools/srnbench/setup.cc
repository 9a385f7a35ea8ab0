// SPDX-License-Identifier: GPL-2.0-only
#include "setup.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "memory.h"
#include "posting.h"

namespace srnbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kRequests = 16;
constexpr std::chrono::milliseconds kGrace{200};
constexpr int kParts = 3;

verbs::Qp SmallQp(const End& end) {
  verbs::Result<verbs::Qp> qp = verbs::Qp::Create(
      end.pd, end.cq, end.cq,
      {.max_send_wr = kRequests, .max_recv_wr = kRequests, .max_send_sge = 1, .max_recv_sge = 1});
  if (!qp.ok()) throw Unable(fmt::format("{}: {}", end.device(), qp.message()));
  return *std::move(qp);
}

Link Linked(Pair& pair, const verbs::Qp& a, const verbs::Qp& b) {
  try {
    return pair.Connect(a, b);
  } catch (const std::runtime_error& why) {
    throw Unable(why.what());
  }
}

// Throws Unable if these devices do not make it.
struct Connection {
  Link link;
  verbs::Qp a, b;

  explicit Connection(Pair& pair) : a(SmallQp(pair.a())), b(SmallQp(pair.b())) {
    link = Linked(pair, a, b);
  }
};

// Calls `once` for `time`; how often a second.
template <typename F>
double PerSecond(Duration time, F once) {
  const auto start = Clock::now();
  long rounds = 0;
  Duration elapsed{0};

  do {
    once();
    ++rounds;
    elapsed = Clock::now() - start;
  } while (elapsed < time);
  return rounds / elapsed.count();
}

// Touched, so that registering it finds all pages there.
verbs::Buffer Map(size_t bytes, Pages pages) {
  verbs::Buffer buffer = Must(verbs::Buffer::Map(bytes + kHugePage), "buffer");
  const double before = HugeBytes();

  madvise(buffer.data(), buffer.size(), pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(buffer.data(), 0, buffer.size());
  const double huge = HugeBytes() - before;
  if (pages == Pages::kHuge ? huge < bytes : huge > 0)
    throw Unable(fmt::format("{:.0f} MiB of {} are in huge pages", huge / (1 << 20), bytes >> 20));
  return buffer;
}

// The part of `buffer` that begins with a huge page, and is that much smaller.
verbs::Bytes Aligned(const verbs::Buffer& buffer) {
  const size_t skip = (kHugePage - buffer.addr() % kHugePage) % kHugePage;
  return buffer.Slice(skip, buffer.size() - kHugePage);
}

}  // namespace

double Connections(Pair& pair, Duration time) {
  return PerSecond(time, [&] { Connection connection(pair); });
}

double Registrations(Pair& pair, Duration time) {
  const verbs::Bytes page = pair.a().bytes.subspan(0, kHugePage);

  return PerSecond(time, [&] { Must(verbs::Mr::Register(pair.a().pd, page), "MR"); }) * page.size();
}

double RegistrationOfAByte(Pair& pair, Pages pages, Duration time) {
  const verbs::Buffer buffer = Map(kLargeRegion, pages);
  const verbs::Bytes bytes = Aligned(buffer);

  return 1 / (PerSecond(time, [&] { Must(verbs::Mr::Register(pair.a().pd, bytes), "MR"); }) *
              bytes.size());
}

double IdleQp(Pair& pair, int count) {
  const int first = count / 20;
  std::vector<double> parts;
  std::vector<Connection> connections;
  connections.reserve(first + count / 2);
  // What was freed before is given back, by the kernel after a grace period; and what is left of
  // that, in slabs that are partly used, goes to QPs that are not counted.
  malloc_trim(0);
  std::this_thread::sleep_for(kGrace);
  for (int i = 0; i < first; ++i) connections.emplace_back(pair);
  // The kernel may give something back later, all of it in one part: 8 MiB were seen.
  for (int part = 0; part < kParts; ++part) {
    const double before = MemoryInUse();
    for (int i = 0; i < count / 2 / kParts; ++i) connections.emplace_back(pair);
    parts.push_back((MemoryInUse() - before) / (count / 2 / kParts * 2));
  }
  std::sort(parts.begin(), parts.end());
  return parts[kParts / 2];
}

}  // namespace srnbench
