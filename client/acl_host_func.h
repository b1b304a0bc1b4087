/* Which thread of the program runs the functions of which stream. Thread-safe; whole in the child
 * after fork. */
#ifndef SOMA_CLIENT_ACL_HOST_FUNC_H
#define SOMA_CLIENT_ACL_HOST_FUNC_H

/* The stream is gone. */
void acl_subscriptions_forget(const void *stream);

/* The session is gone. */
void acl_subscriptions_forget_all(void);

#endif
