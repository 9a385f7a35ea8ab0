// SPDX-License-Identifier: GPL-2.0-only
#include "must.h"

namespace result {

void FailSetup(const Error& error, std::source_location where) {
  throw SetupFailure(std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
                     error.message());
}

void Must(Status status, std::source_location where) {
  if (!status.ok()) FailSetup(status.failure(), where);
}

}  // namespace result
