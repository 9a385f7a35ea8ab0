// SPDX-License-Identifier: GPL-2.0-only
// What every wire test starts from: a peer and a connected QP, over IPv4 or IPv6.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "endpoint.h"
#include "messages.h"
#include "peer.h"

namespace wire {

// Where requests of both sides have their bytes in the memory of the device under test.
inline constexpr size_t kPlace = 4096;
// What the device under test names in the peer's memory.
inline constexpr uint64_t kRemoteVa = 0x00007f0000001003;
inline constexpr uint32_t kRemoteKey = 0x5555;

class WireTest : public testing::TestWithParam<net::IpVersion> {
 protected:
  // Opens the peer and connects a QP to it. Throws (the test fails) if that does not work.
  void Start(const QpOptions& options = {});
  // As before, with a new QP and a new peer QPN.
  void Restart(const QpOptions& options = {}) {
    endpoint_.reset();
    Start(options);
  }

  Peer& peer() { return *peer_; }
  Endpoint& ep() { return *endpoint_; }
  uint32_t mtu() const { return endpoint_->options().mtu; }
  // The i-th PSN that the peer, or the device, uses in this connection.
  uint32_t PeerPsn(int i = 0) const { return roce::PsnAdd(endpoint_->options().rq_psn, i); }
  uint32_t DevPsn(int i = 0) const { return roce::PsnAdd(endpoint_->options().sq_psn, i); }
  roce::Reth Reth(size_t offset, uint32_t length) const {
    return {endpoint_->Va(offset), endpoint_->rkey(), length};
  }

  // A WRITE of the peer, of one value.
  std::vector<Packet> WriteTo(int psn, uint8_t value, size_t offset = kPlace,
                              uint32_t length = 16) {
    return WriteMessage(PeerPsn(psn), Bytes(length, value), mtu(), ep().Va(offset), ep().rkey());
  }
  // Posts a READ of `length` bytes to `place`; where they are at the peer, nobody looks.
  void PostRead(uint64_t id, uint32_t length, size_t place = kPlace);
  // The next packet asks for [skip, length) of the READ that began `skip` bytes before `psn`.
  void ExpectReadRequest(uint32_t psn, uint32_t length, uint32_t skip = 0);

  void Send(const std::vector<Packet>& packets) {
    for (const Packet& packet : packets) peer().Send(packet);
  }

  // So many packets are sent and acknowledged, in two messages, so that 62 may be in flight: a
  // connection begins with 16.
  static constexpr int kOpened = 46;
  void Open();

  // Reads ACKs (they may be merged) until one for `psn` with `msn` comes.
  void ExpectAckedUpTo(uint32_t psn, uint32_t msn);
  // The next receive completion is a success with these fields.
  ibv_wc ExpectReceived(uint64_t id, uint32_t length, ibv_wc_opcode opcode = IBV_WC_RECV);
  // The next send completion is a success with these fields.
  void ExpectSent(uint64_t id, ibv_wc_opcode opcode);
  // The next send completion has this status; then the QP is in error.
  void ExpectSendFails(uint64_t id, ibv_wc_status status);
  // Memory at `offset` holds `data` and the bytes around it still hold `around`.
  void ExpectPlaced(size_t offset, const Bytes& data, uint8_t around);

  // Reads the packets of one request message: opcodes, PSNs, payload, headers. The last one asks
  // for an ACK; others may. Returns the packets.
  std::vector<Packet> ExpectMessage(const std::vector<Packet>& expected);

  // Of peers that are started from now on.
  void HearHellos() { hears_hellos_ = true; }

  // A WRITE and a READ from the peer still work: they take PSNs `psn` and the
  // next. `msn` messages have been completed before.
  void ExpectResponderWorks(uint32_t psn, uint32_t msn);

 private:
  bool hears_hellos_ = false;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Endpoint> endpoint_;
};

// IPv4, and IPv6 where there is time for it.
std::vector<net::IpVersion> VersionsOfThisRun();
// "V4" or "V6", for test names.
std::string VersionName(const testing::TestParamInfo<net::IpVersion>& info);

}  // namespace wire

// Ends a test of what the standard leaves to the device.
#define SRN_SKIP_LAX() \
  if (Wire::Get().config().lax) GTEST_SKIP()

// Instantiates a WireTest suite whose rules know no address: for IPv4, in a long run for both.
#define SRN_ANY_IP_VERSION(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(Ip, suite, testing::ValuesIn(wire::VersionsOfThisRun()), \
                           wire::VersionName)
// Instantiates a WireTest suite for both IP versions.
#define SRN_BOTH_IP_VERSIONS(suite)                                                              \
  INSTANTIATE_TEST_SUITE_P(Ip, suite, testing::Values(net::IpVersion::kV4, net::IpVersion::kV6), \
                           wire::VersionName)
