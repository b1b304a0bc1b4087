/* Where the regions of one memory are drawn. Heights follow from addresses; this file finds who
 * stands inside whom, who must stand side by side, and how wide each may be. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGIONS_DRAWN_MAX = 1024, LANES_MAX = 64 };

/* ---- boxes ---- */

static bool is_pool(const struct box *box)
{
    return box->regions[0].kind == SOMA_REGION_KIND_POOL;
}

/* How many regions from this one on are one box: buffers of a TQue without a gap. */
static size_t run_length(const struct soma_layout_region *region, size_t left)
{
    size_t count = 1;
    while (count < left && region->tque != SOMA_NONE && region[count].tque == region->tque &&
           region[count].level == region->level &&
           region[count].address == region[count - 1].address + region[count - 1].len)
        count++;
    return count;
}

/* The box around one of this level that comes after the box `previous`. */
static size_t parent_of(const struct boxes *boxes, size_t previous, uint64_t level)
{
    size_t parent = previous;
    while (parent != BOX_NONE && boxes->items[parent].regions[0].level >= level)
        parent = boxes->items[parent].parent;
    return parent;
}

static void split(struct boxes *boxes, const struct soma_layout_memory *memory)
{
    size_t most =
        memory->regions.count < REGIONS_DRAWN_MAX ? memory->regions.count : REGIONS_DRAWN_MAX;
    for (size_t at = 0; at < most;) {
        const struct soma_layout_region *region = &memory->regions.items[at];
        size_t count = run_length(region, most - at), index = boxes->count;
        const struct soma_layout_region *last = &region[count - 1];
        boxes->items[boxes->count++] = (struct box){
            .regions = region,
            .count = count,
            .parent = parent_of(boxes, index == 0 ? BOX_NONE : index - 1, region->level),
            .begin = region->address,
            .end = last->address + last->len,
        };
        at += count;
    }
    boxes->left_out = memory->regions.count - most;
}

/* ---- side by side ---- */

/* Boxes of one parent whose bytes overlap, one after the other: they divide its width. */
struct cluster {
    uint64_t ends[LANES_MAX]; /* of the last box in each lane */
    unsigned lanes;
    uint64_t end;
    size_t first; /* box */
};

static size_t next_child(const struct boxes *boxes, size_t parent, size_t at)
{
    while (at < boxes->count && boxes->items[at].parent != parent)
        at++;
    return at;
}

static void close_cluster(struct boxes *boxes, const struct cluster *cluster, size_t parent,
                          size_t end)
{
    for (size_t at = next_child(boxes, parent, cluster->first); at < end;
         at = next_child(boxes, parent, at + 1))
        boxes->items[at].lanes = cluster->lanes;
}

/* Lanes for the children of one box (BOX_NONE: of the memory). They come in address order. */
static void find_lanes(struct boxes *boxes, size_t parent)
{
    struct cluster cluster = {.lanes = 0};
    size_t first = parent == BOX_NONE ? 0 : parent + 1;
    size_t at = next_child(boxes, parent, first);
    cluster.first = at;
    for (; at < boxes->count; at = next_child(boxes, parent, at + 1)) {
        struct box *box = &boxes->items[at];
        if (box->begin >= cluster.end) {
            close_cluster(boxes, &cluster, parent, at);
            cluster = (struct cluster){.first = at};
        }
        unsigned lane = 0;
        while (lane < cluster.lanes && cluster.ends[lane] > box->begin && lane + 1 < LANES_MAX)
            lane++;
        if (lane == cluster.lanes)
            cluster.lanes++;
        cluster.ends[lane] = box->end;
        cluster.end = box->end > cluster.end ? box->end : cluster.end;
        box->lane = lane;
    }
    close_cluster(boxes, &cluster, parent, boxes->count);
}

/* ---- widths ---- */

void box_label(const struct box *box, char *buf, size_t size)
{
    if (box->count > 1)
        (void)snprintf(buf, size, "%s \xc3\x97 %zu", box->regions[0].name, box->count);
    else if (box->regions[0].index != SOMA_NONE && box->regions[0].index > 0)
        (void)snprintf(buf, size, "%s[%" PRIu64 "]", box->regions[0].name, box->regions[0].index);
    else
        (void)snprintf(buf, size, "%s", box->regions[0].name);
}

/* What a buffer needs to have its name inside; one that is too low needs little. */
static double leaf_wanted(const struct box *box, const struct box_metrics *metrics)
{
    char label[SOMA_NAME_BYTES_MAX + 32];
    double height = (double)(box->end - box->begin) * metrics->pixels_per_byte;
    box_label(box, label, sizeof(label));
    double width = (double)render_width(label) * metrics->character + metrics->character * 2;
    if (height < metrics->line || width > metrics->leaf_width * 4)
        return metrics->leaf_width;
    return width > metrics->leaf_width ? width : metrics->leaf_width;
}

/* Children come after their parents, so backwards each box knows what its children want. */
static void find_wanted(struct boxes *boxes, const struct box_metrics *metrics)
{
    for (size_t i = boxes->count; i-- > 0;) {
        struct box *box = &boxes->items[i];
        if (!is_pool(box) || box->wanted < metrics->leaf_width)
            box->wanted = is_pool(box) ? metrics->leaf_width : leaf_wanted(box, metrics);
        if (is_pool(box))
            box->wanted += metrics->strip + metrics->inset;
        double *around =
            box->parent == BOX_NONE ? &boxes->wanted : &boxes->items[box->parent].wanted;
        double needed = box->wanted * box->lanes;
        *around = needed > *around ? needed : *around;
    }
}

bool boxes_init(struct boxes *boxes, const struct soma_layout_memory *memory,
                const struct box_metrics *metrics)
{
    *boxes = (struct boxes){0};
    if (memory->regions.count == 0)
        return true;
    boxes->items = calloc(memory->regions.count, sizeof(*boxes->items));
    if (boxes->items == NULL)
        return false;
    split(boxes, memory);
    find_lanes(boxes, BOX_NONE);
    for (size_t i = 0; i < boxes->count; i++) {
        if (is_pool(&boxes->items[i]))
            find_lanes(boxes, i);
    }
    find_wanted(boxes, metrics);
    return true;
}

void boxes_place(struct boxes *boxes, const struct box_metrics *metrics, double x, double width)
{
    for (size_t i = 0; i < boxes->count; i++) {
        struct box *box = &boxes->items[i];
        const struct box *parent = box->parent == BOX_NONE ? NULL : &boxes->items[box->parent];
        double left = parent == NULL ? x : parent->x + metrics->strip;
        double room = parent == NULL ? width : parent->width - metrics->strip - metrics->inset;
        if (room < 1)
            room = 1;
        box->width = room / box->lanes;
        box->x = left + box->width * box->lane;
    }
}

void boxes_release(struct boxes *boxes)
{
    free(boxes->items);
    *boxes = (struct boxes){0};
}
