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
#define QRDMA_HAS_DMAH (!!dmah)
#else
#define QRDMA_REG_USER_MR_DMAH
#define QRDMA_HAS_DMAH false
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
/* Only a process's queue is resized. */
#define QRDMA_RESIZE_CQ resize_user_cq
#define QRDMA_RESIZE_CQE unsigned int
#define compat_umem_get ib_umem_get_va
#else
#define QRDMA_RESIZE_CQ resize_cq
#define QRDMA_RESIZE_CQE int
#define compat_umem_get ib_umem_get
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
