// SPDX-License-Identifier: GPL-2.0-only
// What a control group allows, and not more: limits.suite puts the program into one.
#include <vector>

#include "env.h"
#include "objects.h"

namespace fault {
namespace {

using namespace verbs;
using result::Must;

class Limit : public verbs_test::HostTest {
 protected:
  // As many as the group allows; sets the error of the one that it does not.
  template <typename Make>
  auto MakeAll(Make make, int* error) {
    std::vector<std::decay_t<decltype(*make())>> all;
    while (all.size() < 1000) {
      auto made = make();
      *error = made.error();
      if (!made.ok()) break;
      all.push_back(std::move(*made));
    }
    return all;
  }

  template <typename Make>
  void ExpectLimited(Make make) {
    int error = 0;
    auto all = MakeAll(make, &error);
    EXPECT_EQ(error, EAGAIN);
    ASSERT_GE(all.size(), 2u);
    const size_t most = all.size();
    all.pop_back();
    EXPECT_EQ(make().error(), 0) << "one went, and so one may come";
    all.clear();
    EXPECT_EQ(MakeAll(make, &error).size(), most) << "nothing was lost";
  }
};

// rdma.max of the group: hca_object=10.
TEST_F(Limit, ObjectsAreCounted) {
  const std::string before = CountObjects();
  Cq cq = Must(Cq::Create(a_.ctx, 8));
  ExpectLimited([&] { return Cq::Create(a_.ctx, 16); });
  ExpectLimited([&] { return Mr::Register(a_.pd, a_.buffer.bytes()); });
  ExpectLimited([&] { return Mw::Create(a_.pd, IBV_MW_TYPE_2); });
  ExpectLimited([&] { return Srq::Create(a_.pd, 16); });
  ExpectLimited([&] { return Qp::Create(a_.pd, cq, cq, {}); });
  ExpectLimited([&] { return Pd::Create(a_.ctx); });
  Must(cq.Close());
  EXPECT_EQ(CountObjects(), before);
}

// memory.max of the group is less than the queues take that are asked for: the kernel ends the
// program, or says that there is no memory.
TEST_F(Limit, QueuesAreCharged) {
  int error = 0;
  MakeAll([&] { return Cq::Create(a_.ctx, 100000); }, &error);
  EXPECT_EQ(error, ENOMEM);
}

}  // namespace
}  // namespace fault
