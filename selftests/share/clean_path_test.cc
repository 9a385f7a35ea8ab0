// SPDX-License-Identifier: GPL-2.0-only
// What is no damage though counters of damage moved.
#include "clean_path.h"

namespace share {
namespace {

using Devices = std::vector<CounterValues>;

TEST(TakeProbes, OneThatThePeerHad) {
  const Devices probe = {{{"sent_probes", 1}, {"retransmitted_pkts", 1}},
                         {{"duplicate_request", 1}}};
  Devices damage = probe;
  EXPECT_EQ(TakeProbes(damage), probe);
  EXPECT_EQ(damage, Devices(2));
}

TEST(TakeProbes, OneOfEachDevice) {
  const CounterValues both = {
      {"sent_probes", 1}, {"retransmitted_pkts", 1}, {"duplicate_request", 1}};
  Devices damage = {both, both};
  EXPECT_EQ(TakeProbes(damage), Devices({both, both}));
  EXPECT_EQ(damage, Devices(2));
}

TEST(TakeProbes, NothingElse) {
  for (const Devices& left : {
           Devices{{}, {}},
           // What was asked about had been lost,
           Devices{{{"sent_probes", 1}, {"retransmitted_pkts", 1}}, {}},
           Devices{{{"sent_probes", 2}, {"retransmitted_pkts", 2}}, {{"duplicate_request", 1}}},
           // of what is left some was allowed,
           Devices{{}, {{"duplicate_request", 1}}},
           // more went again than was asked about, or by a timeout,
           Devices{{{"sent_probes", 1}, {"retransmitted_pkts", 2}}, {{"duplicate_request", 2}}},
           Devices{{{"local_ack_timeout_err", 1}, {"retransmitted_pkts", 1}},
                   {{"duplicate_request", 1}}},
           // something else is wrong, or there are too many.
           Devices{{{"sent_probes", 1}, {"retransmitted_pkts", 1}},
                   {{"duplicate_request", 1}, {"out_of_sequence", 1}}},
           Devices{{{"sent_probes", 3}, {"retransmitted_pkts", 3}}, {{"duplicate_request", 3}}},
       }) {
    Devices damage = left;
    EXPECT_EQ(TakeProbes(damage), Devices(2));
    EXPECT_EQ(damage, left);
  }
}

}  // namespace
}  // namespace share
