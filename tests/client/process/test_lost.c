/* Servers that die, hang, are something else, or whose connection breaks. */
#include "process.h"
#include "sockets.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char server_variable[320];
static const char *environment[4];

static const char *const *use_server(const char *url, const char *more)
{
    (void)snprintf(server_variable, sizeof(server_variable), "SOMA_SERVER=%s", url);
    environment[0] = server_variable;
    environment[1] = more;
    environment[2] = NULL;
    return environment;
}

/* Number and duration in "called: N after M ms". */
static void read_call(const struct program *program, int *number, int *ms)
{
    const char *at = strstr(program->said, "called: ");
    *number = *ms = -1;
    if (at != NULL)
        (void)sscanf(at, "called: %d after %d ms", number, ms);
}

/* What becomes of a program whose server gets a signal between two calls, or during a wait. */
static void test_a_server_that_dies_or_hangs(void)
{
    static const struct {
        const char *role;
        int signal;
        int ms_min, ms_max;
    } rows[] = {{"hold_and_call", SIGKILL, 0, 1000}, {"hold_and_call", SIGSTOP, 900, 3000},
                {"copy_for_ever", SIGKILL, 0, 2000}, {"copy_for_ever", SIGSTOP, 900, 4000},
                {"wait_for_ever", SIGKILL, 0, 2000}, {"wait_for_ever", SIGSTOP, 0, 4000}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct somad_process somad;
        struct program program;
        int number, ms;
        if (!EXPECT(start_somad(&somad, NULL, NULL), "no somad"))
            return;
        if (program_start(&program, rows[i].role, use_server(somad.url, "SOMA_TIMEOUT_MS=1000")) &&
            program_wait_for(&program, "ready")) {
            pause_ms(150);
            (void)kill(somad.pid, rows[i].signal);
            pause_ms(100); /* until all its threads have got it */
            (void)kill(program.pid, rows[i].role[0] == 'h' ? SIGUSR1 : 0);
            (void)program_wait_for(&program, "end of call");
            read_call(&program, &number, &ms);
            (void)EXPECT(
                number == 507901 && ms >= rows[i].ms_min && ms <= rows[i].ms_max &&
                    strstr(program.said, "SOMA_SERVER") != NULL &&
                    strstr(program.said, somad.url) != NULL &&
                    (rows[i].signal != SIGSTOP || strstr(program.said, "within 1000 ms") != NULL),
                "row %zu: %s", i, program.said);
            (void)kill(program.pid, SIGKILL);
            (void)program_end(&program, 5000);
        }
        (void)kill(somad.pid, SIGKILL);
        (void)waitpid(somad.pid, NULL, 0);
    }
}

/* A wait lasts longer than the timeout as long as the server lives. */
static void test_a_wait_outlasts_the_timeout(void)
{
    struct somad_process somad;
    struct program program;
    if (!EXPECT(start_somad(&somad, NULL, NULL), "no somad"))
        return;
    if (program_start(&program, "wait_for_ever", use_server(somad.url, "SOMA_TIMEOUT_MS=300")) &&
        program_wait_for(&program, "ready")) {
        pause_ms(2500);
        (void)EXPECT(waitpid(program.pid, NULL, WNOHANG) == 0, "it ended: %s", program.said);
        (void)kill(somad.pid, SIGKILL);
        (void)EXPECT(program_end(&program, 5000) == 0, "%s", program.said);
    }
    (void)kill(somad.pid, SIGKILL);
    (void)waitpid(somad.pid, NULL, 0);
}

/* ---- a peer of ours ---- */

struct peer {
    int listener;
    char url[64];
    const char *answer;   /* sent to every request; NULL: forward to `port` */
    uint16_t port;        /* of the server behind it */
    const char *cut_word; /* the first request with it: the answer is thrown away */
    const char *instead;  /* and this sent in its place; NULL: nothing */
    atomic_bool is_cut;   /* done */
    atomic_bool is_over;
    atomic_uint served; /* connections */
    pthread_t thread;
};

/* One connection of it. */
struct served {
    struct peer *peer;
    int client;
    char request[1 << 16], answer[1 << 16];
};

/* Read one HTTP message with a Content-Length; its length, 0 at the end. */
static size_t read_message(int fd, char *message, size_t bytes)
{
    size_t len = 0;
    for (;;) {
        ssize_t got = recv(fd, message + len, bytes - 1 - len, 0);
        if (got <= 0)
            return 0;
        len += (size_t)got;
        message[len] = '\0';
        const char *end = strstr(message, "\r\n\r\n");
        if (end == NULL)
            continue;
        const char *length = strcasestr(message, "content-length:");
        size_t want = length != NULL && length < end ? strtoul(length + 15, NULL, 10) : 0;
        if (len >= (size_t)(end - message) + 4 + want)
            return len;
    }
}

static int connect_to(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Request by request. */
static void *serve(void *user)
{
    struct served *served = user;
    struct peer *peer = served->peer;
    int client = served->client, server = peer->answer == NULL ? connect_to(peer->port) : -1;
    size_t len;
    while ((len = read_message(client, served->request, sizeof(served->request))) > 0) {
        if (peer->answer != NULL) {
            if (!sockets_send_all(client, peer->answer, strlen(peer->answer)))
                break;
            continue;
        }
        if (!sockets_send_all(server, served->request, len))
            break;
        size_t answer_len = read_message(server, served->answer, sizeof(served->answer));
        if (strstr(served->request, peer->cut_word) != NULL &&
            !atomic_exchange(&peer->is_cut, true)) {
            if (peer->instead != NULL)
                (void)sockets_send_all(client, peer->instead, strlen(peer->instead));
            break; /* it ran, and nobody will know */
        }
        if (answer_len == 0 || !sockets_send_all(client, served->answer, answer_len))
            break;
    }
    if (server >= 0)
        (void)close(server);
    (void)close(client);
    free(served);
    atomic_fetch_sub(&peer->served, 1);
    return NULL;
}

static void *peer_run(void *user)
{
    struct peer *peer = user;
    while (!atomic_load(&peer->is_over)) {
        pthread_t thread;
        int client = accept(peer->listener, NULL, NULL);
        struct served *served = client >= 0 ? malloc(sizeof(*served)) : NULL;
        if (served == NULL)
            continue;
        served->peer = peer;
        served->client = client;
        atomic_fetch_add(&peer->served, 1);
        if (pthread_create(&thread, NULL, serve, served) != 0)
            abort();
        (void)pthread_detach(thread);
    }
    return NULL;
}

static bool peer_start(struct peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(peer->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(peer->listener, 16) != 0 ||
        getsockname(peer->listener, (struct sockaddr *)&address, &len) != 0)
        return EXPECT(false, "no listener");
    (void)snprintf(peer->url, sizeof(peer->url), "http://127.0.0.1:%u", ntohs(address.sin_port));
    return EXPECT(pthread_create(&peer->thread, NULL, peer_run, peer) == 0, "no thread");
}

static void peer_stop(struct peer *peer)
{
    atomic_store(&peer->is_over, true);
    (void)shutdown(peer->listener, SHUT_RDWR);
    (void)pthread_join(peer->thread, NULL);
    (void)close(peer->listener);
    while (atomic_load(&peer->served) > 0) /* until their programs have closed them */
        pause_ms(5);
}

/* The answer to an allocation is lost: the client asks again, and it ran once. */
static void test_a_lost_answer_runs_once(void)
{
    static const char balancer[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n"
                                   "Connection: close\r\n\r\n{}";
    static const struct {
        const char *word, *variable, *instead;
    } rows[] = {{"\"pool.malloc\"", "SOMA_PIPELINE=0", NULL},
                {"\"pool.create\"", "SOMA_PIPELINE=0", NULL},
                {"\"stream.create\"", "SOMA_PIPELINE=0", NULL},
                {"PUT /v1/devices/", "SOMA_PIPELINE=0", NULL},
                {"POST /v1/sessions ", NULL, NULL},
                {"POST /v1/commands ", NULL, NULL},
                {"\"pool.malloc\"", "SOMA_PIPELINE=0", balancer},
                {"POST /v1/sessions ", NULL, balancer},
                {"POST /v1/commands ", NULL, balancer}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct somad_process somad;
        struct peer peer = {.cut_word = rows[i].word, .instead = rows[i].instead};
        struct program program;
        if (!EXPECT(start_somad(&somad, NULL, NULL), "no somad"))
            return;
        peer.port = (uint16_t)strtoul(strrchr(somad.url, ':') + 1, NULL, 10);
        if (peer_start(&peer)) {
            if (program_start(&program, "allocate_once", use_server(peer.url, rows[i].variable))) {
                int code = program_end(&program, 15000);
                (void)EXPECT(code == 0 && atomic_load(&peer.is_cut) &&
                                 strstr(program.said, "used: 2097152\n") != NULL,
                             "%s: %d, %s", rows[i].word, code, program.said);
            }
            (void)EXPECT(count_sessions(somad.url) == 0, "%s: a session stayed", rows[i].word);
            peer_stop(&peer);
        }
        (void)somad_stop(&somad);
    }
}

static void test_peers_that_are_no_soma(void)
{
    static const struct {
        const char *answer, *says;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n"
         "{\"version\":\"2\",\"protocol\":7,\"emulated\":true}\r\n\r\n",
         "speaks protocol 7 and this library protocol 1"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "not soma's JSON"},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", "not soma's JSON"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "no soma server"},
        {"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
         "not soma's JSON"},
        {"SSH-2.0-OpenSSH_9.2\r\n", "SOMA_SERVER"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct peer peer = {.answer = rows[i].answer};
        struct program program;
        if (!peer_start(&peer))
            continue;
        if (program_start(&program, "try_init", use_server(peer.url, "SOMA_TIMEOUT_MS=500"))) {
            (void)EXPECT(program_end(&program, 10000) == 0, "row %zu: %s", i, program.said);
            (void)EXPECT(strstr(program.said, "aclInit: 507901") != NULL &&
                             strstr(program.said, rows[i].says) != NULL &&
                             strstr(program.said, peer.url) != NULL,
                         "row %zu: %s", i, program.said);
        }
        peer_stop(&peer);
    }
}

static void test_nobody_there(void)
{
    static const struct {
        const char *server, *says;
        int code;
    } rows[] = {{"http://127.0.0.1:9", "http://127.0.0.1:9", 507901},
                {"unix:/tmp/soma-no-such.sock", "unix:/tmp/soma-no-such.sock", 507901},
                {"http://no-such-host.invalid:1", "no-such-host.invalid", 507901},
                {"ftp://x", "SOMA_SERVER=ftp://x", 100000}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct program program;
        char want[64];
        (void)snprintf(want, sizeof(want), "aclInit: %d", rows[i].code);
        if (!program_start(&program, "try_init", use_server(rows[i].server, "SOMA_TIMEOUT_MS=800")))
            continue;
        (void)program_end(&program, 10000);
        (void)EXPECT(strstr(program.said, want) != NULL &&
                         strstr(program.said, rows[i].says) != NULL &&
                         strstr(program.said, "SOMA_SERVER") != NULL,
                     "row %zu: %s", i, program.said);
    }
}

/* A thread that can have no socket: the pipeline needs none of it; alone it says why, and nothing
 * is lost. */
static void test_no_further_descriptor(void)
{
    static const struct {
        const char *variable, *says;
    } rows[] = {{"SOMA_PIPELINE=1", "starved: 0: -\nwaited: 507046\n"},
                {"SOMA_PIPELINE=0", "ulimit -n"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct somad_process somad;
        struct program program;
        if (!EXPECT(start_somad(&somad, NULL, NULL), "no somad"))
            return;
        if (program_start(&program, "starve", use_server(somad.url, rows[i].variable))) {
            int code = program_end(&program, 15000);
            (void)EXPECT(code == 0 && strstr(program.said, rows[i].says) != NULL, "%s: %d, %s",
                         rows[i].variable, code, program.said);
        }
        (void)somad_stop(&somad);
    }
}

const struct process_test lost_tests[] = {
    {"a server that dies or hangs", test_a_server_that_dies_or_hangs},
    {"a wait outlasts the timeout", test_a_wait_outlasts_the_timeout},
    {"a lost answer runs once", test_a_lost_answer_runs_once},
    {"peers that are no soma", test_peers_that_are_no_soma},
    {"nobody there", test_nobody_there},
    {"no further descriptor", test_no_further_descriptor},
    {NULL, NULL},
};
