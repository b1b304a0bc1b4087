/* Names are kept as the JSON values that the answers had: numbers for ids, "0x..." for addresses.
 */
#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool conformance_name(cJSON *names, const char *name, const char *op, const cJSON *answer)
{
    static const char *const created[][2] = {
        {"stream.create", "stream"},
        {"event.create", "event"},
        {"notify.create", "notify"},
        {"stream.launchHostFunc", "hostFunc"},
        {"pool.create", "pool"},
        {"pool.malloc", "ptr"},
        {"memory.malloc", "ptr"},
        {"memory.mallocManaged", "ptr"},
        {"memory.reserveAddress", "ptr"},
        {"memory.mallocPhysical", "physical"},
        {"memory.retainPhysical", "physical"},
        {"pipe.create", "pipe"},
        {"pipe.createTQue", "tque"},
        {"pipe.createTBuf", "tbuf"},
        {"pipe.createTBufPool", "tbufpool"},
        {"pipe.allocTensor", "tensor"},
        {"pipe.deQue", "tensor"},
    };
    for (size_t i = 0; i < sizeof(created) / sizeof(created[0]); i++) {
        if (strcmp(created[i][0], op) != 0)
            continue;
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(answer, created[i][1]);
        if (value == NULL)
            return false;
        cJSON_DeleteItemFromObjectCaseSensitive(names, name);
        return cJSON_AddItemToObject(names, name, cJSON_Duplicate(value, 1)) != 0;
    }
    return false;
}

/* {"$add":["$x",n]} as an address. */
static cJSON *resolve_sum(const cJSON *names, const cJSON *terms)
{
    char text[32];
    cJSON *base = conformance_resolve(names, cJSON_GetArrayItem(terms, 0));
    const cJSON *offset = cJSON_GetArrayItem(terms, 1);
    if (!cJSON_IsString(base) || !cJSON_IsNumber(offset)) {
        cJSON_Delete(base);
        return NULL;
    }
    uint64_t address = strtoull(base->valuestring, NULL, 0);
    cJSON_Delete(base);
    (void)snprintf(text, sizeof(text), "0x%" PRIx64,
                   address + (uint64_t)(int64_t)offset->valuedouble);
    return cJSON_CreateString(text);
}

static cJSON *resolve_children(const cJSON *names, const cJSON *value)
{
    cJSON *copy = cJSON_IsArray(value) ? cJSON_CreateArray() : cJSON_CreateObject();
    for (const cJSON *child = value->child; child != NULL; child = child->next) {
        cJSON *resolved = conformance_resolve(names, child);
        if (resolved == NULL) {
            cJSON_Delete(copy);
            return NULL;
        }
        if (child->string == NULL)
            cJSON_AddItemToArray(copy, resolved);
        else
            cJSON_AddItemToObject(copy, child->string, resolved);
    }
    return copy;
}

cJSON *conformance_resolve(const cJSON *names, const cJSON *value)
{
    if (cJSON_IsString(value) && value->valuestring[0] == '$')
        return cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(names, value->valuestring + 1), 1);
    if (!cJSON_IsObject(value) && !cJSON_IsArray(value))
        return cJSON_Duplicate(value, 1);
    const cJSON *terms = cJSON_GetObjectItemCaseSensitive(value, "$add");
    return terms != NULL ? resolve_sum(names, terms) : resolve_children(names, value);
}

bool conformance_has_add(const cJSON *value)
{
    for (const cJSON *child = value->child; child != NULL; child = child->next) {
        if ((child->string != NULL && strcmp(child->string, "$add") == 0) ||
            conformance_has_add(child))
            return true;
    }
    return false;
}
