// SPDX-License-Identifier: GPL-2.0-only
// Posting and polling as the measured program does it: whatever fails ends the measurement.
#pragma once

#include <chrono>
#include <span>

#include <verbs/result.h>
#include <verbs/wr.h>

#include "pair.h"

namespace srnbench {

// Throws std::runtime_error if it is not ok.
void Check(const verbs::Status& status);

// Posts all in one call; a list stays as it is and may be posted again.
void Post(const End& end, std::span<verbs::SendWr> list);
void Post(const End& end, verbs::RecvWr& request);

// What takes longer than this will not come.
inline constexpr std::chrono::seconds kStuck{20};

// Polls until something completed; how many did. Throws if one failed, or none comes.
int Reap(const verbs::Cq& cq);

}  // namespace srnbench
