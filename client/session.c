/* Opening and ending the session of the process. */
#include "session.h"

#include "batch.h"
#include "call.h"
#include "context.h"
#include "error.h"
#include "managed.h"
#include "handle.h"
#include "host_funcs.h"
#include "acl_host_func.h"
#include "catalog.h"
#include "launches.h"
#include "ranges.h"
#include "stream.h"
#include "tables.h"
#include "transport.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TTL_SECONDS_DEFAULT 60
#define TTL_SECONDS_MAX 86400
#define LONG_TIMEOUT_MS CLIENT_TIMEOUT_MS_MAX /* as the endpoint says */
#define EXIT_TIMEOUT_MS 1000                  /* nobody waits long for an ending process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct client_session *current;   /* NULL: none is open */
static struct client_session *of_parent; /* after fork: kept, never used */
static uint64_t init_count;              /* aclInit calls that were not undone */
static bool is_finalized;                /* aclFinalize came last */
static bool is_exiting;                  /* the process ends: nothing is opened any more */

/* ---- opening ---- */

static aclError send_json(const struct client_endpoint *endpoint, enum soma_method method,
                          const char *path, const struct soma_writer *body, cJSON **root)
{
    struct client_request request = {.method = method, .path = path};
    if (body != NULL) {
        request.content_type = "application/json";
        request.body = body->ptr;
        request.body_len = body->len;
    }
    return client_exchange(endpoint, &request, root);
}

/* Batches are for a service of the same build; any other is asked each time. */
static bool has_our_tables(const cJSON *version)
{
    char ours[32];
    const cJSON *tables = cJSON_GetObjectItemCaseSensitive(version, "tables");
    (void)snprintf(ours, sizeof(ours), "0x%llx", (unsigned long long)soma_batch_tables());
    return cJSON_IsString(tables) && strcmp(tables->valuestring, ours) == 0;
}

static aclError check_protocol(struct client_session *session)
{
    cJSON *root = NULL;
    aclError error = send_json(&session->endpoint, SOMA_METHOD_GET, "/v1/version", NULL, &root);
    if (error != ACL_SUCCESS)
        return error;
    const cJSON *protocol = cJSON_GetObjectItemCaseSensitive(root, "protocol");
    if (!cJSON_IsNumber(protocol))
        error = client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                            "what answers at %s is no soma server: set SOMA_SERVER to one",
                            session->endpoint.where);
    else if (protocol->valuedouble < SOMA_PROTOCOL || protocol->valuedouble > SOMA_PROTOCOL)
        error = client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                            "the server at %s speaks protocol %.0f and this library protocol %d: "
                            "use a somad and a libascendcl.so of one release",
                            session->endpoint.where, protocol->valuedouble, SOMA_PROTOCOL);
    session->is_other_build = !has_our_tables(root);
    cJSON_Delete(root);
    return error;
}

static bool is_session_id(const char *id)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t len = strlen(id);
    return len > 0 && len < CLIENT_SESSION_ID_BYTES && strspn(id, allowed) == len;
}

static aclError read_created(struct client_session *session, const cJSON *root)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(root, "session");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    const cJSON *ttl = cJSON_GetObjectItemCaseSensitive(root, "ttlSeconds");
    if (!cJSON_IsString(id) || !is_session_id(id->valuestring) || !cJSON_IsNumber(devices) ||
        devices->valuedouble < 1 || devices->valuedouble > SOMA_DEVICES_MAX)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "the server at %s opened no session: is it a soma server?",
                           session->endpoint.where);
    (void)snprintf(session->id, sizeof(session->id), "%s", id->valuestring);
    session->device_count = (uint32_t)devices->valuedouble;
    session->ttl_seconds = cJSON_IsNumber(ttl) ? (long)ttl->valuedouble : 0;
    const cJSON *soc = cJSON_GetObjectItemCaseSensitive(root, "soc");
    if (cJSON_IsString(soc))
        session->soc = soma_soc_find(soc->valuestring, strlen(soc->valuestring));
    return ACL_SUCCESS;
}

static aclError write_wish(struct soma_writer *body)
{
    long ttl_seconds = TTL_SECONDS_DEFAULT, devices = 0;
    aclError error =
        client_env_number("SOMA_SESSION_TTL", "seconds", 1, TTL_SECONDS_MAX, &ttl_seconds);
    if (error == ACL_SUCCESS)
        error = client_env_number("SOMA_DEVICES", "devices", 1, SOMA_DEVICES_MAX, &devices);
    if (error != ACL_SUCCESS)
        return error;
    const char *soc = client_env("SOMA_SOC");
    char label[SOMA_LABEL_BYTES_MAX];
    int len =
        snprintf(label, sizeof(label), "%.64s %d", program_invocation_short_name, (int)getpid());
    soma_writer_text(body, "{\"label\":");
    soma_writer_string(body, label, (size_t)len);
    soma_writer_text(body, ",\"ttlSeconds\":");
    soma_writer_u64(body, (uint64_t)ttl_seconds);
    if (devices > 0) {
        soma_writer_text(body, ",\"devices\":");
        soma_writer_u64(body, (uint64_t)devices);
    }
    if (soc != NULL) {
        soma_writer_text(body, ",\"soc\":");
        soma_writer_string(body, soc, strlen(soc));
    }
    soma_writer_text(body, "}");
    return body->failed ? client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a request")
                        : ACL_SUCCESS;
}

static aclError create_session(struct client_session *session)
{
    struct soma_writer body;
    soma_writer_init(&body, 4096);
    cJSON *root = NULL;
    aclError error = write_wish(&body);
    if (error == ACL_SUCCESS)
        error = send_json(&session->endpoint, SOMA_METHOD_POST, "/v1/sessions", &body, &root);
    if (error == ACL_SUCCESS)
        error = read_created(session, root);
    cJSON_Delete(root);
    soma_writer_release(&body);
    return error;
}

static void say_emulated(const struct client_session *session)
{
    const char *quiet = client_env("SOMA_QUIET");
    if (quiet != NULL && strcmp(quiet, "1") == 0)
        return;
    (void)fprintf(stderr, "soma: %u emulated Ascend device%s, no NPU: %s%s%s\n",
                  session->device_count, session->device_count == 1 ? "" : "s",
                  session->server.pid > 0 ? "a server of this process's own at " : "",
                  session->endpoint.where,
                  session->is_other_build
                      ? " (a somad of another build: each call waits for its answer)"
                      : "");
}

/* Tell a server that is not ours; the lease would end the session too. */
static void delete_session(const struct client_session *session, long timeout_ms)
{
    struct client_endpoint endpoint = session->endpoint;
    char path[128];
    cJSON *root = NULL;
    struct client_errors before = client_errors_save();
    if (endpoint.timeout_ms > timeout_ms)
        endpoint.timeout_ms = timeout_ms;
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", session->id);
    (void)!send_json(&endpoint, SOMA_METHOD_DELETE, path, NULL, &root);
    client_errors_restore(&before); /* when it cannot be told, the lease ends the session */
    cJSON_Delete(root);
}

static aclError open_session(struct client_session *session)
{
    aclError error = client_endpoint_read(&session->endpoint);
    if (error == ACL_SUCCESS && session->endpoint.url[0] == '\0')
        error = client_server_start(&session->server, &session->endpoint);
    if (error == ACL_SUCCESS)
        error = check_protocol(session);
    if (error == ACL_SUCCESS)
        error = create_session(session);
    if (error != ACL_SUCCESS)
        return error;
    if (!session->is_other_build)
        error = client_pipeline_start(&session->pipeline, &session->endpoint, session->id,
                                      session->device_count, session->soc);
    if (error == ACL_SUCCESS)
        error = client_keeper_start(&session->keeper, &session->endpoint, session->id,
                                    session->ttl_seconds, session->server.output);
    if (error == ACL_SUCCESS)
        return ACL_SUCCESS;
    client_pipeline_stop(session->pipeline);
    client_pipeline_free(session->pipeline);
    if (session->server.pid == 0)
        delete_session(session, session->endpoint.timeout_ms);
    return error;
}

/* ---- fork ---- */

static bool is_of_session(const struct client_object *object, const void *user)
{
    (void)user;
    return object->kind != CLIENT_BUFFER;
}

/* Nothing of an ended session is valid any longer. */
static void forget_objects(void)
{
    client_args_forget(NULL);
    client_handle_remove_all(is_of_session, NULL);
    client_ranges_remove_devices();
    client_managed_remove_all();
    client_context_forget_all();
    acl_subscriptions_forget_all();
    client_stream_forget_all_faults();
    client_catalog_forget();
}

static void fork_prepare(void)
{
    client_host_funcs_lock();
    client_context_lock();
    client_tables_lock();
}

static void unlock_tables(void)
{
    client_tables_unlock();
    client_context_unlock();
}

static void fork_parent(void)
{
    unlock_tables();
    client_host_funcs_unlock();
}

/* `lock` is not taken before fork, because opening a session may hold it for long; it may belong to
 * a thread that the child does not have, so it is made anew. */
static void fork_child(void)
{
    unlock_tables();
    client_host_funcs_forked();
    client_managed_forked();
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &fresh, sizeof(lock));
    client_curl_forked();
    if (current != NULL) {
        client_keeper_forget(&current->keeper);
        client_server_forget(&current->server);
        of_parent = current;
    }
    current = NULL;
    init_count = 0;
    is_finalized = false;
    forget_objects();
}

static void watch_forks(void)
{
    (void)pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- the one session ---- */

/* A program may have closed its standard files. What it or this library prints must not end up in
 * one of the library's sockets, so /dev/null takes their places. */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", O_RDWR); /* gets the lowest free number: this one */
    }
}

/* With the lock held. */
static aclError require_locked(void)
{
    static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;
    if (current != NULL)
        return ACL_SUCCESS;
    if (is_exiting)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the process is ending");
    (void)pthread_once(&forks_watched, watch_forks);
    client_addresses_reserve();
    hold_standard_files();
    struct client_session *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a session");
    atomic_init(&session->refs, 1);
    session->server = (struct client_server){0, -1, -1, ""};
    session->keeper.wake = -1;
    aclError error = open_session(session);
    if (error != ACL_SUCCESS) {
        client_server_stop(&session->server);
        free(session);
        return error;
    }
    say_emulated(session);
    current = session;
    is_finalized = false;
    return ACL_SUCCESS;
}

/* How often this thread is between client_session_get and client_session_release. */
static _Thread_local volatile sig_atomic_t calls_inside;

aclError client_session_get(struct client_session **session)
{
    calls_inside++;
    (void)pthread_mutex_lock(&lock);
    aclError error = require_locked();
    if (error == ACL_SUCCESS) {
        *session = current;
        atomic_fetch_add(&current->refs, 1);
    }
    (void)pthread_mutex_unlock(&lock);
    if (error != ACL_SUCCESS)
        calls_inside--;
    return error;
}

void client_session_reference(struct client_session *session)
{
    atomic_fetch_add(&session->refs, 1);
}

static void drop_reference(struct client_session *session)
{
    if (atomic_fetch_sub(&session->refs, 1) != 1)
        return;
    client_pipeline_free(session->pipeline);
    free(session);
}

void client_session_release(struct client_session *session)
{
    drop_reference(session);
    if (calls_inside > 0) /* else the reference came from client_session_reference */
        calls_inside--;
}

/* With the lock held. timeout_ms: how long to wait for a shared server at most. Takes none of the
 * locks of tables, contexts and functions. Returns the session, which has ended; NULL: none was
 * open. */
static struct client_session *close_locked(long timeout_ms)
{
    struct client_session *session = current;
    current = NULL;
    init_count = 0;
    if (session == NULL)
        return NULL;
    client_pipeline_stop(session->pipeline);
    client_keeper_stop(&session->keeper);
    if (session->server.pid > 0)
        client_server_stop(&session->server);
    else
        delete_session(session, timeout_ms);
    return session;
}

static void end_locked(void)
{
    struct client_session *session = close_locked(LONG_TIMEOUT_MS);
    if (session == NULL)
        return;
    forget_objects();
    drop_reference(session);
}

aclError client_session_init(void)
{
    (void)pthread_mutex_lock(&lock);
    aclError error = ACL_SUCCESS;
    if (init_count == 0)
        error = require_locked();
    if (error == ACL_SUCCESS)
        init_count++;
    bool is_repeated = init_count > 1;
    (void)pthread_mutex_unlock(&lock);
    if (is_repeated)
        return client_fail(ACL_ERROR_REPEAT_INITIALIZE,
                           "ACL is initialised already (%llu aclInit calls now count for "
                           "aclFinalizeReference): leave this call out or go on",
                           (unsigned long long)init_count);
    return error;
}

static aclError fail_repeated(void)
{
    return client_fail(ACL_ERROR_REPEAT_FINALIZE,
                       "ACL is finalised already: call it once for an aclInit");
}

aclError client_session_finalize(void)
{
    (void)pthread_mutex_lock(&lock);
    bool is_repeated = is_finalized;
    if (!is_repeated)
        end_locked();
    is_finalized = true;
    (void)pthread_mutex_unlock(&lock);
    return is_repeated ? fail_repeated() : ACL_SUCCESS;
}

aclError client_session_finalize_one(uint64_t *left)
{
    (void)pthread_mutex_lock(&lock);
    bool is_repeated = init_count == 0;
    uint64_t count = is_repeated ? 0 : init_count - 1;
    if (!is_repeated && count == 0) {
        end_locked();
        is_finalized = true;
    }
    init_count = count;
    (void)pthread_mutex_unlock(&lock);
    if (left != NULL && !is_repeated)
        *left = count;
    return is_repeated ? fail_repeated() : ACL_SUCCESS;
}

/* Take the lock unless somebody keeps it for long. (ThreadSanitizer knows no timed locks.) */
static bool lock_at_exit(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    bool locked = pthread_mutex_trylock(&lock) == 0;
    for (int ms = 0; !locked && ms < EXIT_TIMEOUT_MS; ms++) {
        (void)nanosleep(&pause, NULL);
        locked = pthread_mutex_trylock(&lock) == 0;
    }
    return locked;
}

/* The end of the process, after the program's own exit handlers and destructors. Other threads may
 * go on until it is over. One may hold the lock for long, or a signal handler has called exit while
 * its thread was inside a call: inside the session, which may hold any lock, the kernel ends a
 * private server and the lease ends the session. Before or behind that part of a call the thread
 * may hold the locks of tables, so nothing here takes them: what they hold goes with the process.
 */
__attribute__((destructor)) static void end_with_process(void)
{
    if (calls_inside > 0 || !lock_at_exit())
        return;
    is_exiting = true;
    struct client_session *session = close_locked(EXIT_TIMEOUT_MS);
    if (session != NULL)
        drop_reference(session);
    (void)pthread_mutex_unlock(&lock);
    client_curl_thread_end();
}
