/* Delta debugging over the steps of a program. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 6000u

struct shrinking {
    struct workload_program *program;
    const struct run_options *options;
    struct run_difference *difference;
    uint32_t runs_left;
};

/* Run the program as it stands. When it shows a difference, cut off what comes after it. */
static bool still_differs(struct shrinking *shrinking)
{
    struct run_difference difference;
    if (shrinking->runs_left == 0)
        return false;
    shrinking->runs_left--;
    run_program(shrinking->program, shrinking->options, &difference, NULL);
    if (!difference.is_found) {
        run_difference_release(&difference);
        return false;
    }
    run_difference_release(shrinking->difference);
    *shrinking->difference = difference;
    if (difference.step + 1 < shrinking->program->count)
        shrinking->program->count = difference.step + 1;
    return true;
}

static uint32_t enabled_count(const struct workload_program *program)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->count; i++)
        count += !program->steps[i].is_disabled;
    return count;
}

/* Disable `count` enabled steps from `first` on. Returns the index behind them; *disabled: their
 * indices. */
static uint32_t disable(struct workload_program *program, uint32_t first, uint32_t count,
                        uint32_t *disabled, uint32_t *disabled_count)
{
    uint32_t i = first;
    *disabled_count = 0;
    for (; i < program->count && *disabled_count < count; i++) {
        if (program->steps[i].is_disabled)
            continue;
        program->steps[i].is_disabled = true;
        disabled[(*disabled_count)++] = i;
    }
    return i;
}

/* One pass that tries to take out every piece of `piece` steps. Returns whether any went. */
static bool take_out(struct shrinking *shrinking, uint32_t piece, uint32_t *disabled)
{
    bool has_gone = false;
    uint32_t first = 0;
    while (first < shrinking->program->count) {
        uint32_t count;
        uint32_t behind = disable(shrinking->program, first, piece, disabled, &count);
        if (count > 0 && still_differs(shrinking)) {
            has_gone = true;
        } else {
            for (uint32_t i = 0; i < count; i++)
                shrinking->program->steps[disabled[i]].is_disabled = false;
        }
        first = behind;
    }
    return has_gone;
}

/* Make the session an ordinary one, so that the case runs anywhere. */
static void simplify_session(struct shrinking *shrinking)
{
    static const struct model_costs ordinary = {.host_call_ns = 1000,
                                                .host_copy_ns = 10000,
                                                .host_copy_bytes_per_us = 24000,
                                                .device_copy_ns = 5000,
                                                .device_copy_bytes_per_us = 400000,
                                                .set_ns = 5000,
                                                .set_bytes_per_us = 800000,
                                                .kernel_ns = 10000};
    struct model_config *config = &shrinking->program->config;
    struct model_config before = *config;
    config->costs = ordinary;
    if (!still_differs(shrinking))
        *config = before;
    before = *config;
    config->memory_bytes = config->soc->memory_bytes;
    if (!still_differs(shrinking))
        *config = before;
}

static void clear_faults(struct shrinking *shrinking)
{
    struct workload_program *program = shrinking->program;
    for (uint32_t i = 0; i < program->count; i++) {
        struct workload_step before = program->steps[i];
        if (before.fail_alloc == 0 && !before.fail_bytes)
            continue;
        program->steps[i].fail_alloc = 0;
        program->steps[i].fail_bytes = false;
        if (!still_differs(shrinking))
            program->steps[i] = before;
    }
}

/* What a step that is gone, or fails, would have created counts as 0: take such references out. */
static void strip_references(struct workload_program *program, const struct run_options *options)
{
    enum soma_status *statuses = NULL;
    struct run_difference difference;
    run_program(program, options, &difference, &statuses);
    run_difference_release(&difference);
    for (uint32_t i = 0; i < program->count && statuses != NULL; i++) {
        struct workload_step *step = &program->steps[i];
        uint32_t kept = 0;
        for (uint32_t j = 0; j < step->reference_count; j++) {
            uint32_t source = step->references[j].step;
            if (!program->steps[source].is_disabled && statuses[source] == SOMA_OK)
                step->references[kept++] = step->references[j];
        }
        step->reference_count = kept;
        if (step->arg_step != WORKLOAD_NONE &&
            (program->steps[step->arg_step].is_disabled || statuses[step->arg_step] != SOMA_OK))
            step->arg_step = WORKLOAD_NONE;
    }
    free(statuses);
}

void shrink(struct workload_program *program, const struct run_options *options,
            struct run_difference *difference)
{
    struct shrinking shrinking = {program, options, difference, RUNS_MAX};
    program->count = difference->step + 1;
    uint32_t *disabled = calloc(program->count, sizeof(*disabled));
    if (disabled == NULL)
        abort();
    uint32_t piece = program->count / 2;
    while (piece > 0 && shrinking.runs_left > 0) {
        bool has_gone = take_out(&shrinking, piece, disabled);
        uint32_t half = enabled_count(program) / 2;
        if (piece == 1 && !has_gone)
            break;
        if (piece > 1)
            piece = piece / 2 < half || half == 0 ? piece / 2 : half;
    }
    simplify_session(&shrinking);
    clear_faults(&shrinking);
    strip_references(program, options);
    free(disabled);
}
