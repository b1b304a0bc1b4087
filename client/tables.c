/* The lock of the tables. */
#include "tables.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void client_tables_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void client_tables_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}
