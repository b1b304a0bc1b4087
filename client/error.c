/* Thread-local errors of the client. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct errors {
    const char *call;              /* the ACL function; NULL before the first */
    enum soma_status status;       /* that was answered; SOMA_OK: another error */
    aclError last;                 /* number of the last error */
    bool has_text;                 /* text holds an error that was not taken */
    char text[CLIENT_TEXT_BYTES];  /* the error that comes next */
    char taken[CLIENT_TEXT_BYTES]; /* the one that was handed out last */
};

static _Thread_local struct errors errors;

void client_begin(const char *call)
{
    errors.call = call;
}

const char *client_call_name(void)
{
    return errors.call != NULL ? errors.call : "soma";
}

/* Cut text in a full buffer back to whole UTF-8 characters. */
static void end_at_character(char *text, size_t bytes)
{
    size_t len = strlen(text);
    if (len + 1 < bytes)
        return;
    while (len > 0 && ((unsigned char)text[len - 1] & 0xC0u) == 0x80u)
        len--;
    if (len > 0 && ((unsigned char)text[len - 1] & 0x80u) != 0)
        len--;
    text[len] = '\0';
}

aclError client_fail(aclError number, const char *format, ...)
{
    char text[CLIENT_TEXT_BYTES]; /* apart: an argument may be the old text */
    int len = snprintf(text, sizeof(text), "%.128s: ", client_call_name());
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
    va_end(args);
    end_at_character(text, sizeof(text));
    memcpy(errors.text, text, strlen(text) + 1);
    errors.has_text = true;
    errors.last = number;
    errors.status = SOMA_OK;
    return number;
}

aclError client_fail_null(const char *parameter)
{
    return client_fail(ACL_ERROR_INVALID_PARAM, "%s is NULL: give an address or a handle",
                       parameter);
}

aclError client_fail_answer(const struct soma_error *error, int acl_error)
{
    aclError number = acl_error != 0 ? acl_error : soma_status_info(error->status)->acl_error;
    (void)client_fail(number, "%s (%s)", error->message, soma_status_reason(error->status));
    errors.status = error->status;
    return number;
}

enum soma_status client_error_status(aclError error)
{
    return error != ACL_SUCCESS && errors.last == error ? errors.status : SOMA_OK;
}

const char *client_error_take(void)
{
    if (!errors.has_text)
        return NULL;
    memcpy(errors.taken, errors.text, sizeof(errors.taken));
    errors.has_text = false;
    return errors.taken;
}

const char *client_error_text(void)
{
    return errors.has_text ? errors.text : "";
}

const char *client_error_rest(void)
{
    const char *colon = strstr(client_error_text(), ": ");
    return colon != NULL ? colon + 2 : client_error_text();
}

aclError client_error_last(bool clear)
{
    aclError last = errors.last;
    if (clear)
        errors.last = ACL_SUCCESS;
    return last;
}

struct client_errors client_errors_save(void)
{
    struct client_errors saved = {.last = errors.last, .has_text = errors.has_text};
    memcpy(saved.text, errors.text, sizeof(saved.text));
    return saved;
}

void client_errors_restore(const struct client_errors *saved)
{
    errors.last = saved->last;
    errors.has_text = saved->has_text;
    memcpy(errors.text, saved->text, sizeof(errors.text));
}
