#include "cuda/math/curve_tables.h"

#define CURVE_TABLE curve_bn254_portable
#include "cuda/math/bn254_unit.h"
