/* Health, version, metrics, the contract, the kernels. None waits for a session. */
#include "handlers.h"

#include "batch.h"
#include "input.h"
#include "kernels.h"
#include "metrics.h"
#include "openapi.h"
#include "reply.h"

static bool fail(struct request *req)
{
    reply_error(req, &req->error);
    return false;
}

static bool livez(struct request *req)
{
    struct soma_health health = {.status = "ok"};
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    reply_message(req, 200, SOMA_MESSAGE_HEALTH, &health);
    return false;
}

static bool readyz(struct request *req)
{
    const struct soma_server *server = req->conn->server;
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    if (atomic_load(&server->is_ready) && !atomic_load(&server->is_leaving))
        return livez(req);
    (void)soma_fail(&req->error, SOMA_DRAINING, "", "the server is starting or going down");
    return fail(req);
}

static bool version(struct request *req)
{
    struct soma_version message = {.version = SOMA_VERSION,
                                   .protocol = SOMA_PROTOCOL,
                                   .emulated = true,
                                   .tables = soma_batch_tables()};
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    reply_message(req, 200, SOMA_MESSAGE_VERSION, &message);
    return false;
}

static bool metrics(struct request *req)
{
    struct soma_writer writer;
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    soma_writer_init(&writer, SOMA_ANSWER_BYTES_MAX);
    metrics_write(req->conn->server, &writer);
    reply_writer(req, 200, "text/plain; version=0.0.4; charset=utf-8", &writer);
    return false;
}

static bool openapi(struct request *req)
{
    size_t len;
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    const char *text = openapi_text(&len);
    reply_bytes(req, "application/json", text, len, NULL);
    return false;
}

static bool kernels(struct request *req)
{
    struct soma_kernel_list message;
    if (input_expect_none(req) != SOMA_OK)
        return fail(req);
    kernels_list(req->conn->server->kernels, &message);
    reply_message(req, 200, SOMA_MESSAGE_KERNEL_LIST, &message);
    return false;
}

const struct handler handler_livez = {livez, NULL, NULL};
const struct handler handler_readyz = {readyz, NULL, NULL};
const struct handler handler_version = {version, NULL, NULL};
const struct handler handler_metrics = {metrics, NULL, NULL};
const struct handler handler_openapi = {openapi, NULL, NULL};
const struct handler handler_kernels = {kernels, NULL, NULL};
