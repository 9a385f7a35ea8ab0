// SPDX-License-Identifier: GPL-2.0-only
// The module's rooms that are modelled with: its own files. Their directory is looked into last
// (CMakeLists.txt), since it has a limits.h, as the C library has.
#pragma once

#include <share/kernel.h>

extern "C" {
#include "lately.h"
#include "psn.h"
#include "psns.h"
#include "reorder.h"
#include "rota.h"
#include "rtt.h"
#include "score.h"
#include "spread.h"
#include "window.h"
}
