// SPDX-License-Identifier: GPL-2.0-only
// A peer that is connected and sends anything: requests and answers, with a right ICRC and mostly
// with a PSN that is due, to a QP that has requests under way and receives posted. One input is one
// connection.
#include <thread>

#include <fmt/format.h>

#include <result/must.h>
#include <share/parameter.h>
#include <verbs/connect.h>
#include <wire/messages.h>

#include "forge.h"
#include "health.h"
#include "packets_seeds.h"
#include "posted.h"
#include "read_check.h"
#include "secret.h"
#include "target.h"

namespace fuzz {
namespace {

using net::IpVersion;
using result::Must;
using std::chrono::microseconds;

constexpr size_t kPiece = kPacketsPiece;
constexpr uint32_t kQkey = 0x11223344;
constexpr ibv_qp_type kTypes[] = {IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC,
                                  IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

roce::Service ServiceOf(ibv_qp_type type) {
  if (type == IBV_QPT_UD) return roce::Service::kUd;
  return type == IBV_QPT_UC ? roce::Service::kUc : roce::Service::kRc;
}

class Packets : public Target {
 public:
  Packets();

  size_t piece() const override { return kPiece; }
  std::vector<Input> Seeds() const override { return PacketsSeeds(); }
  void Run(const Input& input) override;
  void Check() override;

 private:
  static bool ChoosesSacks(const Input& input);
  void Choose(Source& head);
  void Create(Source& head);
  // From RESET on, in the beginning and when all has ended in an error.
  void Connect();
  void Revive();
  // Binds the window to the QP.
  void Bind();
  void Step(Source step);
  void Send(Source& step, bool answer);
  void PostSend(Source& step);
  void PostRecv(Source& step);
  void Change(Source& step);
  // What the device sent: it moves the connection on, and holds no secret.
  void Listen();
  void Poll();

  verbs::Pd pd_, foreign_;
  GuardedMemory memory_;
  verbs::Cq cq_;
  Health health4_, health6_;
  std::unique_ptr<wire::Peer> peer4_, peer6_;
  verbs::Srq srq_;
  Posted posted_;
  // One that is not the QP's, with a window that is its.
  verbs::Qp other_;
  verbs::Mw other_window_;
  verbs::Remote other_remote_ = {};
  // Of the input that runs:
  wire::Peer* peer_ = nullptr;
  bool sacks_ = false;  // its connections repair loss by SACKs
  verbs::WireOptions options_;
  uint32_t first_psn_ = 0, first_own_psn_ = 0;  // of the peer, of the device
  verbs::Qp qp_;
  verbs::Mw window_;
  uint32_t window_key_ = 0;
  verbs::Ah ah_;
  PeerState state_;
  ReadCheck reads_;
};

// The part of the open region that windows show.
constexpr size_t kWindowAt = 8192, kWindowSize = 16384;

ibv_mw_bind_info WindowOf(const verbs::Mr& mr) {
  return {.mr = mr.get(),
          .addr = mr.At(kWindowAt).addr,
          .length = kWindowSize,
          .mw_access_flags =
              IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC};
}

Packets::Packets()
    : pd_(Must(verbs::Pd::Create(wire::Wire::Get().context()))),
      foreign_(Must(verbs::Pd::Create(wire::Wire::Get().context()))),
      memory_(pd_, foreign_),
      cq_(Must(verbs::Cq::Create(wire::Wire::Get().context(), 4096))),
      health4_(IpVersion::kV4),
      health6_(IpVersion::kV6),
      peer4_(wire::Peer::Create(IpVersion::kV4)),
      peer6_(wire::Peer::Create(IpVersion::kV6)),
      srq_(Must(verbs::Srq::Create(pd_, 64, 2))),
      other_(Must(verbs::Qp::Create(pd_, cq_, cq_, {}))),
      other_window_(Must(verbs::Mw::Create(pd_, IBV_MW_TYPE_2))),
      reads_(memory_) {
  const verbs::Port port = Must(wire::Wire::Get().Port(IpVersion::kV4));
  const ibv_gid gid = wire::ToGid(wire::Wire::Get().peer(IpVersion::kV4));
  Must(verbs::ConnectTo(other_, port, gid, peer4_->qpn(), 1, 1, {}));
  other_remote_ = {memory_.open().At(kWindowAt).addr, ibv_inc_rkey(other_window_->rkey)};
  Must(other_.Post(
      verbs::SendWr::BindMw(0, other_window_.get(), other_remote_.rkey, WindowOf(memory_.open()))));
  if (Must(cq_.Wait(std::chrono::seconds(5))).status != IBV_WC_SUCCESS)
    throw result::SetupFailure("no window");
}

// The last bit of the head, which nothing else is chosen by.
bool Packets::ChoosesSacks(const Input& input) {
  return input.size() >= kPiece && input[kPiece - 1] & 1;
}

void Packets::Choose(Source& head) {
  static constexpr uint32_t kPsns[] = {0x500, 0xfffffe, 0, 0x7ffffd};
  static constexpr uint8_t kTimeouts[] = {0, 5, 7, 9, 18, 31};
  static constexpr int kAll = verbs::kAllAccess & ~IBV_ACCESS_MW_BIND;
  static constexpr int kAccess[] = {
      kAll, kAll, kAll, kAll, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, 0};
  peer_ = head.OneIn(2) ? peer6_.get() : peer4_.get();
  first_psn_ = head.Pick(kPsns);
  first_own_psn_ = head.Pick(kPsns) ^ 0x40;
  const uint32_t mtu = 256u << head.Below(5);
  options_ = {.mtu = verbs::MtuOf(mtu),
              .access = head.Pick(kAccess),
              .timeout = head.Pick(kTimeouts),
              .retry_cnt = static_cast<uint8_t>(head.Below(8)),
              .rnr_retry = static_cast<uint8_t>(head.Below(8)),
              .min_rnr_timer = 1,
              .rd_atomic = static_cast<uint8_t>(1 + head.Below(16)),
              .qkey = kQkey};
}

void Packets::Create(Source& head) {
  const ibv_qp_type type = head.Pick(kTypes);
  Choose(head);
  const bool shared = head.OneIn(4) && type == IBV_QPT_RC;
  qp_ = Must(verbs::Qp::Create(pd_, cq_, cq_,
                               {.type = type,
                                .max_inline = 64,
                                .sq_sig_all = head.OneIn(2),
                                .srq = shared ? &srq_ : nullptr}));
  const verbs::Port port = Must(wire::Wire::Get().Port(peer_->version()));
  const ibv_gid gid = wire::ToGid(wire::Wire::Get().peer(peer_->version()));
  ah_ = Must(verbs::Ah::Create(pd_, verbs::AhAttr(port, gid)));
  if (type != IBV_QPT_UD) window_ = Must(verbs::Mw::Create(pd_, IBV_MW_TYPE_2));
  if (window_.get()) window_key_ = window_->rkey;
  Connect();
  if (!head.OneIn(4)) PostRecv(head);
}

void Packets::Connect() {
  const verbs::Port port = Must(wire::Wire::Get().Port(peer_->version()));
  const ibv_gid gid = wire::ToGid(wire::Wire::Get().peer(peer_->version()));
  const auto mtu = static_cast<uint32_t>(verbs::MtuBytes(options_.mtu));
  state_ = {.service = ServiceOf(qp_->qp_type),
            .mtu = mtu,
            .peer_qpn = peer_->qpn(),
            .qkey = kQkey,
            .windows = {},
            .peer_psn = first_psn_,
            .nxt_psn = first_own_psn_};
  reads_.Reset();
  if (!share::SetParameter("recovery", sacks_ ? "sack" : "hold"))
    throw result::SetupFailure("no parameter \"recovery\"");
  Must(verbs::ConnectTo(qp_, port, gid, peer_->qpn(), first_psn_, first_own_psn_, options_));
  peer_->Connect(qp_.num(), mtu, first_own_psn_);
  peer_->IgnoreRules();  // they know no peer that asks for nonsense
  if (window_.get()) Bind();
}

// The key is a new one each time: what was under way with the old one shall find nothing.
void Packets::Bind() {
  const uint32_t key = ibv_inc_rkey(window_key_);
  const uint64_t id = posted_.Next();
  const ibv_mw_bind_info where = WindowOf(memory_.open());
  if (!qp_.Post(verbs::SendWr::BindMw(id, window_.get(), key, where))) return;
  posted_.Add(id, 0);
  window_key_ = key;
  state_.windows = {{where.addr, key}, {where.addr, key}, {where.addr, key}, other_remote_};
}

// PSNs far from those before: what is still on its way does not meet the new connection.
void Packets::Revive() {
  const ibv_qp_state now = qp_.State();
  if (now != IBV_QPS_ERR && now != IBV_QPS_RESET && !state_.dead) return;
  Must(qp_.ModifyState(IBV_QPS_RESET));
  Listen();
  first_psn_ = roce::PsnAdd(first_psn_, 0x100000);
  first_own_psn_ = roce::PsnAdd(first_own_psn_, 0x100000);
  Connect();
}

void Packets::Send(Source& step, bool answer) {
  for (uint32_t count = 1 + step.Below(4); count > 0; --count) {
    Listen();
    Forger forger(step, state_, memory_);
    Forged forged = answer ? forger.Answer() : forger.Request();
    net::Datagram datagram = peer_->Seal(forged.packet);
    if (step.OneIn(10)) {
      forger.Spoil(datagram);
      forged.right = false;
    }
    reads_.Sent(forged);
    if (!answer) state_.Sent(forged.packet, forged.right);
    peer_->SendDatagram(datagram);
  }
}

void Packets::PostSend(Source& step) {
  static constexpr uint32_t kLengths[] = {0, 1, 8, 8, 64, 300, 4096, 9000};
  const uint32_t kind = step.Below(7);
  const uint64_t id = posted_.Next();
  const uint32_t length = kind >= 5 ? 8 : step.Pick(kLengths);
  const size_t offset = step.Take<uint16_t>() / 2;
  const verbs::Remote remote = {0x1000u + step.Byte() * 8u, 1};
  verbs::SendWr::Sges sges;
  if (length > 0) sges.push_back(memory_.open().Slice(offset & ~size_t{7}, length));
  verbs::SendWr wr = kind < 2   ? verbs::SendWr::Send(id, sges)
                     : kind < 4 ? verbs::SendWr::Write(id, sges, remote)
                     : kind < 5 ? verbs::SendWr::Read(id, sges, remote)
                     : kind < 6 ? verbs::SendWr::FetchAdd(id, sges[0], remote, 1)
                                : verbs::SendWr::CompareSwap(id, sges[0], remote, 0, 1);
  if (kind % 2 == 1 && kind < 4) wr.Imm(step.Word());
  if (step.OneIn(4)) wr.Fence();
  if (state_.service == roce::Service::kUd) wr.To(ah_.get(), peer_->qpn(), kQkey);
  if (qp_.Post(std::move(wr))) posted_.Add(id, 0);
}

void Packets::PostRecv(Source& step) {
  static constexpr uint32_t kLengths[] = {9000, 4096, 9000, 1024, 64, 1, 0};
  const uint32_t length = step.Pick(kLengths);
  for (uint32_t count = 4 + step.Below(5); count > 0; --count) {
    std::vector<ibv_sge> sges;
    if (step.OneIn(8)) sges.push_back(step.Pick(memory_.sges()));
    if (length > 0) sges.push_back(memory_.open().Slice(step.Byte() * 64u, length));
    uint64_t room = 0;
    for (const ibv_sge& sge : sges) room += sge.length;
    const uint64_t id = posted_.Next();
    verbs::RecvWr wr(id, sges);
    const bool shared = qp_->srq != nullptr;
    if (shared ? srq_.Post(std::move(wr)) : qp_.Post(std::move(wr))) posted_.Add(id, room, shared);
  }
}

void Packets::Change(Source& step) {
  static constexpr ibv_qp_state kStates[] = {IBV_QPS_ERR, IBV_QPS_SQD, IBV_QPS_RTS, IBV_QPS_RESET};
  (void)qp_.ModifyState(step.Pick(kStates));
  if (!step.OneIn(4)) Revive();
}

void Packets::Poll() {
  while (const auto wc = cq_.Poll()) posted_.Complete(*wc);
}

void Packets::Listen() {
  while (const auto packet = peer_->Receive(microseconds(0))) {
    if (HoldsSecret(packet->payload))
      throw Broken("a packet carries what nobody may read: " + packet->ToString());
    reads_.Heard(*packet, state_.mtu);
    state_.Heard(*packet);
  }
}

void Packets::Step(Source step) {
  const uint32_t kind = step.Below(16);
  if (kind < 6) return Send(step, /*answer=*/false);
  if (kind < 10) return Send(step, /*answer=*/true);
  if (kind < 12) return PostSend(step);
  if (kind < 14) return PostRecv(step);
  Listen();
  Poll();
  if (kind < 15) return Revive();
  if (step.OneIn(4)) return Change(step);
  std::this_thread::sleep_for(microseconds(50 * step.Below(8)));
}

void Packets::Run(const Input& input) {
  Source source(input);
  Source head = source.Part(kPiece);
  sacks_ = ChoosesSacks(input);
  Create(head);
  while (!source.empty()) Step(source.Part(kPiece));
  Listen();
  Poll();
  Must(qp_.Close());
  Must(ah_.Close());
  if (window_.get()) Must(window_.Close());
  Poll();
  posted_.ForgetOwn();
  memory_.CheckUntouched();
}

void Packets::Check() {
  health4_.Check();
  health6_.Check();
  // What is left in it is of earlier inputs, and would make each run another.
  srq_ = {};
  srq_ = Must(verbs::Srq::Create(pd_, 64, 2));
  posted_.ForgetAll();
}

}  // namespace

std::unique_ptr<Target> CreatePackets() { return std::make_unique<Packets>(); }

}  // namespace fuzz
