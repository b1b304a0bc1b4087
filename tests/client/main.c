/* client_tests [--somad PATH] [WORD]: the client library against a fake service, or against servers
 * that it starts from PATH; WORD selects suites. Exit code 0 only when at least one test ran and
 * none failed. */
#include "fake_service.h"
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

static const struct {
    const struct client_suite *suite;
    bool needs_fake;
} suites[] = {
#define CLIENT_ROW(name, needs_fake) {&suite_##name, (needs_fake) != 0},
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
    bool is_real = argc > 2 && strcmp(argv[1], "--somad") == 0;
    const char *word = argc > (is_real ? 3 : 1) ? argv[argc - 1] : "";
    fake_service_use_somad(is_real ? argv[2] : NULL);
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        bool is_wanted =
            strstr(suites[i].suite->name, word) != NULL && !(is_real && suites[i].needs_fake);
        if (is_wanted && !add_suite(suites[i].suite))
            return 1;
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode code = CU_basic_run_tests();
    bool good = code == CUE_SUCCESS && CU_get_number_of_tests_run() > 0 &&
                CU_get_number_of_failures() == 0 && CU_get_number_of_suites_failed() == 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}
