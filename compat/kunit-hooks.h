/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the code proper needs for its KUnit tests, which is nothing where the
 * kernel has no KUnit: a static function that tests may call, and a function
 * that they may replace. Kernels before 6.3 have not even the headers.
 */
#ifndef COMPAT_KUNIT_HOOKS_H
#define COMPAT_KUNIT_HOOKS_H

#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_KUNIT)
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#else
#define VISIBLE_IF_KUNIT static
#define KUNIT_STATIC_STUB_REDIRECT(...) do { } while (0)
#endif

#endif
