/* The ACL headers as C sees them: every value, every layout, every type and every prototype against
 * tables that were written down apart from them. Nearly all of it is checked by compiling; linking
 * shows that the library has every function. Calls nothing, so it needs no service. */
#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_memory_soma.h"

#include <stddef.h>
#include <stdio.h>

_Static_assert(sizeof(void *) == 8, "the layouts are those of machines with 64-bit pointers");

#define ACL_ENUMERATOR(type, name, number) _Static_assert((name) == (number), #name);
#define ACL_CONSTANT(name, number) _Static_assert((name) == (number), #name);
#include "acl_values.def"

#define ACL_TYPE(type, size) _Static_assert(sizeof(type) == (size), #type);
#define ACL_FIELD(type, field, offset, size)                                                       \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field);                           \
    _Static_assert(sizeof(((type *)0)->field) == (size), #type "." #field);
#include "acl_layouts.def"

#include "acl_typedefs.def"

/* A second declaration of a function must have the type of the first. */
#define ACL_FUNCTION(tier, name, return_type, parameters, arguments) return_type name parameters;
#include "soma/acl_functions.def"

enum tier { TIER_A, TIER_B, TIER_C, TIER_COUNT };

struct function {
    const char *name;
    enum tier tier;
    void (*address)(void);
};

static const struct function functions[] = {
#define ACL_FUNCTION(tier, name, return_type, parameters, arguments)                               \
    {#name, TIER_##tier, (void (*)(void))(name)},
#include "soma/acl_functions.def"
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(FUNCTION_COUNT == 404, "the table has every function of ACL, once");

int main(void)
{
    static const size_t expected[TIER_COUNT] = {121, 109, 174};
    size_t counts[TIER_COUNT] = {0};
    int failures = 0;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        counts[functions[i].tier]++;
        if (functions[i].address == NULL) {
            fprintf(stderr, "%s has no address\n", functions[i].name);
            failures++;
        }
    }
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        if (counts[tier] == expected[tier])
            continue;
        fprintf(stderr, "tier %c has %zu functions, not %zu\n", 'A' + tier, counts[tier],
                expected[tier]);
        failures++;
    }
    return failures == 0 ? 0 : 1;
}
