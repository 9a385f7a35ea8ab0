// SPDX-License-Identifier: GPL-2.0-only
#include "damage.h"

namespace verbs_test {
namespace {

// A request is refused, and what was sent behind it finds no QP that takes it.
constexpr char kRefused[] = "sent_nak rcvd_nak rcvd_bad_qp_state";
// A receiver is not ready: what was sent behind the refused packet is out of sequence.
constexpr char kNotReady[] =
    "send_rnr_err rnr_nak_retry_err retransmitted_pkts out_of_sequence rcvd_held";
constexpr char kNoPeer[] = "rcvd_no_qp";
// Nobody answers.
constexpr char kSilence[] =
    "rcvd_no_qp rcvd_bad_qp_state local_ack_timeout_err sent_probes retransmitted_pkts "
    "retry_exceeded_err";
// Several threads send for one QP, each on its CPU, and a veth has a queue for each CPU: packets
// overtake each other.
constexpr char kOvertaken[] =
    "out_of_sequence rcvd_held sent_nak packet_seq_err implied_nak_seq_err rcvd_early_responses "
    "retransmitted_pkts duplicate_request";

// Requests that nobody waits for, and after which there is silence for a while, on a slow host
// between two of them, too: it is asked about.
constexpr char kAskedAbout[] = "sent_probes retransmitted_pkts duplicate_request";

}  // namespace

const std::vector<share::Allowance>& MeantDamage() {
  static const std::vector<share::Allowance> meant = {
      {"*AsyncEvent.*", kRefused},
      {"*Atomic.UnalignedTarget*", kRefused},
      {"*AtomicWrite.UnalignedTarget*", kRefused},
      {"*AtomicWrite.NeedsTheRight*", kRefused},
      {"*Pack.BadKey*", kRefused},
      {"*Pack.Invalidation*", kRefused},
      // The last good one is sent again, to ask; the first one's ACK may have told of it.
      {"*Pack.BadLocalKey*", "retransmitted_pkts duplicate_request rcvd_bad_qp_state"},
      {"*RcError.*", kRefused},
      {"*Rights.*", kRefused},
      {"*Region.ReadOnlyPages*", kRefused},
      {"*Region.GoesWhileRequests*", kRefused},
      {"*Region.WithoutBytes*", kRefused},
      {"*RegionEdge.*", kRefused},
      {"*Reborn.ReasonOfTheError*", kRefused},
      {"*Reregister.*", kRefused},
      {"*Window[12].*", kRefused},
      {"*SharedQueue.MessageLonger*", kRefused},
      {"*SharedQueue.ProtectionDomain*", kRefused},
      {"*Straight.RightsAreRights*", kRefused},
      {"*Straight.KeysAreKeys*", "rcvd_bad_qp_state"},
      {"*Straight.RegionsThatGo*", kRefused},
      {"*Straight.BothReadUntil*", kSilence},
      {"*Straight.BothReadUntil*", "duplicate_request"},
      {"*Threads.RegionChangesItsRights*", kRefused},

      {"*Rnr.*", kNotReady},
      {"*Rnr.Exhaustion*", "retry_rnr_exceeded_err"},
      // Those behind the waiting one are sent while it waits, where the host is slow.
      {"*Rnr.RequestsBehind*", "sent_nak packet_seq_err"},
      {"*Pack.MessagesWait*", kNotReady},
      {"*Pack.MessagesWait*", "sent_nak packet_seq_err duplicate_request"},
      {"*Drain.EventComes*", kNotReady},
      {"*Drain.EventDoesNotWait*", kNotReady},
      {"*Drain.EventDoesNotWait*", "sent_nak packet_seq_err duplicate_request"},
      {"*SharedQueue.EmptyQueue*", kNotReady},

      {"*Device.ProgramMayExit*", kSilence},
      {"*Lease.*", kSilence},
      {"*Lease.*", "stale_answers duplicate_request"},
      // Who is long about it asks nobody once more, and somebody as well.
      {"*Post.*", kNoPeer},
      {"*Post.*", kAskedAbout},
      {"*Reborn.Drain*", kNoPeer},
      {"*Reborn.Drain*", kAskedAbout},
      {"*QueuePair.QueueOfLengthZero*", kNoPeer},
      {"*QueuePair.QueueOfLengthZero*", kAskedAbout},
      {"*Flush.*", kNoPeer},
      {"*Flush.*", kAskedAbout},
      {"*Retry.*", kSilence},
      // Answers that have a rate take a while, and a busy machine makes it a long one.
      {"*Rate.IsKept/Read*", "sent_probes retransmitted_pkts duplicate_request"},
      {"*RcOrder.*OfUnsignalledRequests*", kAskedAbout},
      {"*RcGather.*", kAskedAbout},
      {"*.PostsGoBeforeTheQpStops*", "rcvd_no_qp rcvd_bad_qp_state"},
      {"*RcOrder.RegionOfAnUnsignalledRequest*", kAskedAbout},
      {"*RcOrder.UnsignalledRequests*", kAskedAbout},
      // The responder is in error while packets come; what it says of them may arrive.
      {"*Flush.*WhileDataMoves*", kRefused},
      {"*Flush.RequestsPostedDuringTheChange*", kRefused},
      {"*Flush.RequestsPostedDuringTheChange*", "out_of_sequence rcvd_held"},
      {"*QueuePairOnWire.DestroyedUnderTraffic*", kSilence},
      {"*QueuePairOnWire.DestroyedUnderTraffic*", "duplicate_request"},
      {"*Threads.ObjectsComeAndGo*", kSilence},
      {"*Threads.ObjectsComeAndGo*", kAskedAbout},
      {"*Threads.ObjectsComeAndGo*", kRefused},
      {"*Threads.ManyPost*", kOvertaken},

      {"*Uc.SendWithoutReceiver*", "rcvd_no_recv_wqe"},
      {"*Uc.PeerThatDoesNotExist*", kNoPeer},
      {"*Uc.ForbiddenWrite*", "uc_messages_refused"},
      {"*Uc.MessageLonger*", "uc_messages_refused"},
      {"*Ud.*Qkey*", "rcvd_bad_qkey"},
      {"*Ud.UnknownQp*", kNoPeer},
      {"*Ud.DatagramWithoutReceiver*", "rcvd_no_recv_wqe"},
      {"*Ud.DatagramLonger*", "rcvd_ud_too_long"},
      {"*Ud.WhatWasPostedBeforeAnError*", "rcvd_no_recv_wqe"},

      {"*CompletionQueue.Overflow*", "cq_overruns"},
      {"*QueueEdge.ResizeDoesNotMend*", "cq_overruns"},
      {"*HostileRing.*", "*"},
      {"*HostileVerbs.*", "*"},
  };
  return meant;
}

}  // namespace verbs_test
