/* Loading kernel libraries and telling what is in them. */
#include "internal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const struct soma_kernel_declaration **kernels;
static uint32_t kernel_count;

static bool tell(const struct worker_message *message)
{
    return send(WORKER_SOCKET, message, sizeof(*message), MSG_NOSIGNAL) ==
           (ssize_t)sizeof(*message);
}

__attribute__((format(printf, 1, 2))) static bool bad(const char *format, ...)
{
    static struct worker_message message;
    va_list args;
    memset(&message, 0, sizeof(message));
    message.kind = WORKER_BAD;
    va_start(args, format);
    (void)vsnprintf(message.help, sizeof(message.help), format, args);
    va_end(args);
    (void)tell(&message);
    return false;
}

static bool is_name(const char *name)
{
    return name != NULL && name[0] != '\0' && strlen(name) <= SOMA_KERNEL_NAME_BYTES_MAX &&
           strpbrk(name, "/ \t\r\n\"") == NULL;
}

static bool is_known(const char *name, const struct soma_kernel_library *library, size_t before)
{
    for (size_t i = 0; i < before; i++) {
        if (strcmp(library->kernels[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool add_argument(struct worker_message *message,
                         const struct soma_kernel_argument *argument)
{
    struct worker_argument *out = &message->arguments[message->argument_count];
    if (!is_name(argument->name) || (unsigned)argument->type > SOMA_KERNEL_F64)
        return bad("%s: kernel %s: argument %u has no name of 1 to %u bytes, or no known type",
                   message->library, message->name, message->argument_count,
                   SOMA_KERNEL_NAME_BYTES_MAX);
    (void)snprintf(out->name, sizeof(out->name), "%s", argument->name);
    (void)snprintf(out->help, sizeof(out->help), "%s",
                   argument->help != NULL ? argument->help : "");
    out->type = argument->type;
    out->unit_ps = argument->unit_ps;
    message->argument_count++;
    return true;
}

static bool add_kernel(const char *library, const struct soma_kernel_declaration *kernel)
{
    static struct worker_message message;
    memset(&message, 0, sizeof(message));
    message.kind = WORKER_KERNEL;
    (void)snprintf(message.library, sizeof(message.library), "%s", library);
    (void)snprintf(message.name, sizeof(message.name), "%s", kernel->name);
    (void)snprintf(message.help, sizeof(message.help), "%s",
                   kernel->help != NULL ? kernel->help : "");
    message.fixed_ns = kernel->fixed_ns;
    message.block_ns = kernel->block_ns;
    for (size_t i = 0; kernel->arguments[i].name != NULL; i++) {
        if (i == SOMA_KERNEL_ARGUMENTS_MAX)
            return bad("%s: kernel %s has more than %u arguments", library, kernel->name,
                       SOMA_KERNEL_ARGUMENTS_MAX);
        if (!add_argument(&message, &kernel->arguments[i]))
            return false;
    }
    const struct soma_kernel_declaration **more =
        realloc((void *)kernels, (kernel_count + 1) * sizeof(*more));
    if (more == NULL)
        return bad("no memory");
    kernels = more;
    kernels[kernel_count++] = kernel;
    return tell(&message);
}

static bool add_library(const char *library, const struct soma_kernel_library *content)
{
    if (content->abi != SOMA_KERNEL_ABI ||
        content->declaration_bytes != sizeof(struct soma_kernel_declaration))
        return bad("%s.so was built for version %u of soma/kernel.h, and this is version %u: "
                   "build it again",
                   library, content->abi, SOMA_KERNEL_ABI);
    for (size_t i = 0; i < content->count; i++) {
        const struct soma_kernel_declaration *kernel = &content->kernels[i];
        if (!is_name(kernel->name) || kernel->run == NULL)
            return bad("%s: kernel %zu has no function, or no name of 1 to %u bytes", library, i,
                       SOMA_KERNEL_NAME_BYTES_MAX);
        if (is_known(kernel->name, content, i))
            return bad("%s: kernel %s is there twice", library, kernel->name);
        if (!add_kernel(library, kernel))
            return false;
    }
    return true;
}

static bool load(const char *directory, const char *file)
{
    static struct worker_message message;
    char path[4096];
    size_t len = strlen(file) - strlen(".so");
    memset(&message, 0, sizeof(message));
    message.kind = WORKER_LOADING;
    (void)snprintf(message.library, sizeof(message.library), "%.*s", (int)len, file);
    if (len > SOMA_KERNEL_NAME_BYTES_MAX || !is_name(message.library))
        return bad("%.64s...: the name of a library has at most %u bytes, no space and no quote",
                   file, SOMA_KERNEL_NAME_BYTES_MAX);
    if (snprintf(path, sizeof(path), "%s/%s", directory, file) >= (int)sizeof(path))
        return bad("%s: the path is too long", message.library);
    if (!tell(&message))
        return false;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return bad("%s", dlerror());
    const struct soma_kernel_library *content = dlsym(library, "soma_kernel_library");
    if (content == NULL)
        return bad("%s is no kernel library: SOMA_KERNEL_LIBRARY of soma/kernel.h is missing",
                   file);
    return add_library(message.library, content);
}

static int is_shared_object(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* not alphasort, which asks the locale */
}

bool libraries_load(const char *directory)
{
    static struct worker_message ready = {.kind = WORKER_READY};
    struct dirent **entries;
    int count = scandir(directory, &entries, is_shared_object, by_name);
    if (count < 0)
        return bad("%s cannot be read: %s", directory, strerror(errno));
    bool good = true;
    for (int i = 0; i < count && good; i++)
        good = load(directory, entries[i]->d_name);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free((void *)entries);
    return good && tell(&ready);
}

const struct soma_kernel_declaration *libraries_kernel(uint32_t number)
{
    return number < kernel_count ? kernels[number] : NULL;
}
