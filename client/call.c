/* Commands over HTTP: POST /v1/commands with one command, or the raw route for contents. */
#include "call.h"

#include "error.h"
#include "managed.h"
#include "session.h"
#include "stream.h"
#include "wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 160u

static aclError fail_memory(void)
{
    return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a request");
}

static aclError fail_no_soma(const struct client_endpoint *endpoint, int http)
{
    return client_fail(
        ACL_ERROR_RT_SOCKET_CLOSE,
        "%s answered %d with something that is not soma's JSON: set SOMA_SERVER to a "
        "soma server",
        endpoint->where, http);
}

/* Record the error that an answer holds. */
static aclError fail_answered(const struct client_endpoint *endpoint, const cJSON *object, int http)
{
    struct soma_error error;
    int acl_error = 0;
    if (!wire_decode_error(object, &error, &acl_error))
        return fail_no_soma(endpoint, http);
    if (error.status == SOMA_NO_SUCH_SESSION || error.status == SOMA_SESSION_LOST)
        return client_fail(ACL_ERROR_RT_SOCKET_CLOSE,
                           "the session at %s is gone with all that it held (its lease ran out, or "
                           "the server was restarted): call aclFinalize and aclInit to begin again",
                           endpoint->where);
    if (error.status == SOMA_UNAUTHENTICATED)
        return client_fail(ACL_ERROR_INTERNAL_ERROR,
                           "%s asks for a token: set SOMA_TOKEN, or SOMA_TOKEN_FILE to a file that "
                           "holds it (%s)",
                           endpoint->where, error.message);
    return client_fail_answer(&error, acl_error);
}

aclError client_fail_http(const struct client_endpoint *endpoint,
                          const struct client_answer *answer)
{
    cJSON *object = cJSON_ParseWithLength(answer->body, answer->len);
    aclError error = cJSON_IsObject(object) ? fail_answered(endpoint, object, answer->http)
                                            : fail_no_soma(endpoint, answer->http);
    cJSON_Delete(object);
    return error;
}

aclError client_exchange(const struct client_endpoint *endpoint,
                         const struct client_request *request, cJSON **root)
{
    struct client_answer answer;
    *root = NULL;
    aclError error = client_send(endpoint, request, &answer);
    bool is_good = error == ACL_SUCCESS && answer.http >= 200 && answer.http < 300;
    if (error != ACL_SUCCESS || (is_good && (answer.len == 0 || request->into != NULL)))
        return error;
    cJSON *object = cJSON_ParseWithLength(answer.body, answer.len);
    if (object == NULL || !cJSON_IsObject(object))
        error = fail_no_soma(endpoint, answer.http);
    else if (!is_good)
        error = fail_answered(endpoint, object, answer.http);
    if (error != ACL_SUCCESS)
        cJSON_Delete(object);
    else
        *root = object;
    return error;
}

aclError client_get(const char *path, cJSON **root)
{
    struct client_session *session;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    struct client_request request = {
        .method = SOMA_METHOD_GET, .path = path, .session = session->id};
    error = client_exchange(&session->endpoint, &request, root);
    if (error == ACL_SUCCESS && *root == NULL)
        error = fail_no_soma(&session->endpoint, 204);
    client_session_release(session);
    return error;
}

/* ---- commands ---- */

static bool is_wait(enum soma_op op)
{
    return op == SOMA_OP_DEVICE_SYNCHRONIZE || op == SOMA_OP_STREAM_SYNCHRONIZE ||
           op == SOMA_OP_EVENT_SYNCHRONIZE || op == SOMA_OP_STREAM_DESTROY ||
           op == SOMA_OP_HOST_FUNC_TAKE;
}

/* The answer to the only command of a batch. */
static aclError read_result(const struct client_endpoint *endpoint, const cJSON *root,
                            const struct soma_op_info *info, struct soma_result *result)
{
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(root, "results");
    const cJSON *only = cJSON_IsArray(results) ? results->child : NULL;
    if (!cJSON_IsObject(only))
        return fail_no_soma(endpoint, 200);
    if (cJSON_GetObjectItemCaseSensitive(only, "error") != NULL)
        return fail_answered(endpoint, only, 200);
    if (result == NULL)
        return ACL_SUCCESS;
    struct soma_error error;
    enum soma_status status =
        wire_decode_result(only, (enum soma_message)info->result, result, &error);
    return status == SOMA_OK ? ACL_SUCCESS : client_fail_answer(&error, 0);
}

static aclError post_command(const struct client_session *session,
                             const struct soma_command *command, struct soma_result *result)
{
    struct soma_writer body;
    soma_writer_init(&body, SOMA_JSON_BODY_BYTES_MAX);
    soma_writer_text(&body, "{\"commands\":[");
    wire_encode_command(&body, command);
    soma_writer_text(&body, "]}");
    struct client_request request = {.method = SOMA_METHOD_POST,
                                     .path = "/v1/commands",
                                     .session = session->id,
                                     .content_type = "application/json",
                                     .body = body.ptr,
                                     .body_len = body.len,
                                     .waits = is_wait(command->op)};
    cJSON *root = NULL;
    aclError error =
        body.failed ? fail_memory() : client_exchange(&session->endpoint, &request, &root);
    if (error == ACL_SUCCESS)
        error = read_result(&session->endpoint, root, soma_op_info(command->op), result);
    cJSON_Delete(root);
    soma_writer_release(&body);
    return error;
}

/* "/v1/devices/D/memory/0xP?stream=S" */
static void contents_path(char *path, const struct soma_command *command)
{
    int len = snprintf(path, PATH_BYTES, "/v1/devices/%" PRIu64 "/memory/0x%" PRIx64,
                       command->device, command->ptr);
    const char *before = "?";
    if (command->op == SOMA_OP_MEMORY_READ) {
        len += snprintf(path + len, PATH_BYTES - (size_t)len, "?size=%" PRIu64, command->size);
        before = "&";
    }
    if (command->present & SOMA_HAS(stream))
        (void)snprintf(path + len, PATH_BYTES - (size_t)len, "%sstream=%" PRIu64, before,
                       command->stream);
}

static aclError put_contents(const struct client_session *session,
                             const struct soma_command *command)
{
    char path[PATH_BYTES];
    contents_path(path, command);
    struct client_request request = {.method = SOMA_METHOD_PUT,
                                     .path = path,
                                     .session = session->id,
                                     .content_type = "application/octet-stream",
                                     .body = command->data.ptr,
                                     .body_len = command->data.len};
    cJSON *root = NULL;
    aclError error = client_exchange(&session->endpoint, &request, &root);
    cJSON_Delete(root);
    return error;
}

static aclError get_contents(const struct client_session *session,
                             const struct soma_command *command, void *into)
{
    char path[PATH_BYTES];
    contents_path(path, command);
    struct client_request request = {.method = SOMA_METHOD_GET,
                                     .path = path,
                                     .session = session->id,
                                     .into = into,
                                     .into_len = (size_t)command->size};
    cJSON *root = NULL;
    aclError error = client_exchange(&session->endpoint, &request, &root);
    cJSON_Delete(root);
    return error;
}

aclError client_session_call(struct client_session *session, const struct soma_command *command,
                             struct soma_result *result)
{
    if (result != NULL)
        result->message = SOMA_MESSAGE_NONE;
    aclError error = CLIENT_PIPELINE_LEFT;
    if (session->pipeline != NULL)
        error = client_pipeline_run(session->pipeline, command, result);
    if (error != CLIENT_PIPELINE_LEFT)
        return error;
    if (command->op == SOMA_OP_MEMORY_WRITE)
        return put_contents(session, command);
    return post_command(session, command, result);
}

aclError client_call(const struct soma_command *command, struct soma_result *result)
{
    struct client_session *session;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    error = client_managed_before(session, command);
    if (error == ACL_SUCCESS)
        error = client_session_call(session, command, result);
    if (error == ACL_SUCCESS)
        error = client_managed_after(session, command, result);
    client_session_release(session);
    return error;
}

aclError client_session_read(struct client_session *session, const struct soma_command *command,
                             void *into)
{
    aclError error = CLIENT_PIPELINE_LEFT;
    if (session->pipeline != NULL)
        error = client_pipeline_read(session->pipeline, command, into);
    return error == CLIENT_PIPELINE_LEFT ? get_contents(session, command, into) : error;
}

aclError client_call_launch(const struct soma_command *command, struct client_ticket *ticket)
{
    struct client_session *session;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS) {
        free(ticket);
        return error;
    }
    error = client_managed_before(session, command);
    if (error != ACL_SUCCESS) {
        free(ticket);
        client_session_release(session);
        return error;
    }
    error = CLIENT_PIPELINE_LEFT;
    if (session->pipeline != NULL)
        error = client_pipeline_launch(session->pipeline, command, ticket);
    if (error == CLIENT_PIPELINE_LEFT) {
        struct client_errors before = client_errors_save();
        error = post_command(session, command, NULL);
        if (soma_is_kernel_failure(client_error_status(error)) &&
            ticket->fail(ticket, error, client_error_rest())) {
            error = ACL_SUCCESS;
            client_errors_restore(&before);
        }
        free(ticket);
    }
    client_session_release(session);
    return error;
}

/* Whether the command would be work for a stream that has stopped without the program's knowledge.
 */
static bool is_dropped(const struct soma_command *command)
{
    bool is_work = command->op != SOMA_OP_MEMORY_FREE_ASYNC && command->op != SOMA_OP_POOL_FREE;
    return is_work && (command->present & SOMA_HAS(stream)) != 0 &&
           client_stream_is_stopping(command->device, command->stream);
}

aclError client_queue(const struct soma_command *command)
{
    if (is_dropped(command))
        return ACL_SUCCESS;
    return client_call(command, NULL);
}

aclError client_read(const struct soma_command *command, void *into)
{
    if (is_dropped(command))
        return ACL_SUCCESS;
    struct client_session *session;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    error = client_managed_before(session, command);
    if (error == ACL_SUCCESS)
        error = client_session_read(session, command, into);
    client_session_release(session);
    return error;
}

static void release_with_free(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

void client_result_clear(struct soma_result *result)
{
    soma_result_clear(result, release_with_free, NULL);
}

aclError client_device_count(uint32_t *count)
{
    struct client_session *session;
    aclError error = client_session_get(&session);
    if (error != ACL_SUCCESS)
        return error;
    *count = session->device_count;
    client_session_release(session);
    return ACL_SUCCESS;
}
