// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace wire {

void ModelResponder::Handle(const Packet& packet) {
  const int32_t ahead = roce::PsnDiff(packet.bth.psn, expected_psn_);
  if (ahead < 0) {
    Repeat(packet);
  } else if (ahead == 0) {
    nak_sent_ = false;
    Execute(packet);
  } else if (!nak_sent_) {
    nak_sent_ = true;
    reply_(Nak(expected_psn_, msn_, roce::kNakSequence));
  }
}

void ModelResponder::Repeat(const Packet& packet) {
  switch (packet.info().operation) {
    case Operation::kReadRequest:
      AnswerRead(packet);
      break;
    case Operation::kFetchAdd:
      reply_(AtomicAck(packet.bth.psn, atomic_results_.at(packet.bth.psn), msn_));
      break;
    default:
      reply_(Ack(roce::PsnAdd(expected_psn_, -1), msn_));
  }
}

bool ModelResponder::EndsMessage(const Packet& packet) {
  const roce::Position position = packet.info().position;
  return position == roce::Position::kLast || position == roce::Position::kOnly;
}

void ModelResponder::Execute(const Packet& packet) {
  if (EndsMessage(packet)) ++msn_;
  const uint32_t psn = expected_psn_;
  expected_psn_ = roce::PsnAdd(psn, 1);
  switch (packet.info().operation) {
    case Operation::kReadRequest:
      expected_psn_ = roce::PsnAdd(psn, roce::PsnCount(packet.reth->length, mtu_));
      AnswerRead(packet);
      return;
    case Operation::kFetchAdd:
      Add(packet);
      return;
    case Operation::kWriteFirst:
    case Operation::kWriteMiddle:
    case Operation::kWriteLast:
    case Operation::kWriteOnly:
      Place(packet);
      break;
    default:
      Collect(packet);
  }
  if (packet.bth.ack_req) reply_(Ack(psn, msn_));
}

void ModelResponder::Place(const Packet& packet) {
  if (packet.reth) write_cursor_ = packet.reth->va - va_;
  ASSERT_LE(write_cursor_ + packet.payload.size(), memory_.size());
  std::copy(packet.payload.begin(), packet.payload.end(),
            memory_.begin() + static_cast<ptrdiff_t>(write_cursor_));
  write_cursor_ += packet.payload.size();
}

void ModelResponder::Collect(const Packet& packet) {
  send_.insert(send_.end(), packet.payload.begin(), packet.payload.end());
  if (EndsMessage(packet)) sends_.push_back(std::exchange(send_, {}));
}

void ModelResponder::AnswerRead(const Packet& packet) {
  const size_t offset = packet.reth->va - va_;
  ASSERT_LE(offset + packet.reth->length, memory_.size());
  const auto begin = memory_.begin() + static_cast<ptrdiff_t>(offset);
  const Bytes data(begin, begin + packet.reth->length);
  for (const Packet& p : ReadResponses(packet.bth.psn, data, mtu_, msn_)) reply_(p);
}

void ModelResponder::Add(const Packet& packet) {
  uint64_t value;
  uint8_t* place = &memory_[packet.atomic->va - va_];
  std::memcpy(&value, place, sizeof(value));
  atomic_results_[packet.bth.psn] = value;
  const uint64_t sum = value + packet.atomic->swap_or_add;
  std::memcpy(place, &sum, sizeof(sum));
  reply_(AtomicAck(packet.bth.psn, value, msn_));
}

}  // namespace wire
