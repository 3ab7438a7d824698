/* SPDX-License-Identifier: GPL-2.0-only */
/* What the other folders may ask of the control plane. */
#ifndef QUARRY_CONFIGFS_H
#define QUARRY_CONFIGFS_H

int qcfs_init(void);
void qcfs_exit(void);

#endif
