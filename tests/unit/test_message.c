/* Message descriptors: inside their structs, in order, and all that a message owns is released. */
#include "command.h"
#include "expect.h"
#include "message.h"
#include "random.h"
#include "sample.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static size_t member_size(const struct soma_member *member)
{
    switch (member->kind) {
    case SOMA_MEMBER_KIND_U64:
    case SOMA_MEMBER_KIND_OPT_U64:
    case SOMA_MEMBER_KIND_NULL_U64:
    case SOMA_MEMBER_KIND_ADDRESS: return sizeof(uint64_t);
    case SOMA_MEMBER_KIND_BOOL: return sizeof(bool);
    case SOMA_MEMBER_KIND_F64: return sizeof(double);
    case SOMA_MEMBER_KIND_ENUM: return sizeof(int);
    case SOMA_MEMBER_KIND_TEXT: return sizeof(const char *);
    case SOMA_MEMBER_KIND_NAME: return SOMA_NAME_BYTES_MAX + 1;
    case SOMA_MEMBER_KIND_DATA: return sizeof(struct soma_buffer);
    case SOMA_MEMBER_KIND_OBJECT: return soma_message_info((enum soma_message)member->sub)->size;
    case SOMA_MEMBER_KIND_ARRAY: return sizeof(struct soma_array);
    case SOMA_MEMBER_KIND_NAMES: return sizeof(struct soma_names);
    }
    return 0;
}

static void check_sub(const struct soma_message_info *info, const struct soma_member *member)
{
    bool is_message =
        member->kind == SOMA_MEMBER_KIND_OBJECT || member->kind == SOMA_MEMBER_KIND_ARRAY;
    int limit = is_message                              ? SOMA_MESSAGE_COUNT
                : member->kind == SOMA_MEMBER_KIND_ENUM ? SOMA_GROUP_COUNT
                                                        : 0;
    bool good = limit == 0 ? member->sub == -1 : member->sub >= 0 && member->sub < limit;
    EXPECT(good, "%s.%s: sub %d", info->name, member->json, member->sub);
}

static void test_descriptors(void)
{
    for (int message = 0; message < SOMA_MESSAGE_COUNT; message++) {
        const struct soma_message_info *info = soma_message_info((enum soma_message)message);
        size_t end = 0;
        EXPECT(info->member_count > 0, "%s is empty", info->name);
        for (size_t i = 0; i < info->member_count; i++) {
            const struct soma_member *member = &info->members[i];
            EXPECT(member->offset >= end, "%s.%s overlaps", info->name, member->json);
            end = member->offset + member_size(member);
            EXPECT(end <= info->size, "%s.%s leaves its struct", info->name, member->json);
            check_sub(info, member);
            for (size_t j = i + 1; j < info->member_count; j++)
                EXPECT(!same_words(member->json, info->members[j].json), "%s: two %s", info->name,
                       member->json);
        }
    }
}

struct counter {
    size_t released;
};

static void count_release(void *ctx, void *ptr)
{
    ((struct counter *)ctx)->released += ptr != NULL;
    free(ptr);
}

static void test_clear_releases_all(void)
{
    struct random_source source = {7};
    for (int message = SOMA_MESSAGE_NONE; message < SOMA_MESSAGE_COUNT; message++) {
        for (int round = 0; round < 20; round++) {
            struct soma_result result, empty;
            struct counter counter = {0};
            sample_result(&source, (enum soma_message)message, &result);
            soma_result_clear(&result, count_release, &counter); /* the sanitizer finds leaks */
            memset(&empty, 0, sizeof(empty));
            empty.message = SOMA_MESSAGE_NONE;
            EXPECT(memcmp(&result, &empty, sizeof(empty)) == 0, "message %d is not empty", message);
            soma_result_clear(&result, count_release, &counter);
        }
    }
}

static void test_clear_counts(void)
{
    struct counter counter = {0};
    struct soma_result result = {.message = SOMA_MESSAGE_LAYOUT};
    struct soma_layout_memory *memories = calloc(2, sizeof(*memories));
    if (memories == NULL)
        abort();
    memories[1].regions.items = calloc(1, sizeof(*memories[1].regions.items));
    memories[1].regions.count = memories[1].regions.items == NULL ? 0 : 1;
    result.u.layout.memories.items = memories;
    result.u.layout.memories.count = 2;
    soma_result_clear(&result, count_release, &counter);
    EXPECT(counter.released == 2, "%zu released: the memories and the regions of one",
           counter.released);
}

static const struct soma_test tests[] = {
    {"descriptors", test_descriptors},
    {"clear releases all", test_clear_releases_all},
    {"clear reaches every level", test_clear_counts},
    {NULL, NULL},
};

const struct soma_suite suite_message = {"message", tests};
