/* Lines are built on the stack and cut when they are too long; nothing is allocated. */
#include "log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 2048u
#define TAIL_BYTES 8u /* kept free for the closing quote, brace and newline */

static const char *const level_words[] = {"debug", "info", "warn", "error", "off"};

struct line {
    char text[LINE_BYTES];
    size_t len;
};

static void put(struct line *line, const char *text, size_t len)
{
    if (line->len + len + TAIL_BYTES > LINE_BYTES)
        return;
    memcpy(line->text + line->len, text, len);
    line->len += len;
}

static void put_escaped(struct line *line, const char *text)
{
    char code[8];
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool starts_character = (c & 0xc0u) != 0x80u;
        if (starts_character && line->len + 2 * TAIL_BYTES > LINE_BYTES)
            return;
        if (c == '"' || c == '\\') {
            char pair[2] = {'\\', (char)c};
            put(line, pair, 2);
        } else if (c < 0x20 || c == 0x7f) {
            (void)snprintf(code, sizeof(code), "\\u%04x", c);
            put(line, code, 6);
        } else {
            put(line, text, 1);
        }
    }
}

static void put_member(struct line *line, const struct log_field *field)
{
    char number[32];
    put(line, ",\"", 2);
    put_escaped(line, field->key);
    put(line, "\":", 2);
    if (field->text == NULL) {
        int len = snprintf(number, sizeof(number), "%" PRIu64, field->number);
        put(line, number, (size_t)len);
        return;
    }
    put(line, "\"", 1);
    put_escaped(line, field->text);
    /* The tail is free for this quote even when the text was cut. */
    line->text[line->len++] = '"';
}

void log_event(const struct log *log, enum log_level level, const char *event,
               const struct log_field *fields)
{
    if (log->fd < 0 || level < log->level)
        return;
    struct timespec now;
    struct tm utc;
    char stamp[40];
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t stamp_len = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
    struct line line;
    line.len = 0;
    put(&line, "{\"time\":\"", 9);
    put(&line, stamp, stamp_len);
    int millis = snprintf(stamp, sizeof(stamp), ".%03ldZ", now.tv_nsec / 1000000);
    put(&line, stamp, (size_t)millis);
    put(&line, "\",\"level\":\"", 11);
    put(&line, level_words[level], strlen(level_words[level]));
    line.text[line.len++] = '"';
    struct log_field name = LOG_TEXT("event", event);
    put_member(&line, &name);
    for (const struct log_field *field = fields; field->key != NULL; field++) {
        if (line.len + strlen(field->key) + 64 < LINE_BYTES)
            put_member(&line, field);
    }
    line.text[line.len++] = '}';
    line.text[line.len++] = '\n';
    ssize_t written = write(log->fd, line.text, line.len);
    (void)written; /* nowhere to tell */
}

bool log_level_of(const char *word, enum log_level *level)
{
    for (unsigned i = 0; i < sizeof(level_words) / sizeof(level_words[0]); i++) {
        if (strcmp(word, level_words[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}
