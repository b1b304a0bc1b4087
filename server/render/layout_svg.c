/* The layout as SVG. A memory is a column whose height stands for its capacity; boxes_place says
 * how wide the boxes in it are. All style is in one sheet, for light and dark. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. */
#define MARGIN 24.0
#define HEAD 46.0       /* title */
#define PANEL_HEAD 46.0 /* name and sums of a memory */
#define AXIS 62.0       /* addresses, left of the column */
#define HEIGHT 560.0    /* of a column */
#define WIDTH_MIN 200.0 /* of a column */
#define WIDTH_MAX 900.0
#define GAP 30.0    /* between panels */
#define LEADER 16.0 /* from a column to the names that stand beside it */
#define LINE 14.0
#define CALLOUT 13.0     /* from one name beside a column to the next */
#define CHARACTER 6.3    /* width, on average */
#define PADDING_SEEN 1.5 /* least height of what padding takes */

static const struct box_metrics metrics_of_columns = {
    .strip = 17, .inset = 4, .leaf_width = 76, .character = CHARACTER, .line = LINE};

static const char style_sheet[] =
    "<style>"
    "text{font:11px ui-sans-serif,system-ui,\"Segoe UI\",Roboto,Helvetica,Arial,sans-serif;"
    "fill:#1b2330}"
    ".title{font-size:17px;font-weight:600}.name{font-size:14px;font-weight:600}"
    ".soft{fill:#5a6577}.end{text-anchor:end}.mid{text-anchor:middle}.bold{font-weight:600}"
    ".page{fill:#ffffff}.free{fill:#eef1f6}.hatch{stroke:#cfd6e2;stroke-width:1.2}"
    ".pool{fill:#dfe5f0;fill-opacity:.72;stroke:#55627a;stroke-width:1.2}"
    ".shared{stroke:#b3261e;stroke-dasharray:5 3;stroke-width:1.6}"
    ".spare{fill:#f7f9fc;fill-opacity:.75}.sparehatch{stroke:#b9c3d4;stroke-width:1}"
    ".buffer{stroke:#2a3242;stroke-width:.8}.low{stroke-width:.25}"
    ".edge{stroke:#8a94a6;stroke-width:.8}.lost{fill:#c3c9d4}"
    ".halo{stroke:#ffffff;stroke-width:2.5;stroke-opacity:.6;paint-order:stroke}"
    ".VECIN{fill:#a9cdfb}.VECOUT{fill:#a8e0b5}.VECCALC{fill:#f6d890}"
    ".A1,.A2{fill:#d3bff7}.B1,.B2{fill:#a7e0e0}.C1,.C2{fill:#f5bfd5}"
    ".CO1,.CO2{fill:#f3c3a5}.TSCM{fill:#d6cfbd}"
    ".padding{fill:#1b2330;fill-opacity:.55}"
    ".ALLOCATED{fill:#c2410c}.QUEUED{fill:#7c3aed}.DEQUEUED{fill:#0f766e}"
    ".axis{stroke:#8a94a6;stroke-width:1}.capacity{stroke:#1b2330;stroke-width:2.4}"
    ".peak{stroke:#b45309;stroke-width:1.6;stroke-dasharray:6 4}"
    ".tail{fill:#b3261e;fill-opacity:.13}.tailhatch{stroke:#b3261e;stroke-opacity:.55;"
    "stroke-width:1}.leader{stroke:#8a94a6;stroke-width:.6;fill:none}.warn{fill:#b3261e}"
    "@media (prefers-color-scheme:dark){"
    "text{fill:#e6eaf1}.soft{fill:#9aa5b8}.page{fill:#12161d}.free{fill:#1b212b}"
    ".hatch{stroke:#323b4a}.pool{fill:#2b3444;stroke:#8b99b3}.shared{stroke:#ff8a80}"
    ".spare{fill:#222a36}.sparehatch{stroke:#465268}.buffer{stroke:#0b0e13}"
    ".edge{stroke:#6b7688}.lost{fill:#3d4656}.halo{stroke:#12161d}.VECIN{fill:#2f5f9e}.VECOUT{fill:"
    "#2c7044}.VECCALC{fill:#80610f}"
    ".A1,.A2{fill:#5b429c}.B1,.B2{fill:#1f6d6d}.C1,.C2{fill:#8a3a5e}.CO1,.CO2{fill:#85491f}"
    ".TSCM{fill:#5c5541}.padding{fill:#ffffff;fill-opacity:.5}"
    ".ALLOCATED{fill:#fb923c}.QUEUED{fill:#c4a6ff}.DEQUEUED{fill:#5eead4}"
    ".axis{stroke:#6b7688}.capacity{stroke:#e6eaf1}.peak{stroke:#fbbf24}"
    ".tail{fill:#ff8a80;fill-opacity:.15}.tailhatch{stroke:#ff8a80;stroke-opacity:.5}"
    ".leader{stroke:#6b7688}.warn{fill:#ff8a80}}"
    "</style>";

static const char patterns[] =
    "<defs>"
    "<pattern id=\"free\" width=\"9\" height=\"9\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"free\" width=\"9\" height=\"9\"/>"
    "<line class=\"hatch\" y2=\"9\"/></pattern>"
    "<pattern id=\"spare\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(-45)\"><rect class=\"spare\" width=\"6\" height=\"6\"/>"
    "<line class=\"sparehatch\" y2=\"6\"/></pattern>"
    "<pattern id=\"tail\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
    "<rect class=\"tail\" width=\"5\" height=\"5\"/><path class=\"tailhatch\" "
    "d=\"M0 0L5 5M5 0L0 5\"/></pattern>"
    "</defs>";

/* ---- one memory ---- */

/* A memory on its way onto the page. */
struct panel {
    const struct soma_layout_memory *memory;
    struct boxes boxes;
    double x, y;          /* of the column's upper left corner */
    double width, height; /* of the column */
    double scale;         /* pixels a byte */
    double names;         /* width of what stands beside the column */
    size_t callouts;
};

static double y_of(const struct panel *panel, uint64_t address)
{
    return panel->y + (double)address * panel->scale;
}

static void put_escaped(struct soma_writer *writer, const char *text)
{
    size_t len;
    bool is_good;
    for (; (len = render_character(text, &is_good)) > 0; text += len) {
        if (!is_good)
            soma_writer_text(writer, "\xef\xbf\xbd");
        else if (*text == '&')
            soma_writer_text(writer, "&amp;");
        else if (*text == '<')
            soma_writer_text(writer, "&lt;");
        else if (*text == '>')
            soma_writer_text(writer, "&gt;");
        else if (*text == '"')
            soma_writer_text(writer, "&quot;");
        else
            soma_writer_raw(writer, text, len);
    }
}

static void put_text(struct soma_writer *writer, double x, double y, const char *class,
                     const char *text)
{
    render_put(writer, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    put_escaped(writer, text);
    soma_writer_text(writer, "</text>");
}

/* "128 KiB", "1000 B". */
static const char *short_bytes(char *buf, uint64_t bytes)
{
    (void)soma_bytes_text(buf, bytes);
    char *unit = strstr(buf, " bytes");
    if (unit != NULL)
        memcpy(unit, " B", 3);
    return buf;
}

static bool is_pool(const struct box *box)
{
    return box->regions[0].kind == SOMA_REGION_KIND_POOL;
}

static double height_of(const struct panel *panel, const struct box *box)
{
    return (double)(box->end - box->begin) * panel->scale;
}

/* Pixels that a text takes. */
static double length_of(const char *text)
{
    return (double)render_width(text) * CHARACTER + 8;
}

/* Whether each buffer of the box has room for a name of its own. */
static bool has_labels_of_buffers(const struct panel *panel, const struct box *box)
{
    char label[SOMA_NAME_BYTES_MAX + 32];
    (void)snprintf(label, sizeof(label), "%s[%zu]", box->regions[0].name, box->count - 1);
    return box->count > 1 && box->width >= length_of(label) &&
           (double)box->regions[0].len * panel->scale >= LINE - 1;
}

/* Whether the box's name can be read inside it; upright in the strip of a pool. */
static bool has_label_inside(const struct panel *panel, const struct box *box)
{
    char label[SOMA_NAME_BYTES_MAX + 32];
    box_label(box, label, sizeof(label));
    double height = height_of(panel, box);
    return is_pool(box) ? height >= length_of(label)
                        : height >= LINE - 1 && box->width >= length_of(label);
}

/* ---- boxes ---- */

static void put_tooltip(struct soma_writer *writer, const struct soma_layout_region *region)
{
    soma_writer_text(writer, "<title>");
    put_escaped(writer, region->name);
    if (region->index != SOMA_NONE)
        render_put(writer, "[%" PRIu64 "]", region->index);
    render_put(writer, ", %s at %s: %" PRIu64 " bytes, %" PRIu64 "..%" PRIu64,
               region->kind == SOMA_REGION_KIND_POOL ? "pool" : "buffer",
               soma_word_of(SOMA_GROUP_position, region->position), region->len, region->address,
               region->address + region->len);
    if (region->padding_bytes > 0)
        render_put(writer, ", %" PRIu64 " of them padding", region->padding_bytes);
    if (region->free_bytes != SOMA_NONE)
        render_put(writer, ", %" PRIu64 " free", region->free_bytes);
    if (region->tensor != SOMA_NONE)
        render_put(writer, ", tensor %" PRIu64 " %s", region->tensor,
                   soma_word_of(SOMA_GROUP_region_state, region->state));
    for (size_t i = 0; i < region->shared_with.count; i++) {
        soma_writer_text(writer, i == 0 ? ", shares bytes with " : ", ");
        put_escaped(writer, region->shared_with.items[i]);
    }
    soma_writer_text(writer, "</title>");
}

static void put_pool(struct soma_writer *writer, const struct panel *panel, const struct box *box)
{
    const struct soma_layout_region *region = &box->regions[0];
    double y = y_of(panel, box->begin), height = height_of(panel, box);
    double strip = metrics_of_columns.strip;
    bool shares = region->shared_with.count > 0;
    render_put(writer,
               "<g><rect class=\"pool%s\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\"/>",
               shares ? " shared" : "", box->x + (shares ? 1 : 0), y, box->width - (shares ? 2 : 0),
               height);
    double spare = region->free_bytes == SOMA_NONE ? 0 : (double)region->free_bytes * panel->scale;
    if (spare > 1 && box->width > strip + metrics_of_columns.inset)
        render_put(writer,
                   "<rect fill=\"url(#spare)\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
                   "height=\"%.2f\"/>",
                   box->x + strip, y + height - spare,
                   box->width - strip - metrics_of_columns.inset, spare - 1);
    put_tooltip(writer, region);
    soma_writer_text(writer, "</g>");
    if (!has_label_inside(panel, box))
        return;
    char label[SOMA_NAME_BYTES_MAX * 2 + 64];
    const struct soma_names *others = &region->shared_with;
    (void)snprintf(label, sizeof(label), "%s shares with %.64s%s", region->name,
                   others->count > 0 ? others->items[0] : "",
                   others->count > 1 ? " \xe2\x80\xa6" : "");
    bool has_others = shares && height >= length_of(label);
    render_put(writer, "<text class=\"mid bold\" transform=\"translate(%.1f %.1f) rotate(-90)\">",
               box->x + strip - 4, y + height / 2);
    put_escaped(writer, has_others ? label : region->name);
    soma_writer_text(writer, "</text>");
}

/* One buffer of a box, with what it wastes and whether it is in use. */
static void put_buffer(struct soma_writer *writer, const struct panel *panel, const struct box *box,
                       const struct soma_layout_region *region)
{
    double y = y_of(panel, region->address), height = (double)region->len * panel->scale;
    double padding = (double)region->padding_bytes * panel->scale;
    render_put(writer,
               "<g><rect class=\"buffer %s%s\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
               "height=\"%.2f\"/>",
               soma_word_of(SOMA_GROUP_position, region->position), height < 4 ? " low" : "",
               box->x + 1, y, box->width - 2, height);
    if (region->padding_bytes > 0) {
        padding = padding < PADDING_SEEN ? PADDING_SEEN : padding;
        padding = padding > height / 2 ? height / 2 : padding;
        render_put(writer,
                   "<rect class=\"padding\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
                   "height=\"%.2f\"/>",
                   box->x + 1, y + height - padding, box->width - 2, padding);
    }
    if (region->tensor != SOMA_NONE)
        render_put(writer, "<rect class=\"%s\" x=\"%.1f\" y=\"%.2f\" width=\"6\" height=\"%.2f\"/>",
                   soma_word_of(SOMA_GROUP_region_state, region->state), box->x + box->width - 7.5,
                   y + 0.6, height > 1.2 ? height - 1.2 : height);
    put_tooltip(writer, region);
    soma_writer_text(writer, "</g>");
}

/* A name, and below it a size when there is room, in the middle of [y, y + height). */
static void put_label(struct soma_writer *writer, const struct box *box, double y, double height,
                      const char *const lines[2])
{
    double x = box->x + box->width / 2 - 1;
    bool has_two = height >= 2 * LINE + 2 && box->width >= length_of(lines[1]);
    put_text(writer, x, y + height / 2 + (has_two ? -2 : 4), "mid bold halo", lines[0]);
    if (has_two)
        put_text(writer, x, y + height / 2 + 12, "mid halo", lines[1]);
}

static void put_leaf(struct soma_writer *writer, const struct panel *panel, const struct box *box)
{
    char label[SOMA_NAME_BYTES_MAX + 32], bytes[64], each[32];
    for (size_t i = 0; i < box->count; i++)
        put_buffer(writer, panel, box, &box->regions[i]);
    (void)short_bytes(each, box->regions[0].len);
    if (has_labels_of_buffers(panel, box)) {
        double height = (double)box->regions[0].len * panel->scale;
        for (size_t i = 0; i < box->count; i++) {
            (void)snprintf(label, sizeof(label), "%s[%zu]", box->regions[i].name, i);
            put_label(writer, box, y_of(panel, box->regions[i].address), height,
                      (const char *const[2]){label, each});
        }
    } else if (has_label_inside(panel, box)) {
        box_label(box, label, sizeof(label));
        (void)snprintf(bytes, sizeof(bytes), "%zu \xc3\x97 %s", box->count, each);
        put_label(writer, box, y_of(panel, box->begin), height_of(panel, box),
                  (const char *const[2]){label, box->count > 1 ? bytes : each});
    }
}

/* ---- names beside the column ---- */

struct callout {
    const struct box *box;
    double y; /* of the name's middle */
};

static int by_height(const void *a, const void *b)
{
    const struct callout *left = a, *right = b;
    if (left->y < right->y || left->y > right->y)
        return left->y < right->y ? -1 : 1;
    return left->box < right->box ? -1 : left->box > right->box;
}

/* Push names apart, downwards and then, from the lower end, upwards again. */
static void spread(struct callout *callouts, size_t count, double bottom)
{
    qsort(callouts, count, sizeof(*callouts), by_height);
    for (size_t i = 1; i < count; i++) {
        if (callouts[i].y < callouts[i - 1].y + CALLOUT)
            callouts[i].y = callouts[i - 1].y + CALLOUT;
    }
    for (size_t i = count; i-- > 0;) {
        double most = i + 1 == count ? bottom : callouts[i + 1].y - CALLOUT;
        if (callouts[i].y > most)
            callouts[i].y = most;
    }
}

/* "pool p1  64 KiB". */
static void callout_text(const struct box *box, char *buf, size_t size)
{
    char name[SOMA_NAME_BYTES_MAX + 32], bytes[32];
    box_label(box, name, sizeof(name));
    (void)snprintf(buf, size, "%s%s  %s", is_pool(box) ? "pool " : "", name,
                   short_bytes(bytes, box->regions[0].len));
}

static void put_callout(struct soma_writer *writer, const struct panel *panel,
                        const struct callout *callout)
{
    const struct box *box = callout->box;
    char label[SOMA_NAME_BYTES_MAX + 96];
    double right = panel->x + panel->width;
    double from_x = is_pool(box) ? box->x + 8 : box->x + box->width - 1;
    double from_y = y_of(panel, box->begin) + height_of(panel, box) / 2;
    callout_text(box, label, sizeof(label));
    render_put(writer, "<path class=\"leader\" d=\"M%.1f %.2fH%.1fL%.1f %.1f\"/>", from_x, from_y,
               right + 2, right + LEADER - 3, callout->y);
    put_text(writer, right + LEADER, callout->y + 4, is_pool(box) ? "bold" : "", label);
}

static void put_callouts(struct soma_writer *writer, const struct panel *panel)
{
    size_t count = 0;
    if (panel->callouts == 0)
        return;
    struct callout *callouts = calloc(panel->callouts, sizeof(*callouts));
    if (callouts == NULL) {
        writer->failed = true;
        return;
    }
    for (size_t i = 0; i < panel->boxes.count && count < panel->callouts; i++) {
        const struct box *box = &panel->boxes.items[i];
        if (!has_label_inside(panel, box))
            callouts[count++] =
                (struct callout){box, y_of(panel, box->begin) + height_of(panel, box) / 2};
    }
    spread(callouts, count, panel->y + panel->height + CALLOUT);
    for (size_t i = 0; i < count; i++)
        put_callout(writer, panel, &callouts[i]);
    free(callouts);
}

/* ---- a column ---- */

/* Addresses at a power of two that gives 4 to 8 of them, and the capacity. */
static void put_axis(struct soma_writer *writer, const struct panel *panel)
{
    uint64_t capacity = panel->memory->capacity_bytes, step = 32;
    char text[48], bytes[32];
    while (step * 8 < capacity)
        step *= 2;
    for (uint64_t address = 0; address + step / 2 < capacity; address += step) {
        double y = y_of(panel, address);
        render_put(writer, "<path class=\"axis\" d=\"M%.1f %.2fh-5\"/>", panel->x - 1, y);
        put_text(writer, panel->x - 9, y + 4, "end soft",
                 address == 0 ? "0" : short_bytes(bytes, address));
    }
    double end = y_of(panel, capacity);
    render_put(writer, "<path class=\"capacity\" d=\"M%.1f %.2fH%.1f\"/>", panel->x - 7, end,
               panel->x + panel->width + 4);
    (void)snprintf(text, sizeof(text), "%s", short_bytes(bytes, capacity));
    put_text(writer, panel->x - 9, end + 4, "end bold", text);
    put_text(writer, panel->x, end + 15, "soft", "capacity");
}

/* What stands above a column, cut to its panel. */
static void put_sums(struct soma_writer *writer, const struct panel *panel)
{
    const struct soma_layout_memory *memory = panel->memory;
    char text[256], a[32], b[32], c[32];
    put_text(writer, panel->x, panel->y - 28, "name",
             soma_word_of(SOMA_GROUP_onchip_memory, memory->memory));
    (void)snprintf(text, sizeof(text), "%s used, %s free", short_bytes(a, memory->used_bytes),
                   short_bytes(b, memory->free_bytes));
    put_text(writer, panel->x + 34, panel->y - 28, "", text);
    (void)snprintf(text, sizeof(text), "peak %s, padding %s, live %s",
                   short_bytes(a, memory->peak_bytes), short_bytes(b, memory->padding_bytes),
                   short_bytes(c, memory->live_bytes));
    put_text(writer, panel->x, panel->y - 12, "soft", text);
}

/* Free space. What was given out and is in no region (checks=device) shows as lost. */
static void put_ground(struct soma_writer *writer, const struct panel *panel)
{
    const struct soma_layout_memory *memory = panel->memory;
    uint64_t begin = render_free_begin(memory);
    char text[64], bytes[32];
    double y = y_of(panel, begin), height = (double)memory->free_bytes * panel->scale;
    render_put(writer,
               "<rect class=\"lost edge\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
               "height=\"%.1f\"><title>lost until the pipe is reset</title></rect>",
               panel->x, panel->y, panel->width, panel->height);
    render_put(writer,
               "<rect fill=\"url(#free)\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
               "height=\"%.2f\"><title>free: %" PRIu64 " bytes</title></rect>",
               panel->x, y, panel->width, height, memory->free_bytes);
    if (memory->free_bytes <= memory->reserved_bytes)
        return;
    height = (double)(memory->free_bytes - memory->reserved_bytes) * panel->scale;
    (void)snprintf(text, sizeof(text), "%s free", short_bytes(bytes, memory->free_bytes));
    if (height > 2 * LINE)
        put_text(writer, panel->x + panel->width / 2, y + height / 2 + 4, "mid soft halo", text);
}

/* The tail that the vector unit may use, and how far the memory was ever used. */
static void put_marks(struct soma_writer *writer, const struct panel *panel)
{
    const struct soma_layout_memory *memory = panel->memory;
    char text[64], bytes[32];
    if (memory->reserved_bytes > 0) {
        double y = y_of(panel, memory->capacity_bytes - memory->reserved_bytes);
        render_put(writer,
                   "<rect fill=\"url(#tail)\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
                   "height=\"%.2f\"><title>the last %" PRIu64 " bytes: some vector operations keep "
                   "temporary values here</title></rect>",
                   panel->x, y, panel->width, (double)memory->reserved_bytes * panel->scale,
                   memory->reserved_bytes);
    }
    if (memory->peak_bytes > memory->used_bytes) {
        double y = y_of(panel, memory->peak_bytes);
        render_put(writer, "<path class=\"peak\" d=\"M%.1f %.2fh%.1f\"/>", panel->x, y,
                   panel->width);
        (void)snprintf(text, sizeof(text), "peak %s", short_bytes(bytes, memory->peak_bytes));
        put_text(writer, panel->x + panel->width - 4, y - 4, "end halo", text);
    }
}

static void put_panel(struct soma_writer *writer, const struct panel *panel)
{
    put_sums(writer, panel);
    put_ground(writer, panel);
    for (size_t i = 0; i < panel->boxes.count; i++) {
        const struct box *box = &panel->boxes.items[i];
        if (is_pool(box))
            put_pool(writer, panel, box);
        else
            put_leaf(writer, panel, box);
    }
    put_marks(writer, panel);
    put_axis(writer, panel);
    put_callouts(writer, panel);
    if (panel->boxes.left_out > 0) {
        char text[64];
        (void)snprintf(text, sizeof(text), "%zu more regions are not drawn", panel->boxes.left_out);
        put_text(writer, panel->x, panel->y + panel->height + 29, "warn", text);
    }
}

/* ---- the page ---- */

/* Widths and names beside the column, once its height is known. */
static bool measure(struct panel *panel, double height)
{
    struct box_metrics metrics = metrics_of_columns;
    panel->height = height;
    panel->scale = height / (double)panel->memory->capacity_bytes;
    metrics.pixels_per_byte = panel->scale;
    boxes_release(&panel->boxes);
    if (!boxes_init(&panel->boxes, panel->memory, &metrics))
        return false;
    panel->width = panel->boxes.wanted < WIDTH_MIN ? WIDTH_MIN : panel->boxes.wanted;
    if (panel->width > WIDTH_MAX)
        panel->width = WIDTH_MAX;
    boxes_place(&panel->boxes, &metrics, panel->x, panel->width);
    panel->callouts = 0;
    panel->names = 0;
    for (size_t i = 0; i < panel->boxes.count; i++) {
        char label[SOMA_NAME_BYTES_MAX + 96];
        if (has_label_inside(panel, &panel->boxes.items[i]))
            continue;
        callout_text(&panel->boxes.items[i], label, sizeof(label));
        double width = length_of(label) + LEADER;
        panel->names = width > panel->names ? width : panel->names;
        panel->callouts++;
    }
    return true;
}

/* A height at which the names beside every column have room. */
static double height_for(const struct panel *panels, size_t count)
{
    double height = HEIGHT;
    for (size_t i = 0; i < count; i++) {
        double needed = (double)panels[i].callouts * CALLOUT;
        height = needed > height ? needed : height;
    }
    return height;
}

static double put_lines(struct soma_writer *writer, double y, const struct soma_layout *layout)
{
    char text[SOMA_MESSAGE_BYTES + 8], bytes[32];
    if (layout->largest.count > 0)
        put_text(writer, MARGIN, y, "bold", "Largest");
    for (size_t i = 0; i < layout->largest.count; i++, y += 16) {
        const struct soma_layout_holder *holder = &layout->largest.items[i];
        (void)snprintf(
            text, sizeof(text), "%s  %s of %s%s%s", holder->name, short_bytes(bytes, holder->bytes),
            soma_word_of(SOMA_GROUP_onchip_memory, holder->memory), ", in ", holder->owner);
        put_text(writer, MARGIN + 62, y, "", text);
    }
    y += layout->largest.count > 0 ? 8 : 0;
    for (size_t i = 0; i < layout->warnings.count; i++, y += 16) {
        (void)snprintf(text, sizeof(text), "\xe2\x9a\xa0 %s", layout->warnings.items[i]);
        put_text(writer, MARGIN, y, "warn", text);
    }
    return y;
}

static void put_swatch(struct soma_writer *writer, double *x, double y, const char *rect,
                       const char *text)
{
    render_put(writer, "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"11\"/>", rect, *x,
               y - 9);
    put_text(writer, *x + 21, y, "", text);
    *x += 21 + (double)render_width(text) * CHARACTER + 14;
}

/* What the shades mean: the positions that occur, and everything else. */
static void put_legend(struct soma_writer *writer, double y, const struct soma_layout *layout)
{
    bool occurs[SOMA_POSITION_CO2 + 1] = {false};
    char rect[48];
    double x = MARGIN;
    for (size_t i = 0; i < layout->memories.count; i++) {
        const struct soma_layout_memory *memory = &layout->memories.items[i];
        for (size_t j = 0; j < memory->regions.count; j++) {
            const struct soma_layout_region *region = &memory->regions.items[j];
            if (region->kind == SOMA_REGION_KIND_BUFFER && region->position >= 0 &&
                region->position <= SOMA_POSITION_CO2)
                occurs[region->position] = true;
        }
    }
    for (int position = 0; position <= SOMA_POSITION_CO2; position++) {
        const char *word = soma_word_of(SOMA_GROUP_position, position);
        if (!occurs[position])
            continue;
        (void)snprintf(rect, sizeof(rect), "class=\"buffer %s\"", word);
        put_swatch(writer, &x, y, rect, word);
    }
    put_swatch(writer, &x, y, "class=\"edge\" fill=\"url(#free)\"", "free");
    put_swatch(writer, &x, y, "class=\"edge\" fill=\"url(#spare)\"", "free in a pool");
    if (layout->checks == SOMA_CHECKS_DEVICE)
        put_swatch(writer, &x, y, "class=\"lost edge\"", "lost by a Reset");
    x = MARGIN;
    y += 18;
    put_swatch(writer, &x, y, "class=\"pool\"", "pool");
    put_swatch(writer, &x, y, "class=\"pool shared\"", "shares its bytes");
    put_swatch(writer, &x, y, "class=\"padding\"", "padding");
    put_swatch(writer, &x, y, "fill=\"url(#tail)\"", "reserved tail");
    x = MARGIN;
    y += 18;
    put_swatch(writer, &x, y, "class=\"ALLOCATED\"", "allocated");
    put_swatch(writer, &x, y, "class=\"QUEUED\"", "queued");
    put_swatch(writer, &x, y, "class=\"DEQUEUED\"", "dequeued");
}

static void put_title(struct soma_writer *writer, const struct soma_layout *layout)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "Pipe %" PRIu64 " on %s", layout->pipe, layout->soc);
    put_text(writer, MARGIN, MARGIN + 14, "title", text);
    (void)snprintf(text, sizeof(text),
                   "%" PRIu64 " of %u buffers; checks as %s; each memory drawn to its own scale",
                   layout->buffers, SOMA_PIPE_BUFFERS_MAX,
                   layout->checks == SOMA_CHECKS_DEVICE ? "on the device" : "documented");
    put_text(writer, MARGIN, MARGIN + 32, "soft", text);
}

/* Memories that hold nothing, in one line. */
static void put_unused(struct soma_writer *writer, double y, const struct soma_layout *layout)
{
    char text[256] = "Not used: ", bytes[32];
    size_t len = strlen(text), named = 0;
    for (size_t i = 0; i < layout->memories.count; i++) {
        const struct soma_layout_memory *memory = &layout->memories.items[i];
        if (render_is_used(memory))
            continue;
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", named++ > 0 ? ", " : "",
                                soma_word_of(SOMA_GROUP_onchip_memory, memory->memory),
                                short_bytes(bytes, memory->capacity_bytes));
    }
    if (named > 0)
        put_text(writer, MARGIN, y, "soft", text);
}

/* The panels beside one another; false: no memory. *width: of all. */
static bool arrange(struct panel *panels, size_t count, double *width, double *height)
{
    double x = MARGIN;
    *height = HEIGHT;
    for (int round = 0; round < 2; round++) {
        x = MARGIN;
        for (size_t i = 0; i < count; i++) {
            panels[i].x = x + AXIS;
            panels[i].y = HEAD + MARGIN + PANEL_HEAD;
            if (!measure(&panels[i], *height))
                return false;
            double needed = panels[i].width + panels[i].names;
            x += AXIS + (needed < 190 ? 190 : needed) + GAP;
        }
        *height = round == 0 ? height_for(panels, count) : *height;
    }
    *width = x;
    return true;
}

static void put_page(struct soma_writer *writer, const struct soma_layout *layout,
                     struct panel *panels, size_t count)
{
    double width = 0, height = 0, text_width = 640;
    if (!arrange(panels, count, &width, &height)) {
        writer->failed = true;
        return;
    }
    for (size_t i = 0; i < layout->warnings.count; i++) {
        double needed = (double)render_width(layout->warnings.items[i]) * 5.9 + 2 * MARGIN + 20;
        text_width = needed > text_width ? needed : text_width;
    }
    width = width > text_width ? width : text_width;
    double below = HEAD + MARGIN + PANEL_HEAD + height + 58;
    double lines = (double)(layout->largest.count + layout->warnings.count) * 16 + 8;
    double total = below + lines + 20 + 64 + MARGIN;
    render_put(writer,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\" role=\"img\">",
               width, total, width, total);
    render_put(writer, "<title>On-chip memory of pipe %" PRIu64 " on %s</title>", layout->pipe,
               layout->soc);
    soma_writer_text(writer, style_sheet);
    soma_writer_text(writer, patterns);
    soma_writer_text(writer, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>");
    put_title(writer, layout);
    for (size_t i = 0; i < count; i++)
        put_panel(writer, &panels[i]);
    double y = put_lines(writer, below, layout);
    put_unused(writer, y + 6, layout);
    put_legend(writer, y + 30, layout);
    soma_writer_text(writer, "</svg>\n");
}

void layout_svg(struct soma_writer *writer, const struct soma_layout *layout)
{
    size_t count = 0;
    struct panel *panels = calloc(layout->memories.count + 1, sizeof(*panels));
    if (panels == NULL) {
        writer->failed = true;
        return;
    }
    for (size_t i = 0; i < layout->memories.count; i++) {
        if (render_is_used(&layout->memories.items[i]))
            panels[count++].memory = &layout->memories.items[i];
    }
    if (count == 0 && layout->memories.count > 0)
        panels[count++].memory = &layout->memories.items[0];
    put_page(writer, layout, panels, count);
    for (size_t i = 0; i < count; i++)
        boxes_release(&panels[i].boxes);
    free(panels);
}
