// SPDX-License-Identifier: GPL-2.0-only
// What a host that is short of memory does.
#pragma once

namespace share {

// Asks all of the kernel that keeps what it can do without to give it back, as often as something
// is. False: this kernel can't be asked.
bool Shrink();

}  // namespace share
