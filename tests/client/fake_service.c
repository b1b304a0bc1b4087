/* The fake service: the routes that the client uses, over the real engine and contents. */
#include "fake_service.h"

#include "batch.h"
#include "bytes.h"
#include "decode.h"
#include "engine.h"
#include "error.h"
#include "host_memory.h"
#include "kernels.h"
#include "transport.h"
#include "wire.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct engine *engine;
static unsigned session_number; /* so many were opened */
static struct bytes *bytes;
static unsigned requests;
static enum fake_mood mood;
static unsigned mood_count;
static const char *somad_path; /* NULL: the fake service */

/* The text of each thread's last answer, freed with the thread. */
static pthread_key_t text_key;
static pthread_once_t text_once = PTHREAD_ONCE_INIT;

static void make_text_key(void)
{
    (void)pthread_key_create(&text_key, free);
}

static void keep_text(char *text)
{
    (void)pthread_once(&text_once, make_text_key);
    free(pthread_getspecific(text_key));
    (void)pthread_setspecific(text_key, text);
}

static struct kernels *fake_kernels(void)
{
    static struct kernels *kernels; /* kept until the process ends */
    if (kernels == NULL)
        kernels = kernels_create();
    return kernels;
}

static void close_session(void)
{
    engine_destroy(engine);
    bytes_destroy(bytes);
    engine = NULL;
    bytes = NULL;
}

static bool open_session(const cJSON *wish)
{
    const struct engine_mem mem = host_memory_table();
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(wish, "devices");
    struct engine_config config = {
        .device_count = cJSON_IsNumber(devices) ? (uint32_t)devices->valueint : 8,
        .soc = soma_soc_find(SOMA_SOC_DEFAULT, strlen(SOMA_SOC_DEFAULT))};
    close_session();
    bytes = bytes_create(fake_kernels());
    if (bytes == NULL)
        return false;
    struct engine_bytes table = bytes_table(bytes);
    session_number++;
    engine = engine_create(&config, &mem, &table);
    return engine != NULL;
}

/* ---- answers ---- */

static aclError reply(struct client_answer *answer, int http, struct soma_writer *text)
{
    keep_text(text->ptr);
    if (text->failed)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the fake service has no memory");
    answer->http = http;
    answer->body = text->len > 0 ? text->ptr : "";
    answer->len = text->len;
    return ACL_SUCCESS;
}

static aclError reply_error(struct client_answer *answer, const struct soma_error *error)
{
    struct soma_writer text;
    soma_writer_init(&text, 1u << 20);
    wire_encode_error(&text, error);
    return reply(answer, soma_status_info(error->status)->http, &text);
}

static aclError reply_text(struct client_answer *answer, int http, const char *body)
{
    struct soma_writer text;
    soma_writer_init(&text, 1u << 20);
    soma_writer_text(&text, body);
    return reply(answer, http, &text);
}

/* ---- commands ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A wait of a stream may have run out of the time that it was given. */
static void pass_limit(int64_t waited_ms)
{
    struct soma_command command;
    struct soma_result result;
    uint64_t limit_ns = engine_deadline_ns(engine), now_ns = engine_now_ns(engine);
    if (limit_ns == SOMA_NONE || limit_ns > now_ns + (uint64_t)waited_ms * 1000000)
        return;
    soma_command_init(&command, SOMA_OP_CLOCK_ADVANCE);
    soma_command_set(&command, SOMA_FIELD_duration_ns, limit_ns > now_ns ? limit_ns - now_ns : 0);
    (void)!engine_apply(engine, &command, &result, NULL);
}

/* With the lock held; gives it up while the command has to wait. */
static enum soma_status apply(struct soma_command *command, struct soma_result *result,
                              struct soma_error *error)
{
    int64_t start_ms = now_ms();
    unsigned session = session_number;
    for (;;) {
        if (engine == NULL || session != session_number)
            return soma_fail(error, SOMA_NO_SUCH_SESSION, "", "it ended meanwhile");
        enum soma_status status = engine_apply(engine, command, result, error);
        if (status != SOMA_MUST_WAIT)
            return status;
        command->expired = command->timeout_ms != UINT64_MAX &&
                           (uint64_t)(now_ms() - start_ms) >= command->timeout_ms;
        (void)pthread_mutex_unlock(&lock);
        (void)usleep(1000);
        (void)pthread_mutex_lock(&lock);
        if (engine != NULL && session == session_number)
            pass_limit(now_ms() - start_ms);
    }
}

static void run_one(const cJSON *object, struct soma_writer *text)
{
    struct wire_arena arena;
    struct soma_command command;
    struct soma_result result;
    struct soma_error error;
    wire_arena_init(&arena);
    enum soma_status status = decode_step(object, &arena, &command, &error);
    if (status == SOMA_OK)
        status = apply(&command, &result, &error);
    if (status == SOMA_OK) {
        wire_encode_result(text, &result);
        engine_result_clear(engine, &result);
    } else {
        wire_encode_error(text, &error);
    }
    wire_arena_release(&arena);
}

static aclError run_commands(const struct client_request *request, struct client_answer *answer)
{
    cJSON *root = NULL;
    struct soma_error error;
    struct soma_writer text;
    enum soma_status status = wire_parse(request->body, request->body_len, &root, &error);
    if (status != SOMA_OK)
        return reply_error(answer, &error);
    soma_writer_init(&text, 64u << 20);
    soma_writer_text(&text, "{\"results\":[");
    const cJSON *commands = cJSON_GetObjectItemCaseSensitive(root, "commands");
    const cJSON *object;
    cJSON_ArrayForEach(object, commands)
    {
        if (object != commands->child)
            soma_writer_text(&text, ",");
        run_one(object, &text);
    }
    soma_writer_text(&text, "],\"completed\":1}");
    cJSON_Delete(root);
    return reply(answer, 200, &text);
}

/* ---- contents ---- */

/* "/v1/devices/D/memory/0xP?size=N&stream=S" */
static aclError run_contents(const struct client_request *request, struct client_answer *answer)
{
    bool is_read = request->method == SOMA_METHOD_GET;
    struct soma_command command;
    struct soma_result result;
    struct soma_error error;
    uint64_t device = 0, ptr = 0;
    soma_command_init(&command, is_read ? SOMA_OP_MEMORY_READ : SOMA_OP_MEMORY_WRITE);
    (void)sscanf(request->path, "/v1/devices/%" SCNu64 "/memory/0x%" SCNx64, &device, &ptr);
    soma_command_set(&command, SOMA_FIELD_device, device);
    soma_command_set(&command, SOMA_FIELD_ptr, ptr);
    const char *size = strstr(request->path, "size="), *stream = strstr(request->path, "stream=");
    if (size != NULL)
        soma_command_set(&command, SOMA_FIELD_size, strtoull(size + 5, NULL, 10));
    if (stream != NULL)
        soma_command_set(&command, SOMA_FIELD_stream, strtoull(stream + 7, NULL, 10));
    command.data = (struct soma_text){request->body, request->body_len};
    enum soma_status status = apply(&command, &result, &error);
    if (status != SOMA_OK)
        return reply_error(answer, &error);
    if (is_read)
        memcpy(request->into, result.u.memory_bytes.data.ptr, result.u.memory_bytes.data.len);
    engine_result_clear(engine, &result);
    return reply_text(answer, is_read ? 200 : 204, "");
}

/* ---- the other routes ---- */

static aclError list_kernels(struct client_answer *answer)
{
    struct soma_writer text;
    struct soma_kernel_list list;
    kernels_list(fake_kernels(), &list);
    soma_writer_init(&text, 1u << 20);
    wire_encode_message(&text, SOMA_MESSAGE_KERNEL_LIST, &list);
    return reply(answer, 200, &text);
}

static aclError create_session(const struct client_request *request, struct client_answer *answer)
{
    char text[128];
    cJSON *wish = cJSON_ParseWithLength(request->body, request->body_len);
    bool good = wish != NULL && open_session(wish);
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(wish, "devices");
    (void)snprintf(text, sizeof(text), "{\"session\":\"fake\",\"ttlSeconds\":60,\"devices\":%d}",
                   cJSON_IsNumber(devices) ? devices->valueint : 8);
    cJSON_Delete(wish);
    return good ? reply_text(answer, 201, text)
                : client_fail(ACL_ERROR_BAD_ALLOC, "the fake service has no memory");
}

static aclError reply_version(struct client_answer *answer, enum fake_mood now)
{
    char text[128];
    uint64_t tables = soma_batch_tables() + (now == FAKE_OTHER_BUILD ? 1 : 0);
    (void)snprintf(text, sizeof(text),
                   "{\"version\":\"1\",\"protocol\":%d,\"emulated\":true,\"tables\":\"0x%llx\"}",
                   now == FAKE_PROTOCOL_2 ? 2 : 1, (unsigned long long)tables);
    return reply_text(answer, 200, text);
}

static aclError route(const struct client_request *request, struct client_answer *answer,
                      enum fake_mood now)
{
    const char *path = request->path;
    struct soma_error error;
    if (strcmp(path, "/v1/version") == 0)
        return reply_version(answer, now);
    if (strcmp(path, "/livez") == 0)
        return reply_text(answer, 200, "{\"status\":\"ok\"}");
    if (strcmp(path, "/v1/sessions") == 0)
        return create_session(request, answer);
    if (engine == NULL || request->session == NULL) {
        bool is_delete = request->method == SOMA_METHOD_DELETE && engine != NULL;
        if (is_delete)
            close_session();
        (void)soma_fail(&error, SOMA_NO_SUCH_SESSION, "session", "there is no session");
        return is_delete ? reply_text(answer, 200, "{\"freed\":{},\"leaks\":[]}")
                         : reply_error(answer, &error);
    }
    if (strcmp(path, "/v1/commands") == 0)
        return run_commands(request, answer);
    if (strcmp(path, "/v1/kernels") == 0)
        return list_kernels(answer);
    if (strcmp(path, "/v1/devices/0") == 0)
        return reply_text(answer, 200, "{\"device\":0,\"soc\":\"" SOMA_SOC_DEFAULT "\"}");
    return run_contents(request, answer);
}

static aclError in_mood(enum fake_mood now, struct client_answer *answer)
{
    struct soma_error error;
    if (now == FAKE_GONE)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE, "nobody answers");
    if (now == FAKE_NONSENSE)
        return reply_text(answer, 200, "<html>not soma</html>");
    if (now == FAKE_TOKEN)
        (void)soma_fail(&error, SOMA_UNAUTHENTICATED, "", "no token");
    else
        (void)soma_fail(&error, SOMA_NO_SUCH_SESSION, "session", "there is no session");
    return reply_error(answer, &error);
}

static aclError fake_send(const struct client_endpoint *endpoint,
                          const struct client_request *request, const char *key,
                          struct client_answer *answer)
{
    (void)endpoint;
    if ((request->method == SOMA_METHOD_GET) != (key == NULL))
        abort(); /* every change carries a key */
    (void)pthread_mutex_lock(&lock);
    requests++;
    enum fake_mood now = mood_count > 0 ? mood : FAKE_GOOD;
    if (mood_count > 0)
        mood_count--;
    bool is_there = now == FAKE_GOOD || now == FAKE_PROTOCOL_2 || now == FAKE_OTHER_BUILD;
    aclError error = is_there ? route(request, answer, now) : in_mood(now, answer);
    (void)pthread_mutex_unlock(&lock);
    return error;
}

void fake_service_use_somad(const char *path)
{
    somad_path = path;
}

bool fake_service_is_real(void)
{
    return somad_path != NULL;
}

void fake_service_start(void)
{
    (void)setenv("SOMA_QUIET", "1", 1);
    if (somad_path != NULL) {
        (void)unsetenv("SOMA_SERVER");
        (void)setenv("SOMA_SOMAD", somad_path, 1);
        return;
    }
    (void)setenv("SOMA_SERVER", "http://fake:1", 1);
    fake_service_set_mood(FAKE_GOOD, 0);
    requests = 0;
    client_transport_replace(fake_send);
}

void fake_service_stop(void)
{
    client_transport_replace(NULL);
    close_session();
    keep_text(NULL);
}

unsigned fake_service_requests(void)
{
    return requests;
}

bool fake_service_has_session(void)
{
    return engine != NULL;
}

void fake_service_set_mood(enum fake_mood new_mood, unsigned count)
{
    (void)pthread_mutex_lock(&lock);
    mood = new_mood;
    mood_count = count;
    (void)pthread_mutex_unlock(&lock);
}
