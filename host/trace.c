// SPDX-License-Identifier: GPL-2.0-only
/* The bodies of the initiator's tracepoints. */
#define CREATE_TRACE_POINTS
#include "trace.h"
