/* The engine under test with everything around it: its memory, which can be made to fail, and the
 * bytes behind its addresses, which check that the engine keeps its side of engine_bytes. */
#ifndef SIM_SUBJECT_H
#define SIM_SUBJECT_H

#include "bytes.h"
#include "engine.h"
#include "model.h"

struct subject_range {
    uint64_t base, bytes;
};

struct subject {
    struct engine *engine;
    struct engine *predictor; /* the same session without contents */
    struct sim_bytes *bytes;
    struct engine_costs costs;
    struct subject_range *ranges; /* reserved, in no order */
    uint32_t range_count, range_capacity;
    uint64_t blocks_held; /* allocations of the engine that are not released */
    uint32_t fail_alloc;  /* the n-th allocation from now fails; 0: none does */
    bool fail_bytes;      /* the next call that may fail, fails */
    bool has_failed;      /* one of the two happened */
    char complaint[160];  /* how the engine broke the contract of its tables; "" : it did not */
};

void subject_init(struct subject *subject, const struct model_config *config);

/* Ends the session. subject->complaint tells of ranges or memory left behind. */
void subject_release(struct subject *subject);

#endif
