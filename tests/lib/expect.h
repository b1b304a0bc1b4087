/* CUnit checks that say what was looked at: a row of a table is named in the failure. */
#ifndef SOMA_TESTS_EXPECT_H
#define SOMA_TESTS_EXPECT_H

#include "status.h"

#include <stdbool.h>

/* Check that `condition` holds; the rest is a printf text for when it does not. */
#define EXPECT(condition, ...) expect_that((condition), __FILE__, __LINE__, __VA_ARGS__)

/* Returns what it was given, so that a test can stop where going on makes no sense. */
bool expect_that(bool condition, const char *file, int line, const char *format, ...)
    SOMA_PRINTF(4, 5);

/* Same text; NULL is never the same as anything. */
bool same_words(const char *a, const char *b);

#endif
