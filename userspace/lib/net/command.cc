// SPDX-License-Identifier: GPL-2.0-only
#include "command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd.h"

extern char** environ;

namespace net {
namespace {

std::string Join(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string ReadAll(int fd) {
  std::string text;
  char chunk[512];
  ssize_t got;
  while ((got = ::read(fd, chunk, sizeof(chunk))) > 0) text.append(chunk, static_cast<size_t>(got));
  return text;
}

// Starts argv with stderr on err_fd. Returns 0 or an errno.
int Spawn(const std::vector<std::string>& argv, int err_fd, pid_t& pid) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
  const int err = posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return err;
}

}  // namespace

result::Status Run(const std::vector<std::string>& argv) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return result::FromErrno("pipe");
  UniqueFd read_end(ends[0]);
  pid_t pid = -1;
  {
    UniqueFd write_end(ends[1]);
    const int err = Spawn(argv, write_end.get(), pid);
    if (err != 0) return result::Error{err, Join(argv)};
  }
  const std::string complaint = ReadAll(read_end.get());
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return result::FromErrno("waitpid");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result::Error{code, Join(argv),
                       complaint.empty() ? "status " + std::to_string(code) : complaint};
}

}  // namespace net
