/* Callbacks of start and end, and of the states of devices and streams. */
#include "acl_callbacks.h"

#include "error.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 128u /* of a registration, its NUL included */

enum callback_kind { INIT, FINALIZE, DEVICE_STATE, STREAM_STATE, TASK_ABORT };

union function {
    aclInitCallbackFunc init;
    aclFinalizeCallbackFunc finalize;
    aclrtDeviceStateCallback device_state;
    aclrtStreamStateCallback stream_state;
    aclrtDeviceTaskAbortCallback task_abort;
};

struct callback {
    struct callback *next;
    enum callback_kind kind;
    int type;              /* INIT, FINALIZE: aclRegisterCallbackType */
    char name[NAME_BYTES]; /* the others */
    union function function;
    void *args;
};

static struct callback *callbacks; /* in order of registration; under the tables' lock */

/* The link to the first callback like this one; its target is NULL when there is none. */
static struct callback **find_locked(const struct callback *like)
{
    struct callback **link = &callbacks;
    while (*link != NULL && ((*link)->kind != like->kind || (*link)->type != like->type ||
                             strcmp((*link)->name, like->name) != 0))
        link = &(*link)->next;
    return link;
}

/* Add a copy unless there is one like it (is_unique). false: there is. */
static aclError add(const struct callback *callback, bool is_unique, bool *is_added)
{
    struct callback *fresh = malloc(sizeof(*fresh));
    if (fresh == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a callback");
    *fresh = *callback;
    fresh->next = NULL;
    client_tables_lock();
    *is_added = !is_unique || *find_locked(callback) == NULL;
    struct callback **link = &callbacks;
    while (*link != NULL)
        link = &(*link)->next;
    if (*is_added)
        *link = fresh;
    client_tables_unlock();
    if (!*is_added)
        free(fresh);
    return ACL_SUCCESS;
}

/* Copies of all callbacks of a kind and type, to call without the lock; free them. */
static struct callback *copies_of(enum callback_kind kind, int type, size_t *count)
{
    size_t all = 0;
    client_tables_lock();
    for (const struct callback *at = callbacks; at != NULL; at = at->next)
        all++;
    struct callback *copies = all > 0 ? malloc(all * sizeof(*copies)) : NULL;
    *count = 0;
    for (const struct callback *at = callbacks; at != NULL && copies != NULL; at = at->next) {
        if (at->kind == kind && at->type == type)
            copies[(*count)++] = *at;
    }
    client_tables_unlock();
    return copies;
}

/* ---- start and end ---- */

static aclError add_typed(struct callback *callback, bool is_null)
{
    bool is_added = false;
    if (is_null)
        return client_fail_null("cbFunc");
    aclError error = add(callback, callback->type != ACL_REG_TYPE_OTHER, &is_added);
    if (error != ACL_SUCCESS || is_added)
        return error;
    return client_fail(ACL_ERROR_INTERNAL_ERROR,
                       "type %d has a callback: only ACL_REG_TYPE_OTHER can have several",
                       callback->type);
}

static bool same_function(const struct callback *a, const struct callback *b)
{
    return a->kind == INIT ? a->function.init == b->function.init
                           : a->function.finalize == b->function.finalize;
}

static aclError remove_typed(const struct callback *callback, bool is_null)
{
    if (is_null)
        return client_fail_null("cbFunc");
    client_tables_lock();
    struct callback **link = &callbacks;
    while (*link != NULL && ((*link)->kind != callback->kind || (*link)->type != callback->type ||
                             !same_function(*link, callback)))
        link = &(*link)->next;
    struct callback *gone = *link;
    if (gone != NULL)
        *link = gone->next;
    client_tables_unlock();
    free(gone);
    return gone != NULL
               ? ACL_SUCCESS
               : client_fail(ACL_ERROR_INTERNAL_ERROR,
                             "type %d has no such callback: it was never registered, or undone",
                             callback->type);
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                 void *userData)
{
    client_begin("aclInitCallbackRegister");
    struct callback callback = {
        .kind = INIT, .type = (int)type, .function = {.init = cbFunc}, .args = userData};
    aclError error = add_typed(&callback, cbFunc == NULL);
    if (error == ACL_SUCCESS && acl_is_initialized()) {
        const char *config = acl_config_text();
        (void)cbFunc(config, strlen(config), userData);
    }
    return error;
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc)
{
    client_begin("aclInitCallbackUnRegister");
    const struct callback callback = {
        .kind = INIT, .type = (int)type, .function = {.init = cbFunc}};
    return remove_typed(&callback, cbFunc == NULL);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void *userData)
{
    client_begin("aclFinalizeCallbackRegister");
    struct callback callback = {
        .kind = FINALIZE, .type = (int)type, .function = {.finalize = cbFunc}, .args = userData};
    return add_typed(&callback, cbFunc == NULL);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc)
{
    client_begin("aclFinalizeCallbackUnRegister");
    const struct callback callback = {
        .kind = FINALIZE, .type = (int)type, .function = {.finalize = cbFunc}};
    return remove_typed(&callback, cbFunc == NULL);
}

static aclError fail_callback(const char *call, aclError number)
{
    client_begin(call);
    return client_fail(number, "a callback of the program answered %d", number);
}

/* CANN calls callbacks of these types only, in this order. */
aclError acl_call_init(const char *config, bool has_path)
{
    static const int types[] = {ACL_REG_TYPE_ACL_MODEL, ACL_REG_TYPE_ACL_OP_EXECUTOR,
                                ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER};
    aclError error = ACL_SUCCESS;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && error == ACL_SUCCESS; i++) {
        size_t count = 0;
        if (types[i] == ACL_REG_TYPE_ACL_OP_EXECUTOR && !has_path)
            continue;
        struct callback *copies = copies_of(INIT, types[i], &count);
        for (size_t k = 0; k < count && error == ACL_SUCCESS; k++)
            error = copies[k].function.init(config, strlen(config), copies[k].args);
        free(copies);
    }
    return error == ACL_SUCCESS ? error : fail_callback("aclInit", error);
}

aclError acl_call_finalize(void)
{
    static const int types[] = {ACL_REG_TYPE_ACL_OP_COMPILER, ACL_REG_TYPE_ACL_MODEL,
                                ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER};
    aclError error = ACL_SUCCESS;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && error == ACL_SUCCESS; i++) {
        size_t count = 0;
        struct callback *copies = copies_of(FINALIZE, types[i], &count);
        for (size_t k = 0; k < count && error == ACL_SUCCESS; k++)
            error = copies[k].function.finalize(copies[k].args);
        free(copies);
    }
    return error == ACL_SUCCESS ? error : fail_callback("aclFinalize", error);
}

/* ---- states ---- */

static aclError register_named(struct callback *callback, const char *name, bool is_null)
{
    bool is_added = false;
    if (name == NULL)
        return client_fail_null("regName");
    if (strlen(name) >= NAME_BYTES)
        return client_fail(ACL_ERROR_RT_PARAM_INVALID, "regName has over %u bytes", NAME_BYTES - 1);
    memcpy(callback->name, name, strlen(name) + 1);
    if (is_null) {
        client_tables_lock();
        struct callback **link = find_locked(callback);
        struct callback *gone = *link;
        if (gone != NULL)
            *link = gone->next;
        client_tables_unlock();
        free(gone);
        return ACL_SUCCESS;
    }
    aclError error = add(callback, true, &is_added);
    if (error != ACL_SUCCESS || is_added)
        return error;
    return client_fail(ACL_ERROR_RT_PARAM_INVALID, "\"%s\" has a callback: end it with NULL first",
                       name);
}

aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback,
                                     void *args)
{
    client_begin("aclrtRegDeviceStateCallback");
    struct callback row = {
        .kind = DEVICE_STATE, .function = {.device_state = callback}, .args = args};
    return register_named(&row, regName, callback == NULL);
}

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback,
                                     void *args)
{
    client_begin("aclrtRegStreamStateCallback");
    struct callback row = {
        .kind = STREAM_STATE, .function = {.stream_state = callback}, .args = args};
    return register_named(&row, regName, callback == NULL);
}

aclError aclrtSetDeviceTaskAbortCallback(const char *regName, aclrtDeviceTaskAbortCallback callback,
                                         void *args)
{
    client_begin("aclrtSetDeviceTaskAbortCallback");
    struct callback row = {.kind = TASK_ABORT, .function = {.task_abort = callback}, .args = args};
    return register_named(&row, regName, callback == NULL);
}

/* A callback may call ACL functions: the name of the call that caused it comes back. */
void acl_call_device_state(uint32_t device, aclrtDeviceState state)
{
    const char *call = client_call_name();
    size_t count = 0;
    struct callback *copies = copies_of(DEVICE_STATE, 0, &count);
    for (size_t i = 0; i < count; i++)
        copies[i].function.device_state((int32_t)device, state, copies[i].args);
    free(copies);
    client_begin(call);
}

void acl_call_stream_state(aclrtStream stream, aclrtStreamState state)
{
    const char *call = client_call_name();
    size_t count = 0;
    struct callback *copies = copies_of(STREAM_STATE, 0, &count);
    for (size_t i = 0; i < count; i++)
        copies[i].function.stream_state(stream, state, copies[i].args);
    free(copies);
    client_begin(call);
}

/* What a callback answers does not stop the abort. */
void acl_call_task_abort(uint32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout)
{
    const char *call = client_call_name();
    size_t count = 0;
    struct callback *copies = copies_of(TASK_ABORT, 0, &count);
    for (size_t i = 0; i < count; i++)
        (void)copies[i].function.task_abort((int32_t)device, stage, timeout, copies[i].args);
    free(copies);
    client_begin(call);
}
