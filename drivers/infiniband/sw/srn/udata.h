/* SPDX-License-Identifier: GPL-2.0-only */
/* Driver data of verbs commands: any length a program may send or take. */
#ifndef SRN_UDATA_H
#define SRN_UDATA_H

#include <rdma/ib_verbs.h>

/**
 * srn_udata_in() - copy a request in
 * @req: filled; bytes that an older program does not send are 0
 *
 * 0, -EFAULT, or -EOPNOTSUPP where a newer program asks for what is not known here.
 */
static inline int srn_udata_in(struct ib_udata *udata, void *req, size_t len)
{
	memset(req, 0, len);
	if (!udata || !udata->inlen)
		return 0;
	if (udata->inlen > len && !ib_is_udata_cleared(udata, len, udata->inlen - len))
		return -EOPNOTSUPP;
	return ib_copy_from_udata(req, udata, min(len, udata->inlen));
}

/** srn_udata_out() - copy as much of a response out as the program takes */
static inline int srn_udata_out(struct ib_udata *udata, void *resp, size_t len)
{
	if (!udata || !udata->outlen)
		return 0;
	return ib_copy_to_udata(udata, resp, min(len, udata->outlen));
}

#endif
