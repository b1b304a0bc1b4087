/* Values as they stand on the wire: decimal and hexadecimal text, byte counts with units, half
 * precision, base64, UTF-8. Knows neither cJSON's tree nor the tables. */
#include "wire_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

enum wire_number wire_read_decimal(const char *text, size_t len, uint64_t *value)
{
    if (len == 0 || (text[0] == '0' && len > 1))
        return WIRE_NUMBER_BAD;
    uint64_t sum = 0;
    bool too_large = false;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9)
            return WIRE_NUMBER_BAD;
        if (sum > (UINT64_MAX - digit) / 10)
            too_large = true;
        else
            sum = sum * 10 + digit;
    }
    if (too_large)
        return WIRE_NUMBER_TOO_LARGE;
    *value = sum;
    return WIRE_NUMBER_OK;
}

enum wire_number wire_read_bytes(const char *text, size_t len, uint64_t *value)
{
    static const char units[] = "KMGT";
    if (len < 3 || memcmp(text + len - 2, "iB", 2) != 0)
        return wire_read_decimal(text, len, value);
    const char *unit = memchr(units, text[len - 3], sizeof(units) - 1);
    if (unit == NULL)
        return WIRE_NUMBER_BAD;
    unsigned shift = 10u * (unsigned)(unit - units + 1);
    uint64_t count;
    enum wire_number outcome = wire_read_decimal(text, len - 3, &count);
    if (outcome != WIRE_NUMBER_OK)
        return outcome;
    if (count > UINT64_MAX >> shift)
        return WIRE_NUMBER_TOO_LARGE;
    *value = count << shift;
    return WIRE_NUMBER_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum wire_number wire_read_address(const char *text, size_t len, uint64_t *value)
{
    if (len < 2 || text[0] != '0' || text[1] != 'x')
        return wire_read_decimal(text, len, value);
    if (len == 2)
        return WIRE_NUMBER_BAD;
    uint64_t sum = 0;
    for (size_t i = 2; i < len; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return WIRE_NUMBER_BAD;
        sum = sum << 4 | (unsigned)digit;
    }
    if (len > 2 + 16)
        return WIRE_NUMBER_TOO_LARGE;
    *value = sum;
    return WIRE_NUMBER_OK;
}

enum wire_number wire_read_signed(const char *text, size_t len, int64_t min, int64_t max,
                                  uint64_t *bits)
{
    bool negative = len > 0 && text[0] == '-';
    uint64_t size;
    enum wire_number outcome = wire_read_decimal(text + negative, len - negative, &size);
    if (outcome != WIRE_NUMBER_OK)
        return outcome;
    if (negative && size == 0)
        return WIRE_NUMBER_BAD;
    uint64_t limit = negative ? UINT64_C(0) - (uint64_t)min : (uint64_t)max;
    if (size > limit)
        return WIRE_NUMBER_TOO_LARGE;
    *bits = negative ? UINT64_C(0) - size : size;
    return WIRE_NUMBER_OK;
}

enum soma_status wire_refuse_number(struct soma_error *error, const char *field, const char *token,
                                    size_t len)
{
    int shown = len > 40 ? 40 : (int)len;
    const char *dots = len > 40 ? "..." : "";
    for (size_t i = 0; i < len; i++) {
        if (token[i] == '.' || token[i] == 'e' || token[i] == 'E')
            return soma_fail(error, SOMA_WRONG_TYPE, field,
                             "%s: %.*s%s has a fraction or an exponent: write an integer as plain "
                             "digits",
                             field, shown, token, dots);
    }
    return soma_fail(error, SOMA_VALUE_OUT_OF_RANGE, field,
                     "%s: %.*s%s is not exact as a JSON number (2^53 or more): send it as a string "
                     "\"%.*s%s\"",
                     field, shown, token, dots, shown, token, dots);
}

/* ---- half precision ---- */

bool wire_half_of(double value, uint16_t *half)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    unsigned sign = (unsigned)(bits >> 63) << 15;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent >= 16)
        return false;
    unsigned result = 0;
    if (exponent >= -25) { /* anything smaller is less than half of the smallest half */
        bool normal = exponent >= -14;
        unsigned shift = normal ? 42u : (unsigned)(28 - exponent);
        uint64_t fraction = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
        uint64_t rest = fraction & ((UINT64_C(1) << shift) - 1);
        uint64_t tie = UINT64_C(1) << (shift - 1);
        result = (unsigned)(fraction >> shift);
        if (rest > tie || (rest == tie && (result & 1u) != 0))
            result++;
        if (normal) /* the leading 1 in result adds one to the exponent, and so does a carry */
            result += (unsigned)(exponent + 14) << 10;
    }
    if (result >= 0x7c00u)
        return false;
    *half = (uint16_t)(sign | result);
    return true;
}

double wire_of_half(uint16_t half)
{
    int exponent = half >> 10 & 0x1f;
    double value = half & 0x3ff;
    if (exponent == 0)
        exponent = 1;
    else
        value += 1024;
    for (int i = exponent; i < 25; i++)
        value /= 2;
    for (int i = 25; i < exponent; i++)
        value *= 2;
    return (half & 0x8000u) != 0 ? -value : value;
}

/* ---- base64 ---- */

#define NOT_BASE64 0xffu

static unsigned base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - (unsigned)'A';
    if (c >= 'a' && c <= 'z')
        return c - (unsigned)'a' + 26;
    if (c >= '0' && c <= '9')
        return c - (unsigned)'0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : NOT_BASE64;
}

size_t wire_base64_bytes(const char *text, size_t len)
{
    size_t padding = 0;
    while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
        padding++;
    size_t bytes = len / 4 * 3;
    return bytes >= padding ? bytes - padding : 0;
}

/* The last group: two or three characters that stand for one or two bytes, and nothing else. */
static bool base64_read_tail(const unsigned char *in, size_t count, unsigned char *out)
{
    unsigned a = base64_value(in[0]);
    unsigned b = base64_value(in[1]);
    unsigned c = count == 3 ? base64_value(in[2]) : 0;
    if ((a | b | c) > 63)
        return false;
    unsigned bits = a << 18 | b << 12 | c << 6;
    out[0] = (unsigned char)(bits >> 16);
    if (count == 3)
        out[1] = (unsigned char)(bits >> 8);
    return (bits & (count == 3 ? 0xffu : 0xffffu)) == 0;
}

bool wire_base64_read(const char *text, size_t len, unsigned char *out)
{
    unsigned char values[256];
    for (unsigned i = 0; i < 256; i++)
        values[i] = (unsigned char)base64_value((unsigned char)i);
    if (len % 4 != 0)
        return false;
    const unsigned char *in = (const unsigned char *)text;
    size_t bytes = wire_base64_bytes(text, len);
    size_t whole = bytes / 3;
    for (size_t i = 0; i < whole; i++, in += 4, out += 3) {
        unsigned a = values[in[0]], b = values[in[1]], c = values[in[2]], d = values[in[3]];
        if ((a | b | c | d) > 63)
            return false;
        unsigned bits = a << 18 | b << 12 | c << 6 | d;
        out[0] = (unsigned char)(bits >> 16);
        out[1] = (unsigned char)(bits >> 8);
        out[2] = (unsigned char)bits;
    }
    return bytes % 3 == 0 || base64_read_tail(in, bytes % 3 + 1, out);
}

/* ---- UTF-8 ---- */

/* Not in UTF-8: overlong forms, surrogates, and what lies past U+10FFFF. */
size_t wire_utf8_len(const unsigned char *at, const unsigned char *end)
{
    size_t left = (size_t)(end - at);
    if (left == 0)
        return 0;
    unsigned char lead = at[0];
    if (lead < 0x80)
        return 1;
    size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < len)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0u) != 0x80)
            return 0;
    }
    if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f) ||
        (lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f))
        return 0;
    return len;
}

const char *wire_quote(char buf[WIRE_QUOTE_BYTES], const char *text, size_t len)
{
    size_t most = WIRE_QUOTE_BYTES - sizeof("\"...\"");
    size_t shown = len <= most ? len : most;
    while (shown > 0 && shown < len && ((unsigned char)text[shown] & 0xc0u) == 0x80u)
        shown--;
    (void)snprintf(buf, WIRE_QUOTE_BYTES, "\"%.*s%s\"", (int)shown, text, shown < len ? "..." : "");
    return buf;
}

/* ---- strings ---- */

static unsigned read_unit(const char *digits)
{
    unsigned unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit << 4 | (unsigned)hex_digit(digits[i]);
    return unit;
}

/* U+0001 to U+10FFFF, without surrogates. */
static size_t write_utf8(unsigned point, char *out)
{
    size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len; i > 1; i--, point >>= 6)
        out[i - 1] = (char)(0x80u | (point & 0x3fu));
    out[0] = (char)(leads[len] | point);
    return len;
}

size_t wire_unescape(const char *text, size_t len, char *out)
{
    static const char letters[] = "bfnrt";
    static const char meant[] = "\b\f\n\r\t";
    size_t out_len = 0;
    for (size_t i = 0; i < len;) {
        if (text[i] != '\\') {
            out[out_len++] = text[i++];
            continue;
        }
        char c = text[i + 1];
        if (c != 'u') {
            const char *letter = memchr(letters, c, sizeof(letters) - 1);
            out[out_len++] = letter != NULL ? meant[letter - letters] : c;
            i += 2;
            continue;
        }
        unsigned point = read_unit(text + i + 2);
        i += 6;
        if (point >= 0xd800 && point <= 0xdbff) {
            point = 0x10000 + ((point - 0xd800) << 10) + (read_unit(text + i + 2) - 0xdc00);
            i += 6;
        }
        out_len += write_utf8(point, out + out_len);
    }
    return out_len;
}
