/* Functions that are not emulated: the number, NULL, and one line on stderr however many threads
 * call; no line with SOMA_QUIET=1. Needs no service. */
#include "acl/acl.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 8

static int failures;

static void expect(bool is_true, const char *what)
{
    if (is_true)
        return;
    printf("failed: %s\n", what);
    failures++;
}

static void *call_many_times(void *result)
{
    aclError *error = result;
    for (int i = 0; i < 100; i++)
        *error = aclrtSetTsDevice(ACL_TS_ID_AICORE);
    return NULL;
}

static void call_from_threads(void)
{
    pthread_t threads[THREADS];
    aclError errors[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, call_many_times, &errors[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        expect(errors[i] == ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "every thread gets 207000");
    }
}

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}

/* Run calls with stderr going to a file, and give what was written. */
static void capture(void (*calls)(void), char *text, size_t text_bytes)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    if (file == NULL || kept < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        abort();
    calls();
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    rewind(file);
    text[fread(text, 1, text_bytes - 1, file)] = '\0';
    (void)fclose(file);
}

static void call_quietly(void)
{
    expect(aclrtDeviceL2CacheFlush(NULL) == 207000, "207000 when quiet");
    expect(aclrtCreateGroupInfo() == NULL, "a function that gives a pointer gives NULL");
}

static void call_aloud(void)
{
    expect(aclrtDeviceL2CacheFlush(NULL) == 207000, "207000 when it was quiet before");
    call_from_threads();
    call_from_threads();
}

int main(void)
{
    char text[4096];
    (void)setenv("SOMA_QUIET", "1", 1);
    capture(call_quietly, text, sizeof(text));
    expect(text[0] == '\0', "SOMA_QUIET=1 writes nothing");

    (void)unsetenv("SOMA_QUIET");
    capture(call_aloud, text, sizeof(text));
    expect(count_of(text, "aclrtSetTsDevice") == 1, "one line, whoever calls");
    expect(count_of(text, "aclrtDeviceL2CacheFlush") == 1,
           "the first call that is not quiet writes");
    expect(count_of(text, "207000") == 2, "the line has the number");
    expect(count_of(text, "\n") == 2, "each function has one line");
    return failures == 0 ? 0 : 1;
}
