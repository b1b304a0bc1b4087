/* Functions of the program in streams: aclrtLaunchHostFunc runs them in a thread of the library,
 * the others in threads of the program, each of which takes those of the streams that it was named
 * for. */
#include "acl_host_func.h"

#include "error.h"
#include "handle.h"
#include "host_funcs.h"
#include "stream.h"
#include "tables.h"

#include "acl/acl.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 1024u

/* aclrtSubscribeReport and aclrtSubscribeHostFunc. */
enum subscription_kind { REPORT, HOST_FUNC };

/* A thread that was named for a stream. The last row of a thread stays when that is undone, for its
 * group: what still waits for the thread is its own when it is named again. */
struct subscription {
    struct subscription *next;
    enum subscription_kind kind;
    uint64_t thread;
    uint32_t group;
    uint32_t device;
    const void *stream; /* handle; NULL: undone */
};

static struct subscription *subscriptions; /* under the tables' lock */
static uint32_t next_group = CLIENT_GROUP_FIRST;
static unsigned named_count; /* threads that are named for a stream */

static const char *subscriber_of(enum subscription_kind kind)
{
    return kind == REPORT ? "aclrtSubscribeReport" : "aclrtSubscribeHostFunc";
}

/* ---- the table; with the lock held ---- */

static struct subscription *of_stream(enum subscription_kind kind, const void *stream)
{
    struct subscription *at = subscriptions;
    while (at != NULL && (at->kind != kind || at->stream != stream))
        at = at->next;
    return at;
}

/* Any of the thread's but this one (NULL: any). One that is undone is the only one. */
static struct subscription *of_thread(enum subscription_kind kind, uint64_t thread,
                                      const struct subscription *but)
{
    struct subscription *at = subscriptions;
    while (at != NULL && (at == but || at->kind != kind || at->thread != thread))
        at = at->next;
    return at;
}

static void undo(struct subscription *row)
{
    struct subscription **link = &subscriptions;
    row->stream = NULL;
    if (of_thread(row->kind, row->thread, row) == NULL) {
        named_count--;
        return;
    }
    while (*link != row)
        link = &(*link)->next;
    *link = row->next;
    free(row);
}

void acl_subscriptions_forget(const void *stream)
{
    client_tables_lock();
    for (int kind = REPORT; kind <= HOST_FUNC; kind++) {
        struct subscription *row = of_stream((enum subscription_kind)kind, stream);
        if (row != NULL)
            undo(row);
    }
    client_tables_unlock();
}

void acl_subscriptions_forget_all(void)
{
    client_tables_lock();
    while (subscriptions != NULL) {
        struct subscription *gone = subscriptions;
        subscriptions = gone->next;
        free(gone);
    }
    next_group = CLIENT_GROUP_FIRST;
    named_count = 0;
    client_tables_unlock();
}

/* ---- naming threads ---- */

static aclError fail_mixed(const struct client_object *stream)
{
    return client_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                       "a thread of the library runs the functions of stream %p since "
                       "aclrtLaunchHostFunc: a stream has the one or the other",
                       stream->handle);
}

/* Can it be named? of_it: a row of the thread; NULL: none. With the lock held. */
static aclError check(const struct subscription *row, const struct subscription *of_it)
{
    bool is_new = of_it == NULL || of_it->stream == NULL;
    if (of_stream(row->kind, row->stream) != NULL)
        return client_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                           "stream %p has its thread: it can have one", row->stream);
    if (!is_new && of_it->device != row->device)
        return client_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                           "thread %llu serves streams of device %u: it can serve one device",
                           (unsigned long long)row->thread, of_it->device);
    if (is_new && named_count >= THREADS_MAX)
        return client_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                           "%u threads are named, the most there can be: undo one with "
                           "aclrtUnSubscribeReport or aclrtUnSubscribeHostFunc",
                           THREADS_MAX);
    return ACL_SUCCESS;
}

/* Takes the row, or copies it into the thread's that is undone and gives it back. With the lock
 * held. */
static struct subscription *enter(struct subscription *row, struct subscription *of_it)
{
    bool is_undone = of_it != NULL && of_it->stream == NULL;
    named_count += of_it == NULL || is_undone;
    if (is_undone) {
        of_it->device = row->device;
        of_it->stream = row->stream;
        return row;
    }
    row->group = of_it != NULL ? of_it->group : next_group++;
    row->next = subscriptions;
    subscriptions = row;
    return NULL;
}

static aclError subscribe(enum subscription_kind kind, uint64_t thread,
                          const struct client_object *stream)
{
    struct subscription *row = malloc(sizeof(*row));
    if (row == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a thread's name");
    *row = (struct subscription){
        .kind = kind, .thread = thread, .device = stream->device, .stream = stream->handle};
    client_tables_lock();
    struct subscription *of_it = of_thread(kind, thread, NULL);
    aclError error = check(row, of_it);
    if (error == ACL_SUCCESS)
        row = enter(row, of_it);
    client_tables_unlock();
    free(row);
    return error;
}

static aclError unsubscribe(enum subscription_kind kind, uint64_t thread, const void *stream)
{
    client_tables_lock();
    struct subscription *row = of_stream(kind, stream);
    bool has_one = row != NULL, is_same = has_one && row->thread == thread;
    if (is_same)
        undo(row);
    client_tables_unlock();
    if (!has_one)
        return client_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                           "stream %p has no thread: it was undone, or call %s first", stream,
                           subscriber_of(kind));
    if (!is_same)
        return client_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                           "thread %llu was not named for stream %p: give the one that was",
                           (unsigned long long)thread, stream);
    return ACL_SUCCESS;
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    client_begin("aclrtSubscribeReport");
    struct client_object object;
    aclError error = client_stream_find(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    return object.uses_library ? fail_mixed(&object) : subscribe(REPORT, threadId, &object);
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    client_begin("aclrtUnSubscribeReport");
    struct client_object object;
    aclError error = client_stream_find(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    return object.uses_library ? fail_mixed(&object) : unsubscribe(REPORT, threadId, object.handle);
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    client_begin("aclrtSubscribeHostFunc");
    struct client_object object;
    if (exeStream == NULL)
        return client_fail_null("exeStream");
    aclError error = client_stream_find(exeStream, &object);
    if (error != ACL_SUCCESS)
        return error;
    return object.uses_library ? fail_mixed(&object)
                               : subscribe(HOST_FUNC, hostFuncThreadId, &object);
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    client_begin("aclrtUnSubscribeHostFunc");
    struct client_object object;
    if (exeStream == NULL)
        return client_fail_null("exeStream");
    aclError error = client_stream_find(exeStream, &object);
    return error != ACL_SUCCESS ? error : unsubscribe(HOST_FUNC, hostFuncThreadId, object.handle);
}

/* ---- queueing functions ---- */

/* The group of the thread that was named for the stream; 0: none was. */
static uint32_t group_of(enum subscription_kind kind, const void *stream)
{
    client_tables_lock();
    const struct subscription *row = of_stream(kind, stream);
    uint32_t group = row != NULL ? row->group : 0;
    client_tables_unlock();
    return group;
}

static aclError fail_null_function(void)
{
    return client_fail(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL: give a function");
}

/* A stream that has a thread of the program keeps it: that of aclrtSubscribeHostFunc before that of
 * aclrtSubscribeReport. */
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    client_begin("aclrtLaunchHostFunc");
    struct client_object object;
    if (fn == NULL)
        return fail_null_function();
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    struct client_host_func func = {fn, args, true, group_of(HOST_FUNC, object.handle)};
    if (func.group == 0)
        func.group = group_of(REPORT, object.handle);
    if (func.group == 0)
        func.group = CLIENT_GROUP_LIBRARY;
    error = client_host_func_launch(&object, &func);
    if (error == ACL_SUCCESS && func.group == CLIENT_GROUP_LIBRARY && !object.uses_library) {
        object.uses_library = true;
        (void)client_handle_put(&object);
    }
    return error;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream)
{
    client_begin("aclrtLaunchCallback");
    struct client_object object;
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
        return client_fail(ACL_ERROR_INVALID_PARAM,
                           "blockType is %d: give ACL_CALLBACK_NO_BLOCK (0) or "
                           "ACL_CALLBACK_BLOCK (1)",
                           (int)blockType);
    if (fn == NULL)
        return fail_null_function();
    aclError error = client_stream_find_to_queue(stream, &object);
    if (error != ACL_SUCCESS)
        return error;
    if (object.uses_library)
        return fail_mixed(&object);
    struct client_host_func func = {fn, userData, blockType == ACL_CALLBACK_BLOCK,
                                    group_of(REPORT, object.handle)};
    if (func.group == 0)
        return client_fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                           "no thread was named for stream %p: call aclrtSubscribeReport first",
                           object.handle);
    return client_host_func_launch(&object, &func);
}

/* ---- running them ---- */

/* Run all that is due, at least one. */
static aclError process(enum subscription_kind kind, int32_t timeout)
{
    uint64_t thread = (uint64_t)pthread_self();
    client_tables_lock();
    const struct subscription *row = of_thread(kind, thread, NULL);
    uint32_t group = row != NULL && row->stream != NULL ? row->group : 0;
    client_tables_unlock();
    if (group == 0)
        return client_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                           "this thread (%llu) was named for no stream: call %s with its "
                           "pthread_self first",
                           (unsigned long long)thread, subscriber_of(kind));
    aclError error = client_host_func_run(group, timeout == -1 ? UINT64_MAX : (uint64_t)timeout);
    struct client_errors before = client_errors_save();
    while (error == ACL_SUCCESS && client_host_func_run(group, 0) == ACL_SUCCESS)
        continue;
    client_errors_restore(&before);
    return error;
}

static aclError check_timeout(int32_t timeout, aclError number)
{
    if (timeout == -1 || timeout > 0)
        return ACL_SUCCESS;
    return client_fail(number, "timeout is %d: give milliseconds, at least 1, or -1 for no limit",
                       timeout);
}

aclError aclrtProcessReport(int32_t timeout)
{
    client_begin("aclrtProcessReport");
    aclError error = check_timeout(timeout, ACL_ERROR_INVALID_PARAM);
    return error != ACL_SUCCESS ? error : process(REPORT, timeout);
}

aclError aclrtProcessHostFunc(int32_t timeout)
{
    client_begin("aclrtProcessHostFunc");
    aclError error = check_timeout(timeout, ACL_ERROR_RT_PARAM_INVALID);
    return error != ACL_SUCCESS ? error : process(HOST_FUNC, timeout);
}
