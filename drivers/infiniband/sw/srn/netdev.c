// SPDX-License-Identifier: GPL-2.0-only
/* What happens to the netdev below a link. Addresses are the core's business
 * (roce_gid_mgmt), which tells gid.c; the MTU is read where it is needed.
 */
#include "netdev.h"

#include <linux/netdevice.h>

#include "device.h"

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct srn_dev *dev = srn_dev_get_by_netdev(ndev);

	if (!dev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		/* Also when the netdev moves to another namespace. Not here and
		 * now: clients take RTNL while they let go of the device.
		 */
		ib_unregister_device_queued(&dev->ibdev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		srn_dev_update_port(dev);
		break;
	default:
		break;
	}
	ib_device_put(&dev->ibdev);
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
