// SPDX-License-Identifier: GPL-2.0-only
// A hostile program: it opens the device, makes what commands it likes, and goes. Whatever it has
// got from the kernel is given back by closing descriptors alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pages.h"
#include "source.h"
#include "uverbs_abi.h"

namespace fuzz {

class Program {
 public:
  explicit Program(const std::string& device);
  ~Program();
  Program(const Program&) = delete;

  // A PD, a CQ, a region, a SRQ, a QP that talks with itself, and an address handle: as long as
  // nothing changes them.
  void MakeSome();
  // One act of any kind.
  void Act(Source source);
  // What a second thread does beside: makes page 3 come and go, and destroys what it finds.
  void Meddle(uint32_t round);

 private:
  struct Map {
    char* start;
    size_t size;
  };
  struct Offer {
    uint64_t offset;
    uint64_t length;
  };

  // The send queue of the QP that MakeSome() made.
  struct Ring {
    uint64_t queue = 0;  // the mapping
    uint64_t size = 0;
    uint32_t slots = 0;  // bytes into it
    uint32_t stride = 0;
    uint32_t entries = 0;
    uint32_t key = 0;  // of the region
    uint64_t address = 0;
    uint32_t tail = 0;
  };

  void GetContext();
  bool Make(uint32_t number);
  void ConnectToSelf();
  // Requests that move data within the region, for what comes next to meet.
  void Talk(Source& source);
  uint32_t Handle(Source& source, Kind kind) const;
  uint64_t Value(Source& source, Kind kind) const;
  std::vector<uint8_t> Body(Source& source, const Command& command) const;
  void FillModify(Source& source, uint8_t* body) const;
  void Write(Source& source, const Command& command);
  void WritePlain(Source& source, const Command& command, std::vector<uint8_t> body,
                  size_t driver_in, uint64_t answer);
  void WriteExtended(Source& source, const Command& command, std::vector<uint8_t> body,
                     size_t driver_in, uint64_t answer);
  void Invoke(Source& source, const Command& command);
  void Call(Source& source, const Method& method);
  // What a command that went well has given.
  void Collect(const Command& command, uint64_t answer, uint64_t driver_answer);
  void MapOffer(Source& source);
  void Remap(Source& source);
  void Scribble(Source& source);
  void Doorbell(Source& source);
  void Fork();

  std::string device_;
  Pages pages_;
  int first_fd_ = -1;
  int fd_ = -1;
  int doorbell_ = -1;
  std::array<std::vector<uint32_t>, kObjectKinds> handles_;
  std::vector<Offer> offers_;
  std::vector<Map> maps_;
  std::vector<uint32_t> numbers_;  // of QPs
  Ring traffic_;
};

}  // namespace fuzz
