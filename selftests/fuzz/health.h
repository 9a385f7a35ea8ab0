// SPDX-License-Identifier: GPL-2.0-only
// A connection that nobody attacks: it must move data right whatever happens beside it.
#pragma once

#include <memory>

#include <wire/endpoint.h>
#include <wire/model.h>
#include <wire/peer.h>

namespace fuzz {

class Health {
 public:
  explicit Health(net::IpVersion version);

  // WRITE and READ by the peer, SEND, WRITE, READ and an atomic by the device, each byte checked.
  // Throws if something of it fails (GoogleTest's throw_on_failure, or Broken).
  void Check();

 private:
  void CheckResponder();
  void CheckRequester();
  void Answer(uint64_t wr_id);

  std::unique_ptr<wire::Peer> peer_;
  std::unique_ptr<wire::Endpoint> endpoint_;
  std::unique_ptr<wire::ModelResponder> model_;
  uint32_t next_psn_;
  uint32_t round_ = 0;
};

}  // namespace fuzz
