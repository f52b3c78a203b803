#include "cuda/math/curve_tables.h"

#define ISA_ADX
#define CURVE_TABLE curve_bn254_adx
#include "cuda/math/bn254_unit.h"
