// SPDX-License-Identifier: GPL-2.0-only
#include "read_check.h"

#include <algorithm>
#include <cstring>

#include <roce/psn.h>

#include "target.h"

namespace fuzz {
namespace {

using roce::Operation;

bool IsReadResponse(Operation operation) {
  return operation >= Operation::kReadResponseFirst && operation <= Operation::kReadResponseOnly;
}

}  // namespace

void ReadCheck::Reset() {
  strict_ = true;
  reads_.clear();
}

// One that is asked for again is executed anew, and what was to come behind it is forgotten.
void ReadCheck::Sent(const Forged& forged) {
  const roce::Packet& p = forged.packet;
  if (!forged.right) strict_ = false;
  if (!forged.right || p.info().operation != Operation::kReadRequest || !p.reth) {
    ++writes_;
    return;
  }
  std::erase_if(reads_, [&](const Read& read) { return roce::PsnDiff(read.psn, p.bth.psn) >= 0; });
  reads_.push_back({p.bth.psn, *p.reth, writes_});
}

void ReadCheck::Heard(const roce::Packet& p, uint32_t mtu) const {
  if (!strict_ || !IsReadResponse(p.info().operation)) return;
  for (const Read& read : reads_) {
    const int32_t at = roce::PsnDiff(p.bth.psn, read.psn);
    if (at < 0 || at >= static_cast<int32_t>(roce::PsnCount(read.reth.length, mtu))) continue;
    const uint64_t offset = uint64_t{mtu} * static_cast<uint32_t>(at);
    if (offset + p.payload.size() > read.reth.length)
      throw Broken("a READ's response is too long: " + p.ToString());
    if (read.writes != writes_ && read.reth.rkey != memory_.still()->rkey) continue;
    if (std::memcmp(reinterpret_cast<const void*>(read.reth.va + offset), p.payload.data(),
                    p.payload.size()) != 0)
      throw Broken("a READ's response is not what is there: " + p.ToString());
  }
}

}  // namespace fuzz
