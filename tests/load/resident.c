/* soma_resident SOMAD: what the server's resident memory does.
 *   pool     1 GiB written into a pool, freed with threshold 0, synchronised: back within 32 MiB
 *   session  256 MiB written inside and outside a pool, session ended: back within 32 MiB
 *   device   64 GiB allocated and not touched: costs nothing to speak of
 * Prints one line of JSON. Exit code 0 only when all of it holds, and the bytes read as written. */
#include "load.h"
#include "somad_process.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB UINT64_C(1048576)
#define CHUNK_BYTES (64 * MIB)
#define POOL_BYTES (1024 * MIB)
#define SESSION_BYTES (256 * MIB)
#define BACK_BYTES (32 * MIB)     /* so much more than before is still back */
#define UNTOUCHED_BYTES (4 * MIB) /* that nothing may cost */

struct memory {
    struct somad_process somad;
    struct raw_http http;
    char *chunk; /* CHUNK_BYTES that are not zero */
};

static bool fail(const char *what)
{
    (void)fprintf(stderr, "soma_resident: %s\n", what);
    return false;
}

static uint64_t resident(const struct memory *memory)
{
    return process_resident_bytes(memory->somad.pid);
}

/* ---- requests ---- */

static bool ask(struct memory *memory, const char *method, const char *path, const char *session,
                const char *body, int status, struct raw_answer *answer)
{
    struct soma_writer text;
    soma_writer_init(&text, 4096);
    load_text_request(&text, method, path, session, NULL, body, body == NULL ? 0 : strlen(body));
    bool good =
        raw_http_exchange(&memory->http, text.ptr, text.len, answer) && answer->status == status;
    soma_writer_release(&text);
    if (!good)
        (void)fprintf(stderr, "soma_resident: %s %s: %d %.*s\n", method, path, answer->status,
                      (int)(answer->body_len < 300 ? answer->body_len : 300), answer->body);
    return good;
}

static bool post(struct memory *memory, const char *path, const char *session, const char *body,
                 int status, struct raw_answer *answer)
{
    return ask(memory, "POST", path, session, body, status, answer);
}

/* The address behind this name in the answer. */
static uint64_t address_of(const struct raw_answer *answer, const char *name)
{
    const char *at = memmem(answer->body, answer->body_len, name, strlen(name));
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 16);
}

static bool write_chunks(struct memory *memory, const char *session, uint64_t address,
                         uint64_t bytes)
{
    char head[512];
    struct raw_answer answer;
    for (uint64_t done = 0; done < bytes; done += CHUNK_BYTES) {
        int len = snprintf(
            head, sizeof(head),
            "PUT /v1/devices/0/memory/0x%" PRIx64 " HTTP/1.1\r\nHost: localhost\r\n"
            "%s%s%sContent-Type: application/octet-stream\r\nContent-Length: %" PRIu64 "\r\n\r\n",
            address + done, session[0] == '\0' ? "" : "Soma-Session: ", session,
            session[0] == '\0' ? "" : "\r\n", CHUNK_BYTES);
        if (!raw_http_send(&memory->http, head, (size_t)len) ||
            !raw_http_exchange(&memory->http, memory->chunk, CHUNK_BYTES, &answer) ||
            answer.status != 204)
            return fail("the bytes could not be written");
    }
    return true;
}

static bool check_bytes(struct memory *memory, const char *session, uint64_t address,
                        const char *expected)
{
    char path[128];
    struct raw_answer answer;
    (void)snprintf(path, sizeof(path), "/v1/devices/0/memory/0x%" PRIx64 "?size=4096", address);
    if (!ask(memory, "GET", path, session, NULL, 200, &answer))
        return false;
    return (answer.body_len == 4096 && memcmp(answer.body, expected, 4096) == 0) ||
           fail("the bytes do not read as they were written");
}

/* ---- the three cases ---- */

struct figures {
    uint64_t before, full, after;
};

static bool is_back(const struct figures *figures, uint64_t written, const char *what)
{
    if (figures->full < figures->before + written)
        return fail("writing did not make the server larger: what is measured?");
    return figures->after <= figures->before + BACK_BYTES || fail(what);
}

/* The pool is made and used a little beforehand: what is measured is its contents. */
static bool run_pool(struct memory *memory, struct figures *figures)
{
    static const char zeros[4096];
    char body[128];
    struct raw_answer answer;
    if (!post(memory, "/v1/devices/0/pools", "", "{\"maxSize\":\"2GiB\"}", 201, &answer))
        return false;
    figures->before = resident(memory);
    if (!post(memory, "/v1/devices/0/pools/1:malloc", "", "{\"size\":\"1GiB\"}", 200, &answer))
        return false;
    uint64_t address = address_of(&answer, "\"ptr\":\"");
    if (!write_chunks(memory, "", address, POOL_BYTES) ||
        !check_bytes(memory, "", address + POOL_BYTES - CHUNK_BYTES, memory->chunk))
        return false;
    figures->full = resident(memory);
    (void)snprintf(body, sizeof(body), "{\"ptr\":\"0x%" PRIx64 "\"}", address);
    if (!post(memory, "/v1/devices/0/pools/1:free", "", body, 200, &answer) ||
        !post(memory, "/v1/devices/0:synchronize", "", "{}", 200, &answer))
        return false;
    figures->after = resident(memory);
    /* The same place again is fresh. */
    return post(memory, "/v1/devices/0/pools/1:malloc", "", "{\"size\":\"1GiB\"}", 200, &answer) &&
           check_bytes(memory, "", address_of(&answer, "\"ptr\":\""), zeros) &&
           ask(memory, "DELETE", "/v1/devices/0/pools/1", "", NULL, 200, &answer) &&
           is_back(figures, POOL_BYTES, "1 GiB was freed and released, and is still resident");
}

static bool open_session(struct memory *memory, char id[LOAD_ID_BYTES])
{
    static const char name[] = "\"session\":\"";
    struct raw_answer answer;
    if (!post(memory, "/v1/sessions", "", "{\"devices\":1}", 201, &answer))
        return false;
    const char *at = memmem(answer.body, answer.body_len, name, sizeof(name) - 1);
    if (at == NULL)
        return fail("a session without id");
    (void)snprintf(id, LOAD_ID_BYTES, "%.*s", (int)strcspn(at + sizeof(name) - 1, "\""),
                   at + sizeof(name) - 1);
    return true;
}

static bool end_session(struct memory *memory, const char *id)
{
    char path[LOAD_ID_BYTES + 32];
    struct raw_answer answer;
    (void)snprintf(path, sizeof(path), "/v1/sessions/%s", id);
    return ask(memory, "DELETE", path, "", NULL, 200, &answer);
}

/* Half of the bytes in a pool, half in an allocation; nothing is freed but by the end. */
static bool run_session(struct memory *memory, struct figures *figures)
{
    char id[LOAD_ID_BYTES];
    struct raw_answer answer;
    figures->before = resident(memory);
    if (!open_session(memory, id) || !post(memory, "/v1/devices/0/pools", id, "{}", 201, &answer) ||
        !post(memory, "/v1/devices/0/pools/1:malloc", id, "{\"size\":\"128MiB\"}", 200, &answer) ||
        !write_chunks(memory, id, address_of(&answer, "\"ptr\":\""), SESSION_BYTES / 2) ||
        !post(memory, "/v1/devices/0/memory:malloc", id, "{\"size\":\"128MiB\"}", 200, &answer) ||
        !write_chunks(memory, id, address_of(&answer, "\"ptr\":\""), SESSION_BYTES / 2))
        return false;
    figures->full = resident(memory);
    if (!end_session(memory, id))
        return false;
    figures->after = resident(memory);
    return is_back(figures, SESSION_BYTES, "a session has ended, and its memory is still resident");
}

/* All of a device: 32 GiB in a pool's one block, the rest outside. */
static bool run_device(struct memory *memory, struct figures *figures)
{
    static const char zeros[4096];
    char id[LOAD_ID_BYTES];
    struct raw_answer answer;
    if (!open_session(memory, id))
        return false;
    figures->before = resident(memory);
    if (!post(memory, "/v1/devices/0/pools", id, "{\"maxSize\":\"32GiB\"}", 201, &answer) ||
        !post(memory, "/v1/devices/0/pools/1:malloc", id, "{\"size\":\"32GiB\"}", 200, &answer) ||
        !check_bytes(memory, id, address_of(&answer, "\"ptr\":\"") + 16384 * MIB, zeros) ||
        !post(memory, "/v1/devices/0/memory:malloc", id, "{\"size\":\"32GiB\"}", 200, &answer) ||
        !check_bytes(memory, id, address_of(&answer, "\"ptr\":\""), zeros) ||
        !ask(memory, "GET", "/v1/devices/0/memory", id, NULL, 200, &answer))
        return false;
    if (memmem(answer.body, answer.body_len, "\"freeBytes\":0}", 14) == NULL)
        return fail("the device is not full");
    figures->full = resident(memory);
    bool good = end_session(memory, id);
    figures->after = resident(memory);
    return good && (figures->full <= figures->before + UNTOUCHED_BYTES ||
                    fail("a device that nobody has written to takes memory"));
}

static void print(const char *name, const struct figures *figures, const char *behind)
{
    (void)printf("\"%s\":{\"beforeBytes\":%" PRIu64 ",\"fullBytes\":%" PRIu64
                 ",\"afterBytes\":%" PRIu64 "}%s",
                 name, figures->before, figures->full, figures->after, behind);
}

static bool run(struct memory *memory)
{
    struct figures pool, session, device;
    bool good =
        run_pool(memory, &pool) && run_session(memory, &session) && run_device(memory, &device);
    if (!good)
        return false;
    (void)fputs("{", stdout);
    print("pool", &pool, ",");
    print("session", &session, ",");
    print("device", &device, "}\n");
    return true;
}

int main(int argc, char **argv)
{
    /* The 64 GiB are those of this SoC. */
    static const char *const options[] = {"--log-level", "warn", "--soc", "Ascend910B1", NULL};
    struct memory memory = {.http = {.fd = -1}};
    if (argc != 2) {
        (void)fputs("usage: soma_resident SOMAD\n", stderr);
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    memory.chunk = malloc(CHUNK_BYTES);
    if (memory.chunk == NULL || !somad_start(&memory.somad, argv[1], NULL, options))
        return 1;
    memset(memory.chunk, 0x5a, CHUNK_BYTES);
    bool good = (raw_http_connect(&memory.http, memory.somad.url) || fail("cannot connect")) &&
                run(&memory);
    raw_http_close(&memory.http);
    good = somad_stop(&memory.somad) == 0 && good;
    free(memory.chunk);
    return good ? 0 : 1;
}
