/* Memory for large request bodies, kept for a moment for the next ones: fresh memory of the system
 * costs more, page by page, than what is done with it. Any thread. */
#ifndef SOMA_HTTP_BODIES_H
#define SOMA_HTTP_BODIES_H

#include <stddef.h>

/* Bodies from and to these sizes are kept. */
#define BODIES_BYTES_MIN ((size_t)1 << 20)
#define BODIES_BYTES_MAX ((size_t)32 << 20)
#define BODIES_KEPT 4u /* at a time */

struct bodies;

struct bodies *bodies_create(void);         /* NULL: no memory */
void bodies_destroy(struct bodies *bodies); /* takes NULL */

/* Memory from malloc for a body of so many bytes.
 *   capacity  out: bytes that it holds, at least `bytes`; not set when there is no memory
 * NULL: no memory. The caller's, who gives it back, or frees it. */
void *bodies_take(struct bodies *bodies, size_t bytes, size_t *capacity);

/* Memory from malloc, which is kept or freed. Takes NULL. */
void bodies_give(struct bodies *bodies, void *ptr, size_t capacity);

/* Free what nobody has taken since the last sweep. */
void bodies_sweep(struct bodies *bodies);

#endif
