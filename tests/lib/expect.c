/* Checks with a sentence, on top of CUnit's own bookkeeping. */
#include "expect.h"

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool expect_that(bool condition, const char *file, int line, const char *format, ...)
{
    char text[1024] = "";
    if (!condition) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(text, sizeof(text), format, args);
        va_end(args);
    }
    CU_assertImplementation(condition ? CU_TRUE : CU_FALSE, (unsigned)line, text, file, "",
                            CU_FALSE);
    return condition;
}

bool same_words(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}
