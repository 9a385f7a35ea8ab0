// SPDX-License-Identifier: GPL-2.0-only
// What a program can do with the queues that are mapped into it, and with the doorbell, beside
// using them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "env.h"

namespace verbs_test {
namespace {

struct Mapped {
  char* from;
  size_t length;
  off_t offset;
};

class Mapping : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    end_ = End::Create(a_);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long from, to, offset;
      if (line.find("infiniband/uverbs") == std::string::npos) continue;
      ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &from, &to, &offset), 3) << line;
      all_.push_back({reinterpret_cast<char*>(from), to - from, static_cast<off_t>(offset)});
    }
    // Two CQs and a QP; and a page on which the poller says whether it sleeps, where there is one.
    ASSERT_EQ(all_.size(), std::getenv("SRN_POLLER") ? 4u : 3u);
  }

  // System calls that the device has seen. The core answers from a cache for some milliseconds.
  static uint64_t Doorbells() {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    std::ifstream file("/sys/class/infiniband/" + DeviceA() + "/ports/1/hw_counters/doorbells");
    uint64_t value = 0;
    file >> value;
    return value;
  }

  End end_;
  std::vector<Mapped> all_;
};

// A child that consumed completions would take them from its parent.
TEST_F(Mapping, ChildDoesNotInheritQueues) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (const Mapped& queue : all_) {
    const auto readable = [&] { return write(ends[1], queue.from, 1) == 1; };
    EXPECT_TRUE(readable());
    const pid_t child = fork();
    if (child == 0) _exit(readable() ? 1 : errno == EFAULT ? 0 : 2);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Mapping, QueuesAreNoCode) {
  for (const Mapped& queue : all_) {
    EXPECT_EQ(mprotect(queue.from, queue.length, PROT_READ | PROT_EXEC), -1);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(mmap(nullptr, queue.length, PROT_READ | PROT_EXEC, MAP_SHARED, a_.ctx->cmd_fd,
                   queue.offset),
              MAP_FAILED);
    EXPECT_EQ(errno, EPERM);
  }
}

// What a program wrote to pages of its own nobody would read.
TEST_F(Mapping, QueuesAreShared) {
  for (const Mapped& queue : all_) {
    EXPECT_EQ(mmap(nullptr, queue.length, PROT_READ | PROT_WRITE, MAP_PRIVATE, a_.ctx->cmd_fd,
                   queue.offset),
              MAP_FAILED);
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST_F(Mapping, QueuesDoNotGrow) {
  for (const Mapped& queue : all_) {
    EXPECT_EQ(mremap(queue.from, queue.length, 2 * queue.length, MREMAP_MAYMOVE), MAP_FAILED);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(
        mmap(nullptr, queue.length + 4096, PROT_READ, MAP_SHARED, a_.ctx->cmd_fd, queue.offset),
        MAP_FAILED);
    void* again = mmap(nullptr, queue.length, PROT_READ, MAP_SHARED, a_.ctx->cmd_fd, queue.offset);
    ASSERT_NE(again, MAP_FAILED);
    munmap(again, queue.length);
  }
}

TEST_F(Mapping, OtherProgramsDoNotInheritTheDoorbell) {
  int doorbells = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (gone || target.string().find("srn_doorbell") == std::string::npos) continue;
    doorbells++;
    EXPECT_TRUE(fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC);
  }
  EXPECT_EQ(doorbells, 1);
}

// A bitmap of QPs, of which each word has 32.
TEST_F(Mapping, DoorbellReachesEachOfManyQps) {
  std::vector<End> ends;
  for (int i = 0; i < 70; i++) {
    ends.push_back(End::Create(a_, {}, 4));
    const Qp& qp = ends.back().qp;
    Must(ConnectTo(qp, a_.port, a_.port.gid, qp.num(), 5, 5, {}));
  }
  const uint64_t before = Doorbells();
  for (End& end : ends) {
    Must(end.qp.Post(SendWr::Write(1, a_.mr.Slice(0, 8), a_.mr.At(4096))));
    EXPECT_EQ(Await(end.send_cq).status, IBV_WC_SUCCESS);
  }
  // Each of them rested.
  EXPECT_EQ(Doorbells() - before, ends.size());
}

}  // namespace
}  // namespace verbs_test
