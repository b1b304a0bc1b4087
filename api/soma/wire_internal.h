/* What the wire_*.c files share: text to numbers, base64, UTF-8. Not for anyone else. */
#ifndef SOMA_WIRE_INTERNAL_H
#define SOMA_WIRE_INTERNAL_H

#include "status.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- commands ---- */

/* All given fields are set: supply those that follow from others, and check that none is missing.
 * in_batch: an absent device is device 0. */
enum soma_status wire_finish_command(struct soma_command *command, bool in_batch,
                                     struct soma_error *error) SOMA_MUST_USE;

/* Whether a field takes a number, not of a word, or a text that is so long, and what is said when
 * it does not, whichever form it came in. The text of wire_refuse_word: what was given, and the
 * words. */
enum soma_status wire_check_number(const struct soma_field_row *row, uint64_t value,
                                   struct soma_error *error) SOMA_MUST_USE;
enum soma_status wire_check_length(const char *field, size_t len,
                                   struct soma_error *error) SOMA_MUST_USE;
enum soma_status wire_refuse_word(struct soma_error *error, const char *field,
                                  enum soma_enum_group group, const char *shown) SOMA_MUST_USE;

/* ---- text to numbers: no sign, no leading zero, no space ---- */

enum wire_number { WIRE_NUMBER_OK, WIRE_NUMBER_BAD, WIRE_NUMBER_TOO_LARGE };

/* "0", "4194304". *value is set only on WIRE_NUMBER_OK, here and below. */
enum wire_number wire_read_decimal(const char *text, size_t len, uint64_t *value);

/* Decimal, or decimal with KiB, MiB, GiB or TiB right behind it. */
enum wire_number wire_read_bytes(const char *text, size_t len, uint64_t *value);

/* "0x" and 1 to 16 hexadecimal digits, or decimal. */
enum wire_number wire_read_address(const char *text, size_t len, uint64_t *value);

/* Characters of the longest number token. */
#define WIRE_NUMBER_BYTES_MAX 63u

/* Decimal with an optional '-' before it; min..max as two's complement in *bits. */
enum wire_number wire_read_signed(const char *text, size_t len, int64_t min, int64_t max,
                                  uint64_t *bits);

/* Refuse a JSON number token that is no exact integer below 2^53. */
enum soma_status wire_refuse_number(struct soma_error *error, const char *field, const char *token,
                                    size_t len);

/* ---- half precision ---- */

/* Round to nearest, ties to even. false when the value is too large or not finite. */
bool wire_half_of(double value, uint16_t *half);
double wire_of_half(uint16_t half); /* of a finite half */

/* ---- base64, RFC 4648 section 4, padding required ---- */

/* Bytes that len characters of base64 stand for; exact when the text is valid. */
size_t wire_base64_bytes(const char *text, size_t len);

/* false when it is not base64, or not the one way to write these bytes. out holds
 * wire_base64_bytes(). */
bool wire_base64_read(const char *text, size_t len, unsigned char *out);

/* ---- strings ---- */

/* Write the text of a JSON string that wire_read has accepted without its escapes; out holds len
 * bytes. Returns how many were written. */
size_t wire_unescape(const char *text, size_t len, char *out);

/* ---- UTF-8 ---- */

/* Length in bytes of the character at `at`, 0 when the bytes up to `end` begin with none. */
size_t wire_utf8_len(const unsigned char *at, const unsigned char *end);

/* Enough for wire_quote. */
#define WIRE_QUOTE_BYTES 64

/* The text in quotes for a message, cut at a whole character with "..." when it is long. */
const char *wire_quote(char buf[WIRE_QUOTE_BYTES], const char *text, size_t len);

/* ---- kernel arguments ---- */

/* The key of an argument of this kind: "u32". */
const char *wire_arg_word(enum soma_arg_kind kind);

/* ---- writing ---- */

/* Make room for len more bytes. false: the writer has failed. */
bool wire_writer_grow(struct soma_writer *writer, size_t len);

/* Room for len more bytes, NULL when the writer has failed. The caller adds to writer->len what it
 * used. */
static inline char *wire_writer_room(struct soma_writer *writer, size_t len)
{
    bool fits = !writer->failed && len <= writer->capacity - writer->len;
    return fits || wire_writer_grow(writer, len) ? writer->ptr + writer->len : NULL;
}

#endif
