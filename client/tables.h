/* The one lock of the client's small tables: handles, address ranges, faults, kernels. It is held
 * for moments only and never while the service is asked, so that fork can take it: then the tables
 * are whole in the child. Not recursive: nothing under it calls into another table. */
#ifndef SOMA_CLIENT_TABLES_H
#define SOMA_CLIENT_TABLES_H

void client_tables_lock(void);
void client_tables_unlock(void);

#endif
