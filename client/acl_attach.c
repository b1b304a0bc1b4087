/* Settings in a list: few programs change any. */
#include "acl_attach.h"

#include "error.h"
#include "tables.h"

#include <stdlib.h>

struct setting {
    struct setting *next;
    const void *owner;
    unsigned setting;
    uint64_t value;
};

static struct setting *settings; /* under the tables' lock */

static struct setting *find_locked(const void *owner, unsigned setting)
{
    struct setting *at = settings;
    while (at != NULL && (at->owner != owner || at->setting != setting))
        at = at->next;
    return at;
}

aclError acl_attach(const void *owner, unsigned setting, uint64_t value)
{
    struct setting *fresh = malloc(sizeof(*fresh));
    if (fresh == NULL)
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for a setting");
    *fresh = (struct setting){NULL, owner, setting, value};
    client_tables_lock();
    struct setting *old = find_locked(owner, setting);
    if (old != NULL) {
        old->value = value;
    } else {
        fresh->next = settings;
        settings = fresh;
    }
    client_tables_unlock();
    if (old != NULL)
        free(fresh);
    return ACL_SUCCESS;
}

bool acl_attached(const void *owner, unsigned setting, uint64_t *value)
{
    client_tables_lock();
    const struct setting *found = find_locked(owner, setting);
    if (found != NULL)
        *value = found->value;
    client_tables_unlock();
    return found != NULL;
}

static void forget(const void *owner, bool all)
{
    struct setting *gone = NULL;
    client_tables_lock();
    struct setting **link = &settings;
    while (*link != NULL) {
        struct setting *at = *link;
        if (!all && at->owner != owner) {
            link = &at->next;
            continue;
        }
        *link = at->next;
        at->next = gone;
        gone = at;
    }
    client_tables_unlock();
    while (gone != NULL) {
        struct setting *next = gone->next;
        free(gone);
        gone = next;
    }
}

void acl_detach(const void *owner)
{
    forget(owner, false);
}

void acl_detach_all(void)
{
    forget(NULL, true);
}
