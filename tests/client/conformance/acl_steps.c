/* Each op by the ACL call that does the same. Ids of streams and events are the service's; pools,
 * whose ids ACL does not tell, are counted here. */
#include "acl_steps.h"

#include "call.h"
#include "pipe_steps.h"
#include "raw_steps.h"
#include "wire.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 1024, READ_BYTES_MAX = 16 << 20 };

/* Handles by their ids; NULL: there was none. A destroyed one stays: using it must be an error. */
static void *streams[OBJECTS_MAX], *events[OBJECTS_MAX], *pools[OBJECTS_MAX];
static unsigned pool_count;

bool acl_steps_begin(void)
{
    memset(streams, 0, sizeof(streams));
    memset(events, 0, sizeof(events));
    memset(pools, 0, sizeof(pools));
    pool_count = 0;
    return aclrtSetDevice(0) == ACL_SUCCESS;
}

void acl_steps_end(void)
{
}

/* ---- fields of a step ---- */

static const cJSON *field(const cJSON *step, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(step, name);
}

/* A number, a decimal or hexadecimal string, or a byte count with a unit. */
static uint64_t number(const cJSON *step, const char *name, uint64_t fallback)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    const cJSON *value = field(step, name);
    char *end;
    if (cJSON_IsNumber(value))
        return (uint64_t)(int64_t)value->valuedouble;
    if (!cJSON_IsString(value))
        return fallback;
    uint64_t whole = strtoull(value->valuestring, &end, 0);
    for (unsigned i = 0; i < 5; i++) {
        if (strcmp(end, units[i]) == 0)
            return whole << (10 * i);
    }
    return fallback;
}

static void *address(const cJSON *step, const char *name)
{
    return (void *)(uintptr_t)number(step, name, 0);
}

static void *handle(void *const *handles, uint64_t id)
{
    static const char nothing;
    bool is_known = id < OBJECTS_MAX && handles[id] != NULL;
    return is_known ? handles[id] : (void *)(uintptr_t)&nothing; /* no handle, but not NULL */
}

/* Stream 0, or none: the default stream. */
static aclrtStream stream_of(const cJSON *step)
{
    aclrtStream stream = NULL;
    uint64_t id = number(step, "stream", 0);
    if (id != 0)
        return handle(streams, id);
    (void)aclrtCtxGetCurrentDefaultStream(&stream);
    return stream;
}

static aclrtEvent event_of(const cJSON *step, const char *name)
{
    return handle(events, number(step, name, 0));
}

static aclrtMemPool pool_of(const cJSON *step)
{
    return handle(pools, number(step, "pool", 0));
}

static int word(enum soma_enum_group group, const cJSON *value, int fallback)
{
    int number_of_word = fallback;
    if (cJSON_IsString(value) &&
        !soma_value_of(group, value->valuestring, strlen(value->valuestring), &number_of_word))
        return 999; /* an enumerator that ACL does not have either */
    return number_of_word;
}

static void add_number(cJSON *answer, const char *name, uint64_t value)
{
    (void)cJSON_AddNumberToObject(answer, name, (double)value);
}

static void add_address(cJSON *answer, const char *name, const void *value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "0x%" PRIxPTR, (uintptr_t)value);
    (void)cJSON_AddStringToObject(answer, name, text);
}

/* ---- pools ---- */

static aclError pool_create(const cJSON *step, cJSON *answer)
{
    aclrtMemPoolProps props;
    aclrtMemPool pool = NULL;
    const cJSON *location = field(step, "location");
    memset(&props, 0, sizeof(props));
    props.maxSize = number(step, "maxSize", 0);
    props.allocType =
        (aclrtMemAllocationType)word(SOMA_GROUP_alloc_type, field(step, "allocType"), 0);
    props.handleType =
        (aclrtMemHandleType)word(SOMA_GROUP_handle_type, field(step, "handleType"), 0);
    props.location.type = (aclrtMemLocationType)word(
        SOMA_GROUP_location_type, field(location, "type"), ACL_MEM_LOCATION_TYPE_DEVICE);
    props.location.id = (uint32_t)number(location, "id", number(step, "device", 0));
    aclError error = aclrtMemPoolCreate(&pool, &props);
    if (error == ACL_SUCCESS && pool_count + 1 < OBJECTS_MAX) {
        pools[++pool_count] = pool;
        add_number(answer, "pool", pool_count);
    }
    return error;
}

static aclError pool_destroy(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtMemPoolDestroy(pool_of(step));
}

static aclError pool_malloc(const cJSON *step, cJSON *answer)
{
    void *ptr = NULL;
    aclError error =
        aclrtMemPoolMallocAsync(&ptr, number(step, "size", 0), pool_of(step), stream_of(step));
    if (error == ACL_SUCCESS)
        add_address(answer, "ptr", ptr);
    return error;
}

static aclError pool_free(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtMemPoolFreeAsync(address(step, "ptr"), stream_of(step));
}

static aclError get_attribute(aclrtMemPool pool, int attribute, uint64_t *value)
{
    uint32_t narrow = 0;
    bool is_narrow = attribute <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    aclError error = aclrtMemPoolGetAttr(pool, (aclrtMemPoolAttr)attribute,
                                         is_narrow ? (void *)&narrow : (void *)value);
    if (is_narrow)
        *value = narrow;
    return error;
}

static aclError pool_trim(const cJSON *step, cJSON *answer)
{
    uint64_t reserved = 0;
    aclError error = aclrtMemPoolTrimTo(pool_of(step), number(step, "minBytesToKeep", 0));
    if (error == ACL_SUCCESS)
        error = get_attribute(pool_of(step), ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
    add_number(answer, "reservedMemCurrent", reserved);
    return error;
}

static aclError pool_get(const cJSON *step, cJSON *answer)
{
    uint64_t value = 0;
    int attribute = word(SOMA_GROUP_pool_attribute, field(step, "name"), 0);
    aclError error = get_attribute(pool_of(step), attribute, &value);
    add_number(answer, "value", value);
    return error;
}

static aclError pool_get_all(const cJSON *step, cJSON *answer)
{
    aclError error = ACL_SUCCESS;
    for (int attribute = 1; attribute <= 8 && error == ACL_SUCCESS; attribute++) {
        uint64_t value = 0;
        error = get_attribute(pool_of(step), attribute, &value);
        add_number(answer, soma_word_of(SOMA_GROUP_pool_attribute, attribute), value);
    }
    return error;
}

static aclError pool_set(const cJSON *step, cJSON *answer)
{
    (void)answer;
    int attribute = word(SOMA_GROUP_pool_attribute, field(step, "name"), 0);
    uint64_t wide = number(step, "value", 0);
    uint32_t narrow = (uint32_t)wide;
    bool is_narrow = attribute <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    return aclrtMemPoolSetAttr(pool_of(step), (aclrtMemPoolAttr)attribute,
                               is_narrow ? (void *)&narrow : (void *)&wide);
}

/* ---- memory ---- */

static aclError memory_malloc(const cJSON *step, cJSON *answer)
{
    void *ptr = NULL;
    aclError error = aclrtMalloc(&ptr, number(step, "size", 0), ACL_MEM_MALLOC_HUGE_FIRST);
    if (error == ACL_SUCCESS)
        add_address(answer, "ptr", ptr);
    return error;
}

static aclError memory_free(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtFree(address(step, "ptr"));
}

static aclError memory_info(const cJSON *step, cJSON *answer)
{
    (void)step;
    size_t free_bytes = 0, total = 0;
    aclError error = aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total);
    add_number(answer, "freeBytes", free_bytes);
    add_number(answer, "totalBytes", total);
    return error;
}

static aclError copy(const cJSON *step, void *to, const void *from, size_t size)
{
    if (field(step, "stream") == NULL)
        return aclrtMemcpy(to, size, from, size, ACL_MEMCPY_DEFAULT);
    return aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEFAULT, stream_of(step));
}

static aclError memory_copy(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return copy(step, address(step, "dst"), address(step, "src"), number(step, "size", 0));
}

static aclError memory_set(const cJSON *step, cJSON *answer)
{
    (void)answer;
    size_t size = number(step, "size", 0);
    int32_t value = (int32_t)number(step, "value", 0);
    if (field(step, "stream") == NULL)
        return aclrtMemset(address(step, "ptr"), size, value, size);
    return aclrtMemsetAsync(address(step, "ptr"), size, value, size, stream_of(step));
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static size_t from_base64(const char *text, unsigned char *bytes, size_t max)
{
    size_t len = 0;
    uint32_t bits = 0;
    int count = 0;
    for (; base64_digit(*text) >= 0 && len < max; text++) {
        bits = bits << 6 | (uint32_t)base64_digit(*text);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes[len++] = (unsigned char)(bits >> count);
        }
    }
    return len;
}

static aclError memory_write(const cJSON *step, cJSON *answer)
{
    (void)answer;
    static unsigned char bytes[1 << 16];
    const cJSON *text = field(step, "base64");
    size_t len = from_base64(cJSON_IsString(text) ? text->valuestring : "", bytes, sizeof(bytes));
    return copy(step, address(step, "ptr"), bytes, len);
}

static aclError memory_read(const cJSON *step, cJSON *answer)
{
    struct soma_writer writer;
    size_t size = number(step, "size", 0);
    unsigned char *bytes = malloc(size < READ_BYTES_MAX ? size : READ_BYTES_MAX);
    if (bytes == NULL || size > READ_BYTES_MAX) {
        free(bytes);
        return ACL_ERROR_BAD_ALLOC;
    }
    aclError error = copy(step, bytes, address(step, "ptr"), size);
    soma_writer_init(&writer, (size_t)READ_BYTES_MAX * 2);
    if (error == ACL_SUCCESS) {
        soma_writer_base64(&writer, bytes, size);
        cJSON *text = cJSON_ParseWithLength(writer.ptr, writer.len);
        (void)cJSON_AddItemToObject(answer, "base64", text);
    }
    soma_writer_release(&writer);
    free(bytes);
    return error;
}

/* ---- streams and events ---- */

static aclError stream_create(const cJSON *step, cJSON *answer)
{
    aclrtStream stream = NULL;
    int32_t id = 0;
    aclError error = aclrtCreateStreamWithConfig(&stream, (uint32_t)number(step, "priority", 0), 0);
    if (error == ACL_SUCCESS)
        error = aclrtStreamGetId(stream, &id);
    if (error == ACL_SUCCESS && id < OBJECTS_MAX) {
        streams[id] = stream;
        add_number(answer, "stream", (uint64_t)id);
    }
    return error;
}

static aclError stream_destroy(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtDestroyStream(stream_of(step));
}

static aclError stream_get(const cJSON *step, cJSON *answer)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    int32_t id = 0;
    aclError error = aclrtStreamQuery(stream_of(step), &status);
    if (error == ACL_SUCCESS)
        error = aclrtStreamGetId(stream_of(step), &id);
    add_number(answer, "stream", (uint64_t)id);
    (void)cJSON_AddStringToObject(answer, "status",
                                  status == ACL_STREAM_STATUS_COMPLETE ? "COMPLETE" : "NOT_READY");
    return error;
}

static aclError stream_synchronize(const cJSON *step, cJSON *answer)
{
    (void)answer;
    int32_t timeout = (int32_t)(int64_t)number(step, "timeoutMs", UINT64_MAX);
    if (timeout == -1)
        return aclrtSynchronizeStream(stream_of(step));
    return aclrtSynchronizeStreamWithTimeout(stream_of(step), timeout);
}

static aclError stream_wait_event(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtStreamWaitEvent(stream_of(step), event_of(step, "event"));
}

/* Not in ACL: through the seam that ACL's calls use. */
static aclError stream_delay(const cJSON *step, cJSON *answer)
{
    (void)answer;
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_STREAM_DELAY);
    soma_command_set(&command, SOMA_FIELD_device, number(step, "device", 0));
    soma_command_set(&command, SOMA_FIELD_stream, number(step, "stream", 0));
    soma_command_set(&command, SOMA_FIELD_duration_ns, number(step, "durationNs", 0));
    return client_queue(&command);
}

static aclError event_create(const cJSON *step, cJSON *answer)
{
    aclrtEvent event = NULL;
    uint32_t id = 0;
    bool is_ex =
        word(SOMA_GROUP_event_kind, field(step, "kind"), SOMA_EVENT_KIND_EX) == SOMA_EVENT_KIND_EX;
    aclError error = is_ex
                         ? aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)
                         : aclrtCreateEvent(&event);
    if (error == ACL_SUCCESS)
        error = aclrtGetEventId(event, &id);
    if (error == ACL_SUCCESS && id < OBJECTS_MAX) {
        events[id] = event;
        add_number(answer, "event", id);
    }
    return error;
}

static aclError event_destroy(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtDestroyEvent(event_of(step, "event"));
}

static aclError event_record(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtRecordEvent(event_of(step, "event"), stream_of(step));
}

static aclError event_reset(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtResetEvent(event_of(step, "event"), stream_of(step));
}

static aclError event_synchronize(const cJSON *step, cJSON *answer)
{
    (void)answer;
    return aclrtSynchronizeEvent(event_of(step, "event"));
}

static aclError event_get(const cJSON *step, cJSON *answer)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    aclError error = aclrtQueryEventStatus(event_of(step, "event"), &status);
    bool is_complete = status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    (void)cJSON_AddStringToObject(answer, "status", is_complete ? "COMPLETE" : "NOT_READY");
    return error;
}

static aclError event_elapsed(const cJSON *step, cJSON *answer)
{
    float ms = 0;
    aclError error = aclrtEventElapsedTime(&ms, event_of(step, "since"), event_of(step, "event"));
    (void)cJSON_AddNumberToObject(answer, "elapsedMs", (double)ms);
    return error;
}

static aclError device_synchronize(const cJSON *step, cJSON *answer)
{
    (void)step;
    (void)answer;
    return aclrtSynchronizeDevice();
}

/* ---- all of them ---- */

static const struct {
    const char *op;
    aclError (*run)(const cJSON *step, cJSON *answer);
} rows[] = {
    {"pool.create", pool_create},
    {"pool.destroy", pool_destroy},
    {"pool.malloc", pool_malloc},
    {"pool.free", pool_free},
    {"pool.trimTo", pool_trim},
    {"pool.getAttribute", pool_get},
    {"pool.getAttributes", pool_get_all},
    {"pool.setAttribute", pool_set},
    {"memory.malloc", memory_malloc},
    {"memory.free", memory_free},
    {"memory.freeAsync", pool_free},
    {"memory.info", memory_info},
    {"memory.copy", memory_copy},
    {"memory.set", memory_set},
    {"memory.write", memory_write},
    {"memory.read", memory_read},
    {"stream.create", stream_create},
    {"stream.destroy", stream_destroy},
    {"stream.get", stream_get},
    {"stream.synchronize", stream_synchronize},
    {"stream.waitEvent", stream_wait_event},
    {"stream.delay", stream_delay},
    {"event.create", event_create},
    {"event.destroy", event_destroy},
    {"event.record", event_record},
    {"event.reset", event_reset},
    {"event.synchronize", event_synchronize},
    {"event.get", event_get},
    {"event.elapsed", event_elapsed},
    {"device.synchronize", device_synchronize},
};

static int find(const char *op)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].op, op) == 0)
            return (int)i;
    }
    return -1;
}

bool acl_steps_can(const char *op)
{
    return find(op) >= 0 || pipe_steps_can(op) || raw_steps_can(op);
}

/* The reason stands in brackets at the end of texts that came from the service. */
static cJSON *describe_error(aclError number_of_error)
{
    char reason[64] = "";
    const char *text = aclGetRecentErrMsg();
    cJSON *root = cJSON_CreateObject();
    cJSON *error = cJSON_AddObjectToObject(root, "error");
    const char *bracket = text != NULL ? strrchr(text, '(') : NULL;
    if (bracket != NULL)
        (void)snprintf(reason, sizeof(reason), "%.*s", (int)strcspn(bracket + 1, ")"), bracket + 1);
    (void)cJSON_AddStringToObject(error, "message", text != NULL ? text : "");
    cJSON *details = cJSON_AddArrayToObject(error, "details");
    cJSON *detail = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(detail, "reason", reason);
    (void)cJSON_AddNumberToObject(detail, "aclError", number_of_error);
    (void)cJSON_AddItemToArray(details, detail);
    return root;
}

cJSON *acl_steps_run(const cJSON *step)
{
    const cJSON *op = field(step, "op");
    if (!cJSON_IsString(op) || !acl_steps_can(op->valuestring))
        return NULL;
    int row = find(op->valuestring);
    cJSON *answer = cJSON_CreateObject();
    aclError error = aclrtSetDevice((int32_t)number(step, "device", 0));
    if (error == ACL_SUCCESS && row >= 0)
        error = rows[row].run(step, answer);
    else if (error == ACL_SUCCESS && raw_steps_can(op->valuestring))
        error = raw_steps_run(step, &answer);
    else if (error == ACL_SUCCESS)
        error = pipe_steps_run(step, answer);
    if (error == ACL_SUCCESS)
        return answer;
    cJSON_Delete(answer);
    return describe_error(error);
}
