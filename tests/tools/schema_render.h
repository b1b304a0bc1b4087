/* What schema_render.c puts into files. */
#ifndef SOMA_SCHEMA_RENDER_H
#define SOMA_SCHEMA_RENDER_H

#include "wire.h"

/* Write schema/openapi.json. */
void render_openapi(struct soma_writer *out);

/* Write schema/REFERENCE.md. */
void render_reference(struct soma_writer *out);

#endif
