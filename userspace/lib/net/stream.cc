// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <thread>

namespace net {
namespace {

using Clock = std::chrono::steady_clock;
using result::Error;
using result::FromErrno;
using std::chrono::milliseconds;

constexpr int kBacklog = 64;
constexpr milliseconds kNap(20);

result::Status WaitReadable(int fd, milliseconds timeout) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  const int rc = poll(&entry, 1, static_cast<int>(timeout.count()));

  if (rc < 0) return FromErrno("poll");
  if (rc == 0) return Error{ETIMEDOUT, "wait for the other end"};
  return {};
}

void SetOption(int fd, int level, int name, int value) {
  (void)setsockopt(fd, level, name, &value, sizeof(value));
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

result::Result<AddressList> Resolve(const std::string& host, uint16_t port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int rc = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);

  if (rc != 0) return Error{EHOSTUNREACH, "find " + host, gai_strerror(rc)};
  return AddressList(list, &freeaddrinfo);
}

result::Result<Stream> TryOnce(const addrinfo* list, const std::string& host) {
  Error last{ECONNREFUSED, "connect to " + host};

  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    UniqueFd fd(socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, 0));
    if (!fd || connect(fd.get(), one->ai_addr, one->ai_addrlen) != 0) {
      last = FromErrno("connect to " + host);
      continue;
    }
    SetOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    return Stream(std::move(fd));
  }
  return last;
}

}  // namespace

result::Result<Stream> Stream::Connect(const std::string& host, uint16_t port,
                                       milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  result::Result<AddressList> list = Resolve(host, port);
  if (!list.ok()) return list.failure();

  for (;;) {
    result::Result<Stream> stream = TryOnce(list->get(), host);
    if (stream.ok() || Clock::now() > deadline) return stream;
    std::this_thread::sleep_for(kNap);
  }
}

result::Result<std::pair<Stream, Stream>> Stream::Pair() {
  int fds[2];

  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return FromErrno("socketpair");
  return std::pair(Stream(UniqueFd(fds[0])), Stream(UniqueFd(fds[1])));
}

result::Status Stream::SendLine(std::string_view line) {
  const std::string text = std::string(line) + '\n';

  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(fd_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0) return FromErrno("send to the other end");
    sent += n;
  }
  return {};
}

std::optional<std::string> Stream::TakeLine() {
  const size_t end = pending_.find('\n');
  if (end == std::string::npos) return std::nullopt;

  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

result::Result<std::string> Stream::ReceiveLine(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;

  for (;;) {
    if (std::optional<std::string> line = TakeLine()) return *line;
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    result::Status status = WaitReadable(fd_.get(), std::max(left, milliseconds(0)));
    if (!status.ok()) return status.failure();
    char some[4096];
    const ssize_t n = recv(fd_.get(), some, sizeof(some), 0);
    if (n < 0) return FromErrno("receive from the other end");
    if (n == 0) return Error{ECONNRESET, "the other end has gone"};
    pending_.append(some, n);
  }
}

result::Result<Listener> Listener::Listen(uint16_t port) {
  UniqueFd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return FromErrno("socket");

  sockaddr_in6 any = {};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(port);
  SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 ||
      listen(fd.get(), kBacklog) != 0)
    return FromErrno("listen on port " + std::to_string(port));
  return Listener(std::move(fd));
}

result::Result<Stream> Listener::Accept(milliseconds timeout) {
  result::Status status = WaitReadable(fd_.get(), timeout);
  if (!status.ok()) return status.failure();

  UniqueFd fd(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd) return FromErrno("accept");
  SetOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return Stream(std::move(fd));
}

}  // namespace net
