/* Renders schema/ from the tables of api/soma, so that each fact stands once.
 *
 *   schema_render DIR           write openapi.json, REFERENCE.md and messages/ into DIR
 *   schema_render --check DIR   write nothing; fail and name the files that differ
 *
 * messages/<op>.request.json is the body of a command's own route, messages/<message>.json an
 * answer, each a JSON Schema that needs no other file. */
#include "schema_render.h"
#include "schema_types.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, FILES_MAX = 512, FILE_BYTES_MAX = 8 << 20 };

enum { FILE_NAME_BYTES = SCHEMA_NAME_BYTES + 8 };

/* The run: where to, and what was done. */
struct run {
    const char *dir;
    bool is_check;
    unsigned written, differ;
    char names[FILES_MAX][FILE_NAME_BYTES]; /* in messages/ */
    size_t name_count;
};

static void fail(const char *path)
{
    fprintf(stderr, "schema_render: %s: %s\n", path, strerror(errno));
    exit(2);
}

/* ---- files ---- */

/* Does the file hold exactly this text? */
static bool is_same(const char *path, const struct soma_writer *text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    char *held = malloc(text->len + 1);
    bool same = held != NULL && fread(held, 1, text->len + 1, file) == text->len &&
                memcmp(held, text->ptr, text->len) == 0;
    free(held);
    (void)fclose(file);
    return same;
}

static void write_file(const char *path, const struct soma_writer *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        fail(path);
    bool good = fwrite(text->ptr, 1, text->len, file) == text->len;
    if (fclose(file) != 0 || !good)
        fail(path);
}

/* Write the file, or compare it. */
static void finish_file(struct run *run, const char *name, struct soma_writer *text)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", run->dir, name);
    if (text->failed) {
        fprintf(stderr, "schema_render: %s: too large, or no memory\n", name);
        exit(2);
    }
    if (!is_same(path, text)) {
        run->differ++;
        if (run->is_check)
            fprintf(stderr, "%s is out of step with api/soma/*.def; run: schema_render schema\n",
                    path);
        else
            write_file(path, text);
    }
    run->written++;
    soma_writer_clear(text);
}

/* ---- messages/ ---- */

/* Render one schema into messages/NAME.json. write fills in the members of the whole. */
struct message_file {
    struct run *run;
    struct soma_writer *text;
    struct schema schema;
};

static void begin_message(struct message_file *file, const char *name, const char *refs)
{
    char id[SCHEMA_NAME_BYTES + 16];
    file->schema = (struct schema){{.out = file->text}, refs, false};
    struct json *json = &file->schema.json;
    (void)snprintf(id, sizeof(id), "urn:soma:%s", name);
    json_open(json, NULL, '{');
    json_text(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_text(json, "$id", id);
}

static void end_message(struct message_file *file, const char *name)
{
    struct run *run = file->run;
    char path[SCHEMA_NAME_BYTES + 16];
    json_close(&file->schema.json, '}');
    if (run->name_count == FILES_MAX) {
        fprintf(stderr, "schema_render: more than %d messages\n", FILES_MAX);
        exit(2);
    }
    (void)snprintf(run->names[run->name_count++], FILE_NAME_BYTES, "%s.json", name);
    (void)snprintf(path, sizeof(path), "messages/%s.json", name);
    finish_file(run, path, file->text);
}

static void render_requests(struct message_file *file)
{
    char name[SCHEMA_NAME_BYTES];
    for (int op = 0; op < SOMA_OP_COUNT; op++) {
        const struct soma_op_info *info = soma_op_info((enum soma_op)op);
        if (info->method == SOMA_METHOD_GET || schema_is_raw_body(info))
            continue;
        (void)snprintf(name, sizeof(name), "%s.request", info->name);
        begin_message(file, name, NULL);
        schema_body(&file->schema, info);
        end_message(file, name);
    }
    begin_message(file, "session_create.request", NULL);
    schema_session_create(&file->schema);
    end_message(file, "session_create.request");
}

static void render_batch(struct message_file *file)
{
    begin_message(file, "commands.request", "#/$defs/");
    schema_batch(&file->schema);
    json_open(&file->schema.json, "$defs", '{');
    schema_define_commands(&file->schema);
    schema_define_kinds(&file->schema);
    json_close(&file->schema.json, '}');
    end_message(file, "commands.request");
    begin_message(file, "commands", "#/$defs/");
    schema_batch_results(&file->schema);
    json_open(&file->schema.json, "$defs", '{');
    json_open(&file->schema.json, "Error", '{');
    schema_error(&file->schema);
    json_close(&file->schema.json, '}');
    schema_define_messages(&file->schema);
    json_close(&file->schema.json, '}');
    end_message(file, "commands");
}

static void render_answers(struct message_file *file)
{
    for (int i = 0; i < SOMA_MESSAGE_COUNT; i++) {
        const char *name = soma_message_info((enum soma_message)i)->name;
        begin_message(file, name, NULL);
        schema_message(&file->schema, (enum soma_message)i);
        end_message(file, name);
    }
    begin_message(file, "error", NULL);
    schema_error(&file->schema);
    end_message(file, "error");
}

/* A file in messages/ that nothing renders any more. */
static void find_strays(struct run *run)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/messages", run->dir);
    DIR *dir = opendir(path);
    if (dir == NULL)
        fail(path);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        bool is_known = entry->d_name[0] == '.';
        for (size_t i = 0; i < run->name_count && !is_known; i++)
            is_known = strcmp(run->names[i], entry->d_name) == 0;
        if (is_known)
            continue;
        run->differ++;
        fprintf(stderr, "%s/%s: no table has this any more; remove it\n", path, entry->d_name);
    }
    (void)closedir(dir);
}

int main(int argc, char **argv)
{
    static struct run run;
    run.is_check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != (run.is_check ? 3 : 2)) {
        fprintf(stderr, "usage: schema_render [--check] DIR\n");
        return 2;
    }
    run.dir = argv[argc - 1];
    struct soma_writer text;
    soma_writer_init(&text, FILE_BYTES_MAX);
    char messages[PATH_BYTES];
    (void)snprintf(messages, sizeof(messages), "%s/messages", run.dir);
    if (!run.is_check && mkdir(messages, 0777) != 0 && errno != EEXIST)
        fail(messages);
    render_openapi(&text);
    finish_file(&run, "openapi.json", &text);
    render_reference(&text);
    finish_file(&run, "REFERENCE.md", &text);
    struct message_file file = {.run = &run, .text = &text};
    render_requests(&file);
    render_batch(&file);
    render_answers(&file);
    soma_writer_release(&text);
    if (run.is_check)
        find_strays(&run);
    printf("%u files, %u %s\n", run.written, run.differ, run.is_check ? "differ" : "written anew");
    return run.is_check && run.differ > 0 ? 1 : 0;
}
