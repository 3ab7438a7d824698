/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernels that Quarry builds on. */
#ifndef QUARRY_COMPAT_H
#define QUARRY_COMPAT_H

#include <linux/kthread.h>
#include <linux/version.h>

/* Before 6.14, making a worker also starts it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define compat_kthread_run_worker kthread_create_worker
#else
#define compat_kthread_run_worker kthread_run_worker
#endif

#endif
