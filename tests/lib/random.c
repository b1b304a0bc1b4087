/* SplitMix64. */
#include "random.h"

uint64_t random_next(struct random_source *source)
{
    uint64_t z = source->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t random_below(struct random_source *source, uint64_t limit)
{
    return random_next(source) % limit;
}

uint64_t random_edge(struct random_source *source, uint64_t min, uint64_t max)
{
    uint64_t value;
    switch (random_below(source, 5)) {
    case 0: value = random_below(source, 16); break;
    case 1: value = max - random_below(source, 3); break;
    case 2: value = (UINT64_C(1) << random_below(source, 64)) + random_below(source, 3) - 1; break;
    case 3: value = min + random_below(source, 3); break;
    default: value = random_next(source); break;
    }
    if (value >= min && value <= max)
        return value;
    uint64_t span = max - min;
    return span == UINT64_MAX ? value : min + value % (span + 1);
}
