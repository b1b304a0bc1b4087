/* xoshiro256**, seeded by splitmix64: our own writing of two well-known generators. */
#include "workload_state.h"

void workload_seed(struct workload *workload, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
        workload->random[i] = mixed ^ (mixed >> 31);
    }
}

static uint64_t rotate(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

uint64_t workload_random(struct workload *workload)
{
    uint64_t *state = workload->random;
    uint64_t result = rotate(state[1] * 5, 7) * 9;
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

uint64_t workload_below(struct workload *workload, uint64_t limit)
{
    return workload_random(workload) % limit;
}

uint64_t workload_between(struct workload *workload, uint64_t min, uint64_t max)
{
    return min + workload_below(workload, max - min + 1);
}

bool workload_chance(struct workload *workload, uint32_t thousandths)
{
    return workload_below(workload, 1000) < thousandths;
}
