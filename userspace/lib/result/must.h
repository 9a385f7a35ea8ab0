// SPDX-License-Identifier: GPL-2.0-only
// For tests: a failure where nothing may fail ends the test.
#pragma once

#include <source_location>
#include <stdexcept>

#include "result.h"

namespace result {

// Thrown by Must(); GoogleTest turns it into a failure of the test.
struct SetupFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void FailSetup(const Error& error, std::source_location where);

// The value, or the end of this test.
template <typename T>
T Must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result.ok()) FailSetup(result.failure(), where);
  return *std::move(result);
}

void Must(Status status, std::source_location where = std::source_location::current());

}  // namespace result
