/* On-chip memory planned from C: two stages of a kernel that use the same 64 KiB of the unified
 * buffer one after the other, and 64 KiB that stay for both.
 *
 *   UB       0     64 KiB     96 KiB     128 KiB
 *            [p0                              ]
 *            [q0      ][p1: q1    ][p1: d0    ]   stage 1
 *                      [p2: q2    ][p2: d1    ]   stage 2, the bytes of p1
 *
 * Plans it, checks every address, takes each stage's tensors through their queues, and shows the
 * error for a plan that would overwrite live data. Exit code 1 when something is not as it must be.
 *
 *   cc -I api examples/tbufpool_two_stages.c -o two_stages -L build/client -lascendcl \
 *      -Wl,-rpath,"$PWD/build/client" && ./two_stages
 *
 * Nothing has to be set up: the library starts a server of its own, or uses SOMA_SERVER. */
#include "acl/acl.h"
#include "soma/tpipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((uint64_t)1024)

/* Say which call failed, and why, and give up. */
#define CHECK(call) check((call), #call)

static void check(aclError error, const char *call)
{
    if (error == ACL_SUCCESS)
        return;
    const char *text = aclGetRecentErrMsg();
    fprintf(stderr, "%s gave %d: %s\n", call, error, text != NULL ? text : "no text");
    exit(1);
}

static void check_address(const char *what, uint64_t address, uint64_t want)
{
    printf("  %-3s at %6" PRIu64 "\n", what, address);
    if (address == want)
        return;
    fprintf(stderr, "%s lies at %" PRIu64 ", not at %" PRIu64 "\n", what, address, want);
    exit(1);
}

struct kernel {
    soma_tpipe pipe;
    soma_tbufpool p0, p1, p2;
    soma_tque q0, q1, q2, d0, d1;
};

static void declare(struct kernel *kernel)
{
    soma_tpipe pipe;
    CHECK(soma_tpipe_create(&pipe, "Ascend910B1", SOMA_TCHECKS_DOCUMENTED));
    kernel->pipe = pipe;
    CHECK(soma_tpipe_create_tbufpool(pipe, SOMA_TPOSITION_VECCALC, 16, "p0", &kernel->p0));
    CHECK(soma_tpipe_create_tbufpool(pipe, SOMA_TPOSITION_VECCALC, 4, "p1", &kernel->p1));
    CHECK(soma_tpipe_create_tbufpool(pipe, SOMA_TPOSITION_VECCALC, 4, "p2", &kernel->p2));
    CHECK(soma_tpipe_create_tque(pipe, SOMA_TPOSITION_VECIN, 1, "q0", &kernel->q0));
    CHECK(soma_tpipe_create_tque(pipe, SOMA_TPOSITION_VECIN, 1, "q1", &kernel->q1));
    CHECK(soma_tpipe_create_tque(pipe, SOMA_TPOSITION_VECIN, 1, "q2", &kernel->q2));
    CHECK(soma_tpipe_create_tque(pipe, SOMA_TPOSITION_VECOUT, 1, "d0", &kernel->d0));
    CHECK(soma_tpipe_create_tque(pipe, SOMA_TPOSITION_VECOUT, 1, "d1", &kernel->d1));
}

static void plan(const struct kernel *kernel)
{
    soma_tregion_given region;
    soma_tbuffers got;
    CHECK(soma_tpipe_init_buf_pool(kernel->pipe, kernel->p0, 128 * KIB, NULL, &region));
    check_address("p0", region.start_address, 0);
    CHECK(soma_tbufpool_init_tque(kernel->p0, kernel->q0, 1, 64 * KIB, &got));
    check_address("q0", got.addresses[0], 0);
    CHECK(soma_tbufpool_init_buf_pool(kernel->p0, kernel->p1, 64 * KIB, NULL, &region));
    check_address("p1", region.start_address, 64 * KIB);
    CHECK(soma_tbufpool_init_buf_pool(kernel->p0, kernel->p2, 64 * KIB, &kernel->p1, &region));
    check_address("p2", region.start_address, 64 * KIB);
    CHECK(soma_tbufpool_init_tque(kernel->p1, kernel->q1, 1, 32 * KIB, &got));
    check_address("q1", got.addresses[0], 64 * KIB);
    CHECK(soma_tbufpool_init_tque(kernel->p1, kernel->d0, 1, 32 * KIB, &got));
    check_address("d0", got.addresses[0], 96 * KIB);
    CHECK(soma_tbufpool_init_tque(kernel->p2, kernel->q2, 1, 32 * KIB, &got));
    check_address("q2", got.addresses[0], 64 * KIB);
    CHECK(soma_tbufpool_init_tque(kernel->p2, kernel->d1, 1, 32 * KIB, &got));
    check_address("d1", got.addresses[0], 96 * KIB);
}

/* One tensor through a queue. */
static void pass(soma_tque tque)
{
    soma_ttensor tensor;
    CHECK(soma_tque_alloc_tensor(tque, &tensor));
    CHECK(soma_tque_en_que(tque, tensor));
    CHECK(soma_tque_de_que(tque, &tensor));
    CHECK(soma_tque_free_tensor(tque, tensor));
}

/* A tensor of stage 1 is live: stage 2 would overwrite it. */
static void show_overlap(const struct kernel *kernel)
{
    soma_ttensor live, other;
    CHECK(soma_tque_alloc_tensor(kernel->q1, &live));
    aclError error = soma_tque_alloc_tensor(kernel->q2, &other);
    const char *text = aclGetRecentErrMsg();
    if (error == ACL_SUCCESS || text == NULL || strstr(text, "BUFFER_OVERLAP") == NULL) {
        fprintf(stderr, "stage 2 may use the bytes of a live tensor of stage 1\n");
        exit(1);
    }
    printf("refused, as it must be: %s\n", text);
    CHECK(soma_tque_free_tensor(kernel->q1, live));
}

int main(void)
{
    struct kernel kernel;
    soma_tpipe_usage usage;
    CHECK(aclInit(NULL));
    declare(&kernel);
    printf("the plan:\n");
    plan(&kernel);

    pass(kernel.q0);
    pass(kernel.q1); /* stage 1 */
    pass(kernel.d0);
    show_overlap(&kernel);
    CHECK(soma_tbufpool_reset(kernel.p1));
    pass(kernel.q2); /* stage 2 */
    pass(kernel.d1);
    CHECK(soma_tbufpool_reset(kernel.p2));
    CHECK(soma_tbufpool_reset(kernel.p0));

    CHECK(soma_tpipe_memory(kernel.pipe, SOMA_TMEMORY_UB, &usage));
    printf("UB: %" PRIu64 " of %" PRIu64 " bytes used\n", usage.used_bytes, usage.capacity_bytes);
    CHECK(soma_tpipe_destroy(kernel.pipe));
    CHECK(aclFinalize());
    if (usage.used_bytes != 128 * KIB)
        return 1;
    printf("every address is right\n");
    return 0;
}
