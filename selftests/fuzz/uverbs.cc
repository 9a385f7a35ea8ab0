// SPDX-License-Identifier: GPL-2.0-only
// Commands of any shape to the uverbs device: each input is a program of its own, now and then with
// a second thread that destroys what the first one uses.
#include <atomic>
#include <thread>

#include <wire/wire.h>

#include "health.h"
#include "program.h"
#include "target.h"

namespace fuzz {
namespace {

constexpr size_t kPiece = 40;

class Uverbs : public Target {
 public:
  Uverbs() : health_(net::IpVersion::kV4) {
    device_ = std::string("/dev/infiniband/") + wire::Wire::Get().context()->device->dev_name;
  }

  size_t piece() const override { return kPiece; }
  void Check() override { health_.Check(); }
  void Run(const Input& input) override {
    Source source(input);
    Source head = source.Part(kPiece);
    Program program(device_);
    if (!head.OneIn(4)) program.MakeSome();
    std::atomic<bool> done = false;
    std::thread meddler;
    if (head.OneIn(8))
      meddler = std::thread([&] {
        for (uint32_t round = 0; !done; ++round, std::this_thread::yield()) program.Meddle(round);
      });
    while (!source.empty()) program.Act(source.Part(kPiece));
    done = true;
    if (meddler.joinable()) meddler.join();
  }

 private:
  std::string device_;
  Health health_;
};

}  // namespace

std::unique_ptr<Target> CreateUverbs() { return std::make_unique<Uverbs>(); }

}  // namespace fuzz
