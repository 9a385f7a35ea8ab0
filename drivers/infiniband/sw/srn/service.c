// SPDX-License-Identifier: GPL-2.0-only
/* A row for each QP type. */
#include "service.h"
#include "opcode.h"
#include "wr_op.h"

#include <kunit/visibility.h>
#include <linux/export.h>

static const struct srn_service rc = {
	.code = SRN_SVC_RC, .connected = true, .reliable = true,
};

static const struct srn_service uc = {
	.code = SRN_SVC_UC, .connected = true, .paced = true, .takes = SRN_WR_UC,
};

static const struct srn_service ud = {
	.code = SRN_SVC_UD, .paced = true, .takes = SRN_WR_UD,
};

static const struct srn_service gsi = {
	.code = SRN_SVC_UD, .is_gsi = true, .takes = SRN_WR_UD,
};

const struct srn_service *srn_service_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return &rc;
	case IB_QPT_UC:
		return &uc;
	case IB_QPT_UD:
		return &ud;
	case IB_QPT_GSI:
		return &gsi;
	default:
		return NULL;
	}
}
EXPORT_SYMBOL_IF_KUNIT(srn_service_of);
