/* Layouts for people: the text to the letter where it matters, the SVG as well-formed XML that is
 * to scale and refers to nothing outside. */
#include "engine_fixture.h"
#include "expect.h"
#include "fault.h"
#include "layout.h"
#include "random.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The article's plan: p0 around q0 and around p1 and p2, which share. */
#define TWO_STAGES_IDLE                                                                            \
    "pipe.create\n"                                                                                \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16 name=p0\n"                           \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4 name=p1\n"                            \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4 name=p2\n"                            \
    "pipe.createTQue pipe=1 position=VECIN name=q0\n"                                              \
    "pipe.createTQue pipe=1 position=VECIN name=q1\n"                                              \
    "pipe.createTQue pipe=1 position=VECIN name=q2\n"                                              \
    "pipe.createTQue pipe=1 position=VECOUT name=d0\n"                                             \
    "pipe.createTQue pipe=1 position=VECOUT name=d1\n"                                             \
    "pipe.initBufPool pipe=1 tbufpool=1 len=131072\n"                                              \
    "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=65536\n"                               \
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=65536\n"                                  \
    "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=65536 shareBuf=2\n"                       \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32768\n"                               \
    "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=4 num=1 len=32768\n"                               \
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=3 num=1 len=32768\n"                               \
    "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=5 num=1 len=32768\n"

#define TWO_STAGES                                                                                 \
    TWO_STAGES_IDLE                                                                                \
    "pipe.allocTensor pipe=1 tque=1\n"                                                             \
    "pipe.enQue pipe=1 tque=1 tensor=1\n"                                                          \
    "pipe.allocTensor pipe=1 tque=3\n"

typedef void renderer(struct soma_writer *writer, const struct soma_layout *layout);

/* What a renderer writes of pipe 1, NUL-terminated, to be freed; NULL: it failed. */
static char *render_pipe(struct fixture *fixture, renderer *render, size_t max)
{
    struct soma_command command;
    struct soma_result result;
    struct soma_error error;
    struct soma_writer writer;
    soma_command_init(&command, SOMA_OP_PIPE_LAYOUT);
    soma_command_set(&command, SOMA_FIELD_pipe, 1);
    if (!EXPECT(engine_apply(fixture->engine, &command, &result, &error) == SOMA_OK, "no layout"))
        return NULL;
    soma_writer_init(&writer, max);
    render(&writer, &result.u.layout);
    soma_writer_raw(&writer, "", 1);
    engine_result_clear(fixture->engine, &result);
    char *text = writer.failed ? NULL : strdup(writer.ptr);
    soma_writer_release(&writer);
    return text;
}

static char *render_script(const char *script, renderer *render)
{
    struct fixture fixture;
    if (!fixture_start(&fixture, NULL))
        abort();
    (void)fixture_script(&fixture, "a plan", script);
    char *text = render_pipe(&fixture, render, 10000000);
    fixture_abandon(&fixture, "a plan");
    EXPECT(text != NULL, "nothing was written");
    return text;
}

/* ---- text ---- */

static const char two_stages_text[] =
    "pipe 1 on Ascend910B1, 5 of 64 buffers, checks documented\n"
    "\n"
    "UB  131072 of 196608 bytes used (66 %), 65536 free\n"
    "    peak 131072, padding 0, live 98304; the last 8192 are reserved (~)\n"
    "\n"
    "  0                 48 KiB            96 KiB            144 KiB      192 KiB\n"
    "  |<p0-------------------------------------------->.....................~~~|\n"
    "  |[q0####################]<p1-------------------->                        |\n"
    "  |                        [q1________][d0________]                        |\n"
    "  |                        <p2-------------------->                        |\n"
    "  |                        [q2########][d1________]                        |\n"
    "\n"
    "    from       to    bytes  pad  what                   at      state\n"
    "       0   131072   131072    0  pool p0                VECCALC 0 free\n"
    "       0    65536    65536    0    q0                   VECIN   QUEUED 1\n"
    "   65536   131072    65536    0    pool p1              VECCALC 0 free\n"
    "          shares its bytes with p2\n"
    "   65536    98304    32768    0      q1                 VECIN\n"
    "   98304   131072    32768    0      d0                 VECOUT\n"
    "   65536   131072    65536    0    pool p2              VECCALC 0 free\n"
    "          shares its bytes with p1\n"
    "   65536    98304    32768    0      q2                 VECIN   ALLOCATED 2\n"
    "   98304   131072    32768    0      d1                 VECOUT\n"
    "\n"
    "  stage                   buffers     bytes      live     bytes\n"
    "  always                        1     65536         1     65536\n"
    "          live: q0: tensor 1, QUEUED\n"
    "  p1                            2     65536         0         0\n"
    "  p2                            2     65536         1     32768\n"
    "          live: q2: tensor 2, ALLOCATED\n"
    "\n"
    "not used: L1 524288, L0A 65536, L0B 65536, L0C 131072, BT 1024\n"
    "\n"
    "largest                memory  buffers     bytes  in\n"
    "q0                         UB        1     65536  p0\n"
    "q1                         UB        1     32768  p1\n"
    "q2                         UB        1     32768  p2\n"
    "d0                         UB        1     32768  p1\n"
    "d1                         UB        1     32768  p2\n"
    "\n"
    "maps: [buffer] [live##] <pool--> | small : several . free ~ reserved x lost\n";

/* The first line in which two texts differ. */
static void expect_text(const char *got, const char *wanted)
{
    size_t at = 0, line = 0;
    while (wanted[at] != '\0' && got[at] == wanted[at]) {
        line = wanted[at] == '\n' ? at + 1 : line;
        at++;
    }
    EXPECT(got[at] == wanted[at], "got\n%.*s\nand not\n%.*s", (int)strcspn(got + line, "\n"),
           got + line, (int)strcspn(wanted + line, "\n"), wanted + line);
}

static void test_text(void)
{
    char *text = render_script(TWO_STAGES, layout_text);
    if (text != NULL)
        expect_text(text, two_stages_text);
    free(text);
    text = render_script("pipe.create\n", layout_text);
    if (text != NULL)
        expect_text(
            text, "pipe 1 on Ascend910B1, 0 of 64 buffers, checks documented\n\n"
                  "not used: UB 196608, L1 524288, L0A 65536, L0B 65536, L0C 131072, "
                  "BT 1024\n\n"
                  "maps: [buffer] [live##] <pool--> | small : several . free ~ reserved x lost\n");
    free(text);
}

/* What a reset with checks=device lost is neither free nor anybody's. */
static void test_lost(void)
{
    static const char script[] = "pipe.create checks=device\n"
                                 "pipe.createTBufPool pipe=1 position=VECIN\n"
                                 "pipe.initBufPool pipe=1 tbufpool=1 len=96K\n"
                                 "pipe.poolReset pipe=1 tbufpool=1\n";
    char *text = render_script(script, layout_text), *svg = render_script(script, layout_svg);
    EXPECT(text != NULL && strstr(text, "|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx......") != NULL,
           "%s", text == NULL ? "" : text);
    EXPECT(svg != NULL && strstr(svg, "lost by a Reset") != NULL, "the legend");
    free(text);
    free(svg);
}

/* ---- plans by chance ---- */

/* Names that try to break out of what is written. */
static const char *const names[] = {
    "a",
    "in0",
    "a_name_of_exactly_the_sixty-four_bytes_that_a_name_may_have____",
    "<script>&\"'",
    "]]>",
    "\xc3\xa9\xe2\x82\xac",
    "\xff\xfe\xc3",
    "\x01\x7f\n"};

static void set_name(struct soma_command *command, struct random_source *source)
{
    const char *name = names[random_below(source, sizeof(names) / sizeof(names[0]))];
    if (random_below(source, 2) == 0)
        return;
    command->object_name = (struct soma_text){name, strlen(name)};
    command->present |= SOMA_HAS(object_name);
}

/* One random command on pipe 1; most of them are refused, which does no harm. */
static void apply_random(struct engine *engine, struct random_source *source)
{
    static const enum soma_op ops[] = {
        SOMA_OP_PIPE_CREATE_TQUE,      SOMA_OP_PIPE_CREATE_TBUF,
        SOMA_OP_PIPE_CREATE_TBUFPOOL,  SOMA_OP_PIPE_INIT_BUFFER,
        SOMA_OP_PIPE_INIT_BUF_POOL,    SOMA_OP_PIPE_POOL_INIT_BUFFER,
        SOMA_OP_PIPE_POOL_INIT_BUFFER, SOMA_OP_PIPE_POOL_INIT_BUF_POOL,
        SOMA_OP_PIPE_ALLOC_TENSOR,     SOMA_OP_PIPE_POOL_RESET};
    static const uint64_t lens[] = {1, 31, 32, 100, 1000, 1024, 5000, 32768, 65536};
    struct soma_command command;
    struct soma_result result;
    soma_command_init(&command, ops[random_below(source, sizeof(ops) / sizeof(ops[0]))]);
    soma_command_set(&command, SOMA_FIELD_pipe, 1);
    soma_command_set(&command, SOMA_FIELD_position, random_below(source, 12));
    soma_command_set(&command, SOMA_FIELD_buf_id_size, 1 + random_below(source, 16));
    soma_command_set(&command, SOMA_FIELD_depth, random_below(source, 4));
    soma_command_set(&command, SOMA_FIELD_len, lens[random_below(source, 9)]);
    soma_command_set(&command, SOMA_FIELD_tbufpool, 1 + random_below(source, 24));
    soma_command_set(&command, SOMA_FIELD_parent, 1 + random_below(source, 12));
    if (random_below(source, 2) == 0)
        soma_command_set(&command, SOMA_FIELD_share_buf, 1 + random_below(source, 24));
    if (random_below(source, 3) == 0 && command.op != SOMA_OP_PIPE_ALLOC_TENSOR) {
        soma_command_set(&command, SOMA_FIELD_tbuf, 1 + random_below(source, 24));
    } else {
        soma_command_set(&command, SOMA_FIELD_tque, 1 + random_below(source, 24));
        soma_command_set(&command, SOMA_FIELD_num, 1 + random_below(source, 4));
    }
    set_name(&command, source);
    if (engine_apply(engine, &command, &result, NULL) == SOMA_OK)
        engine_result_clear(engine, &result);
}

/* Some of the plans have hardly anything, some are crowded. */
static void start_random_plan(struct fixture *fixture, uint64_t seed)
{
    static const char *const checks[] = {"documented", "device"};
    static const char *const socs[] = {"Ascend910B1", "Ascend310P3", "Ascend910A", "Ascend310B1"};
    struct random_source source = {seed};
    if (!fixture_start(fixture, NULL))
        abort();
    (void)fixture_run(fixture, "pipe.create soc=%s checks=%s", socs[seed % 4],
                      checks[seed / 4 % 2]);
    uint64_t count = random_below(&source, 400);
    for (uint64_t i = 0; i < count; i++)
        apply_random(fixture->engine, &source);
}

static size_t columns_of(const char *line, size_t len)
{
    size_t columns = 0;
    for (size_t i = 0; i < len; i++)
        columns += ((unsigned char)line[i] & 0xC0u) != 0x80u;
    return columns;
}

static void test_text_width(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture fixture;
        start_random_plan(&fixture, seed);
        char *text = render_pipe(&fixture, layout_text, 10000000);
        for (const char *at = text; at != NULL && *at != '\0'; at += strcspn(at, "\n") + 1) {
            size_t len = strcspn(at, "\n");
            EXPECT(columns_of(at, len) <= 80, "plan %d: a long line: %.*s", (int)seed, (int)len,
                   at);
            EXPECT(len == 0 || at[len - 1] != ' ', "plan %d: a space at the end: \"%.*s\"",
                   (int)seed, (int)len, at);
            for (size_t i = 0; i < len; i++)
                EXPECT((unsigned char)at[i] >= ' ' && at[i] != 0x7f, "plan %d: a control character",
                       (int)seed);
        }
        free(text);
        fixture_abandon(&fixture, "a plan");
    }
}

/* ---- SVG ---- */

/* "name" of <name ...>, and its length. */
static size_t tag_name(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyz");
}

/* Past the attributes of a tag: at '>' or "/>"; NULL when they are not attributes. */
static const char *skip_attributes(const char *at)
{
    for (;;) {
        at += strspn(at, " ");
        if (*at == '>' || (*at == '/' && at[1] == '>'))
            return at;
        size_t name =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:");
        if (name == 0 || at[name] != '=' || at[name + 1] != '"')
            return NULL;
        at += name + 2;
        at += strcspn(at, "\"<&");
        if (*at++ != '"')
            return NULL;
    }
}

/* Past text: at the next '<' or the end; NULL when it has what only markup may have. */
static const char *skip_text(const char *at)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; *at != '<' && *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        bool is_entity = false;
        for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
            is_entity = is_entity || strncmp(at, entities[i], strlen(entities[i])) == 0;
        if ((byte == '&' && !is_entity) || (byte < ' ' && byte != '\n') || byte >= 0xF8 ||
            byte == 0xC0 || byte == 0xC1 || (strncmp(at, "]]>", 3) == 0))
            return NULL;
    }
    return at;
}

/* Whether the text is one well-formed element, as far as this program writes XML. */
static bool is_well_formed(const char *at)
{
    const char *open[16];
    size_t depth = 0;
    do {
        if (*at != '<')
            return false;
        bool closes = at[1] == '/';
        const char *name = at + 1 + closes;
        size_t len = tag_name(name);
        at = len == 0 ? NULL : skip_attributes(name + len);
        if (at == NULL)
            return false;
        bool is_empty = *at == '/';
        if (closes && (depth == 0 || strncmp(open[--depth], name, len) != 0))
            return false;
        if (!closes && !is_empty) {
            if (depth == sizeof(open) / sizeof(open[0]))
                return false;
            open[depth++] = name;
        }
        at = skip_text(at + 1 + is_empty);
    } while (at != NULL && *at != '\0' && depth > 0);
    return at != NULL && depth == 0 && *at == '\0';
}

static void test_svg_is_xml(void)
{
    EXPECT(is_well_formed("<a b=\"c\"><d/>e &amp; f<g>h</g></a>"), "the check itself");
    EXPECT(!is_well_formed("<a><b></a></b>"), "the check itself, nesting");
    EXPECT(!is_well_formed("<a>&</a>"), "the check itself, entities");
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture fixture;
        start_random_plan(&fixture, seed);
        char *svg = render_pipe(&fixture, layout_svg, 10000000);
        if (EXPECT(svg != NULL, "plan %d is not drawn", (int)seed)) {
            EXPECT(is_well_formed(svg), "plan %d is not well-formed", (int)seed);
            EXPECT(strstr(svg, "href") == NULL && strstr(svg, "<script") == NULL &&
                       strstr(svg, "@import") == NULL,
                   "plan %d refers to something", (int)seed);
            EXPECT(strstr(strstr(svg, "http") + 1, "http") == NULL, "plan %d has a second address",
                   (int)seed);
            EXPECT(strstr(svg, "nan") == NULL && strstr(svg, "=\"inf") == NULL &&
                       strstr(svg, "height=\"-") == NULL && strstr(svg, "width=\"-") == NULL,
                   "plan %d has a number that is none", (int)seed);
        }
        free(svg);
        fixture_abandon(&fixture, "a plan");
    }
}

/* The value of an attribute after `from`. */
static double attribute(const char *from, const char *name)
{
    const char *at = from == NULL ? NULL : strstr(from, name);
    return at == NULL ? -1 : strtod(at + strlen(name), NULL);
}

static bool is_near(double a, double b)
{
    return a - b < 0.05 && b - a < 0.05;
}

static void test_svg_scale(void)
{
    char *svg = render_script(TWO_STAGES, layout_svg);
    if (svg == NULL)
        return;
    const char *column = strstr(svg, "class=\"lost edge\"");
    double top = attribute(column, " y=\""), height = attribute(column, " height=\"");
    EXPECT(is_near(height, 560), "a column has %f pixels", height);
    static const struct {
        const char *class;
        unsigned which;    /* of this class, from 1 */
        double begin, len; /* in KiB */
    } rects[] = {{"\"pool\"", 1, 0, 128},          {"\"pool shared\"", 1, 64, 64},
                 {"\"pool shared\"", 2, 64, 64},   {"\"buffer VECIN\"", 1, 0, 64},
                 {"\"buffer VECIN\"", 2, 64, 32},  {"\"buffer VECIN\"", 3, 64, 32},
                 {"\"buffer VECOUT\"", 1, 96, 32}, {"\"buffer VECOUT\"", 2, 96, 32},
                 {"url(#free)\"", 1, 128, 64},     {"url(#tail)\"", 1, 184, 8}};
    for (size_t i = 0; i < sizeof(rects) / sizeof(rects[0]); i++) {
        const char *at = strstr(svg, "<rect class=\"page\"");
        for (unsigned n = 0; n < rects[i].which && at != NULL; n++)
            at = strstr(at + 1, rects[i].class);
        EXPECT(is_near(attribute(at, " y=\"") - top, rects[i].begin / 192 * height) &&
                   is_near(attribute(at, " height=\""), rects[i].len / 192 * height),
               "%s %u: y %f, height %f", rects[i].class, rects[i].which, attribute(at, " y=\""),
               attribute(at, " height=\""));
    }
    /* The sharing pools stand side by side. */
    const char *first = strstr(strstr(svg, "class=\"page\""), "\"pool shared\"");
    const char *second = strstr(first + 1, "\"pool shared\"");
    EXPECT(attribute(second, " x=\"") >=
               attribute(first, " x=\"") + attribute(first, " width=\"") - 0.05,
           "p2 stands over p1");
    EXPECT(strstr(svg, "prefers-color-scheme:dark") != NULL, "there is no dark style");
    EXPECT(strstr(svg, "p1 shares with p2") != NULL, "sharing has no name");
    EXPECT(strstr(svg, ">192 KiB<") != NULL && strstr(svg, ">capacity<") != NULL,
           "the capacity is not marked");
    free(svg);
}

static void test_svg_names(void)
{
    struct fixture fixture;
    if (!fixture_start(&fixture, NULL))
        abort();
    (void)fixture_script(&fixture, "a name that is markup",
                         "pipe.create\n"
                         "pipe.createTQue pipe=1 position=VECIN name=<b>&\"x\"</b>\n"
                         "pipe.initBuffer pipe=1 tque=1 num=1 len=64K");
    char *svg = render_pipe(&fixture, layout_svg, 10000000);
    EXPECT(svg != NULL && strstr(svg, "&lt;b&gt;&amp;&quot;x&quot;&lt;/b&gt;") != NULL &&
               strstr(svg, "<b>") == NULL,
           "the name is not escaped");
    free(svg);
    fixture_abandon(&fixture, "a name that is markup");
}

/* The picture in schema/ONCHIP.md: to make it anew, run this test, look, and copy what it wrote. */
static void test_svg_of_documents(void)
{
    char *svg = render_script(TWO_STAGES_IDLE, layout_svg), *shown = NULL;
    FILE *file = fopen(SOMA_SOURCE_DIR "/schema/onchip-two-stages.svg", "rb");
    if (svg == NULL || !EXPECT(file != NULL, "the picture is not there"))
        return;
    size_t len = strlen(svg);
    shown = calloc(len + 2, 1);
    bool is_same =
        shown != NULL && fread(shown, 1, len + 1, file) == len && strcmp(shown, svg) == 0;
    (void)fclose(file);
    file = is_same ? NULL : fopen(SOMA_BINARY_DIR "/onchip-two-stages.svg", "wb");
    if (file != NULL) {
        (void)fwrite(svg, 1, len, file);
        (void)fclose(file);
    }
    EXPECT(is_same, "the picture is out of step; " SOMA_BINARY_DIR "/onchip-two-stages.svg is new");
    free(shown);
    free(svg);
}

/* ---- want of memory ---- */

static void expect_fails(struct fixture *fixture, renderer *render, const char *what)
{
    char *text = render_pipe(fixture, render, 10000000);
    size_t len = text == NULL ? 0 : strlen(text);
    EXPECT(len > 100, "%s writes %zu bytes", what, len);
    free(text);
    for (size_t max = 0; max < len; max += len / 40 + 1)
        EXPECT(render_pipe(fixture, render, max) == NULL, "%s in %zu bytes", what, max);
    struct soma_command command;
    struct soma_result result;
    struct soma_error error;
    soma_command_init(&command, SOMA_OP_PIPE_LAYOUT);
    soma_command_set(&command, SOMA_FIELD_pipe, 1);
    if (!EXPECT(engine_apply(fixture->engine, &command, &result, &error) == SOMA_OK, "no layout"))
        return;
    for (long fail = 1, count = 1; fail <= count; fail++) {
        struct soma_writer writer;
        soma_writer_init(&writer, 10000000);
        fault_begin(fail);
        render(&writer, &result.u.layout);
        count = fault_end();
        EXPECT(writer.failed || fail > count, "%s: allocation %ld failed unseen", what, fail);
        soma_writer_release(&writer);
    }
    engine_result_clear(fixture->engine, &result);
}

static void test_no_memory(void)
{
    struct fixture fixture;
    if (!fixture_start(&fixture, NULL))
        abort();
    (void)fixture_script(&fixture, "a plan",
                         TWO_STAGES "pipe.createTQue pipe=1 position=VECIN\n"
                                    "pipe.initBuffer pipe=1 tque=6 num=9 len=32");
    expect_fails(&fixture, layout_text, "text");
    expect_fails(&fixture, layout_svg, "SVG");
    fixture_abandon(&fixture, "a plan");
}

static const struct soma_test tests[] = {
    {"text, to the letter", test_text},
    {"text stays in 80 columns", test_text_width},
    {"bytes that are lost", test_lost},
    {"SVG is well-formed and refers to nothing", test_svg_is_xml},
    {"SVG is drawn to scale", test_svg_scale},
    {"names are escaped", test_svg_names},
    {"the picture in the documents", test_svg_of_documents},
    {"writers that fail", test_no_memory},
    {NULL, NULL},
};

const struct soma_suite suite_layout = {"layout", tests};
