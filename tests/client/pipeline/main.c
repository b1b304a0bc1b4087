/* client_pipeline_tests SOMAD [WORD]: the pipelined client against real servers that die, behind
 * connections that break. Exit code 0 only when at least one test ran and none failed. */
#include "pipeline_tests.h"

#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *somad_path;

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const struct pipeline_test *tests;
    } suites[] = {
        {"cut", cut_tests}, {"lost", lost_tests}, {"same", same_tests}, {"threads", threads_tests}};
    if (argc < 2 || CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    somad_path = argv[1];
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        if (argc > 2 && strstr(suites[i].name, argv[2]) == NULL)
            continue;
        CU_pSuite suite = CU_add_suite(suites[i].name, NULL, NULL);
        for (const struct pipeline_test *test = suites[i].tests; test->name != NULL; test++) {
            if (suite == NULL || CU_add_test(suite, test->name, test->run) == NULL)
                return 1;
        }
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setenv("SOMA_QUIET", "1", 1);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode code = CU_basic_run_tests();
    bool good = code == CUE_SUCCESS && CU_get_number_of_tests_run() > 0 &&
                CU_get_number_of_failures() == 0 && CU_get_number_of_suites_failed() == 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}
