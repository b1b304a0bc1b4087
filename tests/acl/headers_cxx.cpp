// The ACL headers as C++ sees them: the same tables as in headers_c.c, the types of enumerators,
// and that the names are those of C. Calls nothing, so it needs no service.
#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "acl/acl_rt_allocator.h"
#include "acl/acl_rt_memory_soma.h"

#include <cstddef>
#include <cstdio>
#include <type_traits>

static_assert(sizeof(void *) == 8, "the layouts are those of machines with 64-bit pointers");

#define ACL_ENUMERATOR(type, name, number)                                                         \
    static_assert((name) == (number), #name);                                                      \
    static_assert(std::is_same_v<decltype(name), type>, #name);
#define ACL_CONSTANT(name, number) static_assert((name) == (number), #name);
#include "acl_values.def"

#define ACL_TYPE(type, size)                                                                       \
    static_assert(sizeof(type) == (size), #type);                                                  \
    static_assert(std::is_standard_layout_v<type>, #type);                                         \
    static_assert(std::is_trivially_copyable_v<type>, #type);
#define ACL_FIELD(type, field, offset, size)                                                       \
    static_assert(offsetof(type, field) == (offset), #type "." #field);                            \
    static_assert(sizeof(static_cast<type *>(nullptr)->field) == (size), #type "." #field);
#include "acl_layouts.def"

extern "C" {
#include "acl_typedefs.def"

#define ACL_FUNCTION(tier, name, return_type, parameters, arguments) return_type name parameters;
#include "soma/acl_functions.def"
}

// Sizes that a program leaves out are 1.
static_assert(dim3().x == 1 && dim3(4).y == 1 && dim3(4, 5, 6).z == 6, "dim3");

static void (*const functions[])() = {
#define ACL_FUNCTION(tier, name, return_type, parameters, arguments)                               \
    reinterpret_cast<void (*)()>(name),
#include "soma/acl_functions.def"
};

int main()
{
    int failures = 0;
    for (auto *function : functions) {
        if (function == nullptr)
            failures++;
    }
    if (failures > 0)
        std::fprintf(stderr, "%d functions have no address\n", failures);
    return failures == 0 ? 0 : 1;
}
