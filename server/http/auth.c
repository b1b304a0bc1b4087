/* Tokens are kept padded to one length and all compared in full. */
#include "auth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct token {
    unsigned char text[SOMA_TOKEN_BYTES_MAX];
    size_t len;
};

struct auth {
    struct token *tokens;
    size_t count;
};

static bool fail(char error[CONFIG_ERROR_BYTES], const char *path, const char *why)
{
    (void)snprintf(error, CONFIG_ERROR_BYTES, "--token-file: %.300s: %s", path, why);
    return false;
}

static bool add_token(struct auth *auth, const char *text, size_t len)
{
    struct token *tokens = realloc(auth->tokens, (auth->count + 1) * sizeof(*tokens));
    if (tokens == NULL)
        return false;
    auth->tokens = tokens;
    struct token *token = &tokens[auth->count++];
    memset(token, 0, sizeof(*token));
    memcpy(token->text, text, len);
    token->len = len;
    return true;
}

static bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    }
    return len >= 1 && len <= SOMA_TOKEN_BYTES_MAX;
}

static bool load_lines(struct auth *auth, FILE *file, const char *path,
                       char error[CONFIG_ERROR_BYTES])
{
    char line[1024];
    while (fgets(line, sizeof(line), file) != NULL) {
        size_t len = strcspn(line, "\r\n");
        if (len == 0 || line[0] == '#')
            continue;
        if (!is_token(line, len))
            return fail(error, path, "a token is 1 to 256 visible ASCII characters");
        if (!add_token(auth, line, len))
            return fail(error, path, "no memory");
    }
    if (ferror(file) != 0)
        return fail(error, path, "cannot be read");
    return auth->count > 0 || fail(error, path, "holds no token");
}

bool auth_load(const char *path, struct auth **auth, char error[CONFIG_ERROR_BYTES])
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail(error, path, strerror(errno));
    struct auth *loaded = calloc(1, sizeof(*loaded));
    bool good =
        loaded != NULL ? load_lines(loaded, file, path, error) : fail(error, path, "no memory");
    (void)fclose(file);
    if (good)
        *auth = loaded;
    else
        auth_release(loaded);
    return good;
}

void auth_release(struct auth *auth)
{
    if (auth == NULL)
        return;
    for (size_t i = 0; i < auth->count; i++)
        explicit_bzero(auth->tokens[i].text, SOMA_TOKEN_BYTES_MAX);
    free(auth->tokens);
    free(auth);
}

bool auth_accepts(const struct auth *auth, const char *token, size_t len)
{
    unsigned char padded[SOMA_TOKEN_BYTES_MAX] = {0};
    bool fits = len <= SOMA_TOKEN_BYTES_MAX;
    memcpy(padded, token, fits ? len : SOMA_TOKEN_BYTES_MAX);
    unsigned found = 0;
    for (size_t i = 0; i < auth->count; i++) {
        unsigned difference = 0;
        for (size_t at = 0; at < SOMA_TOKEN_BYTES_MAX; at++)
            difference |= (unsigned)(padded[at] ^ auth->tokens[i].text[at]);
        difference |= (unsigned)(len != auth->tokens[i].len);
        found |= (unsigned)(difference == 0);
    }
    return found != 0 && fits;
}
