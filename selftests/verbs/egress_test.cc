// SPDX-License-Identifier: GPL-2.0-only
// What leaves by a netdev as one skb, and where each packet has its own: asked anew of each
// message, of a QP that goes on meanwhile.
#include <fstream>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>

#include <net/command.h>
#include <share/counters.h>

#include "env.h"

namespace verbs_test {
namespace {

constexpr size_t kSize = 32768;

// What is done to A's netdev, $DEV.
struct Change {
  const char* name;
  const char* make;
  const char* undo;
};

constexpr Change kChanges[] = {
    {"GsoOff", "ethtool -K $DEV gso off", "ethtool -K $DEV gso on"},
    {"SgOff", "ethtool -K $DEV sg off", "ethtool -K $DEV sg on"},
    {"OneSegment", "ip link set dev $DEV gso_max_segs 1",
     "ip link set dev $DEV gso_max_segs 65535"},
    {"FewBytes", "ip link set dev $DEV gso_max_size 1500",
     "ip link set dev $DEV gso_max_size 65536"},
    {"Netem", "tc qdisc add dev $DEV root netem limit 10000", "tc qdisc del dev $DEV root"},
    {"NetemBelow",
     "tc qdisc add dev $DEV root handle 1: prio && "
     "tc qdisc add dev $DEV parent 1:3 netem limit 10000",
     "tc qdisc del dev $DEV root"},
};

void PrintTo(const Change& change, std::ostream* os) { *os << change.name; }

class Egress : public testing::TestWithParam<std::tuple<Ip, Change>> {
 protected:
  void SetUp() override {
    if (Foreign()) GTEST_SKIP() << "what others send as one nobody knows";
    if (DeviceA() == DeviceB()) GTEST_SKIP() << "what is for oneself leaves by lo";
    const Ip ip = std::get<Ip>(GetParam());
    a_ = Host::Open(DeviceA(), ip, 2 * kSize);
    b_ = Host::Open(DeviceB(), ip, 2 * kSize);
    std::ifstream("/sys/class/infiniband/" + DeviceA() + "/ports/1/gid_attrs/ndevs/0") >> netdev_;
    a_end_ = End::Create(a_);
    b_end_ = End::Create(b_);
    Must(Connect(a_end_.qp, a_.port, b_end_.qp, b_.port, {}));
    SendBoth();
  }
  void TearDown() override {
    if (changed_) Do(std::get<Change>(GetParam()).undo);
  }

  void Do(const std::string& command) {
    Must(net::Run({"sh", "-c", "DEV=" + netdev_ + "; " + command}));
    // What is below a root may have been looked at a tick ago.
    std::this_thread::sleep_for(share::kCacheLife);
  }
  // A's request, and its answer to B's.
  void SendBoth() {
    FillPattern(a_.bytes(0, kSize), ++seed_);
    Must(a_end_.qp.Post(SendWr::Write(1, a_.mr.Slice(0, kSize), b_.mr.At(0))));
    ASSERT_EQ(Await(a_end_.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(0, kSize), seed_);
    Must(b_end_.qp.Post(SendWr::Read(2, b_.mr.Slice(kSize, kSize), a_.mr.At(0))));
    ASSERT_EQ(Await(b_end_.send_cq).status, IBV_WC_SUCCESS);
    ExpectPattern(b_.bytes(kSize, kSize), seed_);
  }
  // How many skbs had several packets.
  uint64_t Coupled() {
    const uint64_t before = share::FreshCounter(DeviceA(), "sent_trains");
    SendBoth();
    return share::FreshCounter(DeviceA(), "sent_trains") - before;
  }

  std::string netdev_;
  Host a_, b_;
  End a_end_, b_end_;
  uint32_t seed_ = 0;
  bool changed_ = false;
};

TEST_P(Egress, PacketsLeaveAloneWhileTheyHaveTo) {
  EXPECT_GT(Coupled(), 0u);
  changed_ = true;
  Do(std::get<Change>(GetParam()).make);
  EXPECT_EQ(Coupled(), 0u);
  Do(std::get<Change>(GetParam()).undo);
  changed_ = false;
  EXPECT_GT(Coupled(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Netdev, Egress,
                         testing::Combine(testing::Values(Ip::kV4, Ip::kV6),
                                          testing::ValuesIn(kChanges)),
                         [](const auto& info) {
                           return std::string(ToString(std::get<Ip>(info.param))) +
                                  std::get<Change>(info.param).name;
                         });

}  // namespace
}  // namespace verbs_test
