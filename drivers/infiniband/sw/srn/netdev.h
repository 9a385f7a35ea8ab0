/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the netdevs below links. */
#ifndef SRN_NETDEV_H
#define SRN_NETDEV_H

/** srn_netdev_init() - begin to listen; may sleep; 0 or -errno */
int srn_netdev_init(void);
void srn_netdev_exit(void);

#endif
