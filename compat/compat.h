/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the kernels that Quarry builds on. */
#ifndef QUARRY_COMPAT_H
#define QUARRY_COMPAT_H

#include <linux/version.h>
#include <linux/workqueue.h>

/* Before 6.18 a workqueue is bound to CPUs unless it is WQ_UNBOUND. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define QUARRY_WQ_PERCPU 0
#else
#define QUARRY_WQ_PERCPU WQ_PERCPU
#endif

#endif
