/* The process of one launch. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static int outcome_fd;
static struct soma_kernel_block block; /* that runs */

static _Noreturn void end(const struct worker_outcome *outcome)
{
    (void)!write(outcome_fd, outcome, sizeof(*outcome));
    _exit(0);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    bool has_address = number == SIGSEGV || number == SIGBUS;
    struct worker_outcome outcome;
    memset(&outcome, 0, sizeof(outcome));
    outcome.end = WORKER_SIGNAL;
    outcome.signal = number;
    outcome.block = block.index;
    outcome.has_address = has_address;
    outcome.address = has_address ? (uint64_t)(uintptr_t)info->si_addr : 0;
    end(&outcome);
}

/* On a stack of its own: the kernel may have used up the other one. */
static void catch_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    static unsigned char stack[32768];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
    (void)sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        (void)sigaction(numbers[i], &action, NULL);
}

/* The system kills the process then; nothing that a kernel does by mistake stops that. */
static void limit(const struct worker_launch *launch)
{
    struct sigevent event;
    timer_t timer;
    const struct itimerspec when = {
        .it_value = {(time_t)(launch->time_ms / 1000), (long)(launch->time_ms % 1000) * 1000000}};
    const struct rlimit data = {launch->memory_bytes, launch->memory_bytes};
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &when, NULL) != 0)
        _exit(1);
    (void)setrlimit(RLIMIT_DATA, &data);
}

static uint64_t mapped_bytes(const struct worker_range *range)
{
    return (range->size_bytes + WORKER_PAGE_BYTES - 1) / WORKER_PAGE_BYTES * WORKER_PAGE_BYTES;
}

static unsigned char *host_of(uint64_t address)
{
    return (unsigned char *)(uintptr_t)address;
}

/* Device memory at its own addresses. */
static void map_ranges(const struct worker_launch *launch, int memory)
{
    for (uint32_t i = 0; i < launch->range_count; i++) {
        const struct worker_range *range = &launch->ranges[i];
        uint64_t size = mapped_bytes(range);
        void *host = mmap(host_of(range->address), size, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED_NOREPLACE, memory, (off_t)range->offset);
        if (host != host_of(range->address)) {
            struct worker_outcome outcome;
            memset(&outcome, 0, sizeof(outcome));
            outcome.end = WORKER_NO_MAP;
            outcome.signal = host == MAP_FAILED ? errno : EEXIST;
            outcome.address = range->address;
            end(&outcome);
        }
        if (size > range->size_bytes)
            memset(host_of(range->address + range->size_bytes), WORKER_TAIL,
                   size - range->size_bytes);
    }
    (void)close(memory);
}

/* What no page guards: the bytes behind a block in its last page. */
static void check_tails(const struct worker_launch *launch)
{
    for (uint32_t i = 0; i < launch->range_count; i++) {
        const struct worker_range *range = &launch->ranges[i];
        uint64_t limit_at = range->address + mapped_bytes(range);
        for (uint64_t at = range->address + range->size_bytes; at < limit_at; at++) {
            struct worker_outcome outcome;
            if (*host_of(at) == WORKER_TAIL)
                continue;
            memset(&outcome, 0, sizeof(outcome));
            outcome.end = WORKER_WROTE;
            outcome.address = at;
            outcome.has_address = 1;
            outcome.block = block.index;
            end(&outcome);
        }
    }
}

void launch_run(const struct worker_launch *launch, int memory, int outcome)
{
    const struct soma_kernel_declaration *kernel = libraries_kernel(launch->kernel);
    struct worker_outcome done;
    memset(&done, 0, sizeof(done));
    outcome_fd = outcome;
    limit(launch);
    map_ranges(launch, memory);
    catch_faults();
    block = (struct soma_kernel_block){0, launch->block_count, launch->args, launch->args_bytes};
    for (; kernel != NULL && block.index < launch->block_count; block.index++) {
        kernel->run(&block);
        check_tails(launch);
    }
    done.end = WORKER_DONE;
    end(&done);
}
