/* Small whole programs, one for each area of ACL: what CANN's documents and samples show of it,
 * from aclInit to aclFinalize, with a server of their own. Each returns how many checks failed. */
#ifndef SOMA_TESTS_ACL_PROGRAM_H
#define SOMA_TESTS_ACL_PROGRAM_H

#include "acl/acl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int program_pools(void);
int program_copies(void);
int program_diagnostics(void);
int program_events(void);
int program_streams(void);
int program_contexts(void);
int program_callbacks(void);

/* A call gave this number: else a line on stderr, and the program has failed. Thread-safe. */
#define GAVE(number, call) program_gave((number), (call), #call, __FILE__, __LINE__)
bool program_gave(aclError want, aclError got, const char *call, const char *file, int line);

#define HOLDS(condition) program_holds((condition), #condition, __FILE__, __LINE__)
bool program_holds(bool holds, const char *condition, const char *file, int line);

/* Checks that failed since the last call. */
int program_failures(void);

/* aclInit and aclrtSetDevice(0); aclFinalize, and no text is left. */
void program_begin(void);
void program_end(void);

/* add_custom over `count` floats on device memory, in a stream: z = x + y. */
aclError program_add(const void *x, const void *y, void *z, uint32_t count, aclrtStream stream);

/* A kernel of examples/kernels/easy_ops.c on uint32 numbers of the device, one for each block:
 * EasyOP adds 1, ShortOP doubles, LongOP adds 1 and takes a second of the virtual clock. */
aclError program_op(const char *kernel, uint32_t blocks, void *x, aclrtStream stream);

aclrtMemPool program_pool(size_t max_bytes);

#ifdef __cplusplus
}
#endif

#endif
