/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in the verbs that a device implements. */
#ifndef QUARRY_COMPAT_VERBS_H
#define QUARRY_COMPAT_VERBS_H

#include <linux/hrtimer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

/* The queue whose work runs in softirq, where the kernel has one. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define quarry_bh_wq system_bh_wq
#else
#define quarry_bh_wq system_highpri_wq
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
/* reg_user_mr() takes a DMA handle before its udata. */
#define QRDMA_REG_USER_MR_DMAH struct ib_dmah *dmah,
#else
#define QRDMA_REG_USER_MR_DMAH
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
