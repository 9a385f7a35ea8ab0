// SPDX-License-Identifier: GPL-2.0-only
#include "result.h"

#include <cerrno>
#include <cstring>

namespace net {

Error ErrnoError(std::string what) {
  const int code = errno;
  return Error{code, std::move(what) + ": " + std::strerror(code)};
}

}  // namespace net
