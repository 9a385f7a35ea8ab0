// SPDX-License-Identifier: GPL-2.0-only
// What libnl hands out, owned: sockets and messages of netlink.
#pragma once

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <cerrno>
#include <memory>

#include <result/result.h>

namespace verbs_test {

struct NlCloser {
  void operator()(nl_sock* socket) const { nl_socket_free(socket); }
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};
using NlSocket = std::unique_ptr<nl_sock, NlCloser>;
using NlMessage = std::unique_ptr<nl_msg, NlCloser>;

inline result::Status FromNl(int rc, const char* what) {
  if (rc >= 0) return {};
  return result::Error{EIO, what, nl_geterror(rc)};
}

// Of the network namespace that the thread is in. Who is asked by it answers, and acknowledges only
// what it refuses.
inline result::Result<NlSocket> OpenNl(int protocol) {
  NlSocket socket(nl_socket_alloc());
  if (!socket) return result::Error{ENOMEM, "nl_socket_alloc"};
  const result::Status connected = FromNl(nl_connect(socket.get(), protocol), "nl_connect");
  if (!connected) return connected.failure();
  nl_socket_disable_auto_ack(socket.get());
  return socket;
}

// Sends a request, and gives `take` its answer, with `to`. `what` names it in an error.
inline result::Status AskNl(nl_sock* socket, nl_msg* request, int (*take)(nl_msg*, void*), void* to,
                            const char* what) {
  nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, take, to);
  const result::Status sent = FromNl(nl_send_auto(socket, request), "nl_send_auto");
  if (!sent) return sent;
  return FromNl(nl_recvmsgs_default(socket), what);
}

}  // namespace verbs_test
