// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Enhanced connection establishment: what two QPs of srn tell each other while they connect.
// librdmacm carries it by itself; any other program may, as it carries QP numbers. The kernel
// learns of it with the change to RTR.

#include "srn.h"

namespace srn {
namespace {

// libibverbs returns what the provider does; the manual has errno set as well.
int Refuse(int err) {
  errno = err;
  return err;
}

}  // namespace

// After the peer's options are known: those that both have. With its own number: what the QP itself
// says.
int QueryEce(ibv_qp* ibqp, ibv_ece* ece) {
  const Qp& qp = ToQp(ibqp);
  if (qp.ece_offered == 0) return Refuse(EOPNOTSUPP);
  const uint32_t flags = qp.ece_offered & (qp.ece_known ? qp.ece_peer : SRN_ECE_FLAGS);
  *ece = {.vendor_id = SRN_ECE_VENDOR,
          .options = flags | ibqp->qp_num << SRN_ECE_QPN_SHIFT,
          .comp_mask = 0};
  return 0;
}

// The peer's. With none of them a peer of another vendor is said to be there, as librdmacm does; of
// who names that vendor itself nothing is known here, as it is where there is no ECE: programs know
// that errno.
int SetEce(ibv_qp* ibqp, ibv_ece* ece) {
  Qp& qp = ToQp(ibqp);
  if (ece->comp_mask != 0) return Refuse(EINVAL);
  if (qp.ece_offered == 0 || ece->vendor_id != SRN_ECE_VENDOR) return Refuse(EOPNOTSUPP);
  if (ibqp->state != IBV_QPS_RESET && ibqp->state != IBV_QPS_INIT) return Refuse(EINVAL);
  qp.ece_peer = ece->options;
  qp.ece_known = true;
  return QueryEce(ibqp, ece);
}

srn_modify_qp_req EceOf(const Qp& qp, int attr_mask) {
  if (!qp.ece_known || !(attr_mask & IBV_QP_RQ_PSN)) return {};
  return {.comp_mask = SRN_MODIFY_QP_ECE, .ece = qp.ece_peer};
}

}  // namespace srn
