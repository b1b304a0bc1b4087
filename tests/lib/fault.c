/* The wrapped allocator: the linker sends malloc here as __wrap_malloc, and the true one is
 * __real_malloc. */
#include "fault.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

static _Thread_local bool is_counting;
static _Thread_local long seen;
static _Thread_local long failing;

void fault_begin(long fail_at)
{
    seen = 0;
    failing = fail_at;
    is_counting = true;
}

long fault_end(void)
{
    is_counting = false;
    return seen;
}

static bool must_fail(void)
{
    return is_counting && ++seen == failing;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    return must_fail() ? NULL : __real_realloc(ptr, size);
}

void fault_hook_cjson(void)
{
    cJSON_Hooks hooks = {malloc, free};
    cJSON_InitHooks(&hooks);
}
