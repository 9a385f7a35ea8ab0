// SPDX-License-Identifier: GPL-2.0-only
// What is dropped is counted once, by its cause, and told by verbs where those have a place for it.
#include "counters.h"
#include "fixture.h"

namespace wire {
namespace {

constexpr uint32_t kGrh = 40;
constexpr uint32_t kPortMtu = 4096;

class DropCounters : public WireTest {
 protected:
  void ExpectStep(const Counters& since, const std::string& name, uint64_t step) {
    if (step != 0) EXPECT_TRUE(since.Grew(name, step)) << name;
    EXPECT_EQ(since.Growth(name), step) << name;
  }
  Packet Datagram(const Bytes& payload, uint32_t qkey) {
    Packet p = Request(Operation::kSendOnly, 1, payload, Service::kUd);
    p.deth = roce::Deth{qkey, peer().qpn()};
    return p;
  }
  Packet Datagram(size_t length) { return Datagram(Pattern(length), ep().options().qkey); }
  std::vector<Packet> UcWrite(int psn, uint32_t packets, uint32_t rkey) {
    return WriteMessage(PeerPsn(psn), Pattern(packets * mtu()), mtu(), ep().Va(kPlace), rkey,
                        Service::kUc);
  }
  std::vector<Packet> UcSend(int psn, uint32_t packets) {
    return SendMessage(PeerPsn(psn), Pattern(packets * mtu()), mtu(), Service::kUc);
  }
  static ibv_port_attr Port() { return *Wire::Get().context().QueryPort(1); }
};
SRN_BOTH_IP_VERSIONS(DropCounters);

TEST_P(DropCounters, DatagramBeyondTheMtu) {
  Start({.type = IBV_QPT_UD, .mtu = kPortMtu});
  ep().PostRecv(1, kPlace, 8192);
  const Counters before;
  peer().Send(Datagram(kPortMtu + 4));
  ExpectStep(before, "rcvd_ud_too_long", 1);
  ExpectStep(before, "rcvd_no_recv_wqe", 0);
  peer().Send(Datagram(kPortMtu));
  ExpectReceived(1, kGrh + kPortMtu);
}

TEST_P(DropCounters, DatagramBeyondItsBuffer) {
  Start({.type = IBV_QPT_UD, .mtu = kPortMtu});
  ep().Fill(0xee);
  ep().PostRecv(1, kPlace, kGrh + 100);
  const Counters before;
  peer().Send(Datagram(101));
  ExpectStep(before, "rcvd_ud_too_long", 1);
  ExpectStep(before, "rcvd_no_recv_wqe", 0);
  EXPECT_EQ(ep().Copy(kPlace, 200), Bytes(200, 0xee));
  // The buffer serves the next one, which fills it.
  peer().Send(Datagram(100));
  ExpectReceived(1, kGrh + 100);
}

TEST_P(DropCounters, UcMessageOfWhichAPacketIsLost) {
  Start({.type = IBV_QPT_UC});
  ep().PostRecv(1, kPlace, 16384);
  const Counters before;
  const auto broken = UcSend(0, 6);
  peer().Send(broken[0]);
  for (size_t i = 2; i < 6; ++i) peer().Send(broken[i]);
  Send(UcSend(6, 1));
  ExpectReceived(1, mtu());
  ExpectStep(before, "uc_messages_lost", 1);
  ExpectStep(before, "uc_messages_refused", 0);
  ExpectStep(before, "rcvd_no_recv_wqe", 0);
}

TEST_P(DropCounters, UcMessagesOfWhichPacketsAreLostCountEach) {
  Start({.type = IBV_QPT_UC});
  const Counters before;
  for (int message = 0; message < 3; ++message) {
    const auto broken = UcWrite(3 * message, 3, ep().rkey());
    peer().Send(broken[0]);
    peer().Send(broken[2]);
  }
  ExpectStep(before, "uc_messages_lost", 3);
}

// What is lost of a message that is lost, or refused, already is no second one.
TEST_P(DropCounters, UcMessageIsCountedOnceWhateverElseOfItIsLost) {
  Start({.type = IBV_QPT_UC});
  const Counters before;
  const auto broken = UcWrite(0, 7, ep().rkey());
  for (const size_t i : {0u, 2u, 3u, 5u}) peer().Send(broken[i]);
  const auto refused = UcWrite(7, 7, ep().rkey() ^ 0x5a5a00);
  for (const size_t i : {0u, 2u, 3u, 5u}) peer().Send(refused[i]);
  ExpectStep(before, "rcvd_pkts", 8);
  ExpectStep(before, "uc_messages_lost", 1);
  ExpectStep(before, "uc_messages_refused", 1);
}

TEST_P(DropCounters, UcMessageThatIsRefused) {
  Start({.type = IBV_QPT_UC});
  const Counters before;
  Send(UcWrite(0, 4, ep().rkey() ^ 0x5a5a00));
  ExpectStep(before, "rcvd_pkts", 4);
  ExpectStep(before, "uc_messages_refused", 1);
  ExpectStep(before, "uc_messages_lost", 0);
  ExpectStep(before, "rcvd_no_recv_wqe", 0);
}

TEST_P(DropCounters, UcMessageWithoutAReceive) {
  Start({.type = IBV_QPT_UC});
  const Counters before;
  Send(UcSend(0, 4));
  ExpectStep(before, "rcvd_pkts", 4);
  ExpectStep(before, "rcvd_no_recv_wqe", 1);
  ExpectStep(before, "uc_messages_lost", 0);
  ExpectStep(before, "uc_messages_refused", 0);
}

TEST_P(DropCounters, AnswerBeforeRequestsCanHaveLeft) {
  Start({.last_state = IBV_QPS_RTR});
  const Counters before;
  peer().Send(Ack(DevPsn(), 1));
  peer().Send(ReadResponse(Operation::kReadResponseOnly, DevPsn(), Pattern(8), 1));
  ExpectStep(before, "rcvd_bad_qp_state", 2);
  ExpectStep(before, "rcvd_pkts", 0);
}

TEST_P(DropCounters, VerbsTellBadKeys) {
  Start({.type = IBV_QPT_UD, .mtu = kPortMtu});
  const ibv_port_attr before = Port();
  const Counters counters;
  peer().Send(Datagram(Pattern(8), ep().options().qkey ^ 1));
  peer().Send(Datagram(Pattern(8), 0));
  Packet p = Datagram(8);
  p.bth.pkey = 0x1234;
  peer().Send(p);
  ExpectStep(counters, "rcvd_bad_qkey", 2);
  ExpectStep(counters, "rcvd_bad_pkey", 1);
  EXPECT_EQ(Port().qkey_viol_cntr - before.qkey_viol_cntr, 2u);
  EXPECT_EQ(Port().bad_pkey_cntr - before.bad_pkey_cntr, 1u);
}

}  // namespace
}  // namespace wire
