#include "kernel_fixture.h"

#include "host_memory.h"

#include <CUnit/CUnit.h>

#include <stdlib.h>
#include <string.h>

void kernel_fixture_start(struct kernel_fixture *f, struct kernel_libraries *libraries)
{
    struct engine_mem mem = host_memory_table();
    struct engine_config config = {.device_count = 1, .soc = soma_soc_row(3)};
    *f = (struct kernel_fixture){.kernels = kernels_create_with(libraries)};
    f->bytes = bytes_create(f->kernels);
    CU_ASSERT_FATAL(f->kernels != NULL && f->bytes != NULL);
    struct engine_bytes table = bytes_table(f->bytes);
    f->engine = engine_create(&config, &mem, &table);
    CU_ASSERT_FATAL(f->engine != NULL);
}

void kernel_fixture_stop(struct kernel_fixture *f)
{
    engine_destroy(f->engine);
    bytes_destroy(f->bytes);
    kernels_destroy(f->kernels);
}

enum soma_status kernel_fixture_apply(struct kernel_fixture *f, const struct soma_command *command)
{
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    enum soma_status status = engine_apply(f->engine, command, &result, &f->error);
    if (status == SOMA_OK && command->op == SOMA_OP_STREAM_LAUNCH_KERNEL)
        f->launched = result.u.launched;
    if (status == SOMA_OK)
        engine_result_clear(f->engine, &result);
    return status;
}

enum soma_status kernel_fixture_launch(struct kernel_fixture *f, const char *kernel,
                                       uint64_t block_dim, const struct soma_kernel_arg *args,
                                       size_t count)
{
    struct soma_command command;
    soma_command_init(&command, SOMA_OP_STREAM_LAUNCH_KERNEL);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_stream, 0);
    soma_command_set(&command, SOMA_FIELD_block_dim, block_dim);
    command.kernel = (struct soma_text){kernel, strlen(kernel)};
    command.args = (struct soma_kernel_args){args, count};
    command.present |= SOMA_HAS(kernel) | SOMA_HAS(args);
    return kernel_fixture_apply(f, &command);
}

uint64_t kernel_fixture_allocate(struct kernel_fixture *f, uint64_t size)
{
    struct soma_command command;
    struct soma_result result = {.message = SOMA_MESSAGE_NONE};
    soma_command_init(&command, SOMA_OP_MEMORY_MALLOC);
    soma_command_set(&command, SOMA_FIELD_device, 0);
    soma_command_set(&command, SOMA_FIELD_size, size);
    CU_ASSERT_FATAL(engine_apply(f->engine, &command, &result, &f->error) == SOMA_OK);
    return result.u.memory_block.ptr;
}

void kernel_fixture_put(struct kernel_fixture *f, uint64_t address, const void *from, size_t size)
{
    void *host;
    CU_ASSERT_FATAL(bytes_host(f->bytes, address, size, &host, &f->error) == SOMA_OK);
    memcpy(host, from, size);
}

void kernel_fixture_get(struct kernel_fixture *f, uint64_t address, void *to, size_t size)
{
    const void *host = bytes_peek(f->bytes, address, size);
    if (host == NULL)
        memset(to, 0, size);
    else
        memcpy(to, host, size);
}
