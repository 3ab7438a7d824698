/* SPDX-License-Identifier: GPL-2.0-only */
/* What the other folders may ask of the target. */
#ifndef QUARRY_TARGET_H
#define QUARRY_TARGET_H

int qtgt_init(void);
void qtgt_exit(void);

#endif
