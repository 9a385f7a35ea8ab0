// SPDX-License-Identifier: GPL-2.0-only
#include "recovery.h"

#include <algorithm>
#include <thread>

#include <share/parameter.h>

namespace wire {

bool SetRecovery(const std::string& mode) {
  if (Wire::Get().config().lax) return true;
  return share::SetParameter("recovery", mode);
}

std::chrono::microseconds LongPathTest::Quiet() {
  return std::min<std::chrono::microseconds>(Wire::Get().Patience(std::chrono::milliseconds(5)),
                                             kLost / 5);
}

bool LongPathTest::LooksLong() {
  ep().PostSend(77, 0, 16);
  EXPECT_THAT(peer().Expect(), IsRequest(Operation::kSendOnly, DevPsn()));
  // Less than what a path that is not known is given before it is asked: 250 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  peer().Send(Ack(DevPsn(), 1));
  ExpectSent(77, IBV_WC_SEND);
  base_ = 1;
  return !peer().Receive(std::chrono::microseconds(0));
}

}  // namespace wire
