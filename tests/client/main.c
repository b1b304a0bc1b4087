/* client_tests [WORD]: the client library against a fake service; WORD selects suites. Exit code 0
 * only when at least one test ran and none failed. */
#include "suites.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Read by the sanitizers: a size that no host has gives NULL, and a child after fork goes on. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1:die_after_fork=0";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const struct client_suite *const suites[] = {
#define CLIENT_ROW(name) &suite_##name,
    CLIENT_SUITES(CLIENT_ROW)
#undef CLIENT_ROW
};

static bool add_suite(const struct client_suite *suite)
{
    CU_pSuite added = CU_add_suite(suite->name, NULL, NULL);
    for (const struct client_test *test = suite->tests; added != NULL && test->name != NULL;
         test++) {
        if (CU_add_test(added, test->name, test->run) == NULL)
            added = NULL;
    }
    return added != NULL;
}

int main(int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        bool is_wanted = argc < 2 || strstr(suites[i]->name, argv[1]) != NULL;
        if (is_wanted && !add_suite(suites[i]))
            return 1;
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode code = CU_basic_run_tests();
    bool good = code == CUE_SUCCESS && CU_get_number_of_tests_run() > 0 &&
                CU_get_number_of_failures() == 0 && CU_get_number_of_suites_failed() == 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}
