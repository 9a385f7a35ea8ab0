// SPDX-License-Identifier: GPL-2.0-only
// Which tests mean damage: requests that are refused, repeated or lost.
#pragma once

#include <vector>

#include <share/clean_path.h>

namespace verbs_test {

const std::vector<share::Allowance>& MeantDamage();

}  // namespace verbs_test
