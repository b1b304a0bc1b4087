/* client_process_tests [WORD]: the client library in programs of its own, with real servers.
 * client_process_tests --role NAME: be such a program. */
#include "process.h"

#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Read by ThreadSanitizer: a child after fork goes on. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static pid_t main_pid; /* of the process that came to main, not of its children */

/* Read by LeakSanitizer: a child after fork is not looked at, because a thread of its parent can
 * hold the lock that the look needs. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return main_pid != getpid();
}

static bool add_suite(const char *name, const struct process_test *tests)
{
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);
    for (; suite != NULL && tests->name != NULL; tests++) {
        if (CU_add_test(suite, tests->name, tests->run) == NULL)
            suite = NULL;
    }
    return suite != NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const struct process_test *tests;
    } suites[] = {{"private", private_tests}, {"shared", shared_tests}, {"lost", lost_tests}};
    main_pid = getpid();
    if (argc == 3 && strcmp(argv[1], "--role") == 0)
        return role_run(argv[2]);
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        bool is_wanted = argc < 2 || strstr(suites[i].name, argv[1]) != NULL;
        if (is_wanted && !add_suite(suites[i].name, suites[i].tests))
            return 1;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode code = CU_basic_run_tests();
    bool good = code == CUE_SUCCESS && CU_get_number_of_tests_run() > 0 &&
                CU_get_number_of_failures() == 0 && CU_get_number_of_suites_failed() == 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}
