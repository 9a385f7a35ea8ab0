// SPDX-License-Identifier: GPL-2.0-only
// contexts DEVICE NUMBER: opens a device so often, and waits to be killed. For tests of how much
// that is stopped or killed keeps, and whom it keeps waiting.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <verbs/context.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  // Three descriptors each.
  const rlim_t files = 4 * std::strtoul(argv[2], nullptr, 0) + 64;
  const rlimit limit = {.rlim_cur = files, .rlim_max = files};
  if (setrlimit(RLIMIT_NOFILE, &limit)) {
    std::perror("RLIMIT_NOFILE");
    return 1;
  }
  std::vector<verbs::Context> contexts;
  for (int i = std::atoi(argv[2]); i > 0; i--) {
    verbs::Result<verbs::Context> context = verbs::Context::Open(argv[1]);
    if (!context.ok()) {
      std::fprintf(stderr, "%s: error %d with %d to go\n", argv[1], context.error(), i);
      return 1;
    }
    contexts.push_back(std::move(*context));
  }
  std::puts("open");
  std::fflush(stdout);
  pause();
}
