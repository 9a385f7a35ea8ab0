// SPDX-License-Identifier: GPL-2.0-only
#include "fates.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace verbs_test {
namespace {

constexpr char kFile[] = "/sys/module/srn/parameters/fate";

// In one write: a stream might cut the text.
result::Status WriteWhole(const char* file, const std::string& text) {
  const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return result::FromErrno(file);
  const ssize_t written = ::write(fd, text.data(), text.size());
  const result::Status status =
      written == static_cast<ssize_t>(text.size()) ? result::Status() : result::FromErrno(text);
  ::close(fd);
  return status;
}

}  // namespace

std::string Fate::ToString() const {
  std::string text = action + " class=" + kind;
  if (qpn) text += " qpn=" + std::to_string(*qpn);
  if (psn) text += " psn=" + std::to_string(*psn);
  return text + " skip=" + std::to_string(skip) + " times=" + std::to_string(times) +
         " permille=" + std::to_string(permille) + " seed=" + std::to_string(seed);
}

result::Status SetFates(const std::vector<Fate>& fates) {
  std::string text = "clear";
  for (const Fate& fate : fates) text += "\n" + fate.ToString();
  return WriteWhole(kFile, text);
}

result::Result<std::vector<FateCount>> CountFates() {
  std::ifstream file(kFile);
  if (!file) return result::FromErrno(kFile);
  std::vector<FateCount> counts;
  for (std::string line; std::getline(file, line);) {
    FateCount count;
    const size_t at = line.find(" seen=");
    if (at == std::string::npos ||
        std::sscanf(line.c_str() + at, " seen=%u met=%u", &count.seen, &count.met) != 2)
      return result::Error{EPROTO, line};
    counts.push_back(count);
  }
  return counts;
}

}  // namespace verbs_test
