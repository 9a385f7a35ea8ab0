// SPDX-License-Identifier: GPL-2.0-only
// srn_model: what connections make of a bottleneck, in a line.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "network.h"
#include "reading.h"

int main(int argc, char** argv) {
  model::Options options;
  double rtt = 0.2, loss = 0, rate = 200;
  CLI::App app("connections through one bottleneck, with the module's windows in a model");
  app.option_defaults()->always_capture_default();
  bool reads = false;
  auto* const one = app.add_flag("--reads", reads, "one connection that READs, messages of 1 MiB");
  app.add_option("--connections", options.connections, "how many")
      ->check(CLI::Range(1, 4096))
      ->excludes(one);
  app.add_option("--domains", options.domains, "protection domains that they belong to")
      ->check(CLI::Range(1, 4096))
      ->excludes(one);
  CLI::Option* const rota =
      app.add_flag("--rota", options.rota, "those of a domain take turns")->excludes(one);
  app.add_flag("--lossy", options.lossy, "but only where a queue loses something")->needs(rota);
  app.add_option("--calm", options.calm, "s, when that is taken to be long ago")->excludes(one);
  app.add_flag("--spread", options.spread, "over 40 ms or more what they send is spread in time")
      ->excludes(one);
  app.add_option("--depth", options.program.depth, "messages of 64 KiB that each has posted")
      ->check(CLI::Range(1, 1024))
      ->excludes(one);
  app.add_option("--timeout", options.timeout, "code of the local ACK timeout")
      ->check(CLI::Range(1, 31))
      ->excludes(one);
  app.add_option("--rtt", rtt, "ms, there and back, without queue")->check(CLI::Range(0.0, 1e4));
  app.add_option("--loss", loss, "per cent lost behind the queue")->check(CLI::Range(0.0, 100.0));
  app.add_option("--queue", options.link.queue, "bytes that fit into the queue");
  app.add_option("--rate", rate, "Mb/s")->check(CLI::Range(0.1, 1e6));
  app.add_option("--seconds", options.seconds, "that are looked at, after the warm-up")
      ->check(CLI::Range(0.1, 1e3));
  app.add_option("--seed", options.seed, "another one, another run");
  app.add_option("--rivals", options.rivals, "that send beside them, by AIMD")
      ->check(CLI::Range(0, 4096))
      ->excludes(one);
  app.add_option("--rivals-from", options.rivals_from, "seconds, from which on they do")
      ->excludes(one);
  app.add_flag("--polices", options.link.polices, "a policer in the place of the queue");
  app.add_option("--warm-up", options.warm_up, "seconds that are not looked at");
  CLI11_PARSE(app, argc, argv);

  options.link.propagation = static_cast<uint64_t>(rtt * 1e6 / 2);
  options.link.loss = loss / 100;
  options.link.rate = rate * 1e6;
  const model::Report report = reads ? model::SimulateReads({.link = options.link,
                                                             .warm_up = options.warm_up,
                                                             .seconds = options.seconds,
                                                             .seed = options.seed})
                                     : model::Simulate(options);
  fmt::print("goodput {:.3f} of the wire, dropped {:.2f} %, queue {:.1f} KB, cwnd {:.1f}",
             report.goodput, report.dropped * 100, report.queue / 1e3, report.cwnd);
  if (!reads)
    fmt::print(", others {:.3f}, Jain {:.3f}, told {:.3f}, least RTT {:.2f} ms", report.rival,
               report.jain, report.told, report.least_rtt * 1e3);
  fmt::print("\n");
  if (report.faults + report.unrepaired == 0) return 0;
  fmt::print(stderr, "{} faults, {} packets never arrived\n", report.faults, report.unrepaired);
  return 1;
}
