/* IEEE 754 binary16, and bfloat16, by conversion to and from float, to nearest, ties to even;
 * portable. */
#ifndef SOMA_MEMORY_HALF_H
#define SOMA_MEMORY_HALF_H

#include <stdint.h>

float half_to_float(uint16_t half);

/* Overflow gives infinity, NaN stays NaN, tiny values become subnormal or zero. */
uint16_t half_from_float(float value);

/* bfloat16: the upper half of a float. To nearest, ties to even; NaN stays NaN. */
float bfloat_to_float(uint16_t bfloat);
uint16_t bfloat_from_float(float value);

#endif
