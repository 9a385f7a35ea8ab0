// SPDX-License-Identifier: GPL-2.0-only
// The module's parameters, as sysfs has them.
#pragma once

#include <string>

namespace share {

// For what begins from now on. Return: false if there is no such parameter, or it takes no such
// value.
bool SetParameter(const std::string& name, const std::string& value);

// Its value, up to the first blank; empty if there is no such parameter.
std::string Parameter(const std::string& name);

// A parameter that is in the end what it was in the beginning, whatever was set in between.
class ScopedParameter {
 public:
  explicit ScopedParameter(const std::string& name) : name_(name), before_(Parameter(name)) {}
  // One that was not there, or could not be read, is left alone.
  ~ScopedParameter() {
    if (!before_.empty()) SetParameter(name_, before_);
  }
  ScopedParameter(const ScopedParameter&) = delete;
  ScopedParameter& operator=(const ScopedParameter&) = delete;

  // As SetParameter().
  bool Set(const std::string& value) const { return SetParameter(name_, value); }

 private:
  const std::string name_, before_;
};

}  // namespace share
