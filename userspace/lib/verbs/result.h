// SPDX-License-Identifier: GPL-2.0-only
/// @file
/// A value or an errno: what every call of this library returns.
#ifndef SRN_LIB_VERBS_RESULT_H_
#define SRN_LIB_VERBS_RESULT_H_

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

namespace verbs {

/// An errno, always positive.
struct Error {
  int code;
};

/// Success, or an errno.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : code_(error.code) {}

  /// Verbs calls return 0, a positive errno, or -1 with errno set; a few
  /// return a negative errno. All of them are told apart here.
  static Status FromReturn(int rc) {
    if (rc == 0) return {};
    if (rc == -1) return Error{errno};
    return Error{rc < 0 ? -rc : rc};
  }

  bool ok() const { return code_ == 0; }
  /// 0 on success.
  int error() const { return code_; }
  std::string message() const { return ok() ? "OK" : std::strerror(code_); }

 private:
  int code_ = 0;
};

/// A value, or the errno that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(error) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  int error() const { return ok() ? 0 : std::get<Error>(state_).code; }
  std::string message() const { return ok() ? "OK" : std::strerror(error()); }
  Status status() const { return ok() ? Status() : Status(Error{error()}); }

  /// Only if ok().
  T& operator*() & { return std::get<T>(state_); }
  T&& operator*() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &std::get<T>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace verbs

#endif  // SRN_LIB_VERBS_RESULT_H_
