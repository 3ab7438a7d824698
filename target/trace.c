// SPDX-License-Identifier: GPL-2.0-only
/* The target's tracepoints: events/quarry_target in tracefs. */
#include "internal.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
