// SPDX-License-Identifier: GPL-2.0-only
#include "peer_state.h"

#include <algorithm>

#include <roce/aeth.h>
#include <roce/psn.h>
#include <roce/sack.h>

namespace fuzz {
namespace {

using roce::Operation;

constexpr size_t kRemembered = 64;

// Who the device is: no request, and no answer to one.
bool IsIntroduction(const roce::Packet& p) {
  const auto sack = roce::DecodeSack(p);
  return sack && sack->kind != roce::SackKind::kHeld;
}

bool IsWrite(Operation operation) {
  return operation >= Operation::kWriteFirst && operation <= Operation::kWriteOnlyImm;
}

}  // namespace

uint32_t SpanOf(const roce::Packet& p, uint32_t mtu) {
  if (p.info().operation != Operation::kReadRequest || !p.reth) return 1;
  return roce::PsnCount(std::min<uint32_t>(p.reth->length, 1 << 16), mtu);
}

// What was not right moves nothing on: whether the device took it, it will tell.
void PeerState::Sent(const roce::Packet& p, bool right) {
  if (!right || p.bth.psn != peer_psn) return;
  peer_psn = roce::PsnAdd(peer_psn, static_cast<int>(SpanOf(p, mtu)));
  ++msn;
  sent.push_back(p);
  if (sent.size() > kRemembered) sent.pop_front();
  const auto size = static_cast<uint32_t>(p.payload.size());
  if (p.info().position == roce::Position::kFirst) {
    const bool write = IsWrite(p.info().operation);
    message = {write, write && p.reth ? p.reth->length - std::min(size, p.reth->length)
                                      : 1 + p.bth.psn % (2 * mtu)};
  } else if (p.info().position == roce::Position::kMiddle && message) {
    message->left -= std::min(size, message->left);
  } else {
    message.reset();
  }
}

// All from this PSN on is wanted again; what the peer does not remember it can only begin anew.
void PeerState::Expect(uint32_t psn) {
  const auto from = std::ranges::find(sent, psn, [](const auto& p) { return p.bth.psn; });
  if (from != sent.end()) {
    again.assign(from, sent.end());
    return;
  }
  peer_psn = psn;
  again.clear();
  message.reset();
}

void PeerState::HeardAnswer(const roce::Packet& p) {
  if (!p.aeth) return;
  const roce::AethKind kind = roce::KindOf(p.aeth->syndrome);
  if (kind == roce::AethKind::kRnrNak || p.aeth->syndrome == roce::kNakSequence) {
    Expect(p.bth.psn);
  } else if (kind == roce::AethKind::kNak) {
    dead = true;
  } else if (roce::PsnDiff(p.bth.psn, peer_psn) >= 0) {
    // Something that was not right was taken all the same.
    peer_psn = roce::PsnAdd(p.bth.psn, 1);
    message.reset();
  }
}

void PeerState::HeardRequest(const roce::Packet& p) {
  const Asked one = {p.info().operation, p.bth.psn, p.reth ? p.reth->length : 0, 0};
  const auto at = std::ranges::find_if(
      asked, [&](const Asked& other) { return roce::PsnDiff(other.psn, one.psn) >= 0; });
  if (at == asked.end() || at->psn != one.psn)
    asked.insert(at, one);
  else
    at->given = 0;  // it asks again
  if (asked.size() > kRemembered) asked.pop_front();
  const uint32_t after = roce::PsnAdd(p.bth.psn, static_cast<int>(SpanOf(p, mtu)));
  if (roce::PsnDiff(after, nxt_psn) > 0) nxt_psn = after;
}

void PeerState::Heard(const roce::Packet& p) {
  if (IsIntroduction(p)) return;
  if (p.info().is_response)
    HeardAnswer(p);
  else
    HeardRequest(p);
}

}  // namespace fuzz
