/* One table of options; each source turns names and texts into calls of set_option. */
#include "config.h"

#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_kind {
    OPTION_LISTEN,
    OPTION_NUMBER,
    OPTION_BYTES,
    OPTION_SOC,
    OPTION_PATH,
    OPTION_INSTANCE,
    OPTION_LEVEL,
    OPTION_FLAG
};

/* Where an option's value came from; a higher rank wins. */
enum source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_COMMAND_LINE };

struct option {
    const char *name; /* without "--" */
    enum option_kind kind;
    size_t offset;
    uint64_t min, max;
    const char *argument; /* for people; NULL: none */
    const char *initial;  /* as text; NULL: unset */
    const char *help;
};

#define AT(member) offsetof(struct soma_config, member)

/* clang-format off */
static const struct option options[] = {
    {"listen", OPTION_LISTEN, AT(listen), 0, 0, "HOST:PORT|unix:PATH", "127.0.0.1:8080",
     "where to listen; may be repeated; port 0 takes a free one; [ADDR]:PORT for IPv6"},
    {"devices", OPTION_NUMBER, AT(devices), 1, SOMA_DEVICES_MAX, "N", "8",
     "devices of a session that does not say"},
    {"soc", OPTION_SOC, AT(soc), 0, 0, "NAME", SOMA_SOC_DEFAULT, "their SoC"},
    {"threads", OPTION_NUMBER, AT(threads), 0, 256, "N", "0",
     "threads per listener; 0: as many as the machine has processors, at least 2"},
    {"max-body", OPTION_BYTES, AT(max_body_bytes), 1024, UINT64_C(1) << 40, "BYTES", "1GiB",
     "largest raw body; JSON bodies end at 64 MiB in any case; KiB, MiB, GiB, TiB are understood"},
    {"max-sessions", OPTION_NUMBER, AT(max_sessions), 1, 1000000, "N", "10000",
     "sessions at one time"},
    {"session-ttl", OPTION_NUMBER, AT(session_ttl_seconds), 1,
     SOMA_SESSION_TTL_SECONDS_MAX, "SECONDS", "600",
     "lease of a session that does not say; each request extends it"},
    {"idle-timeout", OPTION_NUMBER, AT(idle_timeout_seconds), 1, 86400, "SECONDS", "120",
     "closes connections that are silent, and requests that do not arrive, after this time"},
    {"token-file", OPTION_PATH, AT(token_file), 0, 0, "FILE", NULL,
     "bearer tokens, one a line; every request but /livez and /readyz must bring one"},
    {"log-level", OPTION_LEVEL, AT(log_level), 0, 0, "LEVEL", "info",
     "debug, info, warn, error or off; one JSON line per event on stderr"},
    {"kernel-dir", OPTION_PATH, AT(kernel_dir), 0, 0, "DIR", NULL,
     "loads kernels from the shared objects (*.so) in it; see examples/kernels"},
    {"kernel-timeout", OPTION_NUMBER, AT(kernel_timeout_ms), 1, 3600000, "MS", "5000",
     "longest launch of such a kernel, in milliseconds; then it is stopped and has failed"},
    {"kernel-memory", OPTION_BYTES, AT(kernel_memory_bytes), 1048576, UINT64_C(1) << 40, "BYTES", "4GiB",
     "device memory that one such launch may reach, and host memory that it may allocate"},
    {"config", OPTION_PATH, AT(config_file), 0, 0, "FILE", NULL,
     "more options, one NAME = VALUE a line, # begins a comment"},
    {"tls-cert", OPTION_PATH, AT(tls_cert), 0, 0, "FILE", NULL,
     "certificate and chain in PEM: TCP listeners speak TLS 1.2 and 1.3, unix sockets do not"},
    {"tls-key", OPTION_PATH, AT(tls_key), 0, 0, "FILE", NULL, "its key in PEM, not encrypted"},
    {"instance", OPTION_INSTANCE, AT(instance), 0, 0, "NAME", NULL,
     "name of this server among several: its session ids begin with it; hostname: the machine's"},
    {"drain-timeout", OPTION_NUMBER, AT(drain_timeout_seconds), 0, 86400, "SECONDS", "0",
     "how long open sessions may go on after SIGTERM; a second signal ends that"},
    {"insecure", OPTION_FLAG, AT(insecure), 0, 0, NULL, NULL,
     "allows to listen beyond the loopback interface without a token file"},
    {"healthcheck", OPTION_FLAG, AT(healthcheck), 0, 0, NULL, NULL,
     "asks the server that the other options describe whether it is ready: exit code 0 or 1"},
    {"version", OPTION_FLAG, AT(version), 0, 0, NULL, NULL, "prints the version and exits"},
    {"help", OPTION_FLAG, AT(help), 0, 0, NULL, NULL, "prints this text and exits"},
};
/* clang-format on */

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

struct loader {
    struct soma_config *config;
    enum source sources[OPTION_COUNT];
    char *error;
};

static bool fail(struct loader *loader, const struct option *option, const char *value,
                 const char *why)
{
    (void)snprintf(loader->error, CONFIG_ERROR_BYTES, "--%s: \"%.200s\" %s", option->name, value,
                   why);
    return false;
}

static void *place_of(struct loader *loader, const struct option *option)
{
    return (char *)loader->config + option->offset;
}

/* ---- values ---- */

static bool set_string(struct loader *loader, const struct option *option, const char *value)
{
    char **place = place_of(loader, option);
    char *copy = strdup(value);
    if (copy == NULL)
        return fail(loader, option, value, "needs memory that is not there");
    free(*place);
    *place = copy;
    return true;
}

static bool set_listen(struct loader *loader, const struct option *option, const char *value)
{
    struct soma_config *config = loader->config;
    const char *colon = strrchr(value, ':');
    bool is_unix = strncmp(value, "unix:", 5) == 0;
    if (is_unix ? value[5] == '\0' : colon == NULL || colon == value || colon[1] == '\0')
        return fail(loader, option, value, "is neither HOST:PORT nor unix:PATH");
    if (!is_unix &&
        (strlen(colon + 1) > 5 || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
         strtoul(colon + 1, NULL, 10) > 65535))
        return fail(loader, option, value, "has no port from 0 to 65535");
    if (config->listen_count == CONFIG_LISTEN_MAX)
        return fail(loader, option, value, "is one listener too many: 16 are allowed");
    char *copy = strdup(value);
    if (copy == NULL)
        return fail(loader, option, value, "needs memory that is not there");
    config->listen[config->listen_count++] = copy;
    return true;
}

/* Decimal digits; with KiB ... TiB behind them when units is set. */
static bool read_number(const char *text, bool units, uint64_t *value)
{
    static const char *const suffixes[] = {"", "KiB", "MiB", "GiB", "TiB"};
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    for (unsigned i = 0; i < (units ? 5u : 1u); i++) {
        if (strcmp(end, suffixes[i]) != 0)
            continue;
        if (number > UINT64_MAX >> (10 * i))
            return false;
        *value = (uint64_t)number << (10 * i);
        return true;
    }
    return false;
}

static bool set_number(struct loader *loader, const struct option *option, const char *value)
{
    uint64_t number;
    char why[96];
    if (!read_number(value, option->kind == OPTION_BYTES, &number) || number < option->min ||
        number > option->max) {
        (void)snprintf(why, sizeof(why), "is not a number from %" PRIu64 " to %" PRIu64,
                       option->min, option->max);
        return fail(loader, option, value, why);
    }
    *(uint64_t *)place_of(loader, option) = number;
    return true;
}

static bool set_flag(struct loader *loader, const struct option *option, const char *value)
{
    bool yes = strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
    if (!yes && strcmp(value, "0") != 0 && strcmp(value, "false") != 0 && value[0] != '\0')
        return fail(loader, option, value, "is neither true (1) nor false (0)");
    *(bool *)place_of(loader, option) = yes;
    return true;
}

/* Letters, digits, "-" and "_", which stand in headers and paths as they are. */
static bool set_instance(struct loader *loader, const struct option *option, const char *value)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char name[256];
    (void)snprintf(name, sizeof(name), "%s", value);
    if (strcmp(value, "hostname") == 0) {
        if (gethostname(name, sizeof(name)) != 0)
            return fail(loader, option, value, "is not known: the machine has no name");
        name[sizeof(name) - 1] = '\0';
        name[strcspn(name, ".")] = '\0';
    }
    size_t len = strlen(name);
    if (len == 0 || len > CONFIG_INSTANCE_BYTES_MAX || strspn(name, allowed) != len)
        return fail(loader, option, name, "is not 1 to 32 letters, digits, - and _");
    return set_string(loader, option, name);
}

static bool set_value(struct loader *loader, const struct option *option, const char *value)
{
    switch (option->kind) {
    case OPTION_LISTEN: return set_listen(loader, option, value);
    case OPTION_NUMBER:
    case OPTION_BYTES: return set_number(loader, option, value);
    case OPTION_FLAG: return set_flag(loader, option, value);
    case OPTION_SOC:
        if (soma_soc_find(value, strlen(value)) == NULL)
            return fail(loader, option, value, "is not the name of a SoC, such as Ascend910B1");
        return set_string(loader, option, value);
    case OPTION_PATH:
        if (value[0] == '\0')
            return fail(loader, option, value, "is no file name");
        return set_string(loader, option, value);
    case OPTION_INSTANCE: return set_instance(loader, option, value);
    case OPTION_LEVEL:
        if (!log_level_of(value, place_of(loader, option)))
            return fail(loader, option, value, "is none of debug, info, warn, error, off");
        return true;
    }
    return false;
}

static void clear_listen(struct soma_config *config)
{
    for (size_t i = 0; i < config->listen_count; i++)
        free(config->listen[i]);
    config->listen_count = 0;
}

/* Set an option unless a source of higher rank has set it. Lists grow within one source. */
static bool set_option(struct loader *loader, const struct option *option, const char *value,
                       enum source source)
{
    enum source *set_by = &loader->sources[option - options];
    if (*set_by > source)
        return true;
    if (option->kind == OPTION_LISTEN && *set_by < source)
        clear_listen(loader->config);
    *set_by = source;
    return set_value(loader, option, value);
}

static const struct option *find_option(const char *name, size_t len)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(options[i].name) == len && memcmp(options[i].name, name, len) == 0)
            return &options[i];
    }
    return NULL;
}

/* ---- sources ---- */

static bool load_command_line(struct loader *loader, int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const char *equals = strchr(word, '=');
        size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
        const struct option *option =
            strncmp(word, "--", 2) == 0 ? find_option(word + 2, len - 2) : NULL;
        if (option == NULL) {
            (void)snprintf(loader->error, CONFIG_ERROR_BYTES,
                           "%.*s: unknown option; --help lists them", (int)(len > 200 ? 200 : len),
                           word);
            return false;
        }
        const char *value = equals != NULL ? equals + 1 : NULL;
        if (value == NULL && option->kind == OPTION_FLAG)
            value = "1";
        else if (value == NULL && i + 1 < argc)
            value = argv[++i];
        if (value == NULL) {
            (void)snprintf(loader->error, CONFIG_ERROR_BYTES, "--%s: needs a value: %s",
                           option->name, option->argument);
            return false;
        }
        if (!set_option(loader, option, value, SOURCE_COMMAND_LINE))
            return false;
    }
    return true;
}

/* "SOMAD_MAX_BODY=1MiB" -> the option max-body. Variables that name no option are not ours. */
static const struct option *option_of_variable(const char *variable, size_t len)
{
    char name[32];
    if (len < 7 || len - 6 >= sizeof(name) || memcmp(variable, "SOMAD_", 6) != 0)
        return NULL;
    for (size_t i = 6; i < len; i++) {
        char c = variable[i];
        name[i - 6] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : '?';
    }
    return find_option(name, len - 6);
}

/* Several listeners stand in one variable with commas between them. */
static bool set_variable(struct loader *loader, const struct option *option, const char *value)
{
    char list[1024];
    char *rest = NULL;
    if (option->kind != OPTION_LISTEN || strchr(value, ',') == NULL)
        return set_option(loader, option, value, SOURCE_ENVIRONMENT);
    if ((size_t)snprintf(list, sizeof(list), "%s", value) >= sizeof(list))
        return fail(loader, option, value, "is too long");
    for (char *item = strtok_r(list, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest)) {
        if (!set_option(loader, option, item, SOURCE_ENVIRONMENT))
            return false;
    }
    return true;
}

static bool load_environment(struct loader *loader, char *const *envp)
{
    for (char *const *entry = envp; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL)
            continue;
        const struct option *option = option_of_variable(*entry, (size_t)(equals - *entry));
        if (option == NULL || (equals[1] == '\0' && option->kind != OPTION_FLAG))
            continue;
        if (!set_variable(loader, option, equals + 1)) {
            char line[CONFIG_ERROR_BYTES];
            (void)snprintf(line, sizeof(line), "%.400s (from %.*s)", loader->error,
                           (int)(equals - *entry), *entry);
            (void)snprintf(loader->error, CONFIG_ERROR_BYTES, "%s", line);
            return false;
        }
    }
    return true;
}

void soma_config_warn(FILE *out, char *const *envp)
{
    for (char *const *entry = envp; *entry != NULL; entry++) {
        size_t len = strcspn(*entry, "=");
        if (strncmp(*entry, "SOMAD_", 6) != 0 || option_of_variable(*entry, len) != NULL ||
            strncmp(*entry, "SOMAD_SERVICE_", 14) == 0 || strncmp(*entry, "SOMAD_PORT", 10) == 0)
            continue;
        (void)fprintf(out, "somad: %.*s names no option and is ignored; --help lists them\n",
                      (int)(len > 200 ? 200 : len), *entry);
    }
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
        len--;
    text[len] = '\0';
    return text;
}

static bool load_line(struct loader *loader, char *line, unsigned number)
{
    const char *path = loader->config->config_file;
    char *text = trim(line);
    if (text[0] == '\0' || text[0] == '#')
        return true;
    char *equals = strchr(text, '=');
    if (equals == NULL) {
        (void)snprintf(loader->error, CONFIG_ERROR_BYTES,
                       "--config: %.200s:%u: \"%.100s\" is not NAME = VALUE", path, number, text);
        return false;
    }
    *equals = '\0';
    const char *name = trim(text);
    const struct option *option = find_option(name, strlen(name));
    if (option == NULL || option->offset == AT(config_file)) {
        (void)snprintf(loader->error, CONFIG_ERROR_BYTES,
                       "--config: %.200s:%u: unknown option \"%.100s\"", path, number, name);
        return false;
    }
    if (set_option(loader, option, trim(equals + 1), SOURCE_FILE))
        return true;
    char why[CONFIG_ERROR_BYTES];
    (void)snprintf(why, sizeof(why), "%s", loader->error);
    (void)snprintf(loader->error, CONFIG_ERROR_BYTES, "%.250s (%.200s:%u)", why, path, number);
    return false;
}

static bool load_file(struct loader *loader)
{
    const char *path = loader->config->config_file;
    char line[4096];
    unsigned number = 0;
    bool good = true;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)snprintf(loader->error, CONFIG_ERROR_BYTES, "--config: %.300s: %s", path,
                       strerror(errno));
        return false;
    }
    while (good && fgets(line, sizeof(line), file) != NULL)
        good = load_line(loader, line, ++number);
    if (good && ferror(file) != 0) {
        (void)snprintf(loader->error, CONFIG_ERROR_BYTES, "--config: %.300s: cannot be read", path);
        good = false;
    }
    (void)fclose(file);
    return good;
}

/* ---- the whole ---- */

static bool load_defaults(struct loader *loader)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].initial != NULL &&
            !set_option(loader, &options[i], options[i].initial, SOURCE_DEFAULT))
            return false;
    }
    return true;
}

static void choose_threads(struct soma_config *config)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (config->threads == 0)
        config->threads = processors < 2 ? 2 : processors > 64 ? 64 : (uint64_t)processors;
}

bool soma_config_init(struct soma_config *config)
{
    char error[CONFIG_ERROR_BYTES];
    struct loader loader = {.config = config, .error = error};
    memset(config, 0, sizeof(*config));
    bool good = load_defaults(&loader);
    choose_threads(config);
    return good;
}

bool soma_config_load(struct soma_config *config, int argc, char *const *argv, char *const *envp,
                      char error[CONFIG_ERROR_BYTES])
{
    struct loader loader = {.config = config, .error = error};
    /* The file ranks lowest, but it is the command line and the environment that name it. */
    if (!load_command_line(&loader, argc, argv) || !load_environment(&loader, envp))
        return false;
    if (config->config_file != NULL && !load_file(&loader))
        return false;
    choose_threads(config);
    if ((config->tls_cert == NULL) == (config->tls_key == NULL))
        return true;
    (void)snprintf(error, CONFIG_ERROR_BYTES, "--tls-cert and --tls-key need each other");
    return false;
}

void soma_config_release(struct soma_config *config)
{
    clear_listen(config);
    free(config->soc);
    free(config->token_file);
    free(config->tls_cert);
    free(config->tls_key);
    free(config->instance);
    free(config->kernel_dir);
    free(config->config_file);
    memset(config, 0, sizeof(*config));
}

void soma_config_help(FILE *out)
{
    fputs("somad: emulated Ascend devices with stream-ordered memory pools, over HTTP and JSON\n\n"
          "usage: somad [--OPTION VALUE]...\n\n",
          out);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options[i];
        fprintf(out, "  --%s%s%s\n      %s", option->name, option->argument != NULL ? " " : "",
                option->argument != NULL ? option->argument : "", option->help);
        if (option->kind != OPTION_FLAG)
            fprintf(out, " (default: %s)", option->initial != NULL ? option->initial : "none");
        fputc('\n', out);
    }
    fputs("\nEach option can also stand in the environment (--max-body: SOMAD_MAX_BODY; several\n"
          "listeners with commas between them; flags as 1 or 0) or in the file of --config. The\n"
          "command line ranks above the environment, that above the file.\n",
          out);
}
