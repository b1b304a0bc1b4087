/* One request from its first byte to its last: the callbacks that libmicrohttpd makes for it,
 * always on the thread of its connection. cls is not used. */
#ifndef SOMA_HTTP_REQUEST_H
#define SOMA_HTTP_REQUEST_H

#include "internal.h"

/* MHD_OPTION_URI_LOG_CALLBACK: the request line is there. */
void *request_on_uri(void *cls, const char *uri, struct MHD_Connection *mhd);

/* MHD_AccessHandlerCallback. */
enum MHD_Result request_on_data(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version, const char *data,
                                size_t *data_len, void **ctx);

/* MHD_OPTION_NOTIFY_COMPLETED. */
void request_on_completed(void *cls, struct MHD_Connection *mhd, void **ctx,
                          enum MHD_RequestTerminationCode code);

/* MHD_OPTION_UNESCAPE_CALLBACK: leaves everything as it came. */
size_t request_on_unescape(void *cls, struct MHD_Connection *mhd, char *text);

#endif
