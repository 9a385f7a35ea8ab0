// SPDX-License-Identifier: GPL-2.0-only
// What every call of this library returns.
#pragma once

#include <result/result.h>

namespace verbs {

using result::Error;
using result::Result;
using result::Status;

// Verbs calls return 0, a positive errno, or -1 with errno set; a few return a negative errno. All
// of them are told apart here.
inline Status FromReturn(int rc, const char* what) {
  if (rc == 0) return {};
  if (rc == -1) return result::FromErrno(what);
  return Error{rc < 0 ? -rc : rc, what};
}

}  // namespace verbs
