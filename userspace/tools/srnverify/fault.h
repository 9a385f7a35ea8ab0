// SPDX-License-Identifier: GPL-2.0-only
// What ends a run: something that is not as planned, or cannot be had.
#pragma once

#include <stdexcept>
#include <string>

#include <verbs/result.h>

namespace srnverify {

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The other end told of its fault, or went without a word: it has the first word on what it was.
struct PeerFault : Fault {
  using Fault::Fault;
};

// The value, or a Fault that names `what`.
template <typename T>
T Need(verbs::Result<T> result, const std::string& what) {
  if (!result.ok()) throw Fault(what + ": " + result.message());
  return *std::move(result);
}

inline void Need(const verbs::Status& status, const std::string& what) {
  if (!status.ok()) throw Fault(what + ": " + status.message());
}

}  // namespace srnverify
