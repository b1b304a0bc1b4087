/* The CUnit runner. `soma_tests [WORD]` runs the suites whose name contains WORD. Exit code 0 only
 * when at least one test ran and none failed, suite set-ups included. */
#include "suites.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

static const struct soma_suite *const suites[] = {
#define SOMA_ROW(name) &suite_##name,
    SOMA_SUITES(SOMA_ROW)
#undef SOMA_ROW
};

static bool add_suite(const struct soma_suite *suite)
{
    CU_pSuite added = CU_add_suite(suite->name, NULL, NULL);
    if (added == NULL)
        return false;
    for (const struct soma_test *test = suite->tests; test->name != NULL; test++) {
        if (CU_add_test(added, test->name, test->run) == NULL)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        if (argc > 1 && strstr(suites[i]->name, argv[1]) == NULL)
            continue;
        if (!add_suite(suites[i])) {
            fprintf(stderr, "suite %s could not be added: %s\n", suites[i]->name,
                    CU_get_error_msg());
            return 1;
        }
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode code = CU_basic_run_tests();
    bool good = code == CUE_SUCCESS && CU_get_number_of_tests_run() > 0 &&
                CU_get_number_of_failures() == 0 && CU_get_number_of_suites_failed() == 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}
