#include "cuda/math/curve_tables.h"

#define ISA_ADX
#define CURVE_TABLE curve_bls12381_adx
#include "cuda/math/bls12381_unit.h"
