#ifndef TESTS_CUDA_MATH_STAMP_CASES_H
#define TESTS_CUDA_MATH_STAMP_CASES_H

#include <stdint.h>

void stamp_cases_portable(uint64_t seed);
void stamp_cases_adx(uint64_t seed);

#endif
