// SPDX-License-Identifier: GPL-2.0-only
// Whose packet it is where there are more addresses, netdevs, devices and namespaces than one.
#include <sys/socket.h>

#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include <net/command.h>
#include <net/link.h>
#include <net/netns.h>
#include <result/must.h>

#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

using result::Must;

// Commands of iproute2 that undo themselves at the end of the test.
class Undo {
 public:
  explicit Undo(std::vector<std::string> argv) : argv_(std::move(argv)) {}
  Undo(const Undo&) = delete;
  ~Undo() { (void)net::Run(argv_); }

 private:
  std::vector<std::string> argv_;
};

template <typename Holds>
bool Becomes(Holds holds) {
  const auto deadline = Clock::now() + Wire::Get().Patience(std::chrono::seconds(5));
  while (!holds()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

uint64_t CounterOf(const std::string& device, const std::string& name) {
  std::this_thread::sleep_for(std::chrono::milliseconds(25));  // the core's cache
  std::ifstream file("/sys/class/infiniband/" + device + "/ports/1/hw_counters/" + name);
  uint64_t value = 0;
  file >> value;
  return value;
}

class Outsiders : public WireTest {
 protected:
  bool v4() const { return GetParam() == net::IpVersion::kV4; }
  // Another address of the subnet.
  net::IpAddress Other() const { return *net::IpAddress::Parse(v4() ? "10.79.0.9" : "fd79::9"); }
  int Prefix() const { return v4() ? 24 : 64; }
  // Takes away an address: "ip address del ...".
  std::vector<std::string> Del(const net::IpAddress& address, const std::string& dev) const {
    return {"ip",  "address", "del", address.ToString() + "/" + std::to_string(Prefix()),
            "dev", dev};
  }
  bool HasGid(const verbs::Context& context, const net::IpAddress& address) const {
    return context.FindPort(ToGid(address)).ok();
  }
  void AddOther(const std::string& dev) { Must(net::AddAddress(dev, Other(), Prefix())); }
  Packet GoodWrite() {
    return Write(Operation::kWriteOnly, PeerPsn(), Pattern(32), Reth(kPlace, 32));
  }
  Packet Datagram() {
    Packet p = Request(Operation::kSendOnly, 1, Pattern(8), Service::kUd);
    p.deth = roce::Deth{ep().options().qkey, peer().qpn()};
    return p;
  }
  void SendTo(const net::IpAddress& address, Packet p) {
    net::Datagram d = peer().Envelope();
    d.dst = address;
    if (p.bth.dqpn == 0) p.bth.dqpn = ep().qpn();
    roce::Encode(p, d);
    peer().SendDatagram(d);
  }
};
SRN_BOTH_IP_VERSIONS(Outsiders);

// The table has the key with full membership, which limited members match.
TEST_P(Outsiders, LimitedMemberOfThePartitionIsServed) {
  Start();
  Packet p = GoodWrite();
  p.bth.pkey = 0x7fff;
  peer().Send(p);
  ExpectAckedUpTo(PeerPsn(), 1);
  EXPECT_EQ(ep().Copy(kPlace, 32), Pattern(32));
}

// A connection is between two addresses, and another one of this host is none of them.
TEST_P(Outsiders, OtherAddressOfTheDeviceIsNotTheConnections) {
  const std::string& dev = Wire::Get().config().netdev;
  AddOther(dev);
  const Undo undo(Del(Other(), dev));
  ASSERT_TRUE(Becomes([&] { return HasGid(Wire::Get().context(), Other()); }));
  Start();
  ep().Fill(0xee);
  const Counters before;
  SendTo(Other(), GoodWrite());
  peer().ExpectNothing();
  EXPECT_TRUE(before.Grew("rcvd_bad_address"));
  EXPECT_EQ(ep().Copy(kPlace, 32), Bytes(32, 0xee));
  ExpectResponderWorks(PeerPsn(), 0);
}

// A datagram QP is at each address of its device, and only while the device has it. The host has
// this one all the time: it moves to a netdev without a link.
TEST_P(Outsiders, DatagramToAnAddressThatHasLeftTheDevice) {
  const std::string& dev = Wire::Get().config().netdev;
  Must(net::Run({"ip", "link", "add", "o0", "type", "dummy"}));
  const Undo undo({"ip", "link", "del", "o0"});
  Must(net::SetUp("o0", true));
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  for (uint64_t id = 1; id <= 2; ++id) ep().PostRecv(id, kPlace, 1024);
  AddOther(dev);
  EXPECT_TRUE(Becomes([&] { return HasGid(Wire::Get().context(), Other()); }));
  SendTo(Other(), Datagram());
  ExpectReceived(1, 48);

  Must(net::Run(Del(Other(), dev)));
  EXPECT_TRUE(Becomes([&] { return !HasGid(Wire::Get().context(), Other()); }));
  AddOther("o0");
  const Counters before;
  SendTo(Other(), Datagram());
  ep().ExpectNoCompletion();
  EXPECT_TRUE(before.Grew("rcvd_bad_address"));
  // The others are as they were.
  peer().Send(Datagram());
  ExpectReceived(2, 48);
}

// A connection rests while the host does not have its address, and goes on when that is back.
TEST_P(Outsiders, ConnectionRestsWhileItsAddressIsGone) {
  const std::string& dev = Wire::Get().config().netdev;
  AddOther(dev);
  const Undo undo(Del(Other(), dev));
  ASSERT_TRUE(Becomes([&] { return HasGid(Wire::Get().context(), Other()); }));
  Start({.address = Other()});
  ExpectResponderWorks(PeerPsn(), 0);

  Must(net::Run(Del(Other(), dev)));
  ASSERT_TRUE(Becomes([&] { return !HasGid(Wire::Get().context(), Other()); }));
  ep().Fill(0xee);
  Send(WriteTo(2, 1));
  peer().ExpectNothing();
  EXPECT_EQ(ep().Copy(kPlace, 16), Bytes(16, 0xee));

  AddOther(dev);
  ASSERT_TRUE(Becomes([&] { return HasGid(Wire::Get().context(), Other()); }));
  ExpectResponderWorks(PeerPsn(2), 2);
}

// A packet for nobody counts where it came in, of two devices that have its address.
TEST_P(Outsiders, OfTwoDevicesWithOneAddressTheOneOfTheNetdevIsMeant) {
  const std::string device = Wire::Get().config().device;
  net::VethPair veth = Must(net::VethPair::Create("o1", "o2", 4500));
  Must(net::SetConf(net::IpVersion::kV4, "all", "rp_filter", "0"));
  Must(net::SetConf(net::IpVersion::kV4, "o1", "rp_filter", "0"));
  Must(net::Run({"rdma", "link", "add", "srnO", "type", "srn", "netdev", "o1"}));
  const Undo undo({"rdma", "link", "delete", "srnO"});
  AddOther("o1");
  AddOther(Wire::Get().config().netdev);
  const Undo address(Del(Other(), Wire::Get().config().netdev));
  const verbs::Context other = Must(verbs::Context::Open("srnO"));
  EXPECT_TRUE(Becomes([&] { return HasGid(Wire::Get().context(), Other()); }));
  EXPECT_TRUE(Becomes([&] { return HasGid(other, Other()); }));

  Start();
  Packet p = GoodWrite();
  p.bth.dqpn = ep().qpn() + 0x7000;
  net::Datagram d = peer().Envelope();
  d.dst = Other();
  d.mac_dst = Must(net::GetMac("o1"));
  roce::Encode(p, d);
  net::PacketSocket socket = Must(net::PacketSocket::Open("o2"));
  const uint64_t there = CounterOf("srnO", "rcvd_no_qp"), here = CounterOf(device, "rcvd_no_qp");
  Must(socket.Send(net::BuildFrame(d)));
  EXPECT_TRUE(Becomes([&] { return CounterOf("srnO", "rcvd_no_qp") == there + 1; }));
  EXPECT_EQ(CounterOf(device, "rcvd_no_qp"), here);
  SendTo(Other(), p);
  EXPECT_TRUE(Becomes([&] { return CounterOf(device, "rcvd_no_qp") == here + 1; }));
  EXPECT_EQ(CounterOf("srnO", "rcvd_no_qp"), there + 1);
}

// Two networks that use the same addresses, and a link on each: who is in the one has no part in
// the connections of the other, though it knows all of their numbers.
TEST_P(Outsiders, ConnectionIsNotReachedThroughAnotherDevicesNetdev) {
  const net::IpAddress local = Wire::Get().local(GetParam());
  net::VethPair veth = Must(net::VethPair::Create("o1", "o2", 4500));
  Must(net::SetConf(net::IpVersion::kV4, "all", "rp_filter", "0"));
  Must(net::SetConf(net::IpVersion::kV4, "o1", "rp_filter", "0"));
  Must(net::Run({"rdma", "link", "add", "srnO", "type", "srn", "netdev", "o1"}));
  const Undo undo({"rdma", "link", "delete", "srnO"});
  Start();
  ep().Fill(0xee);
  net::Datagram d = peer().Seal(GoodWrite());
  d.mac_dst = Must(net::GetMac("o1"));
  net::PacketSocket socket = Must(net::PacketSocket::Open("o2"));
  Must(net::AddAddress("o1", local, v4() ? 32 : 128));
  const verbs::Context other = Must(verbs::Context::Open("srnO"));
  ASSERT_TRUE(Becomes([&] { return HasGid(other, local); }));

  const Counters before;
  Must(socket.Send(net::BuildFrame(d)));
  EXPECT_TRUE(before.Grew("rcvd_bad_address"));
  peer().ExpectNothing();
  EXPECT_EQ(ep().Copy(kPlace, 32), Bytes(32, 0xee));
  // By its own netdev it goes on; and by another one where nobody has the address.
  ExpectResponderWorks(PeerPsn(), 0);
  Must(net::Run({"ip", "address", "del", local.ToString() + (v4() ? "/32" : "/128"), "dev", "o1"}));
  ASSERT_TRUE(Becomes([&] { return !HasGid(other, local); }));
  Packet p = Write(Operation::kWriteOnly, PeerPsn(2), Pattern(32), Reth(kPlace, 32));
  d = peer().Seal(p);
  d.mac_dst = Must(net::GetMac("o1"));
  Must(socket.Send(net::BuildFrame(d)));
  ExpectAckedUpTo(PeerPsn(2), 3);
}

// The core counts a VLAN's addresses to the netdev below it.
TEST_P(Outsiders, LinkOnAVlanHasItsAddresses) {
  Must(net::Run({"ip", "link", "add", "link", Wire::Get().config().netdev, "name", "o7", "type",
                 "vlan", "id", "7"}));
  const Undo undo({"ip", "link", "del", "o7"});
  Must(net::SetUp("o7", true));
  AddOther("o7");
  Must(net::Run({"rdma", "link", "add", "srnO", "type", "srn", "netdev", "o7"}));
  const Undo link({"rdma", "link", "delete", "srnO"});
  const verbs::Context vlan = Must(verbs::Context::Open("srnO"));
  EXPECT_TRUE(Becomes([&] { return HasGid(vlan, Other()); }));
}

// A QP in another namespace, which has the same addresses and the same peer. Its number is known
// here, and that must be all.
class Elsewhere {
 public:
  Elsewhere(const net::IpAddress& address, int prefix, Peer& peer)
      : netns_(Must(net::Netns::Create("elsewhere"))) {
    Must(net::Run({"ip", "-n", "elsewhere", "link", "add", "e0", "mtu", "4500", "type", "dummy"}));
    Must(net::Run({"ip", "-n", "elsewhere", "link", "set", "e0", "up"}));
    std::vector<std::string> add = {"ip",        "-n",
                                    "elsewhere", "address",
                                    "add",       address.ToString() + "/" + std::to_string(prefix),
                                    "dev",       "e0"};
    if (address.version() == net::IpVersion::kV6) add.push_back("nodad");
    Must(net::Run(add));
    Must(net::Run({"ip", "netns", "exec", "elsewhere", "rdma", "link", "add", "srnE", "type", "srn",
                   "netdev", "e0"}));
    context_ = Must(verbs::Context::Open("srnE"));
    EXPECT_TRUE(Becomes([&] { return context_.FindPort(ToGid(address)).ok(); }));
    buffer_ = Must(verbs::Buffer::Map(4096));
    pd_ = Must(verbs::Pd::Create(context_));
    mr_ = Must(verbs::Mr::Register(pd_, buffer_.Slice(0, 4096)));
    cq_ = Must(verbs::Cq::Create(context_, 16));
    qp_ = Must(verbs::Qp::Create(pd_, cq_, cq_, {}));
    Must(verbs::ConnectTo(qp_, Must(context_.FindPort(ToGid(address))),
                          ToGid(Wire::Get().peer(address.version())), peer.qpn(), 0x500, 0xa000,
                          {.mtu = IBV_MTU_1024}));
  }
  ~Elsewhere() {
    (void)qp_.Close();
    (void)cq_.Close();
    (void)mr_.Close();
    (void)pd_.Close();
    (void)context_.Close();
    (void)net::Run({"rdma", "link", "delete", "srnE"});
  }

  uint32_t qpn() const { return qp_.num(); }
  roce::Reth Reth(uint32_t length) const { return {mr_.At(0).addr, mr_.At(0).rkey, length}; }
  uint8_t FirstByte() const { return static_cast<uint8_t>(buffer_.Slice(0, 1)[0]); }

 private:
  net::Netns netns_;
  verbs::Context context_;
  verbs::Buffer buffer_;
  verbs::Pd pd_;
  verbs::Mr mr_;
  verbs::Cq cq_;
  verbs::Qp qp_;
};

TEST_P(Outsiders, QpOfAnotherNamespaceIsNotThere) {
  Start();
  const Elsewhere elsewhere(Wire::Get().local(GetParam()), Prefix(), peer());
  const Counters before;
  Packet p = Write(Operation::kWriteOnly, 0x500, Bytes(8, 0x5a), elsewhere.Reth(8));
  p.bth.dqpn = elsewhere.qpn();
  peer().Send(p);
  peer().ExpectNothing();
  EXPECT_TRUE(before.Grew("rcvd_no_qp"));
  EXPECT_EQ(elsewhere.FirstByte(), 0);
  EXPECT_EQ(CounterOf("srnE", "rcvd_pkts"), 0u);
  EXPECT_EQ(CounterOf("srnE", "rcvd_no_qp"), 0u);
}

// What tc makes of the priority of what is sent: a band for each.
class Bands {
 public:
  explicit Bands(const std::string& dev) : dev_(dev) {
    Must(net::Run({"tc", "qdisc",   "replace", "dev", dev, "root", "handle", "1:", "prio", "bands",
                   "9",  "priomap", "0",       "1",   "2", "3",    "4",      "5",  "6",    "7",
                   "8",  "8",       "8",       "8",   "8", "8",    "8",      "8"}));
  }
  ~Bands() { (void)net::Run({"tc", "qdisc", "del", "dev", dev_, "root"}); }

  static constexpr int kBands = 9;

  // Packets that have passed each band.
  std::vector<uint64_t> SentByAll() const {
    FILE* tc = popen(("tc -s class show dev " + dev_).c_str(), "r");
    char line[256];
    unsigned long long packets = 0;
    unsigned int minor = 0;
    std::vector<uint64_t> sent(kBands);
    while (tc != nullptr && std::fgets(line, sizeof(line), tc) != nullptr) {
      (void)std::sscanf(line, "class prio 1:%x", &minor);
      if (std::sscanf(line, " Sent %*u bytes %llu pkt", &packets) == 1)
        sent.at(minor - 1) = packets;
    }
    if (tc != nullptr) pclose(tc);
    return sent;
  }

 private:
  std::string dev_;
};

class ServiceLevel : public WireTest {
 protected:
  // One packet leaves, and that in this band. In the bands of their priorities (best effort,
  // control) the kernel's own may too, for neighbours and groups.
  template <typename Send>
  void ExpectBand(const Bands& bands, int band, Send send) {
    const std::vector<uint64_t> before = bands.SentByAll();
    send();
    (void)peer().Expect();
    const std::vector<uint64_t> after = bands.SentByAll();
    for (int i = 0; i < Bands::kBands; ++i) {
      const uint64_t sent = after[i] - before[i];
      if (i != 0 && i != 7) EXPECT_EQ(sent, i == band ? 1u : 0u) << "band " << i;
    }
    EXPECT_GE(after[band], before[band] + 1);
  }
  // Another service level for a connection that rests.
  void SetLevel(uint8_t sl) {
    ibv_qp_attr attr = Must(ep().qp().Query()).attr;
    Must(ep().qp().ModifyState(IBV_QPS_SQD));
    attr.qp_state = IBV_QPS_SQD;
    attr.ah_attr.sl = sl;
    Must(ep().qp().Modify(attr, IBV_QP_STATE | IBV_QP_AV));
    Must(ep().qp().ModifyState(IBV_QPS_RTS));
  }
};
SRN_BOTH_IP_VERSIONS(ServiceLevel);

// What is above 7 stands in a completion for the type of the IP header (see
// DeliversEveryLength...), and comes back in handles that are made of one: no priority.
TEST_P(ServiceLevel, IsThePriorityOfADatagram) {
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  const Bands bands(Wire::Get().config().netdev);
  for (const int sl : {0, 1, 3, 7, 8, 10, 15}) {
    SCOPED_TRACE(sl);
    ibv_ah* ah = ep().CreateAh(peer(), {}, static_cast<uint8_t>(sl));
    ExpectBand(bands, sl > 7 ? 0 : sl,
               [&] { ep().Post(SendWr::Send(1, ep().Data(0, 8)).To(ah, peer().qpn(), 1)); });
    ExpectSent(1, IBV_WC_SEND);
  }
}

// What stands above the 20 bits of a flow label must not get into the traffic class.
TEST_P(ServiceLevel, IsApartFromTheFlowLabel) {
  Start({.type = IBV_QPT_UD, .mtu = 4096});
  ibv_ah* ah = ep().CreateAh(peer(), {.traffic_class = 0x07, .flow_label = 0xfff23456});
  ep().Post(SendWr::Send(1, ep().Data(0, 8)).To(ah, peer().qpn(), 1));
  (void)peer().Expect();
  EXPECT_EQ(peer().last().datagram.tos >> 2, 1) << "DSCP";
  // The rest is the transport's own: a program may not say that the network was congested.
  EXPECT_NE(peer().last().datagram.tos & 3, 3) << "ECN";
  if (GetParam() == net::IpVersion::kV6) EXPECT_EQ(peer().last().datagram.flow_label, 0x23456u);
  ExpectSent(1, IBV_WC_SEND);
}

// By the same rule.
TEST_P(ServiceLevel, IsThePriorityOfAConnection) {
  Start();
  const Bands bands(Wire::Get().config().netdev);
  int sent = 0;
  for (const int sl : {0, 1, 7, 8 + 5, 15}) {
    SCOPED_TRACE(sl);
    SetLevel(static_cast<uint8_t>(sl));
    ExpectBand(bands, sl > 7 ? 0 : sl, [&] { ep().PostSend(1, 0, 8); });
    peer().Send(Ack(DevPsn(sent), static_cast<uint32_t>(sent + 1)));
    ExpectSent(1, IBV_WC_SEND);
    ++sent;
  }
}

}  // namespace
}  // namespace wire
