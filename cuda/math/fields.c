/* The constants of the fields, exported for everybody who reads them at run time. */
#define FIELD_CONST(name) const struct field_info name##_info

#include "cuda/math/field_const.h"
