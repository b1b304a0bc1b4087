/* conformance_client DIR [--somad PATH]: run the conformance cases through the C client.
 *
 * Each step becomes the ACL call that does the same. ACL tells less than the service, so first a
 * copy of the cases is made in which each step only expects what its call tells (told_fields); the
 * rest of the answers is covered by the other ways. stream.delay, which ACL does not have, goes
 * through the client's own seam. Steps of on-chip memory become calls of soma/tpipe.h, which tell
 * all that the service tells. Exit code 0 only when at least one case ran and none failed. */
#include "runner.h"

#include "acl_steps.h"
#include "raw_steps.h"
#include "vary_batches.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned dropped; /* expectations that the client cannot tell about */

/* ---- copies of the cases ---- */

/* Fields of the answer that the ACL call of an op tells; others tell nothing but success. */
static const struct {
    const char *op;
    const char *fields[9];
} told_fields[] = {
    {"pool.malloc", {"ptr"}},
    {"pool.getAttributes",
     {"reuseFollowEventDependencies", "reuseAllowOpportunistic", "reuseAllowInternalDependencies",
      "releaseThreshold", "reservedMemCurrent", "reservedMemHigh", "usedMemCurrent",
      "usedMemHigh"}},
    {"pool.getAttribute", {"value"}},
    {"pool.trimTo", {"reservedMemCurrent"}},
    {"memory.read", {"base64"}},
    {"memory.info", {"freeBytes", "totalBytes"}},
    {"memory.malloc", {"ptr"}},
    {"event.get", {"status"}},
    {"event.elapsed", {"elapsedMs"}},
    {"stream.get", {"stream", "status"}},
    {"stream.create", {"stream"}},
    {"event.create", {"event"}},
};

static bool is_told(const char *op, const char *field)
{
    if (strncmp(op, "pipe.", 5) == 0 || raw_steps_can(op))
        return true;
    for (size_t i = 0; i < sizeof(told_fields) / sizeof(told_fields[0]); i++) {
        for (size_t f = 0; f < 9 && told_fields[i].fields[f] != NULL; f++) {
            if (strcmp(told_fields[i].op, op) == 0 && strcmp(told_fields[i].fields[f], field) == 0)
                return true;
        }
    }
    return false;
}

static void drop_untold(cJSON *step)
{
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(step, "op");
    cJSON *expect = cJSON_GetObjectItemCaseSensitive(step, "expect");
    cJSON *field = expect != NULL ? expect->child : NULL;
    while (field != NULL) {
        cJSON *next = field->next;
        if (!is_told(op->valuestring, field->string)) {
            cJSON_Delete(cJSON_DetachItemViaPointer(expect, field));
            dropped++;
        }
        field = next;
    }
}

static cJSON *load(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    size_t len = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    return cJSON_ParseWithLength(text, len);
}

static bool copy_case(const char *from, const char *to)
{
    cJSON *json = load(from);
    cJSON *step;
    cJSON_ArrayForEach(step, cJSON_GetObjectItemCaseSensitive(json, "steps")) drop_untold(step);
    char *text = json != NULL ? cJSON_PrintUnformatted(json) : NULL;
    FILE *file = text != NULL ? fopen(to, "we") : NULL;
    bool good = file != NULL && fputs(text, file) >= 0;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    cJSON_free(text);
    cJSON_Delete(json);
    return good;
}

/* Copy all *.json of a directory, or remove the copies. */
static bool for_each_case(const char *dir, const char *copies, bool remove)
{
    DIR *open = opendir(dir);
    bool good = open != NULL;
    for (struct dirent *item = good ? readdir(open) : NULL; item != NULL && good;
         item = readdir(open)) {
        char from[1024], to[1024];
        size_t len = strlen(item->d_name);
        if (len < 5 || strcmp(item->d_name + len - 5, ".json") != 0)
            continue;
        (void)snprintf(from, sizeof(from), "%.500s/%.500s", dir, item->d_name);
        (void)snprintf(to, sizeof(to), "%.500s/%.500s", copies, item->d_name);
        good = remove ? unlink(to) == 0 : copy_case(from, to);
    }
    if (open != NULL)
        (void)closedir(open);
    return good;
}

/* ---- the way ---- */

static void set_number(const char *name, const cJSON *value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%.0f", cJSON_IsNumber(value) ? value->valuedouble : 0);
    if (cJSON_IsNumber(value))
        (void)setenv(name, text, 1);
    else
        (void)unsetenv(name);
}

static bool way_begin(void *ctx, const cJSON *session)
{
    (void)ctx;
    const cJSON *soc = cJSON_GetObjectItemCaseSensitive(session, "soc");
    set_number("SOMA_DEVICES", cJSON_GetObjectItemCaseSensitive(session, "devices"));
    if (cJSON_IsString(soc))
        (void)setenv("SOMA_SOC", soc->valuestring, 1);
    else
        (void)unsetenv("SOMA_SOC");
    if (aclInit(NULL) == ACL_SUCCESS && acl_steps_begin())
        return true;
    const char *text = aclGetRecentErrMsg();
    printf("the client could not begin: %s\n", text != NULL ? text : "no text");
    return false;
}

static void way_end(void *ctx)
{
    (void)ctx;
    acl_steps_end();
    (void)aclFinalize();
}

static cJSON *way_send(void *ctx, const cJSON *step)
{
    (void)ctx;
    vary_batches();
    return acl_steps_run(step);
}

static bool way_can(void *ctx, const char *op)
{
    (void)ctx;
    return acl_steps_can(op);
}

int main(int argc, char **argv)
{
    static const struct conformance_way way = {
        .name = "client", .begin = way_begin, .send = way_send, .can = way_can, .end = way_end};
    struct conformance_counts counts = {0, 0, 0};
    char copies[] = "/tmp/soma-conformance-XXXXXX";
    if ((argc != 2 && argc != 4) || (argc == 4 && strcmp(argv[2], "--somad") != 0)) {
        fprintf(stderr, "usage: conformance_client DIR [--somad PATH]\n");
        return 2;
    }
    if (argc == 4)
        (void)setenv("SOMA_SOMAD", argv[3], 1);
    (void)setenv("SOMA_QUIET", "1", 1);
    if (mkdtemp(copies) == NULL) {
        fprintf(stderr, "%s: %s\n", copies, strerror(errno));
        return 1;
    }
    bool good =
        for_each_case(argv[1], copies, false) && conformance_run(&way, copies, NULL, &counts);
    (void)for_each_case(copies, copies, true);
    (void)rmdir(copies);
    printf("%u expectations are about what ACL does not tell\n", dropped);
    if (counts.skipped > 0)
        printf("%u skipped\n", counts.skipped);
    printf("%u passed, %u failed\n", counts.passed, counts.failed);
    return good && counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}
