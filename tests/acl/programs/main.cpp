// acl_programs NAME: run one of the programs; all of them without a name.
#include "program.h"

#include <cstdio>
#include <cstring>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)();
    } programs[] = {
        {"pools", program_pools},
        {"copies", program_copies},
        {"diagnostics", program_diagnostics},
        {"events", program_events},
        {"streams", program_streams},
        {"contexts", program_contexts},
        {"callbacks", program_callbacks},
    };
    int ran = 0, failed = 0;
    for (const auto &program : programs) {
        if (argc > 1 && std::strcmp(argv[1], program.name) != 0)
            continue;
        ran++;
        int failures = program.run();
        failed += failures != 0 ? 1 : 0;
        (void)std::printf("%s: %s\n", program.name, failures == 0 ? "good" : "FAILED");
    }
    return ran > 0 && failed == 0 ? 0 : 1;
}
