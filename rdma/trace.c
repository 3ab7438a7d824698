// SPDX-License-Identifier: GPL-2.0-only
/* The device's tracepoints: events/quarry_rdma in tracefs. */
#include "path.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
