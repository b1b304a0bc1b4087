/* Events: one line, one JSON object, whatever the fields hold. */
#include "expect.h"
#include "log.h"
#include "suites.h"

#include <cjson/cJSON.h>
#include <string.h>
#include <unistd.h>

/* Log one event with this text and give back the line; the caller frees the tree. */
static cJSON *log_text(const char *text, char *line, size_t line_bytes)
{
    int ends[2];
    CU_ASSERT_FATAL(pipe(ends) == 0);
    struct log log = {.fd = ends[1], .level = LOG_LEVEL_INFO};
    LOG(&log, LOG_LEVEL_DEBUG, "dropped", LOG_NUMBER("n", 1));
    LOG(&log, LOG_LEVEL_WARN, "kept", LOG_TEXT("text", text), LOG_NUMBER("n", UINT64_MAX));
    (void)close(ends[1]);
    ssize_t len = read(ends[0], line, line_bytes - 1);
    (void)close(ends[0]);
    CU_ASSERT_FATAL(len > 0);
    line[len] = '\0';
    EXPECT(strchr(line, '\n') == line + len - 1, "not one line: %s", line);
    return cJSON_Parse(line);
}

static const char *member(const cJSON *tree, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, name));
}

static void test_line(void)
{
    char line[4096];
    cJSON *tree = log_text("a \"quote\", \\ and \n\x01", line, sizeof(line));
    EXPECT(tree != NULL, "no JSON: %s", line);
    EXPECT(same_words(member(tree, "event"), "kept"), "event: %s", line);
    EXPECT(same_words(member(tree, "level"), "warn"), "level: %s", line);
    EXPECT(same_words(member(tree, "text"), "a \"quote\", \\ and \n\x01"), "text: %s", line);
    EXPECT(member(tree, "time") != NULL && strlen(member(tree, "time")) == 24, "time: %s", line);
    EXPECT(strstr(line, "18446744073709551615") != NULL, "number: %s", line);
    cJSON_Delete(tree);
}

static void test_long_text(void)
{
    char text[3001], line[4096];
    for (size_t i = 0; i + 3 < sizeof(text); i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3); /* three-byte characters */
    text[3000] = '\0';
    cJSON *tree = log_text(text, line, sizeof(line));
    EXPECT(tree != NULL, "no JSON: %s", line);
    const char *kept = member(tree, "text");
    EXPECT(kept != NULL && strlen(kept) % 3 == 0 && strlen(kept) > 1500, "cut inside a character");
    cJSON_Delete(tree);
}

static void test_levels(void)
{
    enum log_level level;
    EXPECT(log_level_of("error", &level) && level == LOG_LEVEL_ERROR, "error");
    EXPECT(!log_level_of("ERROR", &level) && !log_level_of("", &level), "unknown words");
}

static const struct soma_test tests[] = {
    {"line", test_line}, {"long text", test_long_text}, {"levels", test_levels}, {NULL, NULL}};
const struct soma_suite suite_log = {"log", tests};
