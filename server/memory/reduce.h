/* aclrtReduceAsync on host memory. */
#ifndef SOMA_MEMORY_REDUCE_H
#define SOMA_MEMORY_REDUCE_H

#include "engine.h"

/* to[i] = what->kind of to[i] and from[i], what->size_bytes of them, from the first on. Sums of
 * integers wrap; those of float16 and bfloat16 are rounded once; MAX and MIN of a number and a NaN
 * are the number. Neither side has to be aligned. */
void reduce_elements(const struct engine_reduce *what, unsigned char *to,
                     const unsigned char *from);

#endif
