// SPDX-License-Identifier: GPL-2.0-only
/* The module that holds every suite. Each *_kunit.c beside this file registers
 * its own with kunit_test_suite(); what they call in srn.ko is exported there
 * with EXPORT_SYMBOL_IF_KUNIT().
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit tests of srn, the RoCEv2 device in software");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
