// SPDX-License-Identifier: GPL-2.0-only
// The tests' own ears: a peer that does not hear what it should not get would let it pass.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstring>

#include <gtest/gtest-spi.h>

#include <net/fd.h>
#include <net/packet_socket.h>
#include <result/must.h>
#include <roce/udp_port.h>

#include "fixture.h"

namespace wire {
namespace {

class Ears : public WireTest {
 protected:
  // A datagram from the host of the device, by its own stack.
  void SendFromHost(uint16_t port, size_t size) {
    const net::IpAddress to = Wire::Get().peer(GetParam());
    const bool v4 = GetParam() == net::IpVersion::kV4;
    sockaddr_storage address = {};
    socklen_t length = sizeof(sockaddr_in6);
    if (v4) {
      auto& sin = reinterpret_cast<sockaddr_in&>(address);
      sin.sin_port = htons(port);
      inet_pton(AF_INET, to.ToString().c_str(), &sin.sin_addr);
      length = sizeof(sin);
    } else {
      auto& sin6 = reinterpret_cast<sockaddr_in6&>(address);
      sin6.sin6_port = htons(port);
      inet_pton(AF_INET6, to.ToString().c_str(), &sin6.sin6_addr);
    }
    address.ss_family = v4 ? AF_INET : AF_INET6;
    const net::UniqueFd fd(socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const std::vector<uint8_t> bytes(size, 0);
    ASSERT_EQ(
        sendto(fd.get(), bytes.data(), size, 0, reinterpret_cast<sockaddr*>(&address), length),
        static_cast<ssize_t>(size));
  }
};
SRN_BOTH_IP_VERSIONS(Ears);

TEST_P(Ears, HearNothingWhereNothingIs) {
  Start();
  peer().ExpectNothing();
}

TEST_P(Ears, HearAnotherPort) {
  Start();
  SendFromHost(roce::kUdpPort - 1, 64);
  EXPECT_NONFATAL_FAILURE(peer().ExpectNothing(), "sent to UDP port 4790");
}

// RDMA without IP, RoCE version 1; and a type of which nobody knows.
TEST_P(Ears, HearWhatIsNoIp) {
  Start();
  net::PacketSocket device = result::Must(net::PacketSocket::Open(Wire::Get().config().netdev));
  for (const uint16_t type : {0x8915, 0x88b5}) {
    Bytes frame(60, 0);
    std::copy_n(Wire::Get().peer_mac().bytes.begin(), 6, frame.begin());
    std::copy_n(Wire::Get().local_mac().bytes.begin(), 6, frame.begin() + 6);
    frame[12] = static_cast<uint8_t>(type >> 8);
    frame[13] = static_cast<uint8_t>(type);
    result::Must(device.Send(frame));
    EXPECT_NONFATAL_FAILURE(peer().ExpectNothing(), "no UDP datagram");
  }
}

TEST_P(Ears, HearAFragment) {
  Start();
  SendFromHost(roce::kUdpPort, 5000);
  testing::TestPartResultArray failures;
  {
    testing::ScopedFakeTestPartResultReporter catcher(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    peer().ExpectNothing();
  }
  ASSERT_EQ(failures.size(), 2) << "a datagram in two fragments";
  EXPECT_NE(strstr(failures.GetTestPartResult(0).message(), "no UDP datagram"), nullptr);
}

// Nobody listens there.
TEST_P(Ears, HearAnIcmpError) {
  Start();
  net::Datagram d = peer().Envelope();
  d.dport = 9;
  d.udp_checksum = net::UdpChecksum::kRight;
  d.payload = Bytes(8, 0);
  peer().SendDatagram(d);
  EXPECT_NONFATAL_FAILURE(peer().ExpectNothing(), "no UDP datagram");
}

// The device's own packet, once more, with another address in it.
TEST_P(Ears, HearWhatIsBetweenOtherAddresses) {
  Start();
  ep().PostSend(1, 0, 8);
  const Packet packet = peer().Expect();
  const net::Datagram good = peer().last().datagram;
  net::PacketSocket device = result::Must(net::PacketSocket::Open(Wire::Get().config().netdev));
  const auto hear = [&](const std::function<void(net::Datagram&)>& change) {
    net::Datagram d = good;
    change(d);
    roce::Encode(packet, d);
    result::Must(device.Send(net::BuildFrame(d)));
    EXPECT_TRUE(peer().Receive(Wire::Get().Patience(kSoon)));
  };
  hear([](net::Datagram&) {});
  EXPECT_NONFATAL_FAILURE(hear([](net::Datagram& d) { d.src = d.dst; }), "other addresses");
  EXPECT_NONFATAL_FAILURE(hear([](net::Datagram& d) { d.dst = d.src; }), "other addresses");
  EXPECT_NONFATAL_FAILURE(hear([](net::Datagram& d) { d.mac_src = d.mac_dst; }), "other addresses");
  EXPECT_NONFATAL_FAILURE(hear([](net::Datagram& d) { d.mac_dst = d.mac_src; }), "other addresses");
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(1, IBV_WC_SEND);
}

TEST_P(Ears, HearWhatIsForNobody) {
  Start();
  SendFromHost(roce::kUdpPort, 64);
  EXPECT_NONFATAL_FAILURE(peer().ExpectNothing(), "sent to nobody's QP");
}

TEST_P(Ears, HearAtTheEndWhatNobodyReceived) {
  Start();
  SendFromHost(roce::kUdpPort - 1, 64);
  EXPECT_NONFATAL_FAILURE(Restart(), "sent to UDP port 4790");
}

TEST_P(Ears, FeelAByteBeforeOrBehindTheRegion) {
  Start();
  *(ep().Memory(0, 1).data() - 1) = std::byte{1};
  EXPECT_NONFATAL_FAILURE(Restart(), "written before the region");
  *(ep().Memory(0, 1).data() + kBufferSize) = std::byte{1};
  EXPECT_NONFATAL_FAILURE(Restart(), "written behind it");
}

}  // namespace
}  // namespace wire
