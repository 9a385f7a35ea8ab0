// SPDX-License-Identifier: GPL-2.0-only
// So many connections from here to there, and others that are none, through one bottleneck. Answers
// come back undelayed by others; of them as many are lost as of what has passed the queue.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "aimd.h"
#include "events.h"
#include "link.h"
#include "receiver.h"
#include "sender.h"

namespace model {

struct Options {
  int connections = 1;
  int domains = 4;      // protection domains that they belong to
  bool rota = false;    // where these have more than SRN_ROTA_FEW each, they take turns,
  bool lossy = false;   // but only where a queue loses something
  double calm = 0;      // seconds; what was lost by then is taken to be long ago (0: never)
  bool spread = false;  // over very long paths what they send is spread
  int rivals = 0;       // that send beside them, but by AIMD, from so many seconds on
  double rivals_from = 0;
  LinkOptions link = {};
  Program program = {};  // of each
  int timeout = 14;      // the code that programs ask for
  double sheds =
      0;  // seconds from when receivers give up what they hold to the next time; 0: never
  double warm_up = 0.5;  // seconds that are not looked at
  double seconds = 2;
  uint64_t seed = 1;
};

struct Report {
  double goodput = 0;      // of the wire; a packet counts once, with its headers
  double dropped = 0;      // of what came to the queue, since it was full
  double jain = 0;         // 1: all have the same part
  double rival = 0;        // goodput of the others together
  double told = 0;         // bytes of answers in a second, of what the wire takes the other way
  double queue = 0;        // bytes, mean of what packets found
  double cwnd = 0;         // mean, at the end
  uint64_t calmed = 0;     // domains that took turns when Options::calm was
  double least_rtt = 0;    // seconds, that any of them knows; infinite: none does
  uint64_t delivered = 0;  // packets, from the first on
  uint64_t again = 0;  // packets that came to the queue beside those that were delivered, from the
                       // first on
  uint64_t lost = 0;   // packets that the queue dropped, or the wire lost, likewise
  uint64_t timeouts = 0;    // of all connections, likewise
  uint64_t unrepaired = 0;  // packets that were posted and not acknowledged in the end
  uint64_t faults = 0;      // what may not be: see Network::SendBack(), Receiver::faults()
};

class Network {
 public:
  explicit Network(const Options& options);

  Report Run();

 private:
  struct Connection {
    Connection(Network& network, Domain& domain, uint32_t psn);
    Receiver receiver;
    Sender sender;
  };
  struct Rival {
    explicit Rival(Network& network);
    Aimd sender;
  };
  // What there was at some time.
  struct Tally {
    std::vector<uint64_t> delivered;
    uint64_t rivals = 0;
    uint64_t told = 0;
    LinkCounts link;
  };

  void SendBack(Connection& connection, const Answer& answer);
  Tally Look() const;
  Report Difference(const Tally& from, const Tally& to) const;
  void AddState(Report& report) const;
  uint64_t Unacked() const;
  void Calm();
  void Shed();
  void Repair(Report& report);

  const Options options_;
  Events events_;
  std::mt19937_64 random_;
  Link link_;
  uint64_t calmed_ = 0;
  std::vector<Domain> domains_;
  std::deque<Connection> connections_;
  std::deque<Rival> rivals_;
  uint64_t told_ = 0;  // bytes of answers
  uint64_t faults_ = 0;
};

inline Report Simulate(const Options& options) { return Network(options).Run(); }

}  // namespace model
