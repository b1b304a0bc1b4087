/* Writing text: formats, characters, widths. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

void render_put(struct soma_writer *writer, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (len > 0)
        soma_writer_raw(writer, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

/* The value of a UTF-8 character of `len` bytes; UINT32_MAX when these are none. */
static uint32_t decode(const unsigned char *bytes, size_t len)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = len == 1 ? bytes[0] : bytes[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xC0u) != 0x80u)
            return UINT32_MAX;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    return value < least[len] || value > 0x10FFFF ? UINT32_MAX : value;
}

size_t render_character(const char *text, bool *is_good)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t len = 1;
    if (bytes[0] >= 0xC2 && bytes[0] <= 0xF4)
        len = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
    if (bytes[0] == '\0')
        return 0;
    uint32_t value = bytes[0] < 0x80 || len > 1 ? decode(bytes, len) : UINT32_MAX;
    bool is_control = value < 0x20 || (value >= 0x7F && value < 0xA0);
    bool is_surrogate = value >= 0xD800 && value < 0xE000;
    *is_good = value != UINT32_MAX && !is_control && !is_surrogate && (value & 0xFFFEu) != 0xFFFEu;
    return *is_good ? len : 1;
}

size_t render_width(const char *text)
{
    size_t width = 0, len;
    bool is_good;
    while ((len = render_character(text, &is_good)) > 0) {
        text += len;
        width++;
    }
    return width;
}

void render_cut(struct soma_writer *writer, const char *text, size_t columns)
{
    size_t width = render_width(text), len;
    size_t kept = width <= columns ? width : columns > 2 ? columns - 2 : 0;
    bool is_good;
    for (size_t i = 0; i < kept && (len = render_character(text, &is_good)) > 0; i++) {
        if (is_good)
            soma_writer_raw(writer, text, len);
        else
            soma_writer_text(writer, "?");
        text += len;
    }
    for (size_t i = kept; kept < width && i < columns; i++)
        soma_writer_text(writer, ".");
}

bool render_is_used(const struct soma_layout_memory *memory)
{
    return memory->peak_bytes > 0 || memory->regions.count > 0;
}

uint64_t render_free_begin(const struct soma_layout_memory *memory)
{
    uint64_t begin = memory->used_bytes;
    for (size_t i = 0; i < memory->regions.count; i++) {
        const struct soma_layout_region *region = &memory->regions.items[i];
        if (region->level == 0 && region->position == SOMA_POSITION_TSCM)
            begin -= region->len;
    }
    return begin;
}
