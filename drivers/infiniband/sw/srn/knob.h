/* SPDX-License-Identifier: GPL-2.0-only */
/* A device's parameters for who tunes: debugfs, srn/DEVICE/cc_params, as mlx5 has them; and srn/DEVICE/rota and spread. */
#ifndef SRN_KNOB_H
#define SRN_KNOB_H

/** srn_knob_init() - from here on each link has its files; may sleep. 0 or an errno */
int srn_knob_init(void);
/** srn_knob_exit() - there are no links any more; may sleep */
void srn_knob_exit(void);

#endif
