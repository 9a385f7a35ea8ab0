// SPDX-License-Identifier: GPL-2.0-only
/* The module: what it starts, in which order, and how all of it ends. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "cut.h"
#include "device.h"
#include "fate.h"
#include "gro.h"
#include "head.h"
#include "icrc.h"
#include "knob.h"
#include "net.h"
#include "netdev.h"
#include "poller.h"
#include "qpn.h"
#include "recv.h"
#include "run.h"
#include "shed.h"
#include "turn.h"
#include "verbs.h"

static struct rdma_link_ops link_ops = {
	.type = "srn",
	.newlink = srn_dev_add,
};

static int __init srn_init(void)
{
	int err;

	err = srn_icrc_init();
	if (err)
		return err;
	err = srn_head_init();
	if (err)
		goto err_icrc;
	err = srn_qpn_init();
	if (err)
		goto err_head;
	srn_cut_init();
	srn_run_init();
	srn_dev_init(&srn_dev_ops);
	err = srn_turn_setup();
	if (err)
		goto err_run;
	err = srn_poller_setup();
	if (err)
		goto err_turn;
	err = srn_net_init(srn_recv, srn_gro_receive);
	if (err)
		goto err_poller;
	err = srn_netdev_init();
	if (err)
		goto err_net;
	err = srn_knob_init();
	if (err)
		goto err_netdev;
	err = srn_shed_setup();
	if (err)
		goto err_knob;
	rdma_link_register(&link_ops);
	return 0;

err_knob:
	srn_knob_exit();
err_netdev:
	srn_netdev_exit();
err_net:
	srn_net_exit();
err_poller:
	srn_poller_teardown();
err_turn:
	srn_turn_teardown();
err_run:
	srn_run_exit();
	srn_qpn_exit();
err_head:
	srn_head_exit();
err_icrc:
	srn_icrc_exit();
	srn_fate_exit();
	return err;
}

static void __exit srn_exit(void)
{
	/* No new links, then no links: ib_unregister_driver() also waits for
	 * removals that others began. What remains can find no device.
	 */
	rdma_link_unregister(&link_ops);
	ib_unregister_driver((enum rdma_driver_id)SRN_DRIVER_ID);
	srn_shed_teardown();
	srn_knob_exit();
	srn_netdev_exit();
	srn_net_exit();
	srn_fate_exit();
	srn_poller_teardown();
	srn_turn_teardown();
	srn_run_exit();
	srn_qpn_exit();
	srn_icrc_exit();
	srn_head_exit();
	rcu_barrier();	/* call_rcu() functions of ours are in this module */
}

module_init(srn_init);
module_exit(srn_exit);

MODULE_DESCRIPTION("Soft RNIC: RoCEv2 in software");
/* Its namespaces are to end after ours, and nobody is to load it while ours are locked. */
MODULE_SOFTDEP("pre: ipv6");
MODULE_LICENSE("GPL");
MODULE_VERSION(SRN_VERSION);
MODULE_ALIAS_RDMA_LINK("srn");
