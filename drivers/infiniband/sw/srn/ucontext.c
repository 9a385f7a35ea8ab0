// SPDX-License-Identifier: GPL-2.0-only
/* A program's context: what it is given when it opens the device. */
#include "ucontext.h"

#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/sched/task.h>
#include <rdma/srn-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "device.h"
#include "doorbell.h"
#include "limits.h"
#include "lookout.h"
#include "poller.h"
#include "udata.h"

static int check_request(struct ib_udata *udata, struct srn_alloc_ucontext_req *req)
{
	size_t least = offsetofend(struct srn_alloc_ucontext_resp, reserved);
	int err;

	err = srn_udata_in(udata, req, sizeof(*req));
	if (err)
		return err;
	if (req->comp_mask & ~SRN_UCONTEXT_POLLER || req->reserved)
		return -EOPNOTSUPP;
	/* A program that cannot take the doorbell could not post, nor without the page know when to ring. */
	if (req->comp_mask & SRN_UCONTEXT_POLLER)
		least = sizeof(struct srn_alloc_ucontext_resp);
	return udata->outlen < least ? -EINVAL : 0;
}

/* The descriptor appears in the program last, since it cannot be taken back. */
static int give_doorbell(struct srn_ucontext *uc, struct ib_udata *udata)
{
	struct srn_alloc_ucontext_resp resp = { .max_inline = SRN_MAX_INLINE };
	struct file *file;
	int err, fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = srn_doorbell_open(uc->db);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto err_fd;
	}
	resp.doorbell_fd = fd;
	if (uc->poller) {
		resp.comp_mask = SRN_UCONTEXT_POLLER;
		resp.poller_offset = srn_poller_offset(uc->poller);
		resp.poller_len = srn_poller_len(uc->poller);
	}
	err = srn_udata_out(udata, &resp, sizeof(resp));
	if (err)
		goto err_file;
	fd_install(fd, file);
	return 0;

err_file:
	fput(file);
err_fd:
	put_unused_fd(fd);
	return err;
}

static int alloc_ucontext(struct srn_ucontext *uc, struct ib_udata *udata)
{
	struct srn_alloc_ucontext_req req;
	int err;

	err = check_request(udata, &req);
	if (err)
		return err;
	uc->db = srn_doorbell_create(to_srn_dev(uc->ibuc.device));
	if (!uc->db)
		return -ENOMEM;
	err = req.comp_mask & SRN_UCONTEXT_POLLER ? srn_lookout_start(uc) : 0;
	if (err)
		goto err_db;
	err = give_doorbell(uc, udata);
	if (err)
		goto err_poller;
	return 0;

err_poller:
	srn_lookout_stop(uc);
	/* It may look on for a moment. */
	srn_doorbell_end(uc->db);
err_db:
	srn_doorbell_put(uc->db);
	return err;
}

/* The ioctl that opens a device frees what was refused, and in Linux 6.12 puts no reference to its task. Where that
 * is done, none is found.
 */
static void put_task(struct rdma_restrack_entry *res)
{
	if (!res->task)
		return;
	put_task_struct(res->task);
	res->task = NULL;
}

int srn_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	int err = alloc_ucontext(to_srn_ucontext(ibuc), udata);

	if (err)
		put_task(&ibuc->res);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(srn_alloc_ucontext);

/* The poller may look on for a moment, and finds no QPs. */
void srn_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	struct srn_ucontext *uc = to_srn_ucontext(ibuc);

	srn_doorbell_end(uc->db);
	srn_lookout_stop(uc);
	srn_doorbell_put(uc->db);
}

/* The device goes while the program runs. ib_core has destroyed the objects;
 * the program keeps their pages, which say so, and a descriptor that answers EIO.
 */
void srn_disassociate_ucontext(struct ib_ucontext *ibuc)
{
	srn_doorbell_end(to_srn_ucontext(ibuc)->db);
}
