// SPDX-License-Identifier: GPL-2.0-only
// The module's rooms that are modelled with, its own files. window.h brings limits.h, whose name
// here would be the C library's.
#pragma once

#include <share/kernel.h>

extern "C" {
#include "psn.h"
#include "psns.h"
#include "reorder.h"
#include "rtt.h"
#include "score.h"
#include "window.h"
}
