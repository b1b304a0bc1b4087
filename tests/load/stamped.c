/* Sessions whose requests carry the session's clock: any command of the simulation's generator but
 * those whose outcome the model cannot tell.
 *   kernels       the service has others than the simulation
 *   plain events  a synchronise could wait for a record, and a batch would not run in one piece
 *   functions of the host  the same, for their end
 *   large copies  they would only move memory about */
#include "load.h"
#include "workload.h"

#include <stdlib.h>

#define BATCH_MAX 6u
#define BYTES_MAX 65536u /* of one set, copy or read */

struct stamped {
    struct workload_program program;
    struct workload *workload;
    uint64_t *values; /* what each step created */
    uint32_t value_capacity;
};

static void begin(struct load_session *session)
{
    struct stamped *state = calloc(1, sizeof(*state));
    if (state == NULL)
        abort();
    session->state = state;
    state->workload = workload_create(&state->program, session->seed, false);
    struct model_config *config = &state->program.config;
    static const char soc[] = SOMA_SOC_DEFAULT;
    config->soc = soma_soc_find(soc, sizeof(soc) - 1);
    config->is_wall_clock = false;
    config->costs = (struct model_costs){.host_call_ns = SOMA_HOST_CALL_NS_DEFAULT,
                                         .host_copy_ns = 10000,
                                         .host_copy_bytes_per_us = 24000,
                                         .device_copy_ns = 5000,
                                         .device_copy_bytes_per_us = 400000,
                                         .set_ns = 5000,
                                         .set_bytes_per_us = 800000,
                                         .kernel_ns = 10000};
    /* One device more, for the stamps. Devices are as large as the service's. */
    session->config = *config;
    session->config.device_count++;
    session->config.memory_bytes = config->soc->memory_bytes;
}

static void end(struct load_session *session)
{
    struct stamped *state = session->state;
    workload_destroy(state->workload);
    workload_program_release(&state->program);
    free(state->values);
    free(state);
}

static void setup(struct load_session *session, struct load_request *request)
{
    (void)session;
    request->count = 0;
}

/* ---- steps ---- */

static bool has_words(const struct soma_command *command)
{
    const struct soma_op_info *op = soma_op_info(command->op);
    for (size_t i = 0; i < op->field_count; i++) {
        const struct soma_field_row *row = &op->fields[i];
        enum soma_enum_group words = soma_field_kind_info(row->kind)->words;
        if (words != SOMA_GROUP_COUNT && (command->present >> row->field & 1u) != 0 &&
            soma_word_of(words, (int)soma_command_get(command, row->field)) == NULL)
            return false;
    }
    return true;
}

/* Make the step one that can be sent. false: leave it out. */
static bool adapt(struct soma_command *command)
{
    if (command->op == SOMA_OP_STREAM_LAUNCH_KERNEL ||
        command->op == SOMA_OP_STREAM_LAUNCH_HOST_FUNC || !has_words(command))
        return false;
    if (command->op == SOMA_OP_EVENT_CREATE) {
        command->kind = SOMA_EVENT_KIND_EX;
        command->present &= ~SOMA_HAS(kind);
    }
    bool is_access = command->op == SOMA_OP_MEMORY_SET || command->op == SOMA_OP_MEMORY_COPY ||
                     command->op == SOMA_OP_MEMORY_READ;
    if (is_access && command->size > BYTES_MAX)
        command->size = BYTES_MAX;
    if (command->device >= SOMA_DEVICES_MAX)
        command->device = SOMA_DEVICES_MAX - 1;
    return true;
}

static uint32_t take_step(struct stamped *state)
{
    for (;;) {
        uint32_t index = workload_next(state->workload);
        if (index >= state->value_capacity) {
            uint32_t capacity = state->value_capacity * 2 + 1024;
            state->values = realloc(state->values, capacity * sizeof(*state->values));
            if (state->values == NULL)
                abort();
            for (uint32_t i = state->value_capacity; i < capacity; i++)
                state->values[i] = 0;
            state->value_capacity = capacity;
        }
        if (adapt(&state->program.steps[index].command))
            return index;
    }
}

static void next(struct load_session *session, uint32_t lane, struct load_request *request)
{
    struct stamped *state = session->state;
    uint64_t count = 1 + random_below(&session->random, BATCH_MAX);
    (void)lane;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t index = take_step(state);
        struct soma_kernel_arg args[2]; /* of kernels, which are left out */
        struct soma_command *command = &request->commands[request->count];
        workload_command(&state->program.steps[index], state->values, command, args);
        command->args = (struct soma_kernel_args){NULL, 0};
        request->tokens[request->count++] = index;
    }
}

static void learn(struct load_session *session, uint32_t lane, uint32_t token,
                  const struct soma_command *command, enum soma_status status,
                  const struct soma_result *result)
{
    struct stamped *state = session->state;
    (void)lane;
    if (status == SOMA_OK)
        state->values[token] = workload_created(command->op, result);
    workload_learn(state->workload, token, status, result);
}

const struct load_kind load_stamped = {.name = "stamped",
                                       .is_batch = true,
                                       .has_times = true,
                                       .begin = begin,
                                       .setup = setup,
                                       .next = next,
                                       .learn = learn,
                                       .end = end};
