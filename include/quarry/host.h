/* SPDX-License-Identifier: GPL-2.0-only */
/* What the other folders may ask of the initiator. */
#ifndef QUARRY_HOST_H
#define QUARRY_HOST_H

int qhost_init(void);
void qhost_exit(void);

#endif
