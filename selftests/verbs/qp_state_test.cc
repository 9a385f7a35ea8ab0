// SPDX-License-Identifier: GPL-2.0-only
// The QP state machine: every pair of states, every attribute bit, every
// attribute back from the query. The table is IBTA's (vol. 1, 10.3.1).
#include <cstring>
#include <map>

#include "env.h"

namespace verbs_test {
namespace {

constexpr int kAllBits = (IBV_QP_DEST_QPN << 1) - 1;
// Path migration: devices may refuse it where the table allows it.
constexpr int kMigration = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

constexpr ibv_qp_state kStates[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
                                    IBV_QPS_SQD,   IBV_QPS_SQE,  IBV_QPS_ERR};

struct Row {
  int required;
  int optional;
};

// The standard allows a move to ERR from every state. Linux's core refuses it of a QP that has
// never begun, before the device is asked: no habit that a device must have.
bool IsLeftToTheCore(ibv_qp_state from, ibv_qp_state to) {
  return from == IBV_QPS_RESET && to == IBV_QPS_ERR;
}

// The transitions that exist for a type of QP, with their attributes beside
// IBV_QP_STATE.
std::map<std::pair<ibv_qp_state, ibv_qp_state>, Row> Table(ibv_qp_type type) {
  const bool ud = type == IBV_QPT_UD, rc = type == IBV_QPT_RC;
  const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
  const int uc_rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  const int rtr = ud ? 0 : uc_rtr | (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
  const int rts =
      IBV_QP_SQ_PSN |
      (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);
  // What may change on a working QP.
  const int working =
      IBV_QP_CUR_STATE |
      (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS | kMigration | (rc ? IBV_QP_MIN_RNR_TIMER : 0));
  const int drained =
      IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS | kMigration) |
      // Linux adds the port to an address, and refuses the port on UC.
      (rc ? IBV_QP_AV | IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
          : 0);

  std::map<std::pair<ibv_qp_state, ibv_qp_state>, Row> table = {
      {{IBV_QPS_RESET, IBV_QPS_INIT}, {init, 0}},
      {{IBV_QPS_INIT, IBV_QPS_INIT}, {0, init}},
      {{IBV_QPS_INIT, IBV_QPS_RTR},
       {rtr, IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS | kMigration)}},
      {{IBV_QPS_RTR, IBV_QPS_RTS}, {rts, working}},
      {{IBV_QPS_RTS, IBV_QPS_RTS}, {0, working}},
      {{IBV_QPS_RTS, IBV_QPS_SQD}, {0, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
      {{IBV_QPS_SQD, IBV_QPS_RTS}, {0, working}},
      {{IBV_QPS_SQD, IBV_QPS_SQD}, {0, drained}},
  };
  if (!rc)
    table[{IBV_QPS_SQE, IBV_QPS_RTS}] = {
        0, IBV_QP_CUR_STATE | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)};
  for (ibv_qp_state from : kStates) {
    table[{from, IBV_QPS_RESET}] = {};
    if (!IsLeftToTheCore(from, IBV_QPS_ERR)) table[{from, IBV_QPS_ERR}] = {};
  }
  return table;
}

class QpStateMachine : public testing::TestWithParam<ibv_qp_type> {
 protected:
  void SetUp() override {
    a_ = Host::Open(DeviceA(), Ip::kV4, 64 << 10);
    table_ = Table(type());
  }
  ibv_qp_type type() const { return GetParam(); }

  // Sensible values for every attribute; a mask chooses among them.
  ibv_qp_attr Values(ibv_qp_state to, ibv_qp_state current) const {
    ibv_qp_attr attr = {};
    attr.qp_state = to;
    attr.cur_qp_state = current;
    attr.port_num = attr.alt_port_num = a_.port.num;
    attr.qkey = 0x1234;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    attr.ah_attr = attr.alt_ah_attr = AhAttr(a_.port, a_.port.gid);
    attr.path_mtu = IBV_MTU_256;
    attr.dest_qp_num = 0xfffff1;
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.path_mig_state = IBV_MIG_MIGRATED;
    attr.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1};
    return attr;
  }
  Status Go(const Qp& qp, ibv_qp_state from, ibv_qp_state to, int mask) const {
    return qp.Modify(Values(to, from), IBV_QP_STATE | mask);
  }
  int Required(ibv_qp_state from, ibv_qp_state to) const {
    auto row = table_.find({from, to});
    return row == table_.end() ? 0 : row->second.required;
  }
  // A new QP in this state.
  End In(ibv_qp_state state) {
    End end = End::Create(a_, {.type = type()});
    auto go = [&](ibv_qp_state from, ibv_qp_state to) {
      Must(Go(end.qp, from, to, Required(from, to)));
    };
    if (state == IBV_QPS_RESET) return end;
    go(IBV_QPS_RESET, IBV_QPS_INIT);
    if (state == IBV_QPS_ERR) go(IBV_QPS_INIT, IBV_QPS_ERR);
    if (state == IBV_QPS_ERR) return end;
    if (state == IBV_QPS_INIT) return end;
    go(IBV_QPS_INIT, IBV_QPS_RTR);
    if (state == IBV_QPS_RTR) return end;
    go(IBV_QPS_RTR, IBV_QPS_RTS);
    if (state == IBV_QPS_SQD) go(IBV_QPS_RTS, IBV_QPS_SQD);
    if (state == IBV_QPS_SQE) BreakSendQueue(end);
    return end;
  }
  // SQE is reached by a failed send only.
  void BreakSendQueue(const End& end) {
    SendWr wr = SendWr::Send(1, {a_.mr.At(0).addr, 8, a_.NobodysKey()});
    Ah ah;
    if (type() == IBV_QPT_UD) {
      ah = Must(Ah::Create(a_.pd, AhAttr(a_.port, a_.port.gid)));
      wr.To(ah.get(), 5, 5);
    }
    Must(end.qp.Post(std::move(wr)));
    ExpectFailed(Await(end.send_cq), 1, IBV_WC_LOC_PROT_ERR, end.qp.num());
    ExpectReaches(end.qp, IBV_QPS_SQE);
  }
  // RC has no SQE.
  bool Exists(ibv_qp_state state) const { return state != IBV_QPS_SQE || type() != IBV_QPT_RC; }

  Host a_;
  std::map<std::pair<ibv_qp_state, ibv_qp_state>, Row> table_;
};

TEST_P(QpStateMachine, ExactlyTheTransitionsOfTheTableExist) {
  for (ibv_qp_state from : kStates) {
    if (!Exists(from)) continue;
    for (ibv_qp_state to : kStates) {
      SCOPED_TRACE(testing::Message() << from << " to " << to);
      bool allowed = table_.count({from, to});
      // A forbidden one gets what the usual way to its target needs.
      int mask = Required(from, to);
      if (!allowed && to == IBV_QPS_INIT) mask = Required(IBV_QPS_RESET, IBV_QPS_INIT);
      if (!allowed && to == IBV_QPS_RTR) mask = Required(IBV_QPS_INIT, IBV_QPS_RTR);
      if (!allowed && to == IBV_QPS_RTS) mask = Required(IBV_QPS_RTR, IBV_QPS_RTS);
      End end = In(from);
      ASSERT_EQ(end.qp.State(), from);
      const int error = Go(end.qp, from, to, mask).error();
      if (IsLeftToTheCore(from, to)) allowed = error == 0;
      EXPECT_EQ(error, allowed ? 0 : EINVAL);
      EXPECT_EQ(end.qp.State(), allowed ? to : from);
    }
  }
}

TEST_P(QpStateMachine, EveryRequiredAttributeIsRequired) {
  for (const auto& [states, row] : table_) {
    const auto [from, to] = states;
    if (!row.required) continue;
    End end = In(from);
    for (int bit = 1; bit <= kAllBits; bit <<= 1) {
      if (!(row.required & bit)) continue;
      SCOPED_TRACE(testing::Message() << from << " to " << to << " without " << bit);
      EXPECT_EQ(Go(end.qp, from, to, row.required & ~bit).error(), EINVAL);
      EXPECT_EQ(end.qp.State(), from);
    }
    EXPECT_EQ(Go(end.qp, from, to, row.required).error(), 0);
  }
}

TEST_P(QpStateMachine, EveryOptionalAttributeIsAllowed) {
  for (const auto& [states, row] : table_) {
    const auto [from, to] = states;
    if (!Exists(from)) continue;
    for (int bit = 1; bit <= kAllBits; bit <<= 1) {
      if (!(row.optional & bit & ~kMigration)) continue;
      SCOPED_TRACE(testing::Message() << from << " to " << to << " with " << bit);
      End end = In(from);
      EXPECT_EQ(Go(end.qp, from, to, row.required | bit).error(), 0);
      EXPECT_EQ(end.qp.State(), to);
    }
  }
}

TEST_P(QpStateMachine, EveryOtherAttributeIsRefused) {
  for (const auto& [states, row] : table_) {
    const auto [from, to] = states;
    if (!Exists(from)) continue;
    End end = In(from);
    for (int bit = IBV_QP_CUR_STATE; bit <= kAllBits; bit <<= 1) {
      if ((row.required | row.optional) & bit) continue;
      SCOPED_TRACE(testing::Message() << from << " to " << to << " with " << bit);
      const int error = Go(end.qp, from, to, row.required | bit).error();
      // Resizing queues and migrating paths may be unknown altogether.
      if (bit & (IBV_QP_CAP | kMigration) && error == EOPNOTSUPP) continue;
      EXPECT_EQ(error, EINVAL);
      EXPECT_EQ(end.qp.State(), from);
    }
  }
}

TEST_P(QpStateMachine, CurrentStateMustBeTheCurrentState) {
  End end = In(IBV_QPS_RTS);
  ibv_qp_attr attr = Values(IBV_QPS_RTS, IBV_QPS_SQD);
  EXPECT_EQ(end.qp.Modify(attr, IBV_QP_STATE | IBV_QP_CUR_STATE).error(), EINVAL);
  attr.cur_qp_state = IBV_QPS_RTS;
  EXPECT_EQ(end.qp.Modify(attr, IBV_QP_STATE | IBV_QP_CUR_STATE).error(), 0);
}

TEST_P(QpStateMachine, AttributesWithoutAStateKeepTheState) {
  End end = In(IBV_QPS_RTS);
  const int bit = type() == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  EXPECT_EQ(end.qp.Modify(Values(IBV_QPS_RESET, IBV_QPS_RTS), bit).error(), 0);
  EXPECT_EQ(end.qp.State(), IBV_QPS_RTS);
}

std::string TypeName(const testing::TestParamInfo<ibv_qp_type>& info) {
  return info.param == IBV_QPT_RC ? "RC" : info.param == IBV_QPT_UC ? "UC" : "UD";
}

INSTANTIATE_TEST_SUITE_P(Type, QpStateMachine, testing::Values(IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD),
                         TypeName);

class QpAttributes : public WireTest {
 protected:
  void ExpectRefused(Transition t, std::source_location where = std::source_location::current()) {
    testing::ScopedTrace trace(where.file_name(), where.line(), "attribute");
    QpState before = Must(end_.qp.Query());
    EXPECT_EQ(end_.qp.Modify(t.attr, t.mask).error(), EINVAL);
    // Nothing of it was taken.
    QpState after = Must(end_.qp.Query());
    EXPECT_EQ(std::memcmp(&before.attr, &after.attr, sizeof(after.attr)), 0);
  }
  Transition Rtr() { return ToRtr(IBV_QPT_RC, a_.port, b_.port.gid, 0xfffff2, 1, {}); }

  End end_;
};

TEST_P(QpAttributes, ValuesOutsideTheirRangeAreRefused) {
  const ibv_device_attr limits = Must(a_.ctx.QueryDevice());
  const ibv_port_attr port = Must(a_.ctx.QueryPort(1));
  end_ = End::Create(a_);
  auto with = [](Transition t, auto change) {
    change(t.attr);
    return t;
  };

  Transition t = ToInit(IBV_QPT_RC, a_.port);
  for (int num : {0, 2, 255}) ExpectRefused(with(t, [&](ibv_qp_attr& a) { a.port_num = num; }));
  ExpectRefused(with(t, [&](ibv_qp_attr& a) { a.pkey_index = port.pkey_tbl_len; }));
  Must(end_.qp.Modify(t.attr, t.mask));

  t = Rtr();
  for (int mtu : {0, 6, 255})
    ExpectRefused(with(t, [&](ibv_qp_attr& a) { a.path_mtu = ibv_mtu(mtu); }));
  if (limits.max_qp_rd_atom < 255)
    ExpectRefused(
        with(t, [&](ibv_qp_attr& a) { a.max_dest_rd_atomic = limits.max_qp_rd_atom + 1; }));
  ExpectRefused(with(t, [](ibv_qp_attr& a) { a.min_rnr_timer = 32; }));
  Transition no_gid = t;
  no_gid.attr.ah_attr.grh.sgid_index = 250;
  EXPECT_NE(end_.qp.Modify(no_gid.attr, no_gid.mask).error(), 0);
  ExpectRefused(with(t, [](ibv_qp_attr& a) { a.ah_attr.is_global = 0; }));
  ExpectRefused(with(t, [](ibv_qp_attr& a) { a.ah_attr.port_num = 2; }));
  Must(end_.qp.Modify(t.attr, t.mask));

  t = ToRts(IBV_QPT_RC, 1, {});
  if (limits.max_qp_init_rd_atom < 255)
    ExpectRefused(
        with(t, [&](ibv_qp_attr& a) { a.max_rd_atomic = limits.max_qp_init_rd_atom + 1; }));
  ExpectRefused(with(t, [](ibv_qp_attr& a) { a.timeout = 32; }));
  ExpectRefused(with(t, [](ibv_qp_attr& a) { a.retry_cnt = 8; }));
  ExpectRefused(with(t, [](ibv_qp_attr& a) { a.rnr_retry = 8; }));
  Transition migrates = t;
  migrates.mask |= IBV_QP_PATH_MIG_STATE;
  migrates.attr.path_mig_state = IBV_MIG_REARM;
  ExpectRefused(migrates);
  Must(end_.qp.Modify(t.attr, t.mask));
  EXPECT_EQ(end_.qp.State(), IBV_QPS_RTS);
}

TEST_P(QpAttributes, QueryReturnsWhatWasSet) {
  const WireOptions wire = {.mtu = IBV_MTU_512,
                            .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
                            .timeout = 17,
                            .retry_cnt = 5,
                            .rnr_retry = 3,
                            .min_rnr_timer = 21,
                            .rd_atomic = 6,
                            .traffic_class = 0x20};
  end_ = End::Create(a_);
  Must(ConnectTo(end_.qp, a_.port, b_.port.gid, 0xabcde, 0x111111, 0x222222, wire));
  const ibv_qp_attr attr = Must(end_.qp.Query()).attr;

  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.path_mtu, IBV_MTU_512);
  EXPECT_EQ(attr.path_mig_state, IBV_MIG_MIGRATED);
  EXPECT_EQ(attr.rq_psn, 0x111111u);
  EXPECT_EQ(attr.sq_psn, 0x222222u);
  EXPECT_EQ(attr.dest_qp_num, 0xabcdeu);
  EXPECT_EQ(attr.qp_access_flags, unsigned(wire.access));
  EXPECT_EQ(attr.pkey_index, 0);
  EXPECT_EQ(attr.en_sqd_async_notify, 0);
  EXPECT_EQ(attr.sq_draining, 0);
  EXPECT_EQ(attr.max_rd_atomic, 6);
  EXPECT_EQ(attr.max_dest_rd_atomic, 6);
  EXPECT_EQ(attr.min_rnr_timer, 21);
  EXPECT_EQ(attr.port_num, 1);
  EXPECT_EQ(attr.timeout, 17);
  EXPECT_EQ(attr.retry_cnt, 5);
  EXPECT_EQ(attr.rnr_retry, 3);
  EXPECT_EQ(attr.ah_attr.is_global, 1);
  EXPECT_EQ(attr.ah_attr.port_num, 1);
  EXPECT_EQ(attr.ah_attr.grh.sgid_index, a_.port.gid_index);
  EXPECT_EQ(attr.ah_attr.grh.traffic_class, 0x20);
  EXPECT_EQ(std::memcmp(&attr.ah_attr.grh.dgid, &b_.port.gid, sizeof(ibv_gid)), 0);
}

// PSNs have 24 bits; what is above them is no part of one.
TEST_P(QpAttributes, PsnsHave24Bits) {
  end_ = End::Create(a_);
  Must(ConnectTo(end_.qp, a_.port, b_.port.gid, 2, 0xff111111, 0x3222222, {}));
  const ibv_qp_attr attr = Must(end_.qp.Query()).attr;
  EXPECT_EQ(attr.rq_psn, 0x111111u);
  EXPECT_EQ(attr.sq_psn, 0x222222u);
}

TEST_P(QpAttributes, OddDepthsOfReadsAreNotRounded) {
  for (uint8_t depth : {1, 3, 5, 7}) {
    end_ = End::Create(a_);
    Must(ConnectTo(end_.qp, a_.port, b_.port.gid, 2, 0, 0, {.rd_atomic = depth}));
    const ibv_qp_attr attr = Must(end_.qp.Query()).attr;
    EXPECT_EQ(attr.max_rd_atomic, depth);
    EXPECT_EQ(attr.max_dest_rd_atomic, depth);
  }
}

TEST_P(QpAttributes, QueryOfUdReturnsItsQkey) {
  end_ = End::Create(a_, {.type = IBV_QPT_UD});
  Must(BringUpUd(end_.qp, a_.port, 0x1337, 0x98765));
  const ibv_qp_attr attr = Must(end_.qp.Query()).attr;
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.qkey, 0x1337u);
  EXPECT_EQ(attr.sq_psn, 0x98765u);
  EXPECT_EQ(attr.port_num, 1);
}

SRN_OVER_BOTH_IP(QpAttributes);

}  // namespace
}  // namespace verbs_test
