/* The error table, expanded. Knows nothing but status.def. */
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum rpc_http {
#define SOMA_ROW(ROW, name, http) HTTP_##ROW = (http),
    SOMA_RPC_CODES(SOMA_ROW)
#undef SOMA_ROW
};

/* One string per row, so that the table below can name it in a constant expression. */
struct rpc_names {
#define SOMA_ROW(ROW, name, http) char ROW[sizeof(name)];
    SOMA_RPC_CODES(SOMA_ROW)
#undef SOMA_ROW
};

static const struct rpc_names rpc_names = {
#define SOMA_ROW(ROW, name, http) name,
    SOMA_RPC_CODES(SOMA_ROW)
#undef SOMA_ROW
};

static const struct soma_status_info status_rows[] = {
#define SOMA_ROW(NAME, number, rpc, acl, text)                                                     \
    {SOMA_##NAME, #NAME, rpc_names.rpc, HTTP_##rpc, (acl), (text)},
    SOMA_STATUSES(SOMA_ROW)
#undef SOMA_ROW
};

static const struct {
    enum soma_status status;
    const char *reason;
} shared_reasons[] = {
#define SOMA_ROW(NAME, REASON) {SOMA_##NAME, #REASON},
    SOMA_SHARED_REASONS(SOMA_ROW)
#undef SOMA_ROW
};

#define STATUS_COUNT (sizeof(status_rows) / sizeof(status_rows[0]))

const struct soma_status_info *soma_status_row(unsigned i)
{
    return i < STATUS_COUNT ? &status_rows[i] : NULL;
}

const struct soma_status_info *soma_status_info(enum soma_status status)
{
    const struct soma_status_info *internal = NULL;
    for (unsigned i = 0; i < STATUS_COUNT; i++) {
        if (status_rows[i].status == status)
            return &status_rows[i];
        if (status_rows[i].status == SOMA_INTERNAL)
            internal = &status_rows[i];
    }
    return internal;
}

const char *soma_status_reason(enum soma_status status)
{
    for (size_t i = 0; i < sizeof(shared_reasons) / sizeof(shared_reasons[0]); i++) {
        if (shared_reasons[i].status == status)
            return shared_reasons[i].reason;
    }
    return soma_status_info(status)->name;
}

enum soma_status soma_status_of_reason(const char *reason, int acl_error)
{
    for (unsigned i = 0; i < STATUS_COUNT; i++) {
        const struct soma_status_info *row = &status_rows[i];
        const char *row_reason = soma_status_reason(row->status);
        if (strcmp(row_reason, reason) == 0 && (acl_error == 0 || row->acl_error == acl_error))
            return row->status;
    }
    return SOMA_INTERNAL;
}

/* Shorten text to at most max bytes without leaving half a UTF-8 character. */
static void cut_at_character(char *text, size_t max)
{
    size_t len = strlen(text);
    if (len < max)
        return;
    len = max - 1;
    while (len > 0 && ((unsigned char)text[len] & 0xC0u) == 0x80u)
        len--;
    text[len] = '\0';
}

bool soma_is_kernel_failure(enum soma_status status)
{
    return status == SOMA_KERNEL_FAULT || status == SOMA_KERNEL_TIMEOUT;
}

enum soma_status soma_fail(struct soma_error *error, enum soma_status status, const char *field,
                           const char *format, ...)
{
    if (error == NULL)
        return status;
    error->status = status;
    (void)snprintf(error->field, sizeof(error->field), "%s", field);
    va_list args;
    va_start(args, format);
    char text[SOMA_MESSAGE_BYTES + 8];
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cut_at_character(text, SOMA_MESSAGE_BYTES);
    memcpy(error->message, text, strlen(text) + 1);
    return status;
}

const char *soma_bytes_text(char *buf, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    uint64_t scale = 1024;
    if (bytes < 1024 || bytes % 1024 != 0) {
        (void)snprintf(buf, 32, "%" PRIu64 " bytes", bytes);
        return buf;
    }
    while (unit < 3 && bytes % (scale * 1024) == 0) {
        scale *= 1024;
        unit++;
    }
    (void)snprintf(buf, 32, "%" PRIu64 " %s", bytes / scale, units[unit]);
    return buf;
}
