/* Cases, steps and expectations. A case stops at its first step that is not as expected: what
 * follows would only repeat it. */
#include "runner.h"

#include "names.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One case while it runs. */
struct run {
    const struct conformance_way *way;
    const char *name;
    cJSON *names; /* an object, one member a name */
};

/* ---- expectations ---- */

static bool matches(const cJSON *expected, const cJSON *actual);

static bool is_near(const cJSON *near, const cJSON *actual)
{
    const cJSON *value = cJSON_GetArrayItem(near, 0);
    const cJSON *tolerance = cJSON_GetArrayItem(near, 1);
    if (!cJSON_IsNumber(value) || !cJSON_IsNumber(tolerance) || !cJSON_IsNumber(actual))
        return false;
    double difference = actual->valuedouble - value->valuedouble;
    return difference <= tolerance->valuedouble && -difference <= tolerance->valuedouble;
}

static bool object_matches(const cJSON *expected, const cJSON *actual)
{
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(expected, "$ne");
    if (other != NULL)
        return actual != NULL && !matches(other, actual);
    const cJSON *near = cJSON_GetObjectItemCaseSensitive(expected, "$near");
    if (near != NULL)
        return is_near(near, actual);
    if (!cJSON_IsObject(actual))
        return false;
    for (const cJSON *item = expected->child; item != NULL; item = item->next) {
        if (!matches(item, cJSON_GetObjectItemCaseSensitive(actual, item->string)))
            return false;
    }
    return true;
}

static bool array_matches(const cJSON *expected, const cJSON *actual)
{
    if (!cJSON_IsArray(actual) || cJSON_GetArraySize(expected) != cJSON_GetArraySize(actual))
        return false;
    const cJSON *item = actual->child;
    for (const cJSON *wanted = expected->child; wanted != NULL; wanted = wanted->next) {
        if (!matches(wanted, item))
            return false;
        item = item->next;
    }
    return true;
}

/* Objects: a subset; arrays: whole; everything else: equal. */
static bool matches(const cJSON *expected, const cJSON *actual)
{
    if (cJSON_IsObject(expected))
        return object_matches(expected, actual);
    if (cJSON_IsArray(expected))
        return array_matches(expected, actual);
    return actual != NULL && cJSON_Compare(expected, actual, 1) != 0;
}

/* ---- steps ---- */

static void complain(const struct run *run, int index, const char *what, const cJSON *step,
                     const cJSON *answer)
{
    char *step_text = cJSON_PrintUnformatted(step);
    char *answer_text = answer == NULL ? NULL : cJSON_PrintUnformatted(answer);
    printf("   %s, step %d: %s\n     step:   %s\n     answer: %s\n", run->name, index, what,
           step_text == NULL ? "" : step_text, answer_text == NULL ? "none" : answer_text);
    cJSON_free(step_text);
    cJSON_free(answer_text);
}

/* Whether the error says what expectError wants of it. */
static bool error_matches(const cJSON *expected, const cJSON *error)
{
    const cJSON *detail = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(error, "details"), 0);
    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(error, "message")) || detail == NULL)
        return false;
    for (const cJSON *item = expected->child; item != NULL; item = item->next) {
        const cJSON *place = strcmp(item->string, "status") == 0 ? error : detail;
        if (!matches(item, cJSON_GetObjectItemCaseSensitive(place, item->string)))
            return false;
    }
    return true;
}

/* Judge the answer to a step, and keep what the step named. */
static bool judge(const struct run *run, int index, const cJSON *step, const cJSON *answer)
{
    const cJSON *expect = cJSON_GetObjectItemCaseSensitive(step, "expect");
    const cJSON *expect_error = cJSON_GetObjectItemCaseSensitive(step, "expectError");
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(answer, "error");
    const char *fault = NULL;
    if (answer == NULL)
        fault = "there is no answer";
    else if (expect_error != NULL && error == NULL)
        fault = "it succeeded, an error was expected";
    else if (expect_error == NULL && error != NULL)
        fault = "it was refused";
    else if (expect_error != NULL && !error_matches(expect_error, error))
        fault = "it was refused in another way";
    if (fault == NULL && expect != NULL) {
        cJSON *wanted = conformance_resolve(run->names, expect);
        if (wanted == NULL)
            fault = "\"expect\" uses a name that is not known";
        else if (!matches(wanted, answer))
            fault = "the answer is another";
        cJSON_Delete(wanted);
    }
    const cJSON *as = cJSON_GetObjectItemCaseSensitive(step, "as");
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(step, "op");
    if (fault == NULL && as != NULL && error == NULL &&
        !conformance_name(run->names, as->valuestring, op->valuestring, answer))
        fault = "the answer has nothing that \"as\" could name";
    if (fault != NULL)
        complain(run, index, fault, step, answer);
    return fault == NULL;
}

/* A copy of the step without what only the runner understands. */
static cJSON *bare_step(const cJSON *step, bool keep_as)
{
    cJSON *copy = cJSON_Duplicate(step, 1);
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "expect");
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "expectError");
    if (!keep_as)
        cJSON_DeleteItemFromObjectCaseSensitive(copy, "as");
    return copy;
}

static bool run_step(const struct run *run, int index, const cJSON *step)
{
    cJSON *bare = bare_step(step, false);
    cJSON *resolved = conformance_resolve(run->names, bare);
    cJSON *answer = NULL;
    bool good = false;
    if (resolved == NULL) {
        complain(run, index, "it uses a name that is not known", step, NULL);
    } else {
        answer = run->way->send(run->way->ctx, resolved);
        good = judge(run, index, step, answer);
    }
    cJSON_Delete(answer);
    cJSON_Delete(resolved);
    cJSON_Delete(bare);
    return good;
}

static bool run_steps(const struct run *run, const cJSON *steps)
{
    int index = 0;
    for (const cJSON *step = steps->child; step != NULL; step = step->next) {
        if (!run_step(run, ++index, step))
            return false;
    }
    return true;
}

/* Every step in one request. */
static bool run_whole(const struct run *run, const cJSON *steps)
{
    cJSON *bare = cJSON_CreateArray();
    for (const cJSON *step = steps->child; step != NULL; step = step->next)
        cJSON_AddItemToArray(bare, bare_step(step, true));
    cJSON *answer = run->way->send_all(run->way->ctx, bare);
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(answer, "results");
    bool good = cJSON_GetArraySize(results) == cJSON_GetArraySize(steps);
    if (!good)
        complain(run, 0, "not as many results as steps", bare, answer);
    int index = 0;
    for (const cJSON *step = steps->child; step != NULL && good; step = step->next, index++)
        good = judge(run, index + 1, step, cJSON_GetArrayItem(results, index));
    cJSON_Delete(answer);
    cJSON_Delete(bare);
    return good;
}

/* ---- cases ---- */

static bool run_once(const struct conformance_way *way, const cJSON *json, bool whole)
{
    struct run run = {way, cJSON_GetObjectItemCaseSensitive(json, "name")->valuestring,
                      cJSON_CreateObject()};
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(json, "steps");
    bool good = way->begin(way->ctx, cJSON_GetObjectItemCaseSensitive(json, "session"));
    if (good)
        good = whole ? run_whole(&run, steps) : run_steps(&run, steps);
    way->end(way->ctx);
    cJSON_Delete(run.names);
    return good;
}

static void count(struct conformance_counts *counts, const char *name, const char *form, bool good)
{
    printf("%s %s%s\n", good ? "passed " : "FAILED ", name, form);
    if (good)
        counts->passed++;
    else
        counts->failed++;
}

static bool is_skipped(const struct conformance_way *way, const cJSON *steps, const char *skip)
{
    for (const cJSON *step = steps->child; step != NULL; step = step->next) {
        const char *op = cJSON_GetObjectItemCaseSensitive(step, "op")->valuestring;
        if (skip != NULL && strncmp(op, skip, strlen(skip)) == 0)
            return true;
        if (way->can != NULL && !way->can(way->ctx, op))
            return true;
    }
    return false;
}

static void run_case(const struct conformance_way *way, const cJSON *json, const char *skip,
                     struct conformance_counts *counts)
{
    const char *name = cJSON_GetObjectItemCaseSensitive(json, "name")->valuestring;
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(json, "steps");
    if (is_skipped(way, steps, skip)) {
        printf("skipped %s\n", name);
        counts->skipped++;
        return;
    }
    count(counts, name, "", run_once(way, json, false));
    if (way->send_all != NULL && !conformance_has_add(steps))
        count(counts, name, " (one request)", run_once(way, json, true));
}

/* ---- files ---- */

static cJSON *load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t len = 0;
    cJSON *json = NULL;
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        text = size < 0 ? NULL : malloc((size_t)size + 1);
        len = text == NULL ? 0 : fread(text, 1, (size_t)size, file);
    }
    (void)fclose(file);
    if (text != NULL)
        json = cJSON_ParseWithLength(text, len);
    free(text);
    return json;
}

/* Whether the runner can rely on the form of the file. */
static bool is_case(const cJSON *json)
{
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(json, "steps");
    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(json, "name")) ||
        !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(json, "session")) ||
        !cJSON_IsArray(steps) || steps->child == NULL)
        return false;
    for (const cJSON *step = steps->child; step != NULL; step = step->next) {
        const cJSON *as = cJSON_GetObjectItemCaseSensitive(step, "as");
        if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(step, "op")) ||
            (as != NULL && !cJSON_IsString(as)))
            return false;
    }
    return true;
}

bool conformance_run(const struct conformance_way *way, const char *dir, const char *skip,
                     struct conformance_counts *counts)
{
    char pattern[4096];
    glob_t found;
    (void)snprintf(pattern, sizeof(pattern), "%s/*.json", dir);
    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "%s: no cases\n", dir);
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < found.gl_pathc && good; i++) {
        cJSON *json = load(found.gl_pathv[i]);
        good = is_case(json);
        if (good)
            run_case(way, json, skip, counts);
        else
            fprintf(stderr, "%s is no conformance case\n", found.gl_pathv[i]);
        cJSON_Delete(json);
    }
    globfree(&found);
    return good;
}
