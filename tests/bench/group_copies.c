/* Copies of 64 MiB between host and device through the C client, over loopback and over a unix
 * socket, beside the same bytes through a plain socket of the same kind. */
#include "acl/acl.h"
#include "bench.h"
#include "service.h"
#include "socket_peer.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 20)
#define BLOCK_BYTES_QUICK ((size_t)1 << 20)

/* Memory on both sides, and what is measured. */
struct copies {
    size_t bytes;
    char *out, *back;
    void *device;
    struct bench_row rows[2]; /* H2D, D2H */
};

static bool need(aclError error, const char *call)
{
    const char *text = error == ACL_SUCCESS ? NULL : aclGetRecentErrMsg();
    return error == ACL_SUCCESS ||
           bench_fail("%s gave %d: %s", call, error, text != NULL ? text : "no text");
}

#define NEED(call) need((call), #call)

static bool copy(const struct copies *copies, bool is_out)
{
    size_t bytes = copies->bytes;
    return is_out ? NEED(aclrtMemcpy(copies->device, bytes, copies->out, bytes,
                                     ACL_MEMCPY_HOST_TO_DEVICE))
                  : NEED(aclrtMemcpy(copies->back, bytes, copies->device, bytes,
                                     ACL_MEMCPY_DEVICE_TO_HOST));
}

/* GB/s of copies of whole blocks in one direction. */
static bool measure(const struct copies *copies, bool is_out, double seconds,
                    struct bench_series *rates)
{
    double start = bench_now(), now = start, copied = 0;
    while (now - start < seconds) {
        if (!copy(copies, is_out))
            return false;
        copied += (double)copies->bytes;
        now = bench_now();
    }
    bench_series_add(rates, copied / (now - start) / 1e9);
    return true;
}

static bool measure_rounds(const struct bench *bench, struct copies *copies, bool is_unix)
{
    double seconds = bench->options.seconds;
    bool good = copy(copies, true) && copy(copies, false); /* memory is touched before the first */
    for (unsigned round = 0; good && round < bench->options.rounds; round++) {
        for (unsigned i = 0; good && i < 2; i++) {
            struct socket_peer peer = {is_unix, i == 0, copies->bytes};
            struct bench_row *row = &copies->rows[i];
            good = measure(copies, i == 0, seconds, &row->values) &&
                   socket_peer_measure(&peer, seconds, &row->peer_values);
        }
    }
    if (good && memcmp(copies->out, copies->back, copies->bytes) != 0)
        good = bench_fail("other bytes came back");
    return good;
}

/* A session over this address. */
static bool measure_at(struct bench *bench, const char *url, const char *const names[2],
                       const char *peer)
{
    bool is_unix = strncmp(url, "unix:", 5) == 0;
    struct bench_row row = {
        .unit = "GB/s", .peer = peer, .goal = BENCH_AT_LEAST, .goal_ratio = 0.7};
    struct copies copies = {.bytes = bench->options.is_quick ? BLOCK_BYTES_QUICK : BLOCK_BYTES,
                            .rows = {row, row}};
    copies.out = malloc(copies.bytes);
    copies.back = malloc(copies.bytes);
    (void)setenv("SOMA_SERVER", url, 1);
    (void)setenv("SOMA_QUIET", "1", 1);
    bool good = copies.out != NULL && copies.back != NULL && NEED(aclInit(NULL)) &&
                NEED(aclrtSetDevice(0)) &&
                NEED(aclrtMalloc(&copies.device, copies.bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    for (size_t i = 0; good && i < copies.bytes; i++)
        copies.out[i] = (char)(i * 2654435761u >> 24);
    good = good && measure_rounds(bench, &copies, is_unix) && NEED(aclFinalize());
    free(copies.out);
    free(copies.back);
    for (unsigned i = 0; good && i < 2; i++) {
        copies.rows[i].name = names[i];
        bench_add(bench, &copies.rows[i]);
    }
    return good;
}

bool group_copies(struct bench *bench)
{
    static const char *const tcp_names[] = {"copies.h2d", "copies.d2h"};
    static const char *const unix_names[] = {"copies.h2d.unix", "copies.d2h.unix"};
    struct service service;
    if (!service_start(&service))
        return false;
    bool good = measure_at(bench, service.url, tcp_names, "the bytes through a loopback socket") &&
                measure_at(bench, service.unix_url, unix_names, "the bytes through a unix socket");
    service_stop(&service);
    return good;
}
