/* The service's kernels and SoC, remembered for the session. */
#include "catalog.h"

#include "call.h"
#include "error.h"
#include "session.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct client_kernel *items;
    size_t count;
};

static struct list known; /* under the tables' lock */

/* Bytes of an argument by the key that launchKernel's args have for it. */
static unsigned char type_size(const char *type)
{
    static const struct {
        const char *type;
        unsigned char size_bytes;
    } sizes[] = {{"u8", 1},  {"u16", 2}, {"f16", 2}, {"u32", 4},
                 {"i32", 4}, {"f32", 4}, {"u64", 8}, {"i64", 8}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (strcmp(sizes[i].type, type) == 0)
            return sizes[i].size_bytes;
    }
    return 8; /* ptr, f64 */
}

static bool read_kernel(const cJSON *object, struct client_kernel *kernel)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(object, "name");
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(object, "parameters");
    const cJSON *parameter;
    if (!cJSON_IsString(name) || strlen(name->valuestring) >= sizeof(kernel->name))
        return false;
    memset(kernel, 0, sizeof(*kernel));
    (void)snprintf(kernel->name, sizeof(kernel->name), "%s", name->valuestring);
    cJSON_ArrayForEach(parameter, parameters)
    {
        const cJSON *type = cJSON_GetObjectItemCaseSensitive(parameter, "type");
        const cJSON *required = cJSON_GetObjectItemCaseSensitive(parameter, "required");
        if (cJSON_IsString(type) && !cJSON_IsFalse(required) &&
            kernel->required < SOMA_KERNEL_ARGS_MAX)
            kernel->size_bytes[kernel->required++] = type_size(type->valuestring);
    }
    return true;
}

static aclError fetch(struct list *list)
{
    cJSON *root = NULL;
    const cJSON *object;
    aclError error = client_get("/v1/kernels", &root);
    if (error != ACL_SUCCESS)
        return error;
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(root, "kernels");
    int count = cJSON_GetArraySize(kernels);
    *list = (struct list){calloc(count > 0 ? (size_t)count : 1, sizeof(*list->items)), 0};
    if (list->items == NULL)
        error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the list of kernels");
    else
        cJSON_ArrayForEach(object, kernels)
        {
            if (read_kernel(object, &list->items[list->count]))
                list->count++;
        }
    cJSON_Delete(root);
    return error;
}

static bool look_up(const char *name, struct client_kernel *kernel)
{
    bool found = false;
    client_tables_lock();
    for (size_t i = 0; i < known.count && !found; i++) {
        found = strcmp(known.items[i].name, name) == 0;
        if (found)
            *kernel = known.items[i];
    }
    client_tables_unlock();
    return found;
}

static void replace(struct list list)
{
    client_tables_lock();
    struct list old = known;
    known = list;
    client_tables_unlock();
    free(old.items);
}

static aclError fail_unknown(const char *name)
{
    char names[512];
    size_t len = 0;
    names[0] = '\0';
    client_tables_lock();
    for (size_t i = 0; i < known.count && len < sizeof(names); i++)
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i > 0 ? ", " : "",
                                known.items[i].name);
    client_tables_unlock();
    return client_fail(
        ACL_ERROR_KERNEL_NOT_FOUND,
        "the server has no kernel \"%.64s\"; it has %s; kernels of your own are not supported yet",
        name, names);
}

aclError client_kernel_find(const char *name, struct client_kernel *kernel)
{
    struct list fresh;
    if (look_up(name, kernel))
        return ACL_SUCCESS;
    aclError error = fetch(&fresh);
    if (error != ACL_SUCCESS)
        return error;
    replace(fresh);
    return look_up(name, kernel) ? ACL_SUCCESS : fail_unknown(name);
}

void client_catalog_forget(void)
{
    replace((struct list){NULL, 0});
}

/* The service is asked only for a SoC that this library does not know: a request beside the
 * pipeline would move the session's clock unseen, and without a known SoC there is no pipeline.
 * Each thread has its own copy, so that the answer stays readable. */
const char *client_soc_name(void)
{
    static _Thread_local char name[SOMA_NAME_BYTES_MAX + 1];
    struct client_session *session = NULL;
    cJSON *root = NULL;
    if (client_session_get(&session) != ACL_SUCCESS)
        return NULL;
    const struct soma_soc *soc_of_table = session->soc;
    client_session_release(session);
    if (soc_of_table != NULL)
        return soc_of_table->name;
    if (client_get("/v1/devices/0", &root) != ACL_SUCCESS)
        return NULL;
    const cJSON *soc = cJSON_GetObjectItemCaseSensitive(root, "soc");
    (void)snprintf(name, sizeof(name), "%s", cJSON_IsString(soc) ? soc->valuestring : "");
    cJSON_Delete(root);
    return name;
}
