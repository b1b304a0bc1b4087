/* The file is taken in by the assembler; OPENAPI_FILE is its path, in quotes. */
#include "openapi.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global openapi_first\n"
        "openapi_first:\n"
        ".incbin " OPENAPI_FILE "\n"
        ".global openapi_end\n"
        "openapi_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char openapi_first[];
extern const char openapi_end[];

const char *openapi_text(size_t *len)
{
    *len = (size_t)(openapi_end - openapi_first);
    return openapi_first;
}
