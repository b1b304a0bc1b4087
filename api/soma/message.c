/* Message descriptors, expanded from messages.def. */
#include "message.h"

#include "command.h"

#include <string.h>

/* `sub` of ENUM is a word group, of OBJECT and ARRAY a message, elsewhere the placeholder `_`. */
enum message_by_name {
#define SOMA_ROW(NAME, name) MESSAGE_BY_NAME_##name = SOMA_MESSAGE_##NAME,
    SOMA_MESSAGES(SOMA_ROW)
#undef SOMA_ROW
};

#define SUB_U64(sub) -1
#define SUB_OPT_U64(sub) -1
#define SUB_NULL_U64(sub) -1
#define SUB_BOOL(sub) -1
#define SUB_F64(sub) -1
#define SUB_ADDRESS(sub) -1
#define SUB_ENUM(sub) (int)SOMA_GROUP_##sub
#define SUB_TEXT(sub) -1
#define SUB_NAME(sub) -1
#define SUB_DATA(sub) -1
#define SUB_OBJECT(sub) (int)MESSAGE_BY_NAME_##sub
#define SUB_ARRAY(sub) (int)MESSAGE_BY_NAME_##sub
#define SUB_NAMES(sub) -1

#define SOMA_FIELD_ROW(X, KIND, member, json, sub)                                                 \
    {json, SOMA_MEMBER_KIND_##KIND, offsetof(struct soma_##X, member), SUB_##KIND(sub)},
#define SOMA_ROW(NAME, name)                                                                       \
    static const struct soma_member members_##name[] = {                                           \
        SOMA_MESSAGE_##NAME##_FIELDS(SOMA_FIELD_ROW, name)};
SOMA_MESSAGES(SOMA_ROW)
#undef SOMA_ROW

static const struct soma_message_info message_rows[] = {
#define SOMA_ROW(NAME, name)                                                                       \
    {#name, sizeof(struct soma_##name), members_##name,                                            \
     sizeof(members_##name) / sizeof(members_##name[0])},
    SOMA_MESSAGES(SOMA_ROW)
#undef SOMA_ROW
};

const struct soma_message_info *soma_message_info(enum soma_message message)
{
    return &message_rows[message];
}

/* Release what one message owns; recursion is as deep as messages nest: three. */
static void clear_message(enum soma_message message, char *base, soma_release_fn *release,
                          void *ctx)
{
    const struct soma_message_info *info = &message_rows[message];
    for (size_t i = 0; i < info->member_count; i++) {
        const struct soma_member *member = &info->members[i];
        void *place = base + member->offset;
        if (member->kind == SOMA_MEMBER_KIND_OBJECT) {
            clear_message((enum soma_message)member->sub, place, release, ctx);
        } else if (member->kind == SOMA_MEMBER_KIND_DATA) {
            release(ctx, ((struct soma_buffer *)place)->ptr);
        } else if (member->kind == SOMA_MEMBER_KIND_NAMES) {
            release(ctx, ((struct soma_names *)place)->items);
        } else if (member->kind == SOMA_MEMBER_KIND_ARRAY) {
            struct soma_array array;
            memcpy(&array, place, sizeof(array));
            size_t item_size = message_rows[member->sub].size;
            for (size_t item = 0; item < array.count; item++)
                clear_message((enum soma_message)member->sub,
                              (char *)array.items + item * item_size, release, ctx);
            release(ctx, array.items);
        }
    }
}

void soma_result_clear(struct soma_result *result, soma_release_fn *release, void *ctx)
{
    if (result->message != SOMA_MESSAGE_NONE)
        clear_message(result->message, (char *)&result->u, release, ctx);
    memset(result, 0, sizeof(*result));
    result->message = SOMA_MESSAGE_NONE;
}
