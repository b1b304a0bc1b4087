/* The layout as text: 80 columns, nothing but ASCII of our own (names may bring more).
 *
 * The map of a memory has one line for each depth of pools; a pool that shares stands, with what it
 * holds, below the one that was there first. A column stands for capacity / MAP_COLUMNS bytes. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, MAP_COLUMNS = 72, MAP_ROWS = 32, NAME_COLUMNS = 22 };

/* ---- the map ---- */

struct map {
    char cells[MAP_ROWS][MAP_COLUMNS]; /* ' ': nothing */
    unsigned rows;
    size_t not_shown; /* regions for which there was no row */
};

/* The columns of a region: at least one. */
struct stretch {
    unsigned begin, end;
};

static struct stretch stretch_of(const struct soma_layout_region *region, uint64_t capacity)
{
    unsigned begin = (unsigned)(region->address * MAP_COLUMNS / capacity);
    unsigned end = (unsigned)((region->address + region->len) * MAP_COLUMNS / capacity);
    if (begin >= MAP_COLUMNS)
        begin = MAP_COLUMNS - 1;
    return (struct stretch){begin, end > begin ? end : begin + 1};
}

static bool is_clear(const struct map *map, unsigned row, const struct stretch *stretch)
{
    for (unsigned at = stretch->begin; at < stretch->end; at++) {
        if (map->cells[row][at] != ' ')
            return false;
    }
    return true;
}

/* "[name===]" or what of it has room; `fill` says what it is. */
static void draw_stretch(struct map *map, unsigned row, const struct stretch *stretch,
                         const struct soma_layout_region *region)
{
    bool is_pool = region->kind == SOMA_REGION_KIND_POOL;
    char fill = is_pool ? '-' : region->tensor != SOMA_NONE ? '#' : '_';
    char *cells = map->cells[row];
    unsigned width = stretch->end - stretch->begin;
    memset(&cells[stretch->begin], fill, width);
    if (width == 1) {
        cells[stretch->begin] = '|';
        return;
    }
    cells[stretch->begin] = is_pool ? '<' : '[';
    cells[stretch->end - 1] = is_pool ? '>' : ']';
    size_t len = strlen(region->name);
    for (size_t i = 0; i < len; i++) { /* a map has one byte for each column */
        if (region->name[i] <= ' ' || region->name[i] > '~')
            return;
    }
    if (len + 2 <= width)
        memcpy(&cells[stretch->begin + 1], region->name, len);
}

/* Draw a region in the first row from `row` on that has room; returns that row. */
static unsigned draw_region(struct map *map, const struct soma_layout_region *region, unsigned row,
                            uint64_t capacity)
{
    struct stretch stretch = stretch_of(region, capacity);
    if (row < MAP_ROWS && stretch.end - stretch.begin == 1) {
        char *cell = &map->cells[row][stretch.begin];
        if (*cell == '|' || *cell == ':') { /* several buffers in one column */
            *cell = ':';
            return row;
        }
    }
    while (row < MAP_ROWS && !is_clear(map, row, &stretch)) {
        /* Give up a column to a small neighbour before giving up the row. */
        if (stretch.end - stretch.begin > 2 && map->cells[row][stretch.begin] != ' ')
            stretch.begin++;
        if (is_clear(map, row, &stretch))
            break;
        stretch = stretch_of(region, capacity);
        row++;
    }
    if (row == MAP_ROWS) {
        map->not_shown++;
        return row;
    }
    draw_stretch(map, row, &stretch, region);
    map->rows = row + 1 > map->rows ? row + 1 : map->rows;
    return row;
}

/* Rows of the regions around the one that is drawn, by level. */
static void fill_map(struct map *map, const struct soma_layout_memory *memory)
{
    unsigned rows[MAP_ROWS];
    memset(map->cells, ' ', sizeof(map->cells));
    map->rows = 1;
    map->not_shown = 0;
    for (size_t i = 0; i < memory->regions.count; i++) {
        const struct soma_layout_region *region = &memory->regions.items[i];
        if (region->level >= MAP_ROWS) {
            map->not_shown++;
            continue;
        }
        unsigned row = region->level == 0 ? 0 : rows[region->level - 1] + 1;
        rows[region->level] = draw_region(map, region, row, memory->capacity_bytes);
    }
    struct soma_layout_region tail = {.address = memory->capacity_bytes - memory->reserved_bytes,
                                      .len = memory->reserved_bytes};
    struct stretch reserved = stretch_of(&tail, memory->capacity_bytes);
    uint64_t begin = render_free_begin(memory);
    for (unsigned at = 0; at < MAP_COLUMNS; at++) {
        bool is_tail = memory->reserved_bytes > 0 && at >= reserved.begin;
        bool is_lost = (at + 1) * memory->capacity_bytes / MAP_COLUMNS <= begin;
        if (map->cells[0][at] == ' ')
            map->cells[0][at] = is_lost ? 'x' : is_tail ? '~' : '.';
    }
}

/* Addresses over the map at its quarters. */
static void put_scale(struct soma_writer *writer, uint64_t capacity)
{
    char line[MAP_COLUMNS + 40], text[32];
    memset(line, ' ', sizeof(line));
    size_t len = 0;
    for (unsigned quarter = 0; quarter <= 4; quarter++) {
        (void)soma_bytes_text(text, capacity / 4 * quarter);
        char *unit = strstr(text, " bytes");
        if (unit != NULL)
            *unit = '\0';
        size_t at = quarter * (MAP_COLUMNS / 4), width = strlen(text);
        if (quarter == 4)
            at = MAP_COLUMNS + 2 - width;
        memcpy(&line[at], text, width);
        len = at + width;
    }
    render_put(writer, "  %.*s\n", (int)len, line);
}

static void put_map(struct soma_writer *writer, const struct soma_layout_memory *memory)
{
    struct map map;
    fill_map(&map, memory);
    put_scale(writer, memory->capacity_bytes);
    for (unsigned row = 0; row < map.rows; row++)
        render_put(writer, "  |%.*s|\n", MAP_COLUMNS, map.cells[row]);
    if (map.not_shown > 0)
        render_put(writer, "  %zu more regions have no room in this map\n", map.not_shown);
}

/* ---- tables ---- */

static void put_padded(struct soma_writer *writer, const char *text, size_t columns)
{
    size_t width = render_width(text);
    render_cut(writer, text, columns);
    for (size_t i = width; i < columns; i++)
        soma_writer_text(writer, " ");
}

static void put_region(struct soma_writer *writer, const struct soma_layout_region *region,
                       size_t blocks)
{
    char name[SOMA_NAME_BYTES_MAX + 64], note[64] = "";
    bool is_pool = region->kind == SOMA_REGION_KIND_POOL;
    int indent = (int)(region->level > 6 ? 6 : region->level) * 2;
    int len =
        snprintf(name, sizeof(name), "%*s%s%s", indent, "", is_pool ? "pool " : "", region->name);
    if (blocks > 1)
        (void)snprintf(name + len, sizeof(name) - (size_t)len, "[%" PRIu64 "]", region->index);
    if (region->tensor != SOMA_NONE)
        (void)snprintf(note, sizeof(note), "%s %" PRIu64,
                       soma_word_of(SOMA_GROUP_region_state, region->state), region->tensor);
    else if (is_pool)
        (void)snprintf(note, sizeof(note), "%" PRIu64 " free", region->free_bytes);
    render_put(writer, "%8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %4" PRIu64 "  ", region->address,
               region->address + region->len, region->len, region->padding_bytes);
    put_padded(writer, name, NAME_COLUMNS);
    const char *position = soma_word_of(SOMA_GROUP_position, region->position);
    render_put(writer, note[0] == '\0' ? " %s%s\n" : " %-7s %s\n", position, note);
}

/* "  prefix a, b, c" broken before column 80; each name cut to fit a line. */
static void put_list(struct soma_writer *writer, const char *prefix, const struct soma_names *names)
{
    size_t at = render_width(prefix);
    soma_writer_text(writer, prefix);
    for (size_t i = 0; i < names->count; i++) {
        size_t width = render_width(names->items[i]);
        width = width > COLUMNS - 12 ? COLUMNS - 12 : width;
        if (at + width + 2 > COLUMNS && at > 9) {
            soma_writer_text(writer, "\n         ");
            at = 9;
        }
        soma_writer_text(writer, " ");
        render_cut(writer, names->items[i], COLUMNS - 12);
        soma_writer_text(writer, i + 1 < names->count ? "," : "");
        at += width + 2;
    }
    soma_writer_text(writer, "\n");
}

static void put_regions(struct soma_writer *writer, const struct soma_layout_memory *memory)
{
    const struct soma_layout_region *regions = memory->regions.items;
    size_t count = memory->regions.count;
    render_put(writer, "\n%8s %8s %8s %4s  %-*s %-7s %s\n", "from", "to", "bytes", "pad",
               NAME_COLUMNS, "what", "at", "state");
    for (size_t i = 0; i < count; i++) {
        bool is_block = regions[i].tque != SOMA_NONE;
        bool has_others = is_block && ((i > 0 && regions[i - 1].tque == regions[i].tque) ||
                                       (i + 1 < count && regions[i + 1].tque == regions[i].tque));
        put_region(writer, &regions[i], has_others ? 2 : 1);
        if (regions[i].kind == SOMA_REGION_KIND_POOL && regions[i].shared_with.count > 0)
            put_list(writer, "          shares its bytes with", &regions[i].shared_with);
    }
}

static void put_stages(struct soma_writer *writer, const struct soma_layout_memory *memory)
{
    if (memory->stages.count < 2)
        return;
    render_put(writer, "\n  %-*s %8s %9s %9s %9s\n", NAME_COLUMNS, "stage", "buffers", "bytes",
               "live", "bytes");
    for (size_t i = 0; i < memory->stages.count; i++) {
        const struct soma_layout_stage *stage = &memory->stages.items[i];
        soma_writer_text(writer, "  ");
        put_padded(writer, stage->name, NAME_COLUMNS);
        render_put(writer, " %8" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n", stage->buffers,
                   stage->buffer_bytes, stage->live_tensors, stage->live_bytes);
        if (stage->live.count > 0)
            put_list(writer, "          live:", &stage->live);
    }
}

/* ---- sentences ---- */

/* A text in lines of at most 80 columns, cut at spaces; later lines are indented. */
static void put_wrapped(struct soma_writer *writer, const char *prefix, const char *text)
{
    size_t at = render_width(prefix);
    soma_writer_text(writer, prefix);
    for (bool is_first = true; *text != '\0'; is_first = false) {
        char word[SOMA_MESSAGE_BYTES];
        size_t len = strcspn(text, " ");
        (void)snprintf(word, sizeof(word), "%.*s", (int)len, text);
        size_t width = render_width(word);
        if (!is_first && at + 1 + width > COLUMNS) {
            soma_writer_text(writer, "\n    ");
            at = 4;
        } else if (!is_first) {
            soma_writer_text(writer, " ");
            at++;
        }
        render_cut(writer, word, width);
        at += width;
        text += len;
        text += strspn(text, " ");
    }
    soma_writer_text(writer, "\n");
}

static void put_largest(struct soma_writer *writer, const struct soma_layout *layout)
{
    if (layout->largest.count == 0)
        return;
    render_put(writer, "\n%-*s %6s %8s %9s  %s\n", NAME_COLUMNS, "largest", "memory", "buffers",
               "bytes", "in");
    for (size_t i = 0; i < layout->largest.count; i++) {
        const struct soma_layout_holder *holder = &layout->largest.items[i];
        put_padded(writer, holder->name, NAME_COLUMNS);
        render_put(writer, " %6s %8" PRIu64 " %9" PRIu64 "  ",
                   soma_word_of(SOMA_GROUP_onchip_memory, holder->memory), holder->buffers,
                   holder->bytes);
        render_cut(writer, holder->owner, 20);
        soma_writer_text(writer, "\n");
    }
}

static void put_memory(struct soma_writer *writer, const struct soma_layout_memory *memory)
{
    uint64_t percent = memory->used_bytes * 100 / memory->capacity_bytes;
    render_put(writer,
               "\n%s  %" PRIu64 " of %" PRIu64 " bytes used (%" PRIu64 " %%), %" PRIu64
               " free\n    peak %" PRIu64 ", padding %" PRIu64 ", live %" PRIu64,
               soma_word_of(SOMA_GROUP_onchip_memory, memory->memory), memory->used_bytes,
               memory->capacity_bytes, percent, memory->free_bytes, memory->peak_bytes,
               memory->padding_bytes, memory->live_bytes);
    if (memory->reserved_bytes > 0)
        render_put(writer, "; the last %" PRIu64 " are reserved (~)", memory->reserved_bytes);
    soma_writer_text(writer, "\n\n");
    put_map(writer, memory);
    if (memory->regions.count > 0)
        put_regions(writer, memory);
    put_stages(writer, memory);
}

static void put_unused(struct soma_writer *writer, const struct soma_layout *layout)
{
    char text[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < layout->memories.count; i++) {
        const struct soma_layout_memory *memory = &layout->memories.items[i];
        if (!render_is_used(memory))
            len += (size_t)snprintf(
                text + len, sizeof(text) - len, "%s%s %" PRIu64, len == 0 ? "" : ", ",
                soma_word_of(SOMA_GROUP_onchip_memory, memory->memory), memory->capacity_bytes);
    }
    if (len > 0)
        put_wrapped(writer, "\nnot used: ", text);
}

void layout_text(struct soma_writer *writer, const struct soma_layout *layout)
{
    render_put(writer, "pipe %" PRIu64 " on %s, %" PRIu64 " of %u buffers, checks %s\n",
               layout->pipe, layout->soc, layout->buffers, SOMA_PIPE_BUFFERS_MAX,
               soma_word_of(SOMA_GROUP_checks, layout->checks));
    for (size_t i = 0; i < layout->memories.count; i++) {
        if (render_is_used(&layout->memories.items[i]))
            put_memory(writer, &layout->memories.items[i]);
    }
    put_unused(writer, layout);
    put_largest(writer, layout);
    soma_writer_text(
        writer, "\nmaps: [buffer] [live##] <pool--> | small : several . free ~ reserved x lost\n");
    for (size_t i = 0; i < layout->warnings.count; i++)
        put_wrapped(writer, i == 0 ? "\nwarning: " : "warning: ", layout->warnings.items[i]);
}
