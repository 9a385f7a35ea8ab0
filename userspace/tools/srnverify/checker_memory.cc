// SPDX-License-Identifier: GPL-2.0-only
// The end of a round: all memory is as all that has happened should have left it.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "checker.h"
#include "fault.h"

namespace srnverify {
namespace {

ConstBytes AsBytes(const uint64_t& word) { return std::as_bytes(std::span(&word, 1)); }

const char* Name(Layout::Area::Kind kind) {
  switch (kind) {
    case Layout::Area::kLocal:
      return "local memory of ";
    case Layout::Area::kRemote:
      return "remote memory of ";
    case Layout::Area::kReceive:
      return "receive ";
    default:
      return "word ";
  }
}

}  // namespace

void Checker::Finish(ConstBytes arena) {
  if (!Done()) throw Fault(Outstanding());
  for (size_t i = 0; i < round_.steps.size(); ++i) FinishStep(i, arena);
  FinishShared(arena);
  FinishReceives(arena);
  for (size_t i = 0; i < round_.words.size(); ++i)
    if (round_.words[i].side == side_) image_.Put(layout_.word(i), AsBytes(round_.words[i].after));
  const std::optional<uint64_t> at = image_.FirstDifference(arena);
  if (!at) return;
  throw Fault(fmt::format("round {}, memory of {}: byte {:#x} is {:#04x}, expected {:#04x}: {}",
                          round_.number, ends_.name[side_], *at, static_cast<int>(arena[*at]),
                          static_cast<int>(image_.bytes()[*at]), DescribePlace(*at)));
}

void Checker::FinishStep(size_t index, ConstBytes arena) {
  const Step& step = round_.steps[index];
  if (step.from == side_) {
    if (step.op == Op::kRead) image_.Scatter(layout_.local(index), 0, Payload(step));
    if (IsAtomic(step.op) && !step.shared)
      image_.Scatter(layout_.local(index), 0, AsBytes(step.old));
    return;
  }
  const bool write = IsWrite(step.op);
  if (write) FinishWrite(index, arena);
  // Counted where it arrives. READs and atomics leave no trace of a loss: RC alone has them.
  const int arrived = step.op == Op::kWrite ? fates_[index].written : fates_[index].arrived;
  const bool counts = Lossy(step) && (Consumes(step.op) || write);
  if (counts && arrived == 0)
    tally_.Lost(LaneOf(step), step);
  else
    tally_.Arrived(LaneOf(step), step, counts && arrived > 1);
}

// A message that was cut by a loss has left its first packets, whole ones, and nothing behind.
void Checker::FinishWrite(size_t index, ConstBytes arena) {
  const Step& step = round_.steps[index];
  const std::vector<std::byte> payload = Payload(step);
  const Extent remote = layout_.remote(index);
  if (!Lossy(step)) {
    image_.Put(remote, payload);
    return;
  }
  const uint32_t mtu = LaneOf(step).mtu;
  uint32_t done = 0;
  while (done < step.size) {
    const uint32_t part = std::min(mtu, step.size - done);
    if (std::memcmp(arena.data() + remote.offset + done, payload.data() + done, part) != 0) break;
    done += part;
  }
  image_.Put(remote, ConstBytes(payload).first(done));
  fates_[index].written = done == step.size;
}

// The values that adds of 1 returned to this end are those between the word's first and last, each
// once: none was lost, none was executed twice.
void Checker::FinishShared(ConstBytes arena) {
  std::vector<std::pair<uint64_t, size_t>> returned;
  for (size_t i = 0; i < round_.steps.size(); ++i) {
    const Step& step = round_.steps[i];
    if (!step.shared || step.from != side_) continue;
    uint64_t old;
    const std::vector<std::byte> bytes = Gather(arena, layout_.local(i), 0, sizeof(old));
    std::memcpy(&old, bytes.data(), sizeof(old));
    returned.emplace_back(old, i);
    image_.Accept(layout_.local(i), 0, sizeof(old), arena);
  }
  if (returned.empty()) return;
  const uint64_t first = std::find_if(round_.words.begin(), round_.words.end(), [&](const Word& w) {
                           return w.lane == -1 && w.side != side_;
                         })->before;
  std::sort(returned.begin(), returned.end(),
            [first](const auto& a, const auto& b) { return a.first - first < b.first - first; });
  for (size_t i = 0; i < returned.size(); ++i)
    if (returned[i].first != first + i)
      Fail(returned[i].second,
           fmt::format("returned {:#x} of a word that was {:#x} before {} such adds: one of them "
                       "returned {:#x} in no case or two did",
                       returned[i].first, first, returned.size(), first + i));
}

// A message that UC has lost may have begun in a buffer that a later one took over, or none did.
void Checker::FinishReceives(ConstBytes arena) {
  for (size_t i = 0; i < round_.receives.size(); ++i) {
    const Receive& receive = round_.receives[i];
    if (receive.side != side_ || receive.lane < 0) continue;
    const Lane& lane = plan_.lanes[receive.lane];
    if (lane.type != IBV_QPT_UC || !plan_.Lossy(lane)) continue;
    image_.Accept(layout_.receive(i), filled_[i].value_or(0), receive.capacity, arena);
  }
}

std::string Checker::DescribePlace(uint64_t offset) const {
  const Layout::Area* area = layout_.Find(side_, offset);
  if (!area) return "before everything";
  const uint64_t end = area->extent.offset + area->extent.length;
  std::string place =
      offset < end ? fmt::format("byte {} of ", area->position + offset - area->extent.offset)
                   : fmt::format("outside, {} bytes behind the last byte of ", offset - end + 1);
  place += Name(area->kind);
  if (area->kind == Layout::Area::kLocal || area->kind == Layout::Area::kRemote)
    return place + Describe(area->index);
  return place + std::to_string(area->index);
}

}  // namespace srnverify
