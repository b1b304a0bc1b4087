/* What the tests of the pipelined client share: a server, perhaps a proxy before it, and a session
 * with a pool and a stream. */
#ifndef SOMA_TESTS_PIPELINE_TESTS_H
#define SOMA_TESTS_PIPELINE_TESTS_H

#include "acl/acl.h"
#include "expect.h"
#include "proxy.h"
#include "somad_process.h"

#include <CUnit/CUnit.h>
#include <stdint.h>

struct pipeline_test {
    const char *name;
    void (*run)(void);
};

extern const struct pipeline_test cut_tests[], lost_tests[], same_tests[], threads_tests[];
extern const char *somad_path;

struct scene {
    struct somad_process somad;
    struct proxy *proxy; /* NULL: none */
    aclrtMemPool pool;
    aclrtStream stream;
    uint64_t mallocs, frees; /* that the test has made */
};

/* Start it all. timeout_ms: SOMA_TIMEOUT_MS, or NULL. Ends the test when it does not work. */
void scene_begin(struct scene *scene, bool has_proxy, const char *timeout_ms);

/* aclFinalize, and stop the server, if it still runs. */
void scene_end(struct scene *scene);

/* The call gave this number; its text is in the failure. */
#define GIVES(number, call) gives((number), (call), #call, __FILE__, __LINE__)
bool gives(aclError want, aclError got, const char *call, const char *file, int line);

/* The text of the last error that GIVES saw holds `part`. */
bool text_has(const char *part);

/* Allocations and frees without an answer: counted in the scene. NULL: none. */
void *scene_malloc(struct scene *scene, size_t bytes);
void scene_free(struct scene *scene, void *ptr);

/* What the server itself says of the pool, asked over a connection of its own; that is a command of
 * somebody else in the session. */
void scene_look(const struct scene *scene, uint64_t *mallocs, uint64_t *frees);

int64_t clock_ms(void);
void pause_ms(long ms);

#endif
