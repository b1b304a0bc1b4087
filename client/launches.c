/* Launching kernels. */
#include "launches.h"

#include "call.h"
#include "error.h"
#include "shadows.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

aclError client_launch_find(const void *function, const void *stream,
                            struct client_object *the_function, struct client_object *the_stream)
{
    if (function == NULL)
        return client_fail_null("funcHandle");
    if (!client_handle_get(CLIENT_FUNCTION, function, the_function))
        return client_fail(ACL_ERROR_RT_INVALID_HANDLE,
                           "%p is no function: its library was unloaded, or it did not come from "
                           "aclrtBinaryGetFunction",
                           function);
    return client_stream_find_to_move(stream, the_stream);
}

aclError client_launch_check_config(const aclrtLaunchKernelCfg *cfg)
{
    if (cfg == NULL)
        return ACL_SUCCESS;
    if (cfg->numAttrs > 0 && cfg->attrs == NULL)
        return client_fail_null("cfg->attrs");
    for (size_t i = 0; i < cfg->numAttrs; i++) {
        int id = (int)cfg->attrs[i].id;
        if (id < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE ||
            id > ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING)
            return client_fail(ACL_ERROR_INVALID_PARAM,
                               "cfg->attrs[%zu].id is %d: settings are 1 to 9", i, id);
    }
    return ACL_SUCCESS;
}

/* ---- data that pointers of the block lead to ---- */

static void memory_command(struct soma_command *command, enum soma_op op,
                           const struct client_object *stream)
{
    soma_command_init(command, op);
    soma_command_set(command, SOMA_FIELD_device, stream->device);
}

/* Device memory with the data, freed again when the stream gets there. */
static aclError bring_data(const struct client_object *stream, const struct client_patch *patch,
                           uint64_t *address)
{
    struct soma_command command;
    struct soma_result result;
    memory_command(&command, SOMA_OP_MEMORY_MALLOC, stream);
    soma_command_set(&command, SOMA_FIELD_size, patch->size);
    aclError error = client_call(&command, &result);
    if (error != ACL_SUCCESS)
        return error;
    *address = result.u.memory_block.ptr;
    memory_command(&command, SOMA_OP_MEMORY_WRITE, stream);
    soma_command_set(&command, SOMA_FIELD_ptr, *address);
    soma_command_set(&command, SOMA_FIELD_stream, stream->id);
    command.data = (struct soma_text){patch->data, patch->size};
    command.present |= SOMA_HAS(data);
    return client_queue(&command);
}

static void free_data(const struct client_object *stream, const uint64_t *addresses, size_t count)
{
    struct soma_command command;
    struct client_errors before = client_errors_save();
    for (size_t i = 0; i < count; i++) {
        memory_command(&command, SOMA_OP_MEMORY_FREE_ASYNC, stream);
        soma_command_set(&command, SOMA_FIELD_ptr, addresses[i]);
        soma_command_set(&command, SOMA_FIELD_stream, stream->id);
        (void)!client_queue(&command);
    }
    client_errors_restore(&before);
}

/* ---- the launch ---- */

static void launch_command(struct soma_command *command, const struct client_launch *launch,
                           const struct soma_kernel_arg *block, char *name, size_t name_bytes)
{
    const char *library = launch->function->library;
    (void)snprintf(name, name_bytes, "%s%s%s", library, library[0] != '\0' ? "/" : "",
                   launch->function->name);
    memory_command(command, SOMA_OP_STREAM_LAUNCH_KERNEL, launch->stream);
    soma_command_set(command, SOMA_FIELD_stream, launch->stream->id);
    soma_command_set(command, SOMA_FIELD_block_dim, launch->blocks);
    command->kernel = (struct soma_text){name, strlen(name)};
    command->args = (struct soma_kernel_args){block, 1};
    command->present |= SOMA_HAS(kernel) | SOMA_HAS(args);
}

static aclError run(const struct client_launch *launch)
{
    struct soma_command command;
    char name[2 * sizeof(launch->function->name)];
    struct soma_kernel_arg block = {SOMA_ARG_BYTES, 0, {launch->block, launch->block_size}};
    launch_command(&command, launch, &block, name, sizeof(name));
    struct client_shadows shadows;
    if (!client_shadows_are_needed(launch->block, launch->block_size))
        return client_call_launch(&command, launch->ticket);
    aclError error = client_shadows_bring(&shadows, launch->stream, &command);
    if (error == ACL_SUCCESS) {
        block.bytes.ptr = shadows.block;
        error = client_call_launch(&command, launch->ticket);
        if (error == ACL_SUCCESS)
            error = client_shadows_take_back(&shadows, launch->stream);
    } else {
        free(launch->ticket);
    }
    client_shadows_release(&shadows, launch->stream);
    return error;
}

/* The block lies in device memory: the stream reads it there, after all that was queued before. */
static aclError run_from_device(const struct client_launch *launch)
{
    struct soma_command command;
    struct client_launch copy = *launch;
    copy.block = malloc(launch->block_size);
    if (copy.block == NULL) {
        free(launch->ticket);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the arguments");
    }
    memory_command(&command, SOMA_OP_MEMORY_READ, launch->stream);
    soma_command_set(&command, SOMA_FIELD_ptr, launch->block_address);
    soma_command_set(&command, SOMA_FIELD_size, launch->block_size);
    soma_command_set(&command, SOMA_FIELD_stream, launch->stream->id);
    aclError error = client_read(&command, copy.block);
    if (error == ACL_SUCCESS)
        error = run(&copy);
    else
        free(launch->ticket);
    free(copy.block);
    return error;
}

aclError client_launch(const struct client_launch *launch)
{
    if (launch->block == NULL)
        return run_from_device(launch);
    uint64_t *addresses = NULL;
    if (launch->patch_count > 0)
        addresses = calloc(launch->patch_count, sizeof(*addresses));
    if (launch->patch_count > 0 && addresses == NULL) {
        free(launch->ticket);
        return client_fail(ACL_ERROR_BAD_ALLOC, "the host has no memory for the arguments");
    }
    aclError error = ACL_SUCCESS;
    size_t brought = 0;
    for (; brought < launch->patch_count && error == ACL_SUCCESS; brought++) {
        const struct client_patch *patch = &launch->patches[brought];
        error = bring_data(launch->stream, patch, &addresses[brought]);
        memcpy((char *)launch->block + patch->at, &addresses[brought], sizeof(addresses[brought]));
    }
    if (error == ACL_SUCCESS)
        error = run(launch);
    else
        free(launch->ticket);
    while (brought > 0 && addresses[brought - 1] == 0)
        brought--; /* the one that failed */
    free_data(launch->stream, addresses, brought);
    free(addresses);
    return error;
}
