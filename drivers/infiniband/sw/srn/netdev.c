// SPDX-License-Identifier: GPL-2.0-only
/* What happens to the netdev below a link. Addresses are the core's business
 * (roce_gid_mgmt), which tells gid.c; the MTU is read where it is needed.
 */
#include <linux/netdevice.h>
#include <rdma/srn-abi.h>

#include "device.h"

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct ib_device *ibdev;

	ibdev = ib_device_get_by_netdev(ndev, (enum rdma_driver_id)SRN_DRIVER_ID);
	if (!ibdev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		/* Also when the netdev moves to another namespace. Not here and
		 * now: clients take RTNL while they let go of the device.
		 */
		ib_unregister_device_queued(ibdev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		srn_dev_update_port(to_srn_dev(ibdev));
		break;
	default:
		break;
	}
	ib_device_put(ibdev);
	return NOTIFY_OK;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

int srn_netdev_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

void srn_netdev_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}
