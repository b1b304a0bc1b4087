/* The service's kernels and SoC, remembered for the session. */
#include "catalog.h"

#include "call.h"
#include "error.h"
#include "session.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts of a row that the service told of. */
struct texts {
    char name[SOMA_NAME_BYTES_MAX + 1];
    char library[SOMA_NAME_BYTES_MAX + 1];
    char parameters[SOMA_KERNEL_PARAMETERS_MAX][SOMA_NAME_BYTES_MAX + 1];
};

/* In the order of the service, built-in kernels first. */
struct list {
    struct soma_kernel_row *rows;
    struct texts **texts; /* one per row; NULL: it is a row of soma_kernel_rows_built_in */
    size_t count, capacity;
};

static struct list known; /* under the tables' lock */

static void release(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->texts[i]);
    free(list->rows);
    free((void *)list->texts);
    *list = (struct list){NULL, NULL, 0, 0};
}

/* ---- reading ---- */

static bool copy_text(const cJSON *object, const char *key, char text[SOMA_NAME_BYTES_MAX + 1])
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsString(item) || strlen(item->valuestring) > SOMA_NAME_BYTES_MAX)
        return false;
    (void)snprintf(text, SOMA_NAME_BYTES_MAX + 1, "%s", item->valuestring);
    return true;
}

static uint64_t read_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 ? (uint64_t)item->valuedouble : 0;
}

static bool read_parameter(const cJSON *object, struct soma_kernel_row_parameter *parameter,
                           char text[SOMA_NAME_BYTES_MAX + 1])
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(object, "type");
    *parameter = (struct soma_kernel_row_parameter){
        .name = text, .help = "", .unit_ps = read_number(object, "psPerUnit")};
    return copy_text(object, "name", text) && cJSON_IsString(type) &&
           soma_arg_kind_of(type->valuestring, &parameter->kind) &&
           parameter->kind != SOMA_ARG_BYTES;
}

static bool read_row(const cJSON *object, struct soma_kernel_row *row, struct texts *texts)
{
    const cJSON *parameter;
    *row = (struct soma_kernel_row){.name = texts->name,
                                    .library = texts->library,
                                    .help = "",
                                    .cost = "",
                                    .fixed_ns = read_number(object, "fixedNs"),
                                    .block_ns = read_number(object, "nsPerBlock")};
    if (!copy_text(object, "name", texts->name) || !copy_text(object, "library", texts->library))
        return false;
    cJSON_ArrayForEach(parameter, cJSON_GetObjectItemCaseSensitive(object, "parameters"))
    {
        size_t i = row->parameter_count++;
        if (i >= SOMA_KERNEL_PARAMETERS_MAX ||
            !read_parameter(parameter, &row->parameters[i], texts->parameters[i]))
            return false;
    }
    row->required = row->parameter_count;
    return true;
}

static void add_library_kernel(struct list *list, const cJSON *object)
{
    struct texts *texts = malloc(sizeof(*texts));
    if (texts != NULL && read_row(object, &list->rows[list->count], texts))
        list->texts[list->count++] = texts;
    else
        free(texts);
}

/* The service and this library have the same built-in kernels, if they are of one release; what
 * they cost stands in the table that both link. */
static void add_built_in(struct list *list)
{
    size_t count;
    const struct soma_kernel_row *rows = soma_kernel_rows_built_in(&count);
    for (size_t i = 0; i < count; i++) {
        list->rows[list->count] = rows[i];
        list->texts[list->count++] = NULL;
    }
}

static void read_list(struct list *list, const cJSON *kernels)
{
    const cJSON *object;
    add_built_in(list);
    cJSON_ArrayForEach(object, kernels)
    {
        const cJSON *origin = cJSON_GetObjectItemCaseSensitive(object, "origin");
        if (list->count < list->capacity && cJSON_IsString(origin) &&
            strcmp(origin->valuestring, "FILE") == 0)
            add_library_kernel(list, object);
    }
}

static aclError fetch(struct list *list)
{
    cJSON *root = NULL;
    size_t built_in;
    aclError error = client_get("/v1/kernels", &root);
    if (error != ACL_SUCCESS)
        return error;
    const cJSON *kernels = cJSON_GetObjectItemCaseSensitive(root, "kernels");
    (void)soma_kernel_rows_built_in(&built_in);
    *list = (struct list){.capacity = built_in + (size_t)cJSON_GetArraySize(kernels)};
    list->rows = calloc(list->capacity, sizeof(*list->rows));
    list->texts = calloc(list->capacity, sizeof(*list->texts));
    if (list->rows != NULL && list->texts != NULL) {
        read_list(list, kernels);
    } else {
        release(list);
        error = client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the list of kernels");
    }
    cJSON_Delete(root);
    return error;
}

/* ---- looking up ---- */

/* Under the lock: that of the library, else the first one of the name; NULL: none. */
static const struct soma_kernel_row *find_locked(const char *library, const char *name)
{
    const struct soma_kernel_row *first = NULL;
    for (size_t i = 0; i < known.count; i++) {
        const struct soma_kernel_row *row = &known.rows[i];
        if (strcmp(row->name, name) != 0)
            continue;
        if (row->library != NULL && strcmp(row->library, library) == 0)
            return row;
        first = first == NULL ? row : first;
    }
    return first;
}

static bool look_up(const char *library, const char *name, struct client_kernel *kernel)
{
    client_tables_lock();
    const struct soma_kernel_row *row = find_locked(library, name);
    if (row != NULL) {
        memset(kernel, 0, sizeof(*kernel));
        (void)snprintf(kernel->name, sizeof(kernel->name), "%s", row->name);
        if (row->library != NULL)
            (void)snprintf(kernel->library, sizeof(kernel->library), "%s", row->library);
        kernel->required = row->required;
        for (size_t i = 0; i < row->required; i++)
            kernel->size_bytes[i] = (unsigned char)soma_arg_kind_bytes(row->parameters[i].kind);
    }
    client_tables_unlock();
    return row != NULL;
}

static void replace(struct list list)
{
    client_tables_lock();
    struct list old = known;
    known = list;
    client_tables_unlock();
    release(&old);
}

static aclError fail_unknown(const char *name)
{
    char names[512];
    size_t len = 0;
    names[0] = '\0';
    client_tables_lock();
    for (size_t i = 0; i < known.count && len < sizeof(names); i++) {
        const char *library = known.rows[i].library;
        if (i == 0 || strcmp(known.rows[i].name, known.rows[i - 1].name) != 0)
            len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s%s%s", i > 0 ? ", " : "",
                                    library != NULL ? library : "", library != NULL ? "/" : "",
                                    known.rows[i].name);
    }
    client_tables_unlock();
    return client_fail(ACL_ERROR_KERNEL_NOT_FOUND,
                       "the server has no kernel \"%.64s\"; it has %s; somad --kernel-dir loads "
                       "others",
                       name, names);
}

aclError client_kernel_find(const char *library, const char *name, struct client_kernel *kernel)
{
    struct list fresh;
    if (look_up(library, name, kernel))
        return ACL_SUCCESS;
    aclError error = fetch(&fresh);
    if (error != ACL_SUCCESS)
        return error;
    replace(fresh);
    return look_up(library, name, kernel) ? ACL_SUCCESS : fail_unknown(name);
}

enum soma_status client_kernel_foresee(const struct soma_command *command,
                                       struct soma_kernel_call *call, uint64_t *cost_ns,
                                       struct soma_error *error)
{
    client_tables_lock();
    enum soma_status status = soma_kernel_read(known.rows, known.count, command, call, error);
    if (status == SOMA_OK)
        *cost_ns = soma_kernel_cost_ns(call);
    client_tables_unlock();
    return status;
}

size_t client_kernel_pointers(const struct soma_command *command,
                              size_t offsets[SOMA_KERNEL_PARAMETERS_MAX])
{
    struct soma_kernel_call call = {.row = NULL};
    size_t count = 0, at = 0;
    client_tables_lock();
    if (soma_kernel_read(known.rows, known.count, command, &call, NULL) != SOMA_OK)
        call.value_count = 0;
    for (size_t i = 0; i < call.value_count; i++) {
        enum soma_arg_kind kind = call.row->parameters[i].kind;
        size_t size = soma_arg_kind_bytes(kind);
        at = (at + size - 1) / size * size;
        if (kind == SOMA_ARG_PTR)
            offsets[count++] = at;
        at += size;
    }
    client_tables_unlock();
    return count;
}

void client_catalog_forget(void)
{
    replace((struct list){NULL, NULL, 0, 0});
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
