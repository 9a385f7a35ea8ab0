// SPDX-License-Identifier: GPL-2.0-only
// Posting and polling as the measured program does it: whatever fails ends the measurement.
#pragma once

#include <chrono>
#include <functional>
#include <span>

#include <verbs/result.h>
#include <verbs/wr.h>

#include "pair.h"

namespace srnbench {

// Throws std::runtime_error if it is not ok.
void Check(const verbs::Status& status);

// Posts all in one call; a list stays as it is and may be posted again.
void Post(const verbs::Qp& qp, std::span<verbs::SendWr> list);
void Post(const verbs::Qp& qp, verbs::RecvWr& request);

// What takes longer than this will not come.
inline constexpr std::chrono::seconds kStuck{20};

using Completed = std::function<void(const ibv_wc&)>;

// The completions that are there now; how many. Throws if one failed.
int ReapSome(const verbs::Cq& cq, const Completed& completed);

// Polls until something completed; how many did. Throws if one failed, or none comes.
int Reap(const verbs::Cq& cq);
int Reap(const verbs::Cq& cq, const Completed& completed);

}  // namespace srnbench
