// SPDX-License-Identifier: GPL-2.0-only
// The module's gate, as C++ may call it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// What srn_parse() and srn_parse_icrc() made of a packet.
struct GateVerdict {
  int parse;  // enum srn_parse_result; 0 is good
  int opcode_unknown;
  int icrc_ok;  // looked at if the lengths are proven
  uint8_t opcode;
  uint16_t pkey;
  uint32_t qpn, psn, len;
  uint32_t headers;  // bytes from the BTH to the payload
};

// `network`: the IP header; `transport`: all from the UDP header on, of which `linear` bytes are in
// the skb's head.
GateVerdict gate(const uint8_t* network, size_t network_size, const uint8_t* transport, size_t size,
                 size_t linear);
}
