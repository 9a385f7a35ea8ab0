// SPDX-License-Identifier: GPL-2.0-only
// What the port tells of the netdev below it, when that changes. On a link of its own: the others
// are left alone.
#include <fstream>

#include <net/command.h>
#include <net/link.h>

#include "env.h"

namespace verbs_test {
namespace {

constexpr int kPolling = 2, kDisabled = 3, kLinkUp = 5;
constexpr char kDevice[] = "srnP";

class PortChanges : public testing::Test {
 protected:
  void SetUp() override {
    veth_.emplace(Must(net::VethPair::Create("p0", "p1", 4500)));
    Must(net::Run({"rdma", "link", "add", kDevice, "type", "srn", "netdev", "p0"}));
    context_ = Must(Context::Open(kDevice));
  }
  void TearDown() override {
    (void)context_.Close();
    (void)net::Run({"rdma", "link", "delete", kDevice});
  }

  ibv_port_attr Port() { return Must(context_.QueryPort(1)); }
  void ExpectState(ibv_port_state state, int physical) {
    EXPECT_EQ(Port().state, state);
    EXPECT_EQ(Port().phys_state, physical);
  }
  // Others tell of GIDs and clients meanwhile.
  void ExpectEvent(ibv_event_type type) {
    for (;;) {
      const ibv_async_event event = Must(context_.WaitEvent(Patience()));
      if (event.event_type == IBV_EVENT_GID_CHANGE) continue;
      EXPECT_EQ(event.event_type, type) << ibv_event_type_str(event.event_type);
      return;
    }
  }
  uint64_t Downed() {
    std::ifstream file(std::string("/sys/class/infiniband/") + kDevice +
                       "/ports/1/hw_counters/link_downed");
    uint64_t value = ~uint64_t{0};
    file >> value;
    return value;
  }
  // A QP on this port, towards itself, with this path MTU.
  int ConnectWith(ibv_mtu mtu) {
    const verbs::Port port = Must(context_.FindPort(Ip::kV6));  // the link-local one
    Pd pd = Must(Pd::Create(context_));
    Cq cq = Must(Cq::Create(context_, 4));
    Qp qp = Must(Qp::Create(pd, cq, cq, {}));
    return ConnectTo(qp, port, port.gid, qp.num(), 0, 0, {.mtu = mtu}).error();
  }

  std::optional<net::VethPair> veth_;
  Context context_;
};

TEST_F(PortChanges, NetdevThatGoesDownDisablesIt) {
  ExpectState(IBV_PORT_ACTIVE, kLinkUp);
  EXPECT_EQ(Downed(), 0u);
  Must(net::SetUp("p0", false));
  ExpectEvent(IBV_EVENT_PORT_ERR);
  ExpectState(IBV_PORT_DOWN, kDisabled);
  Must(net::SetUp("p0", true));
  ExpectEvent(IBV_EVENT_PORT_ACTIVE);
  ExpectState(IBV_PORT_ACTIVE, kLinkUp);
  EXPECT_EQ(Downed(), 1u);
}

TEST_F(PortChanges, NetdevWithoutCarrierLooksForOne) {
  Must(net::SetUp("p1", false));
  ExpectEvent(IBV_EVENT_PORT_ERR);
  ExpectState(IBV_PORT_DOWN, kPolling);
  Must(net::SetUp("p1", true));
  ExpectEvent(IBV_EVENT_PORT_ACTIVE);
  ExpectState(IBV_PORT_ACTIVE, kLinkUp);
}

// IPv6, UDP, the longest headers with payload, ICRC: 84 bytes.
TEST_F(PortChanges, MtuIsTheLargestWhosePacketsFit) {
  for (const int bytes : {4096, 2048}) {
    SCOPED_TRACE(bytes);
    const ibv_mtu mtu = MtuOf(static_cast<uint32_t>(bytes));
    Must(net::Run({"ip", "link", "set", "p0", "mtu", std::to_string(bytes + 84)}));
    EXPECT_EQ(Port().active_mtu, mtu);
    // The neighbour may have to be asked for again: the netdev has just changed.
    int err = ETIMEDOUT;
    for (int tries = 0; tries < 5 && err == ETIMEDOUT; ++tries) err = ConnectWith(mtu);
    EXPECT_EQ(err, 0);
    Must(net::Run({"ip", "link", "set", "p0", "mtu", std::to_string(bytes + 83)}));
    EXPECT_EQ(Port().active_mtu, MtuOf(static_cast<uint32_t>(bytes / 2)));
    EXPECT_EQ(ConnectWith(mtu), EINVAL);
  }
}

// A veth says 10 Gbit/s, which is a lane of QDR.
TEST_F(PortChanges, RateIsThatOfTheNetdev) {
  EXPECT_EQ(Port().active_width, 1);
  EXPECT_EQ(Port().active_speed, 4);
}

TEST_F(PortChanges, NetdevHasOneLink) {
  EXPECT_FALSE(net::Run({"rdma", "link", "add", "srnQ", "type", "srn", "netdev", "p0"}));
  (void)net::Run({"rdma", "link", "delete", "srnQ"});
}

TEST_F(PortChanges, DescriptionCanBeChanged) {
  const std::string path = std::string("/sys/class/infiniband/") + kDevice + "/node_desc";
  std::ofstream(path) << "a port of mine";
  std::string text;
  std::getline(std::ifstream(path), text);
  EXPECT_EQ(text, "a port of mine");
}

TEST(LinkRules, LoopbackCarriesOne) {
  EXPECT_TRUE(net::Run({"rdma", "link", "add", "srnL", "type", "srn", "netdev", "lo"}));
  EXPECT_TRUE(net::Run({"rdma", "link", "delete", "srnL"}));
}

// One that has carrier all the time says no more than that it was set up, and down.
TEST(LinkRules, NetdevWithoutLinkWatchIsFollowed) {
  Must(net::Run({"ip", "link", "add", "d9", "type", "dummy"}));
  EXPECT_TRUE(net::Run({"rdma", "link", "add", "srnD", "type", "srn", "netdev", "d9"}));
  {
    Context context = Must(Context::Open("srnD"));
    for (const bool up : {true, false}) {
      Must(net::SetUp("d9", up));
      ibv_async_event event;
      do {
        event = Must(context.WaitEvent(Patience()));
      } while (event.event_type == IBV_EVENT_GID_CHANGE);
      EXPECT_EQ(event.event_type, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
    }
  }
  EXPECT_TRUE(net::Run({"rdma", "link", "delete", "srnD"}));
  EXPECT_TRUE(net::Run({"ip", "link", "delete", "d9"}));
}

}  // namespace
}  // namespace verbs_test
