/* How scenes about MallocAsync begin. */
#ifndef SOMA_TESTS_MALLOC_SCENES_H
#define SOMA_TESTS_MALLOC_SCENES_H

/* Pool 1 of 16 granules, streams 1 to 3. The next command is the fifth: it ends at 5 us. */
#define POOL                                                                                       \
    "pool.create maxSize=16g -> pool=1\n"                                                          \
    "stream.create -> stream=1\n"                                                                  \
    "stream.create -> stream=2\n"                                                                  \
    "stream.create -> stream=3\n"

#define EVENT_ON "pool.setAttribute pool=1 name=reuseFollowEventDependencies value=1\n"
#define OPPORTUNISTIC_ON "pool.setAttribute pool=1 name=reuseAllowOpportunistic value=1\n"
#define INTERNAL_ON "pool.setAttribute pool=1 name=reuseAllowInternalDependencies value=1\n"

/* Blocks of 3, 1, 2, 1 and 2 granules, busy ones of 1 between them and behind; all of stream 1. */
#define FIVE_BLOCKS                                                                                \
    "a: pool.malloc pool=1 size=3g stream=1 -> ptr=p1\n"                                           \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "b: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+4g\n"                                        \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "c: pool.malloc pool=1 size=2g stream=1 -> ptr=p1+6g\n"                                        \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "d: pool.malloc pool=1 size=1g stream=1 -> ptr=p1+9g\n"                                        \
    "pool.malloc pool=1 size=1g stream=1\n"                                                        \
    "e: pool.malloc pool=1 size=2g stream=1 -> ptr=p1+11g\n"                                       \
    "pool.malloc pool=1 size=1g stream=1\n"

#endif
