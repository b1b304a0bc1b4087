/* Scenes: commands and expectations as text. */
#include "engine_fixture.h"

#include "expect.h"
#include "half.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static uint64_t unit_of(const char *suffix, size_t len)
{
    static const struct {
        const char *suffix;
        uint64_t unit;
    } units[] = {{"", 1}, {"g", SOMA_GRANULE_BYTES}, {"K", 1024}, {"us", 1000}, {"ms", 1000000}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].suffix) == len && memcmp(units[i].suffix, suffix, len) == 0)
            return units[i].unit;
    }
    return 0;
}

static bool named_value(const struct fixture *fixture, const char *name, size_t len,
                        uint64_t *value)
{
    static const struct {
        const char *name;
        uint64_t value;
    } constants[] = {{"large", SOMA_ADDRESS_BASE},
                     {"small", SOMA_ADDRESS_SMALL_BASE},
                     {"none", SOMA_NONE},
                     {"max", UINT64_MAX}};
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        *value = constants[i].value;
        if (strlen(constants[i].name) == len && memcmp(constants[i].name, name, len) == 0)
            return true;
    }
    for (size_t i = 0; i < fixture->name_count && name[0] == '$'; i++) {
        *value = fixture->names[i].value;
        if (strlen(fixture->names[i].name) == len - 1 &&
            memcmp(fixture->names[i].name, name + 1, len - 1) == 0)
            return true;
    }
    if (len == 2 && name[0] == 'p' && isdigit((unsigned char)name[1])) {
        *value = fixture->bases[name[1] - '0'];
        return true;
    }
    return false;
}

/* One term of a sum: a number with its unit, or a name. */
static bool term_value(const struct fixture *fixture, const char *text, size_t len, uint64_t *value)
{
    char *end;
    if (len == 0 || !isdigit((unsigned char)text[0]))
        return len > 0 && named_value(fixture, text, len, value);
    uint64_t number = strtoull(text, &end, 0);
    uint64_t unit = unit_of(end, len - (size_t)(end - text));
    *value = number * unit;
    return unit != 0;
}

/* The value of a sum that ends with `len`; false: it is none. */
static bool sum_value(const struct fixture *fixture, const char *text, size_t len, uint64_t *value)
{
    uint64_t sum = 0, term = 0;
    bool minus = false;
    for (size_t at = 0; at <= len;) {
        size_t part = 0;
        while (at + part < len && text[at + part] != '+' && text[at + part] != '-')
            part++;
        if (!term_value(fixture, text + at, part, &term))
            return false;
        sum = minus ? sum - term : sum + term;
        minus = at + part < len && text[at + part] == '-';
        at += part + 1;
    }
    *value = sum;
    return true;
}

/* ---- commands ---- */

/* The row of a field in the command's table, NULL when it has none of that name. */
static const struct soma_field_row *row_of(const struct soma_op_info *info, const char *json,
                                           size_t len)
{
    for (size_t i = 0; i < info->field_count; i++) {
        const char *name = soma_field_json(info->fields[i].field);
        if (strlen(name) == len && memcmp(name, json, len) == 0)
            return &info->fields[i];
    }
    return NULL;
}

static bool set_text(struct fixture_input *input, struct soma_text *text, const char *value,
                     size_t len)
{
    if (len > sizeof(input->text))
        return false;
    memcpy(input->text, value, len);
    *text = (struct soma_text){input->text, len};
    return true;
}

/* An argument that is no address: its kind and a number, "f32:1.5". */
static bool set_number_arg(struct soma_kernel_arg *arg, const char *value)
{
    static const struct {
        const char *prefix;
        enum soma_arg_kind kind;
    } kinds[] = {{"f32:", SOMA_ARG_F32}, {"f16:", SOMA_ARG_F16}, {"i32:", SOMA_ARG_I32},
                 {"u32:", SOMA_ARG_U32}, {"i64:", SOMA_ARG_I64}, {"u64:", SOMA_ARG_U64}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncmp(value, kinds[i].prefix, 4) != 0)
            continue;
        float real = strtof(value + 4, NULL);
        uint32_t bits;
        memcpy(&bits, &real, sizeof(bits));
        arg->kind = kinds[i].kind;
        arg->bits = arg->kind == SOMA_ARG_F32   ? bits
                    : arg->kind == SOMA_ARG_F16 ? half_from_float(real)
                                                : (uint64_t)strtoll(value + 4, NULL, 0);
        return true;
    }
    return false;
}

/* Kernel arguments, with commas between. */
static bool set_args(const struct fixture *fixture, struct fixture_input *input, const char *value,
                     size_t len)
{
    size_t count = 0;
    for (size_t at = 0; at < len && count < FIXTURE_ARGS_MAX; count++) {
        size_t part = 0;
        while (at + part < len && value[at + part] != ',')
            part++;
        struct soma_kernel_arg *arg = &input->args[count];
        *arg = (struct soma_kernel_arg){.kind = SOMA_ARG_PTR};
        if (!set_number_arg(arg, value + at) && !sum_value(fixture, value + at, part, &arg->bits))
            return false;
        at += part + 1;
    }
    input->command.args = (struct soma_kernel_args){input->args, count};
    return true;
}

/* field=value */
static bool set_field(const struct fixture *fixture, struct fixture_input *input, const char *word,
                      size_t len)
{
    struct soma_command *command = &input->command;
    size_t name_len = strcspn(word, "=");
    if (name_len >= len)
        return false;
    const char *value = word + name_len + 1;
    size_t value_len = len - name_len - 1;
    if (strncmp(word, "location.id=", 12) == 0) { /* stands in the row of `location` */
        uint64_t id;
        bool is_good = sum_value(fixture, value, value_len, &id);
        soma_command_set(command, SOMA_FIELD_location_id, id);
        return is_good;
    }
    const struct soma_field_row *row = row_of(soma_op_info(command->op), word, name_len);
    if (row == NULL)
        return false;
    command->present |= UINT64_C(1) << row->field;
    if (row->kind == SOMA_KIND_TEXT || row->kind == SOMA_KIND_BASE64)
        return set_text(
            input, (struct soma_text *)(void *)((char *)command + soma_field_offset(row->field)),
            value, value_len);
    if (row->kind == SOMA_KIND_ARGS)
        return set_args(fixture, input, value, value_len);
    enum soma_enum_group words = soma_field_kind_info(row->kind)->words;
    uint64_t number = 0;
    int word_value = 0;
    if (words != SOMA_GROUP_COUNT && soma_value_of(words, value, value_len, &word_value))
        number = (uint64_t)word_value;
    else if (!sum_value(fixture, value, value_len, &number))
        return false;
    soma_command_set(command, row->field, number);
    return true;
}

bool fixture_parse(const struct fixture *fixture, const char *line, struct fixture_input *input)
{
    const char *at = line + strspn(line, " ");
    bool expired = *at == '!';
    at += expired;
    size_t len = strcspn(at, " ");
    const struct soma_op_info *info = soma_op_find(at, len);
    *input = (struct fixture_input){0};
    if (!EXPECT(info != NULL, "no command: %s", line))
        return false;
    soma_command_init(&input->command, info->op);
    input->command.expired = expired;
    for (at += len, at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
        len = strcspn(at, " ");
        if (!EXPECT(set_field(fixture, input, at, len), "%.*s makes no sense: %s", (int)len, at,
                    line))
            return false;
        at += len;
    }
    if (row_of(info, "device", 6) != NULL)
        input->command.present |= SOMA_HAS(device);
    struct soma_error error;
    return EXPECT(soma_command_complete(&input->command, &error) == SOMA_OK, "%s: %s", line,
                  error.message);
}

/* ---- expectations ---- */

/* The value of a member in the answer; NULL when there is none. Lines end with '\n'. */
static const char *member_of(const struct fixture *fixture, const char *path, size_t len)
{
    const char *at = fixture->answer.ptr;
    while (at != NULL && !(strncmp(at, path, len) == 0 && at[len] == '=')) {
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    return at == NULL ? NULL : at + len + 1;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

/* Is a value that was answered, up to '\n', the expected one? */
static bool same_value(const struct fixture *fixture, const char *got, const char *wanted,
                       size_t len)
{
    uint64_t number;
    size_t got_len = strcspn(got, "\n");
    if (got_len == len && memcmp(got, wanted, len) == 0)
        return true;
    return isdigit((unsigned char)got[0]) && sum_value(fixture, wanted, len, &number) &&
           number == strtoull(got, NULL, 0);
}

/* What stands in an expectation for something that is no member of the answer. */
static bool special_value(const struct fixture *fixture, const char *name, size_t len,
                          struct fixture_text *out)
{
    if (is_word(name, len, "now"))
        fixture_text_add(out, "%" PRIu64 "\n", engine_now_ns(fixture->engine));
    else if (is_word(name, len, "wait"))
        fixture_text_add(out, "%" PRIu64 "\n", engine_wait_ns(fixture->engine));
    else if (is_word(name, len, "acl"))
        fixture_text_add(out, "%d\n", soma_status_info(fixture->status)->acl_error);
    else if (is_word(name, len, "field"))
        fixture_text_add(out, "%s\n", fixture->error.field);
    else
        return false;
    return true;
}

/* member=value */
static bool meets(const struct fixture *fixture, const char *word, size_t len)
{
    struct fixture_text text = {0};
    char part[128];
    size_t name_len = strcspn(word, "=");
    if (name_len >= len)
        return false;
    const char *wanted = word + name_len + 1;
    size_t wanted_len = len - name_len - 1;
    if (is_word(word, name_len, "says")) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)wanted_len, wanted);
        return strstr(fixture->error.message, part) != NULL;
    }
    if (special_value(fixture, word, name_len, &text)) {
        bool is_same = same_value(fixture, text.ptr, wanted, wanted_len);
        fixture_text_clear(&text);
        return is_same;
    }
    const char *got = fixture->status == SOMA_OK ? member_of(fixture, word, name_len) : NULL;
    return got != NULL && same_value(fixture, got, wanted, wanted_len);
}

/* The status that an expectation begins with; SOMA_OK and nothing read when it names none. */
static enum soma_status status_of(const char **at)
{
    size_t len = strcspn(*at, " ");
    const struct soma_status_info *info;
    for (unsigned i = 0; (info = soma_status_row(i)) != NULL; i++) {
        if (is_word(*at, len, info->name)) {
            *at += len;
            return info->status;
        }
    }
    return SOMA_OK;
}

/* Check the last command against an expectation. `line` is for messages. */
static bool expect_met(const struct fixture *fixture, const char *expected, const char *line)
{
    const char *at = expected + strspn(expected, " ");
    enum soma_status status = status_of(&at);
    const char *said = fixture->status == SOMA_OK ? fixture->answer.ptr : fixture->error.message;
    if (!EXPECT(fixture->status == status, "%s: got %s: %s", line,
                fixture->status == SOMA_OK ? "OK" : soma_status_info(fixture->status)->name,
                fixture->status == SOMA_MUST_WAIT ? "" : said))
        return false;
    for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (!EXPECT(meets(fixture, at, len), "%s: not %.*s (now %" PRIu64 ") but\n%s", line,
                    (int)len, at, engine_now_ns(fixture->engine), said == NULL ? "" : said))
            return false;
        at += len;
    }
    return true;
}

/* ---- lines ---- */

/* The blocks of the pool in the last answer: "B1@2 C2@0 F5". */
static void map_of(const struct fixture *fixture, struct fixture_text *out)
{
    char path[64];
    uint64_t count = fixture_number(fixture, "segments.count");
    for (uint64_t i = 0; i < count; i++) {
        int len = snprintf(path, sizeof(path), "segments[%" PRIu64 "].state", i);
        const char *state = member_of(fixture, path, (size_t)len);
        (void)snprintf(path, sizeof(path), "segments[%" PRIu64 "].size", i);
        fixture_text_add(out, "%s%c%" PRIu64, i == 0 ? "" : " ", state[0],
                         fixture_number(fixture, path) / SOMA_GRANULE_BYTES);
        (void)snprintf(path, sizeof(path), "segments[%" PRIu64 "].stream", i);
        if (state[0] != 'F')
            fixture_text_add(out, "@%" PRIu64, fixture_number(fixture, path));
    }
}

static bool run_map(struct fixture *fixture, const char *fields, const char *expected,
                    const char *line)
{
    struct fixture_text map = {0};
    expected += strspn(expected, " ");
    if (!EXPECT(fixture_run(fixture, "pool.segments %s", fields) == SOMA_OK, "%s: %s", line,
                fixture->error.message))
        return false;
    map_of(fixture, &map);
    bool is_same = EXPECT(same_words(map.ptr, expected), "%s: the pool is %s", line, map.ptr);
    fixture_text_clear(&map);
    return is_same;
}

/* Remember what the last command answered. */
static bool keep_name(struct fixture *fixture, const char *name, size_t len)
{
    static const char *const members[] = {"ptr", "pool", "stream", "event"};
    if (fixture->name_count == FIXTURE_NAMES_MAX || len >= sizeof(fixture->names[0].name))
        return false;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (member_of(fixture, members[i], strlen(members[i])) == NULL)
            continue;
        struct fixture_name *kept = &fixture->names[fixture->name_count++];
        (void)snprintf(kept->name, sizeof(kept->name), "%.*s", (int)len, name);
        kept->value = fixture_number(fixture, members[i]);
        return true;
    }
    return false;
}

static bool run_wall(struct fixture *fixture, const char *text, const char *line)
{
    uint64_t wall_ns;
    text += strspn(text, " ");
    if (!EXPECT(sum_value(fixture, text, strlen(text), &wall_ns), "%s", line))
        return false;
    fixture_set_wall(fixture, wall_ns);
    return true;
}

/* Run one line, cut at "->". */
static bool run_line(struct fixture *fixture, char *text, const char *line)
{
    char *arrow = strstr(text, "->");
    const char *expected = arrow == NULL ? "" : arrow + 2;
    if (arrow != NULL)
        *arrow = '\0';
    for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
        text[len - 1] = '\0';
    const char *name = text;
    size_t name_len = strcspn(text, ": ");
    bool has_name = text[name_len] == ':';
    const char *command = has_name ? text + name_len + 1 : text;
    command += strspn(command, " ");
    if (strncmp(command, "map ", 4) == 0)
        return run_map(fixture, command + 4, expected, line);
    if (strncmp(command, "wall ", 5) == 0)
        return run_wall(fixture, command + 5, line);
    (void)fixture_run(fixture, "%s", command);
    return expect_met(fixture, expected, line) &&
           (!has_name || EXPECT(keep_name(fixture, name, name_len), "%s", line));
}

bool fixture_script(struct fixture *fixture, const char *rule, const char *script)
{
    char text[512], line[768], why[256] = "";
    for (const char *at = script; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        (void)snprintf(text, sizeof(text), "%.*s", (int)len, at);
        (void)snprintf(line, sizeof(line), "%s: \"%s\"", rule, text);
        if (len > 0 && !run_line(fixture, text, line))
            return false;
        if (!EXPECT(engine_check(fixture->engine, why, sizeof(why)), "%s: %s", line, why))
            return false;
        at += len + (at[len] != '\0');
    }
    return true;
}

void scenes_run(const struct scene *scenes, size_t count, const struct fixture_setup *setup)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture;
        if (!EXPECT(fixture_start(&fixture, setup), "%s", scenes[i].rule))
            continue;
        (void)fixture_script(&fixture, scenes[i].rule, scenes[i].script);
        fixture_finish(&fixture, scenes[i].rule);
    }
}
