// SPDX-License-Identifier: GPL-2.0-only
#include "program.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/srn-abi.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <result/must.h>
#include <wire/wire.h>

#include "call_time.h"

namespace fuzz {
namespace {

template <typename T>
void Put(uint8_t* place, T value) {
  std::memcpy(place, &value, sizeof(value));
}

template <typename T>
T Get(uint64_t place) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(place), sizeof(value));
  return value;
}

ibv_gid PeerGid() { return wire::ToGid(wire::Wire::Get().peer(net::IpVersion::kV4)); }

ibv_gid OwnGid() {
  static const ibv_gid gid = result::Must(wire::Wire::Get().Port(net::IpVersion::kV4)).gid;
  return gid;
}

uint8_t GidIndex() {
  static const auto index =
      static_cast<uint8_t>(result::Must(wire::Wire::Get().Port(net::IpVersion::kV4)).gid_index);
  return index;
}

ssize_t Issue(int fd, std::span<const uint8_t> bytes) {
  const CallTime time("a command that is written");
  return write(fd, bytes.data(), bytes.size());
}

void RingBell(int fd, unsigned long request, uint64_t argument) {
  const CallTime time("a doorbell");
  ioctl(fd, request, argument);
}

const Command& Find(uint32_t number, bool extended = false) {
  return *std::ranges::find_if(
      Commands(), [=](const Command& c) { return c.number == number && c.extended == extended; });
}

}  // namespace

Program::Program(const std::string& device) : device_(device) {
  first_fd_ = fd_ = open(device_.c_str(), O_RDWR | O_CLOEXEC);
  if (fd_ < 0) throw result::SetupFailure("no " + device_);
  GetContext();
}

// Commands may have made descriptors that nobody was told of.
Program::~Program() {
  for (const Map& map : maps_) munmap(map.start, map.size);
  if (traffic_.queue) munmap(reinterpret_cast<void*>(traffic_.queue), traffic_.size);
  const CallTime time("closing the device");
  close_range(static_cast<unsigned>(first_fd_), ~0u, 0);
}

// True if there is an answer, on page 0.
bool Program::Make(uint32_t number) {
  // Choices that mean: all as it should be.
  static constexpr uint8_t kRight[64] = {23, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  Source source{std::span<const uint8_t>(kRight)};
  const Command& command = Find(number);
  const size_t before = handles_[static_cast<size_t>(command.makes)].size();
  Write(source, command);
  return handles_[static_cast<size_t>(command.makes)].size() > before;
}

void Program::MakeSome() {
  const auto answer = reinterpret_cast<uint64_t>(pages_.page(0));
  Make(IB_USER_VERBS_CMD_ALLOC_PD);
  Make(IB_USER_VERBS_CMD_CREATE_CQ);
  if (Make(IB_USER_VERBS_CMD_REG_MR)) {
    traffic_.key = Get<ib_uverbs_reg_mr_resp>(answer).rkey;
    traffic_.address = pages_.arena() + Pages::kPage / 2;
  }
  Make(IB_USER_VERBS_CMD_CREATE_SRQ);
  if (Make(IB_USER_VERBS_CMD_CREATE_QP)) ConnectToSelf();
  Make(IB_USER_VERBS_CMD_ALLOC_MW);
  Make(IB_USER_VERBS_CMD_CREATE_AH);
}

void Program::ConnectToSelf() {
  const auto answer = reinterpret_cast<uint64_t>(pages_.page(0));
  const auto core = Get<ib_uverbs_create_qp_resp>(answer);
  const auto driver = Get<srn_create_qp_resp>(answer + sizeof(core));
  for (uint8_t step = 0; step < 3; ++step) {
    // Of FillModify(): which state, no odd mask, this GID, an MTU, the QP that is known, all
    // rights.
    const uint8_t choices[] = {step, 0, 0, 2, 0, 0, 0, 0xf, 3};
    Source source{std::span<const uint8_t>(choices)};
    std::vector<uint8_t> bytes(sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_modify_qp));
    ib_uverbs_modify_qp modify = {};
    modify.qp_handle = core.qp_handle;
    Put(bytes.data(),
        ib_uverbs_cmd_hdr{IB_USER_VERBS_CMD_MODIFY_QP, static_cast<uint16_t>(bytes.size() / 4), 0});
    Put(bytes.data() + sizeof(ib_uverbs_cmd_hdr), modify);
    FillModify(source, bytes.data() + sizeof(ib_uverbs_cmd_hdr));
    if (Issue(fd_, bytes) < 0) return;
  }
  void* start = mmap(nullptr, driver.mmap_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                     static_cast<off_t>(driver.mmap_offset));
  if (start == MAP_FAILED) return;
  traffic_.queue = reinterpret_cast<uint64_t>(start);
  traffic_.size = driver.mmap_len;
  traffic_.slots = driver.sq_offset;
  traffic_.stride = driver.sq_stride;
  traffic_.entries = driver.sq_entries;
}

uint32_t Program::Handle(Source& source, Kind kind) const {
  const uint8_t choice = source.Byte();
  // A CQ does without a channel.
  if (kind == Kind::kChannel && choice < 192) return ~0u;
  const auto& known = handles_[static_cast<size_t>(kind)];
  if (choice >= 232 || known.empty()) return source.Edge();
  return known[choice % known.size()];
}

uint64_t Program::Value(Source& source, Kind kind) const {
  static constexpr uint32_t kLengths[] = {4096, 100, 8192, 1 << 16, 64};
  static constexpr uint32_t kTypes[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, 1, 9, 0};
  const bool odd = source.OneIn(16);
  switch (kind) {
    case Kind::kAddress:
      return odd ? uint64_t{source.Word()} << 16 : pages_.arena() + source.Byte();
    case Kind::kLength:
      return odd ? source.Edge() : source.Pick(kLengths);
    case Kind::kCount:
      return odd ? source.Edge() : 1 + source.Below(64);
    case Kind::kAccess:
      return odd ? source.Edge() : source.Byte() & 0x1f;
    case Kind::kQpType:
      return source.Pick(kTypes);
    case Kind::kOne:
      return odd ? source.Edge() : 1;
    case Kind::kNone:
      return odd ? source.Edge() : 0;
    default:
      return Handle(source, kind);
  }
}

// The way to RTS, mostly towards a QP of this device, a step at a time.
void Program::FillModify(Source& source, uint8_t* body) const {
  static constexpr uint8_t kStates[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,  IBV_QPS_RTS,
                                        IBV_QPS_SQD,  IBV_QPS_ERR, IBV_QPS_RESET};
  static constexpr uint32_t kMasks[] = {
      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
          IBV_QP_MAX_QP_RD_ATOMIC,
      IBV_QP_STATE};
  ib_uverbs_modify_qp modify = {};
  std::memcpy(&modify, body, sizeof(modify));  // the handle is there
  const uint32_t step = source.Below(std::size(kStates));
  modify.qp_state = kStates[step];
  modify.attr_mask = kMasks[std::min<size_t>(step, std::size(kMasks) - 1)];
  if (source.OneIn(8)) modify.attr_mask ^= 1u << source.Below(26);
  const ibv_gid gid = source.OneIn(4) ? PeerGid() : OwnGid();
  std::memcpy(modify.dest.dgid, gid.raw, sizeof(modify.dest.dgid));
  modify.dest.sgid_index = GidIndex();
  modify.dest.hop_limit = 64;
  modify.dest.is_global = modify.dest.port_num = modify.port_num = 1;
  modify.path_mtu = static_cast<uint8_t>(1 + source.Below(6));
  modify.dest_qp_num = 1 + source.Byte();
  if (!source.OneIn(4) && !numbers_.empty())
    modify.dest_qp_num = numbers_[source.Byte() % numbers_.size()];
  modify.qp_access_flags = source.Byte() & 0xf;
  modify.timeout = 14;
  modify.max_rd_atomic = modify.max_dest_rd_atomic = static_cast<uint8_t>(1 + source.Below(20));
  std::memcpy(body, &modify, sizeof(modify));
}

namespace {

// Address and key's address are as far from the border of a page, or the core refuses both.
template <typename Command>
void SameOffset(std::vector<uint8_t>& body) {
  Command command;
  std::memcpy(&command, body.data(), sizeof(command));
  command.hca_va = (command.hca_va & ~(Pages::kPage - 1)) | (command.start & (Pages::kPage - 1));
  std::memcpy(body.data(), &command, sizeof(command));
}

void FitRegion(Source& source, const Command& command, std::vector<uint8_t>& body) {
  const bool makes = command.number == IB_USER_VERBS_CMD_REG_MR;
  if ((!makes && command.number != IB_USER_VERBS_CMD_REREG_MR) || source.OneIn(8)) return;
  if (makes)
    SameOffset<ib_uverbs_reg_mr>(body);
  else
    SameOffset<ib_uverbs_rereg_mr>(body);
}

// Without this mark the handle of a SRQ means nothing.
void UseSrq(Source& source, const Command& command, std::vector<uint8_t>& body) {
  if (!source.OneIn(3)) return;
  body[command.extended ? offsetof(ib_uverbs_ex_create_qp, is_srq)
                        : offsetof(ib_uverbs_create_qp, is_srq)] = 1;
}

}  // namespace

std::vector<uint8_t> Program::Body(Source& source, const Command& command) const {
  std::vector<uint8_t> body((command.size + 3) / 4 * 4);
  for (const Field& field : command.fields) {
    if (field.kind == Kind::kResponse) continue;
    if (field.kind == Kind::kGid) {
      std::memcpy(&body[field.offset], PeerGid().raw, 16);
      if (field.offset + 21u < body.size()) body[field.offset + 20] = GidIndex();
      continue;
    }
    const uint64_t value = Value(source, field.kind);
    std::memcpy(&body[field.offset], &value, std::min<size_t>(field.size, sizeof(value)));
  }
  FitRegion(source, command, body);
  if (command.number == IB_USER_VERBS_CMD_CREATE_QP && !handles_[size_t(Kind::kSrq)].empty())
    UseSrq(source, command, body);
  if (command.number == IB_USER_VERBS_CMD_MODIFY_QP) FillModify(source, body.data());
  if (source.OneIn(6))
    for (uint32_t count = 1 + source.Below(3); count > 0; --count)
      body[source.Byte() % body.size()] = source.Byte();
  return body;
}

void Program::Write(Source& source, const Command& command) {
  const uint64_t answer = pages_.Place(source, command.answer);
  std::vector<uint8_t> body = Body(source, command);
  size_t driver_in = command.driver_in;
  if (source.OneIn(8)) driver_in = source.Byte() / 4 * 4;
  body.resize(body.size() + driver_in, source.OneIn(10) ? source.Byte() : 0);
  if (command.extended)
    WriteExtended(source, command, std::move(body), driver_in, answer);
  else
    WritePlain(source, command, std::move(body), driver_in, answer);
}

void Program::WritePlain(Source& source, const Command& command, std::vector<uint8_t> body, size_t,
                         uint64_t answer) {
  size_t out = command.answer + command.driver_out;
  if (source.OneIn(8)) out = source.Byte();
  for (const Field& field : command.fields)
    if (field.kind == Kind::kResponse) Put(&body[field.offset], answer);
  ib_uverbs_cmd_hdr hdr = {command.number, static_cast<uint16_t>((sizeof(hdr) + body.size()) / 4),
                           static_cast<uint16_t>(out / 4)};
  if (source.OneIn(24)) hdr.in_words = static_cast<uint16_t>(source.Edge());
  if (source.OneIn(24)) hdr.out_words = static_cast<uint16_t>(source.Edge());
  std::vector<uint8_t> bytes(sizeof(hdr));
  Put(bytes.data(), hdr);
  bytes.insert(bytes.end(), body.begin(), body.end());
  if (source.OneIn(24)) bytes.resize(source.Byte());
  if (Issue(fd_, bytes) >= 0) Collect(command, answer, answer + command.answer);
}

void Program::WriteExtended(Source& source, const Command& command, std::vector<uint8_t> body,
                            size_t driver_in, uint64_t answer) {
  const auto eights = [](size_t size) { return static_cast<uint16_t>((size + 7) / 8); };
  body.resize(8 * (eights(body.size() - driver_in) + eights(driver_in)));
  struct {
    ib_uverbs_cmd_hdr hdr;
    ib_uverbs_ex_cmd_hdr ex;
  } head = {};
  head.hdr = {command.number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
              static_cast<uint16_t>(body.size() / 8 - eights(driver_in)), eights(command.answer)};
  head.ex = {answer, eights(driver_in), eights(command.driver_out), 0};
  if (source.OneIn(8)) head.ex.provider_out_words = source.Byte();
  if (source.OneIn(24)) head.hdr.out_words = source.Byte();
  if (source.OneIn(24)) head.ex.cmd_hdr_reserved = source.Byte();
  if (source.OneIn(24)) head.hdr.in_words = source.Byte();
  std::vector<uint8_t> bytes(sizeof(head));
  Put(bytes.data(), head);
  bytes.insert(bytes.end(), body.begin(), body.end());
  if (Issue(fd_, bytes) >= 0) Collect(command, answer, answer + 8 * size_t{head.hdr.out_words});
}

void Program::Collect(const Command& command, uint64_t answer, uint64_t driver_answer) {
  constexpr size_t kMost = 64;
  if (!pages_.Holds(answer, kMost) || !pages_.Holds(driver_answer, kMost)) return;
  if (command.makes != Kind::kNone)
    handles_[static_cast<size_t>(command.makes)].push_back(Get<uint32_t>(answer));
  if (command.makes == Kind::kQp)
    numbers_.push_back(Get<uint32_t>(answer + offsetof(ib_uverbs_create_qp_resp, qpn)));
  if (command.mmap_at != 0)
    offers_.push_back({Get<uint64_t>(driver_answer + command.mmap_at),
                       Get<uint64_t>(driver_answer + command.mmap_at + 8)});
}

namespace {

// An ioctl in the making.
struct Ioctl {
  uint16_t object = 0;
  uint16_t method = 0;
  std::vector<ib_uverbs_attr> attributes;

  void Add(uint16_t id, size_t size, uint64_t data) {
    attributes.push_back({id, static_cast<uint16_t>(size), UVERBS_ATTR_F_MANDATORY, {}, {data}});
  }
  void Twist(Source& source) {
    if (attributes.empty() || !source.OneIn(4)) return;
    ib_uverbs_attr& attribute = attributes[source.Byte() % attributes.size()];
    switch (source.Below(8)) {
      case 0:
        attribute.attr_id = static_cast<uint16_t>(source.Edge());
        break;
      case 1:
        attribute.len = static_cast<uint16_t>(source.Edge());
        break;
      case 2:
        attribute.flags = source.Byte();
        break;
      case 3:
        attribute.data = source.Edge();
        break;
      case 4:
        attribute = attributes.back();
        attributes.pop_back();
        break;
      case 5:
        attribute = attributes[0];
        break;
      case 6:
        method = source.Byte();
        break;
      default:
        object = static_cast<uint16_t>(source.Below(20) | (source.OneIn(4) ? 0x1000 : 0));
    }
  }
  // What the kernel writes to the attributes, handles of what it made, is in them afterwards.
  bool Call(int fd) {
    std::vector<uint8_t> bytes(sizeof(ib_uverbs_ioctl_hdr));
    ib_uverbs_ioctl_hdr hdr = {};
    hdr.length = static_cast<uint16_t>(sizeof(hdr) + attributes.size() * sizeof(attributes[0]));
    hdr.object_id = object;
    hdr.method_id = method;
    hdr.num_attrs = static_cast<uint16_t>(attributes.size());
    hdr.driver_id = SRN_DRIVER_ID;
    bytes.resize(hdr.length);
    std::memcpy(bytes.data(), &hdr, sizeof(hdr));
    uint8_t* behind = bytes.data() + sizeof(hdr);
    std::memcpy(behind, attributes.data(), hdr.length - sizeof(hdr));
    if (CallTime time("RDMA_VERBS_IOCTL"); ioctl(fd, RDMA_VERBS_IOCTL, bytes.data()) != 0)
      return false;
    std::memcpy(attributes.data(), behind, hdr.length - sizeof(hdr));
    return true;
  }
};

}  // namespace

void Program::GetContext() {
  srn_alloc_ucontext_resp answer = {};
  Ioctl call = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, {}};
  call.Add(UVERBS_ATTR_UHW_IN, sizeof(srn_alloc_ucontext_req), 0);
  call.Add(UVERBS_ATTR_UHW_OUT, sizeof(answer), reinterpret_cast<uint64_t>(&answer));
  if (!call.Call(fd_)) throw result::SetupFailure("no context");
  doorbell_ = answer.doorbell_fd;
}

// The same command through the ioctl that wraps it.
void Program::Invoke(Source& source, const Command& command) {
  std::vector<uint8_t> body = Body(source, command);
  std::vector<uint8_t> driver(source.OneIn(8) ? source.Byte() : command.driver_in,
                              source.OneIn(10) ? source.Byte() : 0);
  const uint64_t answer = pages_.Place(source, command.answer);
  const uint64_t driver_answer = source.OneIn(8) ? pages_.Place(source, 0) : answer + 512;
  const size_t driver_out = source.OneIn(8) ? source.Byte() : command.driver_out;
  Ioctl call = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, {}};
  call.Add(UVERBS_ATTR_CORE_IN, body.size(), pages_.Keep(body));
  if (command.answer) call.Add(UVERBS_ATTR_CORE_OUT, command.answer, answer);
  call.Add(UVERBS_ATTR_WRITE_CMD, 8,
           command.number | (command.extended ? IB_USER_VERBS_CMD_FLAG_EXTENDED : 0));
  uint64_t inlined = 0;
  if (driver.size() <= 8) std::memcpy(&inlined, driver.data(), driver.size());
  if (!driver.empty())
    call.Add(UVERBS_ATTR_UHW_IN, driver.size(),
             driver.size() <= 8 ? inlined : pages_.Keep(driver, 1));
  if (driver_out) call.Add(UVERBS_ATTR_UHW_OUT, driver_out, driver_answer);
  call.Twist(source);
  if (call.Call(fd_)) Collect(command, answer, driver_answer);
}

void Program::Call(Source& source, const Method& method) {
  Ioctl call = {method.object, method.method, {}};
  for (const Attribute& attribute : method.attributes) {
    uint64_t data = 0;
    if (attribute.way == Attribute::kOut)
      data = pages_.Place(source, attribute.size);
    else if (attribute.way == Attribute::kHandle || attribute.size <= 8)
      data = Value(source, attribute.kind);
    else
      data = pages_.arena();
    call.Add(attribute.id, attribute.size, data);
  }
  call.Twist(source);
  if (!call.Call(fd_)) return;
  for (size_t i = 0; i < method.attributes.size() && i < call.attributes.size(); ++i)
    if (method.attributes[i].way == Attribute::kNew)
      handles_[static_cast<size_t>(method.attributes[i].kind)].push_back(
          static_cast<uint32_t>(call.attributes[i].data));
}

void Program::MapOffer(Source& source) {
  if (offers_.empty()) return;
  Offer offer = offers_[source.Byte() % offers_.size()];
  if (source.OneIn(6)) offer.offset += static_cast<uint64_t>(source.Below(8)) * 4096 - 8192;
  if (source.OneIn(6)) offer.length = source.Edge() & 0xfffff;
  const int prot = source.OneIn(4) ? source.Below(8) : PROT_READ | PROT_WRITE;
  const int flags = source.OneIn(8) ? MAP_PRIVATE : MAP_SHARED;
  void* start = mmap(nullptr, offer.length, prot, flags, fd_, static_cast<off_t>(offer.offset));
  if (start != MAP_FAILED) maps_.push_back({static_cast<char*>(start), offer.length});
}

void Program::Remap(Source& source) {
  if (maps_.empty()) return;
  Map& map = maps_[source.Byte() % maps_.size()];
  switch (source.Below(5)) {
    case 0:
      // The hole stays taken: what came to lie there would be changed and unmapped as ours.
      mmap(map.start + map.size / 2 / 4096 * 4096, 4096, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      break;
    case 1: {
      const size_t size = map.size + source.Below(4) * 4096;
      void* moved = mremap(map.start, map.size, size, MREMAP_MAYMOVE);
      if (moved != MAP_FAILED) map = {static_cast<char*>(moved), size};
      break;
    }
    case 2:
      mprotect(map.start, 4096, source.Below(8));
      break;
    case 3:
      madvise(map.start, map.size, source.Below(26));
      break;
    default:
      munmap(map.start, map.size);
      map = maps_.back();
      maps_.pop_back();
  }
}

// By the file of the memory: what is not there any more is an error and no signal. And it writes
// what is mapped to be executed, so a word behind the mapping may be in this program or its
// libraries.
void Program::Scribble(Source& source) {
  if (maps_.empty()) return;
  const Map& map = maps_[source.Byte() % maps_.size()];
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  for (uint32_t count = 1 + source.Below(8); count > 0; --count) {
    const uint32_t word = source.Edge();
    const size_t at = source.OneIn(2) ? source.Below(8) * 64 : source.Take<uint16_t>() & ~3u;
    if (at + sizeof(word) <= map.size)
      (void)!pwrite(memory, &word, sizeof(word), reinterpret_cast<off_t>(map.start + at));
  }
  close(memory);
}

void Program::Doorbell(Source& source) {
  const uint64_t bits = source.OneIn(4) ? source.Edge() : 0xffff;
  RingBell(doorbell_, source.OneIn(16) ? source.Word() : SRN_IOC_DOORBELL,
           bits | uint64_t{source.OneIn(8) ? source.Edge() : 0} << 32);
}

// Written as Scribble() does, since a device that goes takes its mappings along.
void Program::Talk(Source& source) {
  static constexpr uint32_t kOpcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                          IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND};
  static constexpr uint32_t kLengths[] = {1024, 1500, 256, 8};
  if (traffic_.queue == 0 || traffic_.entries == 0) return;
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  const auto poke = [&](uint64_t at, const auto& value) {
    (void)!pwrite(memory, &value, sizeof(value), static_cast<off_t>(traffic_.queue + at));
  };
  for (uint32_t count = 1 + source.Below(4); count > 0; --count) {
    srn_send_wqe wqe = {
        .opcode = source.Pick(kOpcodes), .flags = source.Byte() & 0x1fu, .num_sge = 1};
    wqe.flags &= ~uint32_t{IBV_SEND_INLINE};
    wqe.rdma = {
        .remote_addr = traffic_.address & ~uint64_t{7}, .compare_add = 1, .rkey = traffic_.key};
    const uint32_t length = wqe.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : source.Pick(kLengths);
    const srn_sge sge = {.addr = traffic_.address, .length = length, .lkey = traffic_.key};
    const uint64_t slot =
        traffic_.slots + uint64_t{traffic_.tail % traffic_.entries} * traffic_.stride;
    poke(slot, wqe);
    poke(slot + sizeof(wqe), sge);
    ++traffic_.tail;
  }
  poke(offsetof(srn_qp_page, sq_tail), traffic_.tail);
  close(memory);
  RingBell(doorbell_, SRN_IOC_DOORBELL, 0xffff);
}

// The child has the descriptors, and the mappings or not; it goes at once.
void Program::Fork() {
  const pid_t child = fork();
  if (child == 0) {
    ioctl(doorbell_, SRN_IOC_DOORBELL, 0xffffull);
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

void Program::Act(Source source) {
  const uint32_t kind = source.Below(64);
  if (kind < 28) return Write(source, source.Pick(Commands()));
  if (kind < 38) return Invoke(source, source.Pick(Commands()));
  if (kind < 48) return Call(source, source.Pick(Methods()));
  if (kind < 53) return MapOffer(source);
  if (kind < 56) return Remap(source);
  if (kind < 58) return Scribble(source);
  if (kind < 60) return Doorbell(source);
  if (kind < 63) return Talk(source);
  Fork();
}

void Program::Meddle(uint32_t round) {
  mprotect(pages_.page(3), Pages::kPage, round % 2 ? PROT_NONE : PROT_READ | PROT_WRITE);
  struct {
    ib_uverbs_cmd_hdr hdr;
    ib_uverbs_destroy_qp command;
  } request = {};
  uint64_t answer = 0;
  static constexpr uint32_t kEnds[] = {IB_USER_VERBS_CMD_DESTROY_QP, IB_USER_VERBS_CMD_DESTROY_CQ,
                                       IB_USER_VERBS_CMD_DESTROY_SRQ};
  request.hdr = {kEnds[round % 3], sizeof(request) / 4, 2};
  request.command.response = reinterpret_cast<uint64_t>(&answer);
  request.command.qp_handle = round / 3 % 16;
  (void)Issue(fd_, std::span(reinterpret_cast<const uint8_t*>(&request), sizeof(request)));
}

}  // namespace fuzz
