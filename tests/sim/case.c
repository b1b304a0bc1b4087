/* Programs as JSON: one step on a line, and whole conformance cases. */
#include "compare.h"
#include "shrink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields ---- */

static const struct workload_reference *find_reference(const struct workload_step *step,
                                                       enum soma_field field)
{
    for (uint32_t i = 0; i < step->reference_count; i++) {
        if (step->references[i].field == field)
            return &step->references[i];
    }
    return NULL;
}

static void print_value(FILE *file, uint64_t value, bool is_address)
{
    if (is_address)
        fprintf(file, "\"0x%" PRIx64 "\"", value);
    else if (value > SOMA_JSON_INTEGER_MAX)
        fprintf(file, "\"%" PRIu64 "\"", value);
    else
        fprintf(file, "%" PRIu64, value);
}

/* A value, or what an earlier step created, plus an offset. */
static void print_number(FILE *file, const struct workload_step *step,
                         const struct soma_field_row *row)
{
    const struct workload_reference *reference = find_reference(step, row->field);
    const struct soma_field_kind_info *kind = soma_field_kind_info(row->kind);
    uint64_t value = soma_command_get(&step->command, row->field);
    if (reference != NULL && value == 0)
        fprintf(file, "\"$x%" PRIu32 "\"", reference->step);
    else if (reference != NULL)
        fprintf(file, "{\"$add\": [\"$x%" PRIu32 "\", %" PRId64 "]}", reference->step,
                (int64_t)value);
    else if (row->kind == SOMA_KIND_TIMEOUT && value == UINT64_MAX)
        fputs("-1", file);
    else if (kind->words != SOMA_GROUP_COUNT && soma_word_of(kind->words, (int)value) != NULL)
        fprintf(file, "\"%s\"", soma_word_of(kind->words, (int)value));
    else
        print_value(file, value, row->kind == SOMA_KIND_ADDRESS);
}

static void print_args(FILE *file, const struct workload_step *step)
{
    fputc('[', file);
    for (size_t i = 0; i < step->command.args.count && i < 2; i++) {
        const struct soma_kernel_arg *arg = &step->args[i];
        fputs(i > 0 ? ", " : "", file);
        if (arg->kind == SOMA_ARG_PTR && step->arg_step == WORKLOAD_NONE)
            fprintf(file, "{\"ptr\": \"0x%" PRIx64 "\"}", arg->bits);
        else if (arg->kind == SOMA_ARG_PTR)
            fprintf(file, "{\"ptr\": {\"$add\": [\"$x%" PRIu32 "\", %" PRIu64 "]}}", step->arg_step,
                    arg->bits);
        else
            fprintf(file, "{\"u64\": %" PRIu64 "}", arg->bits);
    }
    fputc(']', file);
}

static void print_location(FILE *file, const struct workload_step *step)
{
    const char *word = soma_word_of(SOMA_GROUP_location_type, (int)step->command.location_type);
    fprintf(file, "{\"type\": \"%s\", \"id\": %" PRIu64 "}", word == NULL ? "?" : word,
            step->command.location_id);
}

static void print_field(FILE *file, const struct workload_step *step,
                        const struct soma_field_row *row)
{
    const struct soma_command *command = &step->command;
    if (row->field == SOMA_FIELD_device && command->device == 0)
        return;
    if ((command->present >> row->field & 1u) == 0)
        return;
    fprintf(file, ", \"%s\": ", soma_field_json(row->field));
    if (row->kind == SOMA_KIND_TEXT)
        fprintf(file, "\"%.*s\"", (int)command->kernel.len, command->kernel.ptr);
    else if (row->kind == SOMA_KIND_BASE64)
        print_base64(file, (const unsigned char *)command->data.ptr, command->data.len);
    else if (row->kind == SOMA_KIND_ARGS)
        print_args(file, step);
    else if (row->kind == SOMA_KIND_LOCATION)
        print_location(file, step);
    else
        print_number(file, step, row);
}

static void print_fields(FILE *file, const struct workload_step *step)
{
    const struct soma_op_info *info = soma_op_info(step->command.op);
    fprintf(file, "\"op\": \"%s\"", info->name);
    for (size_t i = 0; i < info->field_count; i++)
        print_field(file, step, &info->fields[i]);
}

static bool is_creating(enum soma_op op)
{
    return op == SOMA_OP_STREAM_CREATE || op == SOMA_OP_EVENT_CREATE || op == SOMA_OP_POOL_CREATE ||
           op == SOMA_OP_POOL_MALLOC || op == SOMA_OP_MEMORY_MALLOC;
}

void print_step(FILE *file, const struct workload_program *program, uint32_t step)
{
    fputc('{', file);
    print_fields(file, &program->steps[step]);
    if (program->steps[step].fail_alloc > 0)
        fprintf(file, " /* with allocation %" PRIu32 " failing */",
                program->steps[step].fail_alloc);
    if (program->steps[step].fail_bytes)
        fputs(" /* with contents failing */", file);
    fputc('}', file);
}

/* ---- cases ---- */

static void print_error_expectation(FILE *file, enum soma_status status)
{
    fprintf(file, ", \"expectError\": {\"reason\": \"%s\", \"aclError\": %d}",
            soma_status_reason(status), soma_status_info(status)->acl_error);
}

static void print_session(FILE *file, const struct workload_program *program)
{
    const struct model_config *config = &program->config;
    fprintf(file, "  \"session\": {\"soc\": \"%s\", \"devices\": %" PRIu32 "%s},\n",
            config->soc->name, config->device_count,
            config->is_wall_clock ? ", \"clock\": \"wall\"" : "");
    if (config->memory_bytes != config->soc->memory_bytes)
        fprintf(file, "  \"note\": \"shows only with %" PRIu64 " bytes of device memory\",\n",
                config->memory_bytes);
    if (config->costs.host_call_ns != SOMA_HOST_CALL_NS_DEFAULT)
        fprintf(file,
                "  \"noteCosts\": \"shows only with hostCallNs %" PRIu64 " and other costs\",\n",
                config->costs.host_call_ns);
}

static void print_case_step(FILE *file, const struct workload_program *program, uint32_t i,
                            enum soma_status status, const struct run_difference *difference)
{
    const struct workload_step *step = &program->steps[i];
    fputs("    {", file);
    print_fields(file, step);
    if (is_creating(step->command.op))
        fprintf(file, ", \"as\": \"x%" PRIu32 "\"", i);
    if (i == difference->step && difference->model_answer != NULL &&
        difference->model_status == SOMA_OK)
        fprintf(file, ", \"expect\": %s", difference->model_answer);
    else if (status != SOMA_OK)
        print_error_expectation(file, status);
    fputs(i == difference->step ? "}\n" : "},\n", file);
}

bool write_case(const char *path, const struct workload_program *program,
                const struct run_options *options, const struct run_difference *difference)
{
    enum soma_status *statuses = NULL;
    struct run_difference again;
    run_program(program, options, &again, &statuses);
    run_difference_release(&again);
    FILE *file = fopen(path, "w");
    if (file == NULL || statuses == NULL) {
        free(statuses);
        return false;
    }
    fprintf(file, "{\n  \"name\": \"sim-%" PRIu64 "\",\n  \"why\": \"%s\",\n", program->seed,
            difference->what);
    print_session(file, program);
    fputs("  \"steps\": [\n", file);
    for (uint32_t i = 0; i <= difference->step && i < program->count; i++) {
        bool is_left_out = program->steps[i].is_disabled ||
                           (statuses[i] == SOMA_MUST_WAIT && i != difference->step);
        if (!is_left_out)
            print_case_step(file, program, i, statuses[i], difference);
    }
    fputs("  ]\n}\n", file);
    free(statuses);
    return fclose(file) == 0;
}
