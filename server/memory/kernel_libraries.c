/* The worker: starting it, learning its kernels, sending it launches. */
#include "kernel_libraries_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD_MS 20000 /* for one library */
#define ENDING_MS 50
#define KERNELS_MAX 1000u

extern char **environ;

_Static_assert((int)SOMA_KERNEL_PTR == (int)SOMA_ARG_PTR && (int)SOMA_KERNEL_U64 == SOMA_ARG_U64 &&
                   (int)SOMA_KERNEL_F64 == (int)SOMA_ARG_F64,
               "soma/kernel.h numbers types as arguments are numbered");
_Static_assert(SOMA_KERNEL_ARGUMENTS_MAX == SOMA_KERNEL_PARAMETERS_MAX &&
                   SOMA_KERNEL_NAME_BYTES_MAX == SOMA_NAME_BYTES_MAX,
               "soma/kernel.h has the limits of the service");

/* ---- the process ---- */

/* Free with free; NULL: not found, or no memory. */
static char *find_worker(void)
{
    static const char *const places[] = {"soma-kernel-worker",
                                         "../libexec/soma/soma-kernel-worker"};
    char self[4096], path[4160];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len <= 0)
        return NULL;
    self[len] = '\0';
    *(strrchr(self, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", self, places[i]);
        if (access(path, X_OK) == 0)
            return strdup(path);
    }
    return NULL;
}

/* Lock held, or nobody else knows of it yet. 0 or errno. */
static int start(struct kernel_libraries *libraries)
{
    char *argv[] = {(char *)(uintptr_t) "soma-kernel-worker", libraries->directory, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_adddup2(&actions, ends[1], WORKER_SOCKET);
        if (code == 0)
            code = posix_spawn(&libraries->pid, libraries->worker, &actions, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[1]);
    if (code != 0) {
        (void)close(ends[0]);
        libraries->pid = 0;
        return code;
    }
    libraries->socket = ends[0];
    libraries->starts++;
    return 0;
}

static void stop_locked(struct kernel_libraries *libraries)
{
    if (libraries->socket >= 0)
        (void)close(libraries->socket);
    libraries->socket = -1;
    if (libraries->pid > 0) {
        (void)kill(libraries->pid, SIGKILL);
        while (waitpid(libraries->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    libraries->pid = 0;
}

void kernel_worker_stop(struct kernel_libraries *libraries)
{
    (void)pthread_mutex_lock(&libraries->lock);
    stop_locked(libraries);
    (void)pthread_mutex_unlock(&libraries->lock);
}

/* ---- what it says first ---- */

/* SOMA's own words for a worker that says nothing more. */
static void fail_silent(const struct worker_message *last, bool is_late, char *why,
                        size_t why_bytes)
{
    (void)snprintf(why, why_bytes, "%s %s", last->library[0] != '\0' ? last->library : "the worker",
                   is_late ? "took too long to load" : "ended the process that loaded it");
}

static bool receive(int socket, struct worker_message *message, const struct worker_message *last,
                    char *why, size_t why_bytes)
{
    struct pollfd item = {socket, POLLIN, 0};
    int count;
    while ((count = poll(&item, 1, LOAD_MS)) < 0 && errno == EINTR)
        continue;
    ssize_t got = count > 0 ? recv(socket, message, sizeof(*message), 0) : -1;
    if (got == (ssize_t)sizeof(*message))
        return true;
    fail_silent(last, count == 0, why, why_bytes);
    return false;
}

static bool is_same_kernel(const struct worker_message *a, const struct worker_message *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* Keep the message of the next kernel. When the worker was started again, it has to be the same. */
static bool take_kernel(struct kernel_libraries *libraries, size_t number, bool is_again,
                        const struct worker_message *message)
{
    if (is_again)
        return number < libraries->count && is_same_kernel(libraries->messages[number], message);
    struct worker_message **more =
        realloc((void *)libraries->messages, (number + 1) * sizeof(*more));
    struct worker_message *copy = malloc(sizeof(*copy));
    if (more != NULL)
        libraries->messages = more;
    if (more == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    *copy = *message;
    more[number] = copy;
    libraries->count = number + 1;
    return true;
}

static bool listen_to(struct kernel_libraries *libraries, bool is_again, char *why,
                      size_t why_bytes)
{
    static const struct worker_message nothing;
    struct worker_message message, last = nothing;
    for (size_t number = 0;;) {
        if (!receive(libraries->socket, &message, &last, why, why_bytes))
            return false;
        last = message;
        if (message.kind == WORKER_READY && is_again && number != libraries->count) {
            (void)snprintf(why, why_bytes, "%zu of %zu kernels are left", number, libraries->count);
            return false;
        }
        if (message.kind == WORKER_READY)
            return true;
        if (message.kind == WORKER_BAD) {
            (void)snprintf(why, why_bytes, "%s", message.help);
            return false;
        }
        if (message.kind != WORKER_KERNEL)
            continue;
        if (number >= KERNELS_MAX || !take_kernel(libraries, number, is_again, &message)) {
            (void)snprintf(why, why_bytes,
                           is_again ? "%s is not what it was when the server started"
                                    : "%s: there is no room for more kernels",
                           message.library);
            return false;
        }
        number++;
    }
}

/* ---- sending ---- */

static bool send_once(int socket, const struct worker_launch *launch, int memory, int outcome)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    const int descriptors[2] = {memory, outcome};
    struct iovec part = {(void *)(uintptr_t)launch, sizeof(*launch)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    memset(&control, 0, sizeof(control));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(descriptors));
    memcpy(CMSG_DATA(header), descriptors, sizeof(descriptors));
    ssize_t sent;
    while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        continue;
    return sent == (ssize_t)sizeof(*launch);
}

/* With the lock held: as it was started first. */
static bool start_again(struct kernel_libraries *libraries, char *why, size_t why_bytes)
{
    stop_locked(libraries);
    int code = start(libraries);
    if (code != 0)
        (void)snprintf(why, why_bytes, "%s", strerror(code));
    return code == 0 && listen_to(libraries, true, why, why_bytes);
}

bool kernel_worker_send(struct kernel_libraries *libraries, const struct worker_launch *launch,
                        int memory, int outcome, uint64_t *start_number, char *why,
                        size_t why_bytes)
{
    (void)pthread_mutex_lock(&libraries->lock);
    bool good = libraries->socket >= 0 && send_once(libraries->socket, launch, memory, outcome);
    if (!good && start_again(libraries, why, why_bytes)) {
        good = send_once(libraries->socket, launch, memory, outcome);
        if (!good)
            (void)snprintf(why, why_bytes, "%s", strerror(errno));
    }
    if (!good)
        stop_locked(libraries);
    *start_number = libraries->starts;
    (void)pthread_mutex_unlock(&libraries->lock);
    return good;
}

bool kernel_worker_is_gone(struct kernel_libraries *libraries, uint64_t start_number)
{
    (void)pthread_mutex_lock(&libraries->lock);
    bool is_gone = libraries->starts != start_number || libraries->socket < 0;
    /* An ending process gives its descriptors back in no certain order: the socket may be last. */
    struct pollfd item = {libraries->socket, POLLIN | POLLRDHUP, 0};
    if (!is_gone && poll(&item, 1, ENDING_MS) > 0) {
        stop_locked(libraries);
        is_gone = true;
    }
    (void)pthread_mutex_unlock(&libraries->lock);
    return is_gone;
}

/* ---- opening ---- */

static void fill_row(struct soma_kernel_row *row, const struct worker_message *message)
{
    *row =
        (struct soma_kernel_row){.name = message->name,
                                 .library = message->library,
                                 .parameter_count = message->argument_count,
                                 .required = message->argument_count,
                                 .help = message->help,
                                 .cost = "fixedNs + nsPerBlock * blockDim + the sum of psPerUnit "
                                         "/ 1000 over the units of the arguments",
                                 .fixed_ns = message->fixed_ns,
                                 .block_ns = message->block_ns};
    for (uint32_t i = 0; i < message->argument_count; i++) {
        const struct worker_argument *argument = &message->arguments[i];
        row->parameters[i] = (struct soma_kernel_row_parameter){
            argument->name, (enum soma_arg_kind)argument->type, argument->help, argument->unit_ps};
    }
}

static bool fill_rows(struct kernel_libraries *libraries)
{
    libraries->rows = calloc(libraries->count + 1, sizeof(*libraries->rows));
    for (size_t i = 0; i < libraries->count && libraries->rows != NULL; i++)
        fill_row(&libraries->rows[i], libraries->messages[i]);
    return libraries->rows != NULL;
}

struct kernel_libraries *kernel_libraries_open(const struct kernel_libraries_config *config,
                                               char *why, size_t why_bytes)
{
    struct kernel_libraries *libraries = calloc(1, sizeof(*libraries));
    (void)snprintf(why, why_bytes, "no memory");
    if (libraries == NULL)
        return NULL;
    libraries->socket = -1;
    libraries->time_ms = config->time_ms;
    libraries->memory_bytes = config->memory_bytes;
    (void)pthread_mutex_init(&libraries->lock, NULL);
    libraries->directory = strdup(config->directory);
    libraries->worker = config->worker != NULL ? strdup(config->worker) : find_worker();
    int code = 0;
    if (libraries->worker == NULL)
        (void)snprintf(why, why_bytes,
                       "soma-kernel-worker is neither beside somad nor in "
                       "../libexec/soma: install it with somad");
    else if (libraries->directory != NULL && (code = start(libraries)) != 0)
        (void)snprintf(why, why_bytes, "%s could not be run: %s", libraries->worker,
                       strerror(code));
    if (libraries->directory != NULL && libraries->socket >= 0 &&
        listen_to(libraries, false, why, why_bytes) && fill_rows(libraries))
        return libraries;
    kernel_libraries_close(libraries);
    return NULL;
}

void kernel_libraries_close(struct kernel_libraries *libraries)
{
    if (libraries == NULL)
        return;
    stop_locked(libraries);
    for (size_t i = 0; i < libraries->count; i++)
        free(libraries->messages[i]);
    free((void *)libraries->messages);
    free(libraries->rows);
    free(libraries->directory);
    free(libraries->worker);
    (void)pthread_mutex_destroy(&libraries->lock);
    free(libraries);
}

const struct soma_kernel_row *kernel_libraries_rows(const struct kernel_libraries *libraries,
                                                    size_t *count)
{
    *count = libraries->count;
    return libraries->rows;
}
