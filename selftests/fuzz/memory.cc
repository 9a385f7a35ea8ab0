// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

#include <cstring>

#include <fmt/format.h>

#include <result/must.h>

#include "secret.h"
#include "target.h"

namespace fuzz {
namespace {

using result::Must;

// It begins and ends inside of pages: a check that looks at pages alone lets through what lies
// before and behind it.
constexpr size_t kMargin = 72;
// local write only; remote read only; no right at all; all rights, but in another domain
constexpr int kClosedRights[] = {IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, 0,
                                 verbs::kAllAccess};
constexpr size_t kClosed = std::size(kClosedRights);
constexpr size_t kStill = 1;  // of them
// Between guards of the same size, in one mapping.
constexpr size_t kUnit = GuardedMemory::kClosedSize;
constexpr size_t kOpenAt = (2 * kClosed + 1) * kUnit;

// What may only be read differs everywhere, so that a piece from the wrong place is seen.
std::byte StillAt(size_t offset) { return static_cast<std::byte>(offset * 37 + (offset >> 8)); }

}  // namespace

verbs::Bytes GuardedMemory::Area(size_t index) const {
  return buffer_.Slice((2 * index + 1) * kUnit + kMargin, kUnit - 2 * kMargin);
}

GuardedMemory::GuardedMemory(const verbs::Pd& pd, const verbs::Pd& foreign)
    : buffer_(Must(verbs::Buffer::Map(kOpenAt + kOpenSize + kUnit))) {
  FillSecret(buffer_.bytes());
  const verbs::Bytes open = buffer_.Slice(kOpenAt + kMargin, kOpenSize - 2 * kMargin);
  std::memset(open.data(), 0, open.size());
  open_ = Must(verbs::Mr::Register(pd, open));
  for (size_t i = 0; i < kClosed; ++i) {
    const bool last = i + 1 == kClosed;
    closed_.push_back(Must(verbs::Mr::Register(last ? foreign : pd, Area(i), kClosedRights[i])));
  }
  // What may be read shall be no secret.
  const verbs::Bytes still = Area(kStill);
  for (size_t i = 0; i < still.size(); ++i) still[i] = StillAt(i);
  remotes_ = {open_.At(0), open_.At(open.size() - 64), {open_.At(0).addr, 0}, {0, 0}};
  sges_ = {open_.Slice(0, 64), open_.Slice(open.size() - 100, 200)};
  for (const verbs::Mr& mr : closed_) {
    remotes_.push_back(mr.At(0));
    remotes_.push_back({mr.At(0).addr, open_->rkey});
    remotes_.push_back({open_.At(0).addr, mr->rkey});
  }
}

void GuardedMemory::CheckUntouched() const {
  const auto throw_at = [](const char* what) { throw Broken(fmt::format("{} changed", what)); };
  for (size_t i = 0; i < kOpenAt / kUnit; ++i) {
    if (i == 2 * kStill + 1) continue;  // looked at below
    if (!IsUntouched(buffer_.Slice(i * kUnit, kUnit))) throw_at("a guard or a closed region");
  }
  const verbs::Bytes still = Area(kStill);
  for (size_t i = 0; i < still.size(); ++i)
    if (still[i] != StillAt(i)) throw_at("what may only be read");
  if (!IsUntouched(buffer_.Slice(kOpenAt, kMargin))) throw_at("what lies before the open region");
  if (!IsUntouched(buffer_.Slice(kOpenAt + kOpenSize - kMargin, kMargin + kUnit)))
    throw_at("what lies behind the open region");
  if (HoldsSecret(buffer_.Slice(kOpenAt + kMargin, kOpenSize - 2 * kMargin)))
    throw Broken("the open region holds what nobody may read");
}

}  // namespace fuzz
