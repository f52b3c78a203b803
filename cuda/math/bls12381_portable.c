#include "cuda/math/curve_tables.h"

#define CURVE_TABLE curve_bls12381_portable
#include "cuda/math/bls12381_unit.h"
