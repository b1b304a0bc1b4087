/* What a session did, and what the model says that it should have come to. */
#include "compare.h"
#include "load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_any(void *ctx, void *ptr)
{
    (void)ctx;
    free(ptr);
}

bool load_fail(const struct load_session *session, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "soma_load: %s session, seed %" PRIu64 ": ", session->kind->name,
                  session->seed);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return false;
}

void load_journal_add(struct load_journal *journal, uint64_t order,
                      const struct soma_command *command, enum soma_status status,
                      struct soma_result *result)
{
    if (journal->count == journal->capacity) {
        journal->capacity = journal->capacity * 2 + 256;
        journal->entries = realloc(journal->entries, journal->capacity * sizeof(*journal->entries));
        if (journal->entries == NULL)
            abort();
    }
    journal->entries[journal->count] = (struct load_entry){.order = order,
                                                           .place = journal->count,
                                                           .command = *command,
                                                           .status = status,
                                                           .result = *result};
    journal->count++;
    result->message = SOMA_MESSAGE_NONE;
}

void load_journal_clear(struct load_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) {
        if (journal->entries[i].result.message != SOMA_MESSAGE_NONE)
            soma_result_clear(&journal->entries[i].result, release_any, NULL);
    }
    journal->count = 0;
}

/* ---- comparing ---- */

/* Leave out what depends on the session's clock. */
static void mask_times(struct soma_result *result)
{
    if (result->message == SOMA_MESSAGE_SYNCHRONIZED)
        result->u.synchronized.now_ns = 0;
}

static const char *name_of(enum soma_status status)
{
    return status == SOMA_OK ? "" : soma_status_reason(status);
}

static bool differ(const struct load_session *session, const struct load_entry *entry,
                   enum soma_status status, const struct soma_result *result, const char *where)
{
    struct soma_writer text;
    soma_writer_init(&text, 1 << 20);
    wire_encode_command(&text, &entry->command);
    (void)load_fail(session, "command %zu of %zu: %.*s", (size_t)(entry - session->journal.entries),
                    session->journal.count, (int)(text.len < 400 ? text.len : 400), text.ptr);
    soma_writer_release(&text);
    (void)fprintf(stderr, "  differs in %s\n  server: %s ", where, name_of(entry->status));
    if (entry->status == SOMA_OK)
        print_result(stderr, &entry->result);
    (void)fprintf(stderr, "\n  model:  %s ", name_of(status));
    if (status == SOMA_OK)
        print_result(stderr, result);
    (void)fputc('\n', stderr);
    return false;
}

static bool check_entry(const struct load_session *session, struct model *model,
                        struct load_entry *entry)
{
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    char where[256] = "status";
    enum soma_status status = model_apply(model, &entry->command, &result);
    if (status != SOMA_OK)
        return status == entry->status || differ(session, entry, status, &result, where);
    if (!session->kind->has_times) {
        mask_times(&result);
        mask_times(&entry->result);
    }
    bool good =
        entry->status == SOMA_OK && compare_results(&entry->result, &result, where, sizeof(where));
    if (!good)
        (void)differ(session, entry, status, &result, where);
    if (result.message != SOMA_MESSAGE_NONE)
        soma_result_clear(&result, model_release, NULL);
    return good;
}

static bool check_end(struct load_session *session, struct model *model,
                      const struct soma_session_ended *ended)
{
    struct soma_session_ended expected;
    char where[256];
    memset(&expected, 0, sizeof(expected));
    model_counts(model, &expected.freed);
    model_leaks(model, &expected.leaks.items, &expected.leaks.count);
    for (size_t i = 0; !session->kind->has_times && i < ended->leaks.count; i++) {
        ended->leaks.items[i].allocated_by = 0;
        if (i < expected.leaks.count)
            expected.leaks.items[i].allocated_by = 0;
    }
    bool good =
        compare_messages(SOMA_MESSAGE_SESSION_ENDED, ended, &expected, where, sizeof(where));
    free(expected.leaks.items);
    return good || load_fail(session, "what its end freed differs from the model in %s", where);
}

static int compare_order(const void *a, const void *b)
{
    const struct load_entry *left = a, *right = b;
    if (left->order != right->order)
        return left->order < right->order ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

bool load_journal_check(struct load_session *session, const struct soma_session_ended *ended)
{
    struct load_journal *journal = &session->journal;
    struct model *model = model_create(&session->config);
    bool good = true;
    qsort(journal->entries, journal->count, sizeof(*journal->entries), compare_order);
    for (size_t i = 0; good && i < journal->count; i++)
        good = check_entry(session, model, &journal->entries[i]);
    good = good && check_end(session, model, ended);
    model_destroy(model);
    return good;
}
