/* What two programs must have in common to understand each other's batches. */
#include "batch.h"

#include <string.h>

#define FOLD_START UINT64_C(0xcbf29ce484222325) /* FNV-1a */
#define FOLD_PRIME UINT64_C(0x100000001b3)

static void fold_number(uint64_t *sum, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        *sum = (*sum ^ (number >> (8 * i) & 0xff)) * FOLD_PRIME;
}

static void fold_text(uint64_t *sum, const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        *sum = (*sum ^ (unsigned char)*at) * FOLD_PRIME;
    fold_number(sum, strlen(text));
}

static void fold_op(uint64_t *sum, const struct soma_op_info *info)
{
    fold_text(sum, info->name);
    fold_number(sum, info->field_count);
    for (size_t i = 0; i < info->field_count; i++) {
        fold_text(sum, soma_field_json(info->fields[i].field));
        fold_number(sum, info->fields[i].kind);
    }
}

static void fold_message(uint64_t *sum, const struct soma_message_info *info)
{
    fold_text(sum, info->name);
    fold_number(sum, info->member_count);
    for (size_t i = 0; i < info->member_count; i++) {
        fold_text(sum, info->members[i].json);
        fold_number(sum, info->members[i].kind);
    }
}

uint64_t soma_batch_tables(void)
{
    uint64_t sum = FOLD_START;
    fold_text(&sum, SOMA_VERSION);
    fold_number(&sum, SOMA_BATCH_VERSION);
    for (int op = 0; op < SOMA_OP_COUNT; op++)
        fold_op(&sum, soma_op_info((enum soma_op)op));
    for (int message = 0; message < SOMA_MESSAGE_COUNT; message++)
        fold_message(&sum, soma_message_info((enum soma_message)message));
    return sum;
}
