/* IEEE 754 binary16 by conversion to and from float, to nearest, ties to even; portable. */
#ifndef SOMA_MEMORY_HALF_H
#define SOMA_MEMORY_HALF_H

#include <stdint.h>

float half_to_float(uint16_t half);

/* Overflow gives infinity, NaN stays NaN, tiny values become subnormal or zero. */
uint16_t half_from_float(float value);

#endif
