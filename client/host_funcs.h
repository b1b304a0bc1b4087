/* Functions of the program that streams call: launching them, and running them in stream order.
 *
 * The service says when one is due (hostFunc.take) and is told when it has returned
 * (hostFunc.complete); which function it is, only this process knows. Functions wait in groups. A
 * group is served by one thread: one of the library, or one of the program's that asks for it. No
 * lock is held while a function runs, so it may call ACL functions. Thread-safe. */
#ifndef SOMA_CLIENT_HOST_FUNCS_H
#define SOMA_CLIENT_HOST_FUNCS_H

#include "acl/acl_base.h"
#include "handle.h"
#include "status.h"

struct client_host_func {
    void (*fn)(void *args);
    void *args;  /* the program's, not read */
    bool blocks; /* the stream waits until fn has returned */
    uint32_t group;
};

/* Groups of the library's own threads; those of the program's begin at CLIENT_GROUP_FIRST. */
enum { CLIENT_GROUP_LIBRARY = 1, CLIENT_GROUP_FIRST = 16 };

/* Queue a call of the function on the stream. CLIENT_GROUP_LIBRARY: its thread is started if it
 * does not run. ACL_SUCCESS; the errors of client_call; 200000. */
aclError client_host_func_launch(const struct client_object *stream,
                                 const struct client_host_func *func) SOMA_MUST_USE;

/* Wait until a function of the group is due and run it in this thread, in the context of its
 * stream.
 *   timeout_ms  UINT64_MAX: without limit
 * ACL_SUCCESS; 507012 none became due in time; the errors of client_call. */
aclError client_host_func_run(uint32_t group, uint64_t timeout_ms) SOMA_MUST_USE;

/* Before work that moves memory is queued on the stream: it takes its data when it is called. So,
 * while the stream waits for something and a function of the library's thread has its turn, wait
 * for that function, at most as long as the service may be silent (SOMA_TIMEOUT_MS). In a function
 * itself: nothing. */
void client_host_funcs_let_pass(const struct client_object *stream);

/* Functions of this stream (any_stream: of all of the device) that were not called are not called
 * any more. */
void client_host_funcs_forget(uint32_t device, bool any_stream, uint64_t stream_id);

/* Before the session ends: no function of the library's thread begins any more, and those that run
 * have returned (except the one that calls this). Then client_host_funcs_resume: has_ended says
 * whether the session did; if not, all goes on, else the library's thread has ended on return
 * (unless it calls this itself). */
void client_host_funcs_hold(void);
void client_host_funcs_resume(bool has_ended);

/* Around fork. In the child nothing is queued, and a function that forked is the last one that its
 * thread runs. */
void client_host_funcs_lock(void);
void client_host_funcs_unlock(void);
void client_host_funcs_forked(void);

#endif
