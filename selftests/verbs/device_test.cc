// SPDX-License-Identifier: GPL-2.0-only
// What the device says about itself, and whether it is true.
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "env.h"

namespace verbs_test {
namespace {

class Device : public HostTest {};

TEST_F(Device, DescribesItself) {
  const ibv_device_attr attr = Must(a_.ctx.QueryDevice());
  EXPECT_EQ(attr.phys_port_cnt, 1);
  EXPECT_NE(attr.node_guid, 0u);
  EXPECT_NE(attr.sys_image_guid, 0u);
  EXPECT_GE(attr.max_mr_size, uint64_t{1} << 32);
  EXPECT_TRUE(attr.page_size_cap & 4096);
  EXPECT_GT(attr.max_qp, 1000);
  EXPECT_GT(attr.max_cq, 1000);
  EXPECT_GT(attr.max_mr, 1000);
  EXPECT_GT(attr.max_pd, 1000);
  EXPECT_GT(attr.max_ah, 1000);
  EXPECT_GT(attr.max_srq, 100);
  EXPECT_GT(attr.max_mw, 100);
  EXPECT_GE(attr.max_sge, 32);
  EXPECT_GE(attr.max_sge_rd, 1);
  EXPECT_GE(attr.max_qp_rd_atom, 1);
  EXPECT_GE(attr.max_qp_init_rd_atom, 1);
  EXPECT_NE(attr.atomic_cap, IBV_ATOMIC_NONE);
  EXPECT_EQ(attr.max_pkeys, 1);
  EXPECT_EQ(a_.ctx->device->node_type, IBV_NODE_CA);
  EXPECT_EQ(a_.ctx->device->transport_type, IBV_TRANSPORT_IB);
}

TEST_F(Device, BothQueriesAgree) {
  const ibv_device_attr plain = Must(a_.ctx.QueryDevice());
  const ibv_device_attr_ex extended = Must(a_.ctx.QueryDeviceEx());
  EXPECT_EQ(std::memcmp(&plain, &extended.orig_attr, sizeof(plain)), 0);
  EXPECT_EQ(extended.phys_port_cnt_ex, plain.phys_port_cnt);
}

// Programs divide timestamps by the frequency of their clock, in kHz: they are nanoseconds.
TEST_F(Device, ClockOfTimestampsTicksInNanoseconds) {
  if (Foreign()) GTEST_SKIP() << "has a clock of its own";
  const ibv_device_attr_ex attr = Must(a_.ctx.QueryDeviceEx());
  EXPECT_EQ(attr.hca_core_clock, 1'000'000u);
  EXPECT_EQ(attr.completion_timestamp_mask, UINT64_MAX);
}

// Middleware sizes its requests by the smallest of these.
TEST_F(Device, ElementsAndReadsAreAsManyEverywhere) {
  if (Foreign()) GTEST_SKIP() << "has limits of its own";
  const ibv_device_attr attr = Must(a_.ctx.QueryDevice());
  EXPECT_EQ(attr.max_sge_rd, attr.max_sge);
  EXPECT_EQ(attr.max_srq_sge, attr.max_sge);
  EXPECT_EQ(attr.max_qp_init_rd_atom, attr.max_qp_rd_atom);
  EXPECT_EQ(attr.max_res_rd_atom, attr.max_qp_rd_atom * attr.max_qp);
  EXPECT_GT(attr.local_ca_ack_delay, 0);
}

// The EUI-64 of its MAC: the same when the link is made anew.
TEST_F(Device, GuidIsThatOfTheNetdev) {
  std::ifstream ndev(std::string(a_.ctx->device->ibdev_path) + "/ports/1/gid_attrs/ndevs/" +
                     std::to_string(a_.port.gid_index));
  std::string name, mac;
  ASSERT_TRUE(std::getline(ndev, name));
  std::ifstream address("/sys/class/net/" + name + "/address");
  ASSERT_TRUE(std::getline(address, mac));
  unsigned m[6];
  ASSERT_EQ(std::sscanf(mac.c_str(), "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]),
            6);
  uint64_t guid = m[0] ^ 2;
  for (const unsigned byte : {m[1], m[2], 0xffu, 0xfeu, m[3], m[4], m[5]}) guid = guid << 8 | byte;
  EXPECT_EQ(be64toh(Must(a_.ctx.QueryDevice()).node_guid), guid);
}

// The kernel's text and the numbers that the provider prints.
TEST_F(Device, SysfsAndVerbsTellTheSameVersion) {
  std::ifstream file(std::string(a_.ctx->device->ibdev_path) + "/fw_ver");
  std::string version;
  ASSERT_TRUE(std::getline(file, version));
  EXPECT_EQ(version, Must(a_.ctx.QueryDevice()).fw_ver);
}

TEST_F(Device, PortIsActiveEthernet) {
  const ibv_port_attr attr = Must(a_.ctx.QueryPort(1));
  EXPECT_EQ(attr.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(attr.phys_state, 5);  // LinkUp
  EXPECT_GE(attr.max_mtu, IBV_MTU_4096);
  EXPECT_GE(attr.active_mtu, IBV_MTU_256);
  EXPECT_LE(attr.active_mtu, attr.max_mtu);
  EXPECT_GE(attr.max_msg_sz, 1u << 30);
  EXPECT_GE(attr.pkey_tbl_len, 1);
  EXPECT_GT(attr.gid_tbl_len, 0);
  EXPECT_NE(attr.active_speed, 0);
  EXPECT_NE(attr.active_width, 0);
}

TEST_F(Device, OtherPortsDoNotExist) {
  for (uint8_t port : {0, 2, 255}) {
    EXPECT_EQ(a_.ctx.QueryPort(port).error(), EINVAL) << int{port};
    ibv_gid gid;
    EXPECT_NE(ibv_query_gid(a_.ctx.get(), port, 0, &gid), 0);
    __be16 pkey;
    EXPECT_NE(ibv_query_pkey(a_.ctx.get(), port, 0, &pkey), 0);
  }
}

TEST_F(Device, DefaultPartitionKeyIsTheOnlyOne) {
  const int count = Must(a_.ctx.QueryPort(1)).pkey_tbl_len;
  __be16 pkey = 0;
  ASSERT_EQ(ibv_query_pkey(a_.ctx.get(), 1, 0, &pkey), 0);
  EXPECT_EQ(be16toh(pkey), 0xffff);
  EXPECT_NE(ibv_query_pkey(a_.ctx.get(), 1, count, &pkey), 0);
}

bool HasAddress(const std::string& netdev, const ibv_gid& gid) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return false;
  bool found = false;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || netdev != one->ifa_name) continue;
    ibv_gid own = {.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}};
    if (one->ifa_addr->sa_family == AF_INET)
      std::memcpy(own.raw + 12, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, 4);
    else if (one->ifa_addr->sa_family == AF_INET6)
      std::memcpy(own.raw, &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr, 16);
    else
      continue;
    found |= std::memcmp(&own, &gid, sizeof(gid)) == 0;
  }
  freeifaddrs(all);
  return found;
}

// It is an address of that netdev; or the link-local one of its MAC, which the core has in the
// table whether the netdev has it or not.
TEST_F(Device, EveryGidIsRoceV2AndBelongsToANetdev) {
  const uint64_t guid = Must(a_.ctx.QueryDevice()).node_guid;
  std::vector<ibv_gid_entry> table(1024);
  ssize_t count = ibv_query_gid_table(a_.ctx.get(), table.data(), table.size(), 0);
  ASSERT_GE(count, 2);
  for (ssize_t i = 0; i < count; i++) {
    EXPECT_EQ(table[i].gid_type, unsigned{IBV_GID_TYPE_ROCE_V2});
    EXPECT_EQ(table[i].port_num, 1u);
    char name[IF_NAMESIZE];
    ASSERT_NE(if_indextoname(table[i].ndev_ifindex, name), nullptr) << table[i].ndev_ifindex;
    ibv_gid gid;
    ASSERT_EQ(ibv_query_gid(a_.ctx.get(), 1, table[i].gid_index, &gid), 0);
    EXPECT_EQ(std::memcmp(&gid, &table[i].gid, sizeof(gid)), 0);
    const bool of_the_mac = gid.global.subnet_prefix == htobe64(uint64_t{0xfe80} << 48) &&
                            gid.global.interface_id == guid;
    EXPECT_TRUE(of_the_mac || HasAddress(name, gid))
        << "GID " << table[i].gid_index << ", " << name;
  }
}

TEST_F(Device, PortIsFoundByItsGid) {
  for (const Ip ip : {Ip::kV4, Ip::kV6}) {
    const Port wanted = Must(a_.ctx.FindPort(ip));
    const Port found = Must(a_.ctx.FindPort(wanted.gid));
    EXPECT_EQ(found.gid_index, wanted.gid_index);
    EXPECT_EQ(found.active_mtu, wanted.active_mtu);
  }
  EXPECT_EQ(a_.ctx.FindPort(ibv_gid{.raw = {0x20, 0x01, 0xd, 0xb8}}).error(), ENOENT);
}

TEST_F(Device, AdvertisedQueueSizesCanBeAllocatedTogether) {
  // Middleware creates queues at the advertised limits.
  const ibv_device_attr attr = Must(a_.ctx.QueryDevice());
  Cq cq = Must(Cq::Create(a_.ctx, attr.max_cqe));
  Qp qp = Must(Qp::Create(a_.pd, cq, cq,
                          {.max_send_wr = uint32_t(attr.max_qp_wr),
                           .max_recv_wr = uint32_t(attr.max_qp_wr),
                           .max_send_sge = 1,
                           .max_recv_sge = 1}));
  Srq srq = Must(Srq::Create(a_.pd, attr.max_srq_wr, 1));
}

TEST_F(Device, ManyContextsAndProtectionDomains) {
  std::vector<Context> contexts;
  for (int i = 0; i < 30; i++) contexts.push_back(Must(Context::Open(DeviceA())));
  std::vector<Pd> pds;
  for (int i = 0; i < 900; i++) pds.push_back(Must(Pd::Create(contexts[i % contexts.size()])));
}

// Leaves everything to the kernel, with requests outstanding. In a child, which does not go on with
// the tests that are its parent's if that fails.
int ExitWithObjects() try {
  Host host = Host::Open(DeviceA(), Ip::kV4, 64 << 10);
  Cq cq = Must(Cq::Create(host.ctx, 16));
  Srq srq = Must(Srq::Create(host.pd, 16));
  Mw mw = Must(Mw::Create(host.pd, IBV_MW_TYPE_1));
  Ah ah = Must(Ah::Create(host.pd, AhAttr(host.port, host.port.gid)));
  Qp qp = Must(Qp::Create(host.pd, cq, cq, {.srq = &srq}));
  Must(ConnectTo(qp, host.port, host.port.gid, 0xfffff3, 0, 0, {}));
  for (uint64_t id = 0; id < 10; id++) Must(qp.Post(SendWr::Send(id, host.mr.Slice(0, 8192))));
  _exit(0);
} catch (const SetupFailure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}

TEST_F(Device, ProgramMayExitWithObjectsAndRequestsAlive) {
  for (int i = 0; i < 10; i++) {
    pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) _exit(ExitWithObjects());
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(Context::Open(DeviceA()).error(), 0);
}

}  // namespace
}  // namespace verbs_test
