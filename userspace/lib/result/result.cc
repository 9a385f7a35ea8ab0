// SPDX-License-Identifier: GPL-2.0-only
#include "result.h"

#include <cstring>

namespace result {

std::string Error::message() const {
  const std::string reason = why.empty() ? std::strerror(code) : why;
  return what.empty() ? reason : what + ": " + reason;
}

Error FromErrno(std::string what) { return {errno != 0 ? errno : EIO, std::move(what)}; }

}  // namespace result
