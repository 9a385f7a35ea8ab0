// SPDX-License-Identifier: GPL-2.0-only
// srn_wire_test: a scripted RoCEv2 peer against a real verbs QP.
// With --topology (root, or in a VM) it builds the veth pair and the link itself.
#include <sys/socket.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <net/command.h>
#include <share/kernel_log.h>
#include <share/parameter.h>

#include "counters.h"
#include "recovery.h"
#include "wire.h"

namespace {

// A socket that wants time stamps while it is open. The first and the last of
// those patch the kernel's code (a static key); without this one, each test
// would, and QEMU's TCG now and then runs what stood there before.
void HoldTimestamps() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

// The device's netdev receives by a NAPI, which holds back for so long what may be coupled.
bool Couple(const wire::Config& config, int nanoseconds) {
  std::ofstream wait("/sys/class/net/" + config.netdev + "/gro_flush_timeout");
  return net::Run({"ethtool", "-K", config.netdev, "gro", "on"}) &&
         wait << nanoseconds << std::flush && share::SetParameter("gro", "Y");
}

// What leaves together, runs or trains, is one skb, which the sending stack cuts: the peer reads
// packets. Each test begins so, whatever the one before it has left.
class Together : public testing::EmptyTestEventListener {
 public:
  explicit Together(std::string runs) : runs_(std::move(runs)) {}
  void OnTestProgramStart(const testing::UnitTest&) override { before_.emplace(); }
  void OnTestStart(const testing::TestInfo&) override {
    EXPECT_TRUE(
        net::Run({"ethtool", "-K", wire::Wire::Get().config().netdev, "gso", "on", "tx-gso-list",
                  "off", "tx-udp-segmentation", "off", "tx-udp_tnl-segmentation", "off"}));
    EXPECT_TRUE(share::SetParameter("runs", runs_));
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const char* name : {"sent_trains", "sent_runs"})
      std::printf("%s +%llu\n", name, static_cast<unsigned long long>(before_->Growth(name)));
  }

 private:
  const std::string runs_;
  std::optional<wire::Counters> before_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  CLI::App app("Transport tests: a scripted peer on an AF_PACKET socket");
  wire::Config config = wire::Config::FromEnvironment();
  bool make_topology = false;
  app.add_flag("--topology", make_topology, "create the veth pair and the RDMA link first");
  int napi = 0;
  app.add_option("--napi", napi, "couple what comes within as many nanoseconds (gro=Y)");
  std::string runs;
  app.add_option("--runs", runs, "Y: what leaves together is runs; N: trains");
  app.add_option("--device", config.device, "RDMA device under test (SRN_DEV)");
  app.add_option("--type", config.type, "link type for --topology (SRN_TYPE)");
  app.add_option("--pcap", config.pcap_dir, "write a capture per test there (SRN_WIRE_PCAP)");
  app.add_option("--recovery", config.recovery, "gbn, hold or sack (SRN_RECOVERY)");
  app.add_option("--time-scale", config.time_scale, "patience factor (SRN_TIME_SCALE)");
  CLI11_PARSE(app, argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();

  std::unique_ptr<wire::Topology> topology;
  if (make_topology) {
    auto made = wire::Topology::Create(config);
    if (!made) {
      std::fprintf(stderr, "topology: %s\n", made.message().c_str());
      return 2;
    }
    topology = std::move(made).value();
  }
  result::Status opened = wire::Wire::Get().Open(config);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.message().c_str());
    return 2;
  }
  if (!wire::SetRecovery(config.recovery)) {
    std::fprintf(stderr, "the module has no recovery \"%s\"\n", config.recovery.c_str());
    return 2;
  }
  if (napi && !Couple(wire::Wire::Get().config(), napi)) {
    std::fprintf(stderr, "nothing couples there\n");
    return 2;
  }
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new share::KernelLog);
  if (!runs.empty()) listeners.Append(new Together(runs));
  HoldTimestamps();  // until the process ends
  const int result = RUN_ALL_TESTS();
  wire::Wire::Get().Close();
  return result;
}
