// SPDX-License-Identifier: GPL-2.0-only
#include "exchange.h"

#include "fault.h"

namespace srnverify {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kSlice(50);

}  // namespace

// Null if nothing came.
nlohmann::json Exchange::Receive(milliseconds timeout) {
  verbs::Result<std::string> line = stream_.ReceiveLine(timeout);
  if (!line.ok() && line.error() == ETIMEDOUT) return nullptr;
  if (!line.ok()) throw PeerFault(line.message());

  nlohmann::json said = nlohmann::json::parse(*line, nullptr, /*allow_exceptions=*/false);
  if (!said.is_object()) throw Fault("the other end does not speak as srnverify does");
  if (said.contains("fault")) throw PeerFault("the other end: " + said["fault"].get<std::string>());
  return said;
}

nlohmann::json Exchange::Swap(const std::string& point, nlohmann::json mine) {
  mine["point"] = point;
  verbs::Status sent = stream_.SendLine(mine.dump());
  const auto deadline = Clock::now() + patience_;

  while (early_.empty()) {
    if (stop_) throw PeerFault("stopped");
    nlohmann::json said = Receive(kSlice);
    if (!said.is_null()) early_.push_back(std::move(said));
    if (!sent.ok()) throw PeerFault(sent.message());
    if (early_.empty() && Clock::now() > deadline)
      throw Fault("the other end has not come to '" + point + "'");
  }
  nlohmann::json theirs = std::move(early_.front());
  early_.pop_front();
  if (theirs.value("point", "") != point)
    throw Fault("the other end is at '" + theirs.value("point", "") + "', not at '" + point + "'");
  return theirs;
}

void Exchange::Notice() {
  if (stop_) throw PeerFault("stopped");
  nlohmann::json said = Receive(milliseconds(0));
  if (!said.is_null()) early_.push_back(std::move(said));
}

void Exchange::TellFault(const std::string& text) {
  (void)stream_.SendLine(nlohmann::json{{"fault", text}}.dump());
}

}  // namespace srnverify
