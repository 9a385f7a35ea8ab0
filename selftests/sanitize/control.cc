// SPDX-License-Identifier: GPL-2.0-only
// srn_sanitizer_control FAULT: makes one fault on purpose. Exits with 0 unless a sanitizer sees it.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>

namespace {

// The compiler shall not see how these end.
volatile int four = 4;

void Overflow() {
  auto* bytes = new char[four];
  bytes[four] = 1;
  std::printf("%d\n", bytes[0]);
  delete[] bytes;
}

void UseAfterFree() {
  auto* number = new int(four);
  delete number;
  std::printf("%d\n", *const_cast<volatile int*>(number));
}

void Leak() {
  static char* volatile lost;
  lost = new char[static_cast<size_t>(four)];
  lost = nullptr;
}

void SignedOverflow() { std::printf("%d\n", std::numeric_limits<int>::max() - 3 + four); }

void Race() {
  int shared = 0;
  std::thread other([&shared] { ++shared; });
  ++shared;
  other.join();
  std::printf("%d\n", shared);
}

struct Fault {
  const char* name;
  void (*make)();
};
constexpr Fault kFaults[] = {{"overflow", Overflow},
                             {"use-after-free", UseAfterFree},
                             {"leak", Leak},
                             {"signed-overflow", SignedOverflow},
                             {"race", Race}};

}  // namespace

int main(int argc, char** argv) {
  for (const Fault& fault : kFaults) {
    if (argc != 2 || std::strcmp(argv[1], fault.name) != 0) continue;
    fault.make();
    return 0;
  }
  std::fprintf(stderr, "no such fault\n");
  return 0;
}
