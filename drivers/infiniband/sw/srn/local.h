/* SPDX-License-Identifier: GPL-2.0-only */
/* Work requests that send nothing: keys that are invalidated, registered and bound. */
#ifndef SRN_LOCAL_H
#define SRN_LOCAL_H

#include "verdict.h"

struct srn_qp;
struct srn_wqe;

/**
 * srn_local_run() - do what a local work request says (srn_wqe_is_local())
 *
 * Owner of the turn, BH disabled. Return: SRN_OK, or why it fails.
 */
enum srn_verdict srn_local_run(struct srn_qp *qp, struct srn_wqe *wqe);

#endif
