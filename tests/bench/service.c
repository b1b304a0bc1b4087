/* The child runs soma_server_start, then gives a second listener to the same server. */
#include "service.h"

#include "bench.h"
#include "config.h"
#include "internal.h"
#include "listener.h"
#include "mhd_errors.h"
#include "server.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char service_malloc_answer[] = "{\"ptr\":\"0x12c0c0000000\",\"size\":2097152,"
                                     "\"requestedSize\":4096,\"reuse\":\"SAME_STREAM\"}";
const char service_free_answer[] = "{\"size\":2097152}";

/* ---- the constant handler ---- */

/* Responses made beforehand; NULL: one is made for each answer. */
struct constant {
    struct MHD_Response *malloc_response, *free_response;
};

static struct MHD_Response *make_response(const char *text)
{
    void *body;
    memcpy(&body, &text, sizeof(body)); /* libmicrohttpd only reads it */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), body, MHD_RESPMEM_PERSISTENT);
    if (response != NULL)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    return response;
}

static enum MHD_Result answer_constant(void *cls, struct MHD_Connection *mhd, const char *url,
                                       const char *method, const char *version, const char *data,
                                       size_t *data_len, void **ctx)
{
    const struct constant *constant = cls;
    (void)method;
    (void)version;
    (void)data;
    if (*ctx == NULL) {
        /* The server's notifications look at it: a request that never began. */
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        struct connection *conn = info->socket_context;
        *ctx = &conn->request;
        return MHD_YES;
    }
    if (*data_len > 0) {
        *data_len = 0;
        return MHD_YES;
    }
    bool is_malloc = url[strlen(url) - 1] == 'c';
    struct MHD_Response *response = is_malloc ? constant->malloc_response : constant->free_response;
    if (response != NULL)
        return mhd_queue(mhd, MHD_HTTP_OK, response);
    response = make_response(is_malloc ? service_malloc_answer : service_free_answer);
    enum MHD_Result result = response == NULL ? MHD_NO : mhd_queue(mhd, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- the child ---- */

static bool start_server(struct soma_server **server)
{
    char path[SERVICE_URL_BYTES];
    char *arguments[] = {(char[]){"somad"},
                         (char[]){"--listen"},
                         (char[]){"127.0.0.1:0"},
                         (char[]){"--listen"},
                         path,
                         (char[]){"--log-level"},
                         (char[]){"error"},
                         NULL};
    (void)snprintf(path, sizeof(path), "unix:/tmp/soma-bench-%d.sock", (int)getpid());
    char *environment[] = {NULL};
    struct soma_config config;
    char error[CONFIG_ERROR_BYTES];
    if (!soma_config_init(&config))
        return bench_fail("no memory");
    bool good = soma_config_load(&config, 7, arguments, environment, error) &&
                soma_server_start(&config, server, error);
    soma_config_release(&config);
    return good || bench_fail("%s", error);
}

static bool serve_constant(struct soma_server *server, struct constant *constant,
                           struct listener *listener)
{
    char error[CONFIG_ERROR_BYTES];
    return (listener_open(listener, "127.0.0.1:0", error) &&
            listener_serve(listener, server, answer_constant, constant, error)) ||
           bench_fail("%s", error);
}

static void serve(struct soma_server *server, int out, int control)
{
    struct constant each = {NULL, NULL};
    struct constant prepared = {make_response(service_malloc_answer),
                                make_response(service_free_answer)};
    struct listener listeners[2] = {{.fd = -1}, {.fd = -1}};
    char lines[4 * SERVICE_URL_BYTES + 4], byte;
    if (serve_constant(server, &each, &listeners[0]) &&
        serve_constant(server, &prepared, &listeners[1])) {
        int len =
            snprintf(lines, sizeof(lines), "%s\n%s\n%s\n%s\n", soma_server_address(server, 0),
                     soma_server_address(server, 1), listeners[0].address, listeners[1].address);
        if (write(out, lines, (size_t)len) == len)
            while (read(control, &byte, 1) > 0)
                ;
    }
    listener_close(&listeners[0]);
    listener_close(&listeners[1]);
    MHD_destroy_response(prepared.malloc_response);
    MHD_destroy_response(prepared.free_response);
}

static _Noreturn void run_child(int out, int control)
{
    struct soma_server *server;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!start_server(&server))
        _exit(1);
    serve(server, out, control);
    soma_server_stop(server);
    _exit(0);
}

/* ---- the parent ---- */

static bool read_urls(struct service *service, int in)
{
    FILE *file = fdopen(in, "r");
    char *const urls[] = {service->url, service->unix_url, service->constant_url,
                          service->prepared_url};
    bool good = file != NULL;
    for (size_t i = 0; good && i < sizeof(urls) / sizeof(urls[0]); i++) {
        good = fgets(urls[i], SERVICE_URL_BYTES, file) != NULL;
        urls[i][strcspn(urls[i], "\n")] = '\0';
    }
    if (file != NULL)
        (void)fclose(file);
    return good;
}

bool service_start(struct service *service)
{
    int out[2], control[2];
    if (pipe(out) != 0 || pipe(control) != 0)
        return bench_fail("no pipes");
    service->pid = fork();
    if (service->pid == 0) {
        (void)close(out[0]);
        (void)close(control[1]);
        run_child(out[1], control[0]);
    }
    (void)close(out[1]);
    (void)close(control[0]);
    service->control = control[1];
    if (service->pid > 0 && read_urls(service, out[0]))
        return true;
    service_stop(service);
    return bench_fail("the server did not start");
}

void service_stop(struct service *service)
{
    (void)close(service->control);
    if (service->pid > 0)
        (void)waitpid(service->pid, NULL, 0);
    service->pid = 0;
}

double service_cpu(const struct service *service)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(service->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

double service_resident(const struct service *service)
{
    char path[64];
    unsigned long long pages = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)service->pid);
    FILE *file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        (void)fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}
