/* What the renderers share. */
#ifndef SOMA_RENDER_INTERNAL_H
#define SOMA_RENDER_INTERNAL_H

#include "layout.h"

/* Write as printf does; at most 1023 bytes. */
void render_put(struct soma_writer *writer, const char *format, ...) SOMA_PRINTF(2, 3);

/* One character of text: its length in bytes, 1 and *is_good false where there is no valid UTF-8
 * character that text may have (control characters are none). At the end of the text: 0. */
size_t render_character(const char *text, bool *is_good);

/* Characters of a text, as columns of a terminal. */
size_t render_width(const char *text);

/* At most `columns` characters; a longer text ends with "..". What text may not have becomes '?'.
 */
void render_cut(struct soma_writer *writer, const char *text, size_t columns);

/* Whether this memory has anything to show. */
bool render_is_used(const struct soma_layout_memory *memory);

/* The first free byte: below lies what was given out, at the other end only TSCM. What was given
 * out and is in no region was lost by a reset (checks=device). */
uint64_t render_free_begin(const struct soma_layout_memory *memory);

/* ---- layout_boxes.c: where the regions of one memory are drawn ---- */

/* A pool, or the buffers of one TQue or TBuf that follow one another. */
struct box {
    const struct soma_layout_region *regions; /* `count` of them */
    size_t count;
    size_t parent; /* BOX_NONE: none */
    uint64_t begin, end;
    unsigned lane, lanes; /* boxes of one parent with common bytes stand side by side */
    double x, width;      /* pixels; x of the left edge */
    double wanted;        /* least good width */
};

#define BOX_NONE SIZE_MAX

struct boxes {
    struct box *items; /* each parent before its children; NULL: none */
    size_t count;
    size_t left_out; /* regions that are not drawn, for there are too many */
    double wanted;   /* width of the whole memory */
};

/* What a box may take to say what it is. */
struct box_metrics {
    double strip;      /* width of a pool's name, which stands upright at its left edge */
    double inset;      /* between what a pool holds and its right edge */
    double leaf_width; /* of a buffer whose name does not fit */
    double character;  /* width of one */
    double line;       /* height of a line of text */
    double pixels_per_byte;
};

/* false: no memory. Give back with boxes_release. */
bool boxes_init(struct boxes *boxes, const struct soma_layout_memory *memory,
                const struct box_metrics *metrics);
/* Give every box its x and width inside [x, x + width). */
void boxes_place(struct boxes *boxes, const struct box_metrics *metrics, double x, double width);
void boxes_release(struct boxes *boxes);

/* "q1", "q1 x 2": the name of a box. */
void box_label(const struct box *box, char *buf, size_t size);

#endif
