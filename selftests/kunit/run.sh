#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# KUnit alone: builds the debug kernel where the cache has none, runs srn_kunit.ko in it.
exec "$(dirname "${BASH_SOURCE[0]}")/../run" kunit/
