/* Commands as they are. */
#include "raw_steps.h"

#include "call.h"
#include "decode.h"
#include "error.h"
#include "wire.h"

#include <string.h>

bool raw_steps_can(const char *op)
{
    static const char *const ops[] = {
        "stream.launchHostFunc", "stream.waitNotify", "stream.recordNotify", "stream.writeValue",
        "stream.waitValue",      "stream.abort",      "stream.stop",         "device.abort",
        "clock.advance",         "hostFunc.list",     "hostFunc.take",       "hostFunc.complete",
        "notify.create",         "notify.list",       "notify.get",          "notify.reset",
        "notify.destroy"};
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (strcmp(ops[i], op) == 0)
            return true;
    }
    return false;
}

aclError raw_steps_run(const cJSON *step, cJSON **answer)
{
    struct wire_arena arena;
    struct soma_command command;
    struct soma_result result;
    struct soma_error error;
    struct soma_writer text;
    client_begin("command");
    wire_arena_init(&arena);
    soma_writer_init(&text, 1u << 20);
    aclError code = decode_step(step, &arena, &command, &error) == SOMA_OK
                        ? client_call(&command, &result)
                        : client_fail_answer(&error, 0);
    if (code == ACL_SUCCESS) {
        wire_encode_result(&text, &result);
        client_result_clear(&result);
        cJSON_Delete(*answer);
        *answer = cJSON_ParseWithLength(text.ptr, text.len);
    }
    soma_writer_release(&text);
    wire_arena_release(&arena);
    return code;
}
