// SPDX-License-Identifier: GPL-2.0-only
// In place of the kernel's: what ib_pack.h and opcode.c take of it.
#pragma once

union ib_gid {
  u8 raw[16];
};

enum ib_access_flags {
  IB_ACCESS_REMOTE_WRITE = 1 << 1,
  IB_ACCESS_REMOTE_READ = 1 << 2,
  IB_ACCESS_REMOTE_ATOMIC = 1 << 3,
};
