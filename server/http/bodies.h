/* Memory for large request bodies, in pages of their own, so that contents can be put to their
 * place by exchanging pages; kept for a moment for the next ones: fresh memory of the system costs
 * more, page by page, than what is done with it. Any thread. */
#ifndef SOMA_HTTP_BODIES_H
#define SOMA_HTTP_BODIES_H

#include <stdbool.h>
#include <stddef.h>

/* Bodies from and to these sizes are kept. */
#define BODIES_BYTES_MIN ((size_t)1 << 20)
#define BODIES_BYTES_MAX ((size_t)32 << 20)
#define BODIES_KEPT 4u /* at a time */

struct bodies;

/* One mapping of whole pages. Contents that are [pages, pages + page_bytes), or have more bytes
 * than that by less than a page, may be exchanged (pages.h); no other part of it is. */
struct body {
    char *map; /* NULL: there is none */
    size_t map_bytes;
    char *pages;
    size_t page_bytes;
};

struct bodies *bodies_create(void);         /* NULL: no memory */
void bodies_destroy(struct bodies *bodies); /* takes NULL */

/* Memory for a body of so many bytes, at least BODIES_BYTES_MIN.
 *   ends  its contents stand at its end, behind less than a page; false: they are all of it
 *   body  out: the caller's, who gives it back; not set when there is no memory
 * Where the body begins; NULL: no memory. */
char *bodies_take(struct bodies *bodies, size_t bytes, bool ends, struct body *body);

/* It is kept or goes back to the system, and *body is empty. Takes an empty one. */
void bodies_give(struct bodies *bodies, struct body *body);

/* Whether these bytes are contents of which pages may be exchanged. */
bool bodies_can_exchange(const struct body *body, const void *bytes, size_t len);

/* Free what nobody has taken since the last sweep. */
void bodies_sweep(struct bodies *bodies);

#endif
