// SPDX-License-Identifier: GPL-2.0-only
// RDMA netlink: links added, renamed, asked about and deleted, with attributes as they should be
// and as they should not, by root in a network namespace of its own and by nobody.
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <net/command.h>
#include <net/fd.h>
#include <result/must.h>
#include <wire/wire.h>

#include "call_time.h"
#include "health.h"
#include "program.h"
#include "target.h"

namespace fuzz {
namespace {

constexpr size_t kPiece = 32;
constexpr uid_t kNobody = 65534;
constexpr size_t kActAfter = 6;  // bytes of an act with a device that has gone

constexpr const char* kNames[] = {
    "fuzz0",  "fuzz1", "srn0",
    "",       "d0",    "a/b",
    "..",     "srn",   "a-name-that-is-as-long-as-a-device-may-have-and-then-some-more",
    "fuzz%d", "x x"};
constexpr const char* kTypes[] = {"srn", "srn", "srn", "srn", "rxe", "", "SRN"};
constexpr const char* kNetdevs[] = {"d0", "x0", "x1", "lo", "v0", "none", ""};

// A message in the making.
class Message {
 public:
  Message(uint16_t command, uint16_t flags) : bytes_(NLMSG_HDRLEN) {
    header()->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
    header()->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  }
  nlmsghdr* header() { return reinterpret_cast<nlmsghdr*>(bytes_.data()); }
  void Add(uint16_t type, const void* data, size_t size) {
    const nlattr attribute = {static_cast<uint16_t>(NLA_HDRLEN + size), type};
    const auto* head = reinterpret_cast<const uint8_t*>(&attribute);
    const auto* body = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), head, head + sizeof(attribute));
    bytes_.insert(bytes_.end(), body, body + size);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  void Add(uint16_t type, uint32_t value) { Add(type, &value, sizeof(value)); }
  void Add(uint16_t type, const char* text) { Add(type, text, std::strlen(text) + 1); }
  const std::vector<uint8_t>& bytes() {
    header()->nlmsg_len = static_cast<uint32_t>(bytes_.size());
    return bytes_;
  }

 private:
  std::vector<uint8_t> bytes_;
};

class Socket {
 public:
  Socket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_RDMA)) {
    if (!fd_) throw result::SetupFailure("no RDMA netlink");
  }
  // All answers that are there at once; dumps come in parts.
  std::vector<uint8_t> Ask(const std::vector<uint8_t>& bytes) {
    std::vector<uint8_t> all;
    {
      const CallTime time("a netlink message", 5);  // a device comes, or goes, with all it has
      (void)!send(fd_.get(), bytes.data(), bytes.size(), 0);
    }
    for (uint8_t part[32768];;) {
      const ssize_t got = recv(fd_.get(), part, sizeof(part), 0);
      if (got <= 0) return all;
      all.insert(all.end(), part, part + got);
    }
  }

 private:
  net::UniqueFd fd_;
};

struct Device {
  uint32_t index;
  std::string name;
};

std::optional<Device> DeviceOf(const nlmsghdr* message) {
  Device device = {~0u, ""};
  const auto* at = reinterpret_cast<const uint8_t*>(message) + NLMSG_HDRLEN;
  const auto* end = reinterpret_cast<const uint8_t*>(message) + message->nlmsg_len;
  while (at + NLA_HDRLEN <= end) {
    const auto* attribute = reinterpret_cast<const nlattr*>(at);
    if (attribute->nla_len < NLA_HDRLEN) break;
    if (attribute->nla_type == RDMA_NLDEV_ATTR_DEV_INDEX) std::memcpy(&device.index, at + 4, 4);
    if (attribute->nla_type == RDMA_NLDEV_ATTR_DEV_NAME)
      device.name = reinterpret_cast<const char*>(at + 4);
    at += NLA_ALIGN(attribute->nla_len);
  }
  if (device.name.empty()) return std::nullopt;
  return device;
}

std::vector<Device> Devices() {
  Socket socket;
  const std::vector<uint8_t> answer = socket.Ask(Message(RDMA_NLDEV_CMD_GET, NLM_F_DUMP).bytes());
  std::vector<Device> devices;
  int left = static_cast<int>(answer.size());
  for (auto* message = reinterpret_cast<const nlmsghdr*>(answer.data()); NLMSG_OK(message, left);
       message = NLMSG_NEXT(message, left))
    if (const auto device = DeviceOf(message)) devices.push_back(*device);
  return devices;
}

// A network namespace of this process's own, as long as it lives.
class OwnNetns {
 public:
  OwnNetns() : before_(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    if (!before_ || unshare(CLONE_NEWNET) != 0) throw result::SetupFailure("no network namespace");
  }
  ~OwnNetns() { (void)setns(before_.get(), CLONE_NEWNET); }
  OwnNetns(const OwnNetns&) = delete;

 private:
  net::UniqueFd before_;
};

class Netlink : public Target {
 public:
  Netlink();

  size_t piece() const override { return kPiece; }
  // To add and to delete a link takes long.
  size_t max_pieces() const override { return 10; }
  void Run(const Input& input) override;
  void Check() override { health_.Check(); }

 private:
  void Act(Source source, Socket& socket);
  Message Make(Source& source);
  void AddOdd(Source& source, Message& message);
  // Without those that the others stand on.
  uint32_t AnyDevice(Source& source) const;
  bool Spares(const std::vector<uint8_t>& bytes) const;
  void DeleteLinks() const;
  std::optional<std::string> NewNode() const;
  void Hold();

  Health health_;
  std::optional<OwnNetns> netns_;
  uint32_t own_ = 0;  // the device that is not to be touched
  std::string own_node_;
  std::optional<Program> program_;  // that uses a device of the input's
};

Netlink::Netlink() : health_(net::IpVersion::kV4) {
  own_ = Devices().at(0).index;
  own_node_ = wire::Wire::Get().context()->device->dev_name;
  netns_.emplace();
  const std::vector<std::vector<std::string>> commands = {
      {"ip", "link", "set", "lo", "up"},
      {"ip", "link", "add", "d0", "type", "dummy"},
      {"ip", "link", "add", "x0", "type", "veth", "peer", "name", "x1"},
      {"ip", "addr", "add", "10.80.0.1/24", "dev", "d0"},
      {"ip", "link", "set", "d0", "up"},
      {"ip", "link", "set", "x0", "up"}};
  for (const auto& command : commands) result::Must(net::Run(command));
}

// Numbers are never given twice: only a dump tells which there are.
uint32_t Netlink::AnyDevice(Source& source) const {
  if (source.OneIn(8)) return source.OneIn(2) ? source.Edge() : own_ + 1 + source.Below(6);
  std::vector<Device> devices = Devices();
  std::erase_if(devices, [this](const Device& device) { return device.index == own_; });
  return devices.empty() ? own_ + 1 : source.Pick(devices).index;
}

// The node of a device that is not the healthy connection's.
std::optional<std::string> Netlink::NewNode() const {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/class/infiniband_verbs", error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("uverbs") && name != own_node_) return "/dev/infiniband/" + name;
  }
  return std::nullopt;
}

// The program has the device open while that goes, and goes on with it afterwards.
void Netlink::Hold() {
  if (program_) return;
  const auto node = NewNode();
  if (!node || access(node->c_str(), R_OK | W_OK) != 0) return;
  try {
    program_.emplace(*node);
    program_->MakeSome();
  } catch (const result::SetupFailure&) {
    // It went meanwhile, or lets nobody in.
  }
}

// An attribute of any number, with a value of some type.
void Netlink::AddOdd(Source& source, Message& message) {
  auto type = static_cast<uint16_t>(1 + source.Below(RDMA_NLDEV_ATTR_MAX + 4));
  if (source.OneIn(8)) type |= source.OneIn(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
  switch (source.Below(5)) {
    case 0:
      return message.Add(type, source.Pick(kNames));
    case 1:
      return message.Add(type, source.Edge());
    case 2: {
      const uint8_t byte = source.Byte();
      return message.Add(type, &byte, sizeof(byte));
    }
    case 3: {
      const uint64_t value = uint64_t{source.Edge()} << 32 | source.Edge();
      return message.Add(type, &value, sizeof(value));
    }
    default: {
      const std::vector<uint8_t> raw(source.Byte(), source.Byte());
      return message.Add(type, raw.data(), raw.size());
    }
  }
}

Message Netlink::Make(Source& source) {
  const uint32_t kind = source.Below(16);
  if (kind < 5) {
    Message add(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
    add.Add(RDMA_NLDEV_ATTR_DEV_NAME, source.Pick(kNames));
    add.Add(RDMA_NLDEV_ATTR_LINK_TYPE, source.Pick(kTypes));
    add.Add(RDMA_NLDEV_ATTR_NDEV_NAME, source.Pick(kNetdevs));
    return add;
  }
  if (kind < 8) {
    Message remove(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
    remove.Add(RDMA_NLDEV_ATTR_DEV_INDEX, AnyDevice(source));
    return remove;
  }
  const uint32_t command =
      source.OneIn(3) ? uint32_t{RDMA_NLDEV_CMD_SET} : source.Below(RDMA_NLDEV_NUM_OPS);
  const bool dump = source.OneIn(2);
  Message other(static_cast<uint16_t>(command), dump ? NLM_F_DUMP : NLM_F_ACK);
  if (!source.OneIn(8)) {
    const bool reads = command == RDMA_NLDEV_CMD_GET || command == RDMA_NLDEV_CMD_PORT_GET ||
                       (command >= RDMA_NLDEV_CMD_RES_GET && command <= RDMA_NLDEV_CMD_RES_PD_GET);
    other.Add(RDMA_NLDEV_ATTR_DEV_INDEX, reads && source.OneIn(2) ? own_ : AnyDevice(source));
  }
  if (source.OneIn(2)) other.Add(RDMA_NLDEV_ATTR_PORT_INDEX, source.OneIn(4) ? source.Edge() : 1);
  if (command == RDMA_NLDEV_CMD_SET) other.Add(RDMA_NLDEV_ATTR_DEV_NAME, source.Pick(kNames));
  return other;
}

// Deleting or changing the device of the healthy connection would prove nothing.
bool Netlink::Spares(const std::vector<uint8_t>& bytes) const {
  const auto* message = reinterpret_cast<const nlmsghdr*>(bytes.data());
  const uint16_t command = RDMA_NL_GET_OP(message->nlmsg_type);
  if (command == RDMA_NLDEV_CMD_SYS_SET) return false;  // it is for the whole machine
  const bool changes = command == RDMA_NLDEV_CMD_DELLINK || command == RDMA_NLDEV_CMD_SET ||
                       command == RDMA_NLDEV_CMD_STAT_SET || command == RDMA_NLDEV_CMD_STAT_DEL;
  if (!changes) return true;
  for (size_t at = NLMSG_HDRLEN; at + 8 <= bytes.size(); at += 4)
    if (std::memcmp(&bytes[at + 4], &own_, sizeof(own_)) == 0 &&
        (bytes[at + 2] == RDMA_NLDEV_ATTR_DEV_INDEX))
      return false;
  return true;
}

void Netlink::Act(Source source, Socket& socket) {
  Message message = Make(source);
  for (uint32_t count = source.OneIn(3) ? 1 + source.Below(3) : 0; count > 0; --count)
    AddOdd(source, message);
  std::vector<uint8_t> bytes = message.bytes();
  if (source.OneIn(8) && bytes.size() > NLMSG_HDRLEN)
    bytes[NLMSG_HDRLEN + source.Byte() % (bytes.size() - NLMSG_HDRLEN)] = source.Byte();
  if (Spares(bytes)) (void)socket.Ask(bytes);
}

void Netlink::DeleteLinks() const {
  for (const Device& device : Devices()) {
    if (device.index == own_) continue;
    Message remove(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
    remove.Add(RDMA_NLDEV_ATTR_DEV_INDEX, device.index);
    (void)Socket().Ask(remove.bytes());
  }
  if (Devices().size() != 1) throw Broken("a link does not go");
}

void Netlink::Run(const Input& input) {
  Source source(input);
  Source head = source.Part(kPiece);
  const bool privileged = !head.OneIn(8);
  if (!privileged && seteuid(kNobody) != 0) throw Broken("seteuid");
  const bool holds = privileged && head.OneIn(2);
  {
    Socket socket;
    while (!source.empty()) {
      Act(source.Part(kPiece), socket);
      if (holds) Hold();
    }
  }
  if (!privileged && seteuid(0) != 0) throw Broken("seteuid");
  DeleteLinks();
  if (!program_) return;
  for (Source behind = head; !behind.empty();) program_->Act(behind.Part(kActAfter));
  program_.reset();
}

}  // namespace

std::unique_ptr<Target> CreateNetlink() { return std::make_unique<Netlink>(); }

}  // namespace fuzz
