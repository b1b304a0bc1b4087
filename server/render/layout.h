/* A pipe's layout for people: as text for a terminal, as SVG for a browser. Pure functions of the
 * message; they know neither the engine nor HTTP. On want of memory, or past the writer's maximum,
 * the writer's `failed` is set. */
#ifndef SOMA_RENDER_LAYOUT_H
#define SOMA_RENDER_LAYOUT_H

#include "message.h"
#include "wire.h"

/* text/plain; charset=utf-8: a map of each memory in use, at most 80 columns wide, then a table of
 * its regions, its stages, the largest holders and the warnings. */
void layout_text(struct soma_writer *writer, const struct soma_layout *layout);

/* image/svg+xml: each memory in use as a column, drawn to its own scale; pools as boxes around what
 * they hold, sharing pools side by side. Light and dark, no references to anything outside. */
void layout_svg(struct soma_writer *writer, const struct soma_layout *layout);

#endif
