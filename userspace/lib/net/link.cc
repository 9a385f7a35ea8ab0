// SPDX-License-Identifier: GPL-2.0-only
#include "link.h"

#include <net/if.h>

#include <fstream>

#include "command.h"

namespace net {

result::Result<VethPair> VethPair::Create(const std::string& a, const std::string& b, int mtu) {
  result::Status made = Run({"ip", "link", "add", a, "mtu", std::to_string(mtu), "type", "veth",
                             "peer", "name", b, "mtu", std::to_string(mtu)});
  if (!made) return made.failure();
  VethPair pair(a, b);
  for (const std::string& end : {a, b}) {
    result::Status up = SetUp(end, true);
    if (!up) return up.failure();
  }
  return pair;
}

VethPair::~VethPair() {
  if (!a_.empty()) (void)Run({"ip", "link", "del", a_});
}

result::Status SetUp(const std::string& dev, bool up) {
  return Run({"ip", "link", "set", dev, up ? "up" : "down"});
}

result::Status AddAddress(const std::string& dev, const IpAddress& address, int prefix) {
  std::vector<std::string> argv = {
      "ip", "address", "add", address.ToString() + "/" + std::to_string(prefix), "dev", dev};
  if (address.version() == IpVersion::kV6) argv.push_back("nodad");
  return Run(argv);
}

result::Status AddNeighbour(const std::string& dev, const IpAddress& address,
                            const MacAddress& mac) {
  return Run({"ip", "neigh", "replace", address.ToString(), "lladdr", mac.ToString(), "dev", dev,
              "nud", "permanent"});
}

result::Status SetConf(IpVersion family, const std::string& dev, const std::string& key,
                       const std::string& value) {
  const std::string path = std::string("/proc/sys/net/") +
                           (family == IpVersion::kV4 ? "ipv4" : "ipv6") + "/conf/" + dev + "/" +
                           key;
  std::ofstream file(path);
  file << value << std::flush;
  if (!file) return result::FromErrno(path);
  return {};
}

result::Result<MacAddress> GetMac(const std::string& dev) {
  std::ifstream file("/sys/class/net/" + dev + "/address");
  std::string text;
  file >> text;
  const std::optional<MacAddress> mac = MacAddress::Parse(text);
  if (!mac) return result::Error{ENODEV, "no MAC address of " + dev};
  return *mac;
}

result::Result<int> GetIndex(const std::string& dev) {
  const unsigned int index = if_nametoindex(dev.c_str());
  if (index == 0) return result::FromErrno("interface " + dev);
  return static_cast<int>(index);
}

}  // namespace net
