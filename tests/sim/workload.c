/* The generator's books: what lives, what is planned, and the session that a seed stands for. */
#include "workload.h"

#include "workload_state.h"

#include <stdlib.h>
#include <string.h>

#define MIB UINT64_C(1048576)

/* ---- growing arrays ---- */

static void *grow(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 256 : *capacity * 2;
    items = realloc(items, *capacity * item_bytes);
    if (items == NULL)
        abort();
    return items;
}

void workload_program_release(struct workload_program *program)
{
    free(program->steps);
    memset(program, 0, sizeof(*program));
}

/* ---- steps ---- */

struct workload_step workload_step_of(enum soma_op op)
{
    struct workload_step step;
    memset(&step, 0, sizeof(step));
    soma_command_init(&step.command, op);
    step.arg_step = WORKLOAD_NONE;
    step.target = WORKLOAD_NONE;
    return step;
}

void workload_set(struct workload_step *step, enum soma_field field, uint64_t value)
{
    soma_command_set(&step->command, field, value);
}

void workload_refer(const struct workload *workload, struct workload_step *step,
                    enum soma_field field, uint32_t object, uint64_t offset)
{
    uint32_t source = workload->objects[object].step;
    soma_command_set(&step->command, field, offset);
    if (source == WORKLOAD_NONE)
        return;
    if (step->reference_count == WORKLOAD_REFERENCES_MAX)
        abort();
    step->references[step->reference_count++] = (struct workload_reference){field, source};
}

void workload_command(const struct workload_step *step, const uint64_t *values,
                      struct soma_command *command, struct soma_kernel_arg args[2])
{
    *command = step->command;
    for (uint32_t i = 0; i < step->reference_count; i++) {
        const struct workload_reference *reference = &step->references[i];
        soma_command_set(command, reference->field,
                         soma_command_get(command, reference->field) + values[reference->step]);
    }
    memcpy(args, step->args, sizeof(step->args));
    if (step->arg_step != WORKLOAD_NONE)
        args[0].bits += values[step->arg_step];
    command->args.items = args;
}

uint64_t workload_created(enum soma_op op, const struct soma_result *result)
{
    if (op == SOMA_OP_STREAM_CREATE)
        return result->u.stream_created.stream;
    if (op == SOMA_OP_EVENT_CREATE)
        return result->u.event_created.event;
    if (op == SOMA_OP_POOL_CREATE)
        return result->u.pool_created.pool;
    if (op == SOMA_OP_POOL_MALLOC)
        return result->u.pool_block.ptr;
    if (op == SOMA_OP_MEMORY_MALLOC)
        return result->u.memory_block.ptr;
    return 0;
}

/* ---- objects ---- */

static uint32_t add_object(struct workload *workload, const struct workload_object *object)
{
    workload->objects = grow(workload->objects, workload->object_count, &workload->object_capacity,
                             sizeof(*workload->objects));
    workload->objects[workload->object_count] = *object;
    workload->live[object->kind]++;
    workload->made[object->kind]++;
    return workload->object_count++;
}

uint32_t workload_pick(struct workload *workload, enum workload_kind kind, uint32_t device)
{
    uint32_t found = WORKLOAD_NONE;
    uint64_t count = 0;
    for (uint32_t i = 0; i < workload->object_count; i++) {
        const struct workload_object *object = &workload->objects[i];
        if (object->kind != kind || !object->is_live ||
            (device != WORKLOAD_NONE && object->device != device))
            continue;
        count++;
        if (workload_below(workload, count) == 0)
            found = i;
    }
    return found;
}

static void end_object(struct workload *workload, uint32_t index)
{
    struct workload_object *object = &workload->objects[index];
    if (!object->is_live)
        return;
    object->is_live = false;
    workload->live[object->kind]--;
    if (object->kind != WORKLOAD_POOL)
        return;
    for (uint32_t i = 0; i < workload->object_count; i++) {
        if (workload->objects[i].kind == WORKLOAD_BLOCK && workload->objects[i].owner == index)
            end_object(workload, i);
    }
}

static void end_device(struct workload *workload, uint64_t device)
{
    for (uint32_t i = 0; i < workload->object_count; i++) {
        const struct workload_object *object = &workload->objects[i];
        if (object->device == device && object->step != WORKLOAD_NONE)
            end_object(workload, i);
    }
}

static void learn_created(struct workload *workload, uint32_t index,
                          const struct soma_result *result)
{
    const struct workload_step *step = &workload->program->steps[index];
    struct workload_object object = {.step = index,
                                     .device = (uint32_t)step->command.device,
                                     .owner = WORKLOAD_NONE,
                                     .is_live = true};
    if (object.device >= workload->program->config.device_count)
        return; /* a made-up device that happens to be there */
    if (step->command.op == SOMA_OP_STREAM_CREATE) {
        object.kind = WORKLOAD_STREAM;
    } else if (step->command.op == SOMA_OP_EVENT_CREATE) {
        object.kind = WORKLOAD_EVENT;
        object.is_plain = step->command.kind == SOMA_EVENT_KIND_PLAIN;
    } else if (step->command.op == SOMA_OP_POOL_CREATE) {
        object.kind = WORKLOAD_POOL;
        object.bytes = result->u.pool_created.max_size;
    } else if (step->command.op == SOMA_OP_POOL_MALLOC) {
        if (step->target == WORKLOAD_NONE)
            return; /* a made-up pool id that happened to live */
        object.kind = WORKLOAD_BLOCK;
        object.owner = step->target;
        object.bytes = result->u.pool_block.size;
    } else if (step->command.op == SOMA_OP_MEMORY_MALLOC) {
        object.kind = WORKLOAD_ALLOCATION;
        object.bytes = result->u.memory_block.size;
    } else {
        return;
    }
    uint32_t made = add_object(workload, &object);
    if (object.kind == WORKLOAD_POOL)
        workload_plan_attributes(workload, made);
}

void workload_learn(struct workload *workload, uint32_t index, enum soma_status status,
                    const struct soma_result *result)
{
    const struct workload_step *step = &workload->program->steps[index];
    if (status != SOMA_OK)
        return;
    if (step->command.op == SOMA_OP_DEVICE_RESET)
        end_device(workload, step->command.device);
    else if (workload_created(step->command.op, result) != 0)
        learn_created(workload, index, result);
    else if (step->target != WORKLOAD_NONE)
        end_object(workload, step->target);
}

/* ---- plans ---- */

void workload_plan(struct workload *workload, const struct workload_step *step)
{
    if (workload->plan_count == WORKLOAD_PLANS_MAX)
        return;
    uint32_t place = (workload->plan_first + workload->plan_count) % WORKLOAD_PLANS_MAX;
    workload->plans[place] = *step;
    workload->plan_count++;
}

static struct workload_step take_plan(struct workload *workload)
{
    struct workload_step step = workload->plans[workload->plan_first];
    workload->plan_first = (workload->plan_first + 1) % WORKLOAD_PLANS_MAX;
    workload->plan_count--;
    return step;
}

static struct workload_step next_step(struct workload *workload)
{
    if (workload->program->count >= workload->next_audit) {
        workload->next_audit += 200;
        workload_plan_audit(workload);
    }
    if (workload->plan_count == 0) {
        if (workload_chance(workload, 40))
            workload_plan_chain(workload);
        else if (workload_chance(workload, workload->is_plain / 40))
            workload_plan_pending(workload);
        else if (workload_chance(workload, 4))
            workload_plan_pressure(workload);
        else if (workload_chance(workload, 8))
            workload_plan_contents(workload);
    }
    if (workload->plan_count > 0 && workload_chance(workload, 600))
        return take_plan(workload);
    return workload_random_step(workload);
}

uint32_t workload_next(struct workload *workload)
{
    struct workload_program *program = workload->program;
    struct workload_step step = next_step(workload);
    step.is_retried = workload_chance(workload, 500);
    step.is_patient = workload_chance(workload, 500);
    if (workload_chance(workload, 300))
        step.wall_step_ns = workload_below(workload, 2 * workload->delay_ns);
    /* A record that others wait for may lose what it knows when memory runs out: allowed. */
    if (step.command.op != SOMA_OP_EVENT_RECORD && workload_chance(workload, workload->faults))
        step.fail_alloc = (uint32_t)workload_between(workload, 1, 6);
    if (workload_chance(workload, workload->faults))
        step.fail_bytes = true;
    program->steps =
        grow(program->steps, program->count, &program->capacity, sizeof(*program->steps));
    program->steps[program->count] = step;
    return program->count++;
}

/* ---- sessions ---- */

static void choose_costs(struct workload *workload, struct model_costs *costs)
{
    *costs = (struct model_costs){.host_call_ns = 1000,
                                  .host_copy_ns = 10000,
                                  .host_copy_bytes_per_us = 24000,
                                  .device_copy_ns = 5000,
                                  .device_copy_bytes_per_us = 400000,
                                  .set_ns = 5000,
                                  .set_bytes_per_us = 800000,
                                  .kernel_ns = 10000};
    if (workload_chance(workload, 700))
        return;
    costs->host_call_ns = workload_between(workload, 1, 3000);
    costs->host_copy_ns = workload_below(workload, 20000);
    costs->host_copy_bytes_per_us = workload_between(workload, 1, 50000);
    costs->device_copy_ns = workload_below(workload, 20000);
    costs->device_copy_bytes_per_us = workload_between(workload, 1000, 900000);
    costs->set_ns = workload_below(workload, 20000);
    costs->set_bytes_per_us = workload_between(workload, 1000, 900000);
    costs->kernel_ns = workload_below(workload, 50000);
}

static const struct soma_soc *ordinary_soc(void)
{
    static const char name[] = "Ascend910B1";
    return soma_soc_find(name, sizeof(name) - 1);
}

/* The same, but a device has no more than three streams beside its own. */
static const struct soma_soc *soc_of_few_streams(void)
{
    static struct soma_soc soc;
    soc = *ordinary_soc();
    soc.max_streams = 3;
    return &soc;
}

static void choose_session(struct workload *workload)
{
    struct model_config *config = &workload->program->config;
    config->soc = workload_chance(workload, 900) ? ordinary_soc() : soc_of_few_streams();
    config->is_wall_clock = workload_chance(workload, 100);
    config->device_count = (uint32_t)workload_between(workload, 1, 3);
    config->memory_bytes = workload_between(workload, 24, 160) * MIB;
    if (workload_chance(workload, 200))
        config->memory_bytes += workload_below(workload, 4 * MIB);
    if (workload_chance(workload, 60))
        config->memory_bytes = config->soc->memory_bytes;
    if (workload_chance(workload, 30)) /* a few pools take all addresses */
        config->memory_bytes = UINT64_C(25) * 1024 * 1024 * MIB;
    choose_costs(workload, &config->costs);
}

static void choose_character(struct workload *workload, bool has_faults)
{
    static const uint64_t delays[] = {500, 3000, 20000, 100000, 1000000};
    static const uint32_t chances[] = {0, 300, 700, 1000};
    workload->wrong = workload_chance(workload, 300) ? 60 : 12;
    workload->has_event_reuse = chances[workload_below(workload, 4)];
    workload->has_opportunistic = chances[workload_below(workload, 4)];
    workload->has_internal = chances[workload_below(workload, 4)];
    workload->is_demand = chances[workload_below(workload, 3)];
    workload->is_plain = chances[workload_below(workload, 4)];
    workload->faults = has_faults && workload_chance(workload, 250) ? 100 : 0;
    workload->delay_ns = delays[workload_below(workload, 5)];
    workload->pool_granules = (uint32_t)workload_between(workload, 2, 20);
    workload->block_granules = (uint32_t)workload_between(workload, 1, 5);
    workload->streams_per_device = (uint32_t)workload_between(workload, 1, 6);
    workload->events_per_device = (uint32_t)workload_between(workload, 1, 8);
    workload->pools_per_device = (uint32_t)workload_between(workload, 1, 3);
    workload->next_audit = 100;
}

struct workload *workload_create(struct workload_program *program, uint64_t seed, bool has_faults)
{
    struct workload *workload = calloc(1, sizeof(*workload));
    if (workload == NULL)
        abort();
    workload->plans = calloc(WORKLOAD_PLANS_MAX, sizeof(*workload->plans));
    if (workload->plans == NULL)
        abort();
    memset(program, 0, sizeof(*program));
    program->seed = seed;
    workload->program = program;
    workload_seed(workload, seed);
    choose_session(workload);
    choose_character(workload, has_faults);
    workload_weigh(workload);
    for (uint32_t device = 0; device < program->config.device_count; device++) {
        struct workload_object stream = {
            .kind = WORKLOAD_STREAM, .step = WORKLOAD_NONE, .device = device, .is_live = true};
        add_object(workload, &stream);
    }
    return workload;
}

void workload_destroy(struct workload *workload)
{
    if (workload == NULL)
        return;
    free(workload->objects);
    free(workload->plans);
    free(workload);
}
