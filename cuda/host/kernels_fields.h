/* All fields and groups of both curves and the scalar loops over them, stamped into the including unit. */
#include <string.h>

#include "cuda/host/curve_b.h"
#include "cuda/host/kernels.h"

#define FIELD       bn254_fr
#define FIELD_TYPE  struct fr
#define FIELD_LIMBS 4
#define FIELD_SPARE 2
#include "cuda/math/field_stamp.h"

#define FIELD       bls12381_fr
#define FIELD_TYPE  struct fr
#define FIELD_LIMBS 4
#define FIELD_SPARE 1
#include "cuda/math/field_stamp.h"

#define FIELD       bn254_fq
#define FIELD_TYPE  struct fe4
#define FIELD_LIMBS 4
#define FIELD_SPARE 2
#include "cuda/math/field_stamp.h"

#define FIELD       bls12381_fq
#define FIELD_TYPE  struct fe6
#define FIELD_LIMBS 6
#define FIELD_SPARE 2
#include "cuda/math/field_stamp.h"

#define FQ2      bn254_fq2
#define FQ2_TYPE struct fe4x2
#define FQ       bn254_fq
#define FQ_TYPE  struct fe4
#include "cuda/math/fq2_stamp.h"

#define FQ2      bls12381_fq2
#define FQ2_TYPE struct fe6x2
#define FQ       bls12381_fq
#define FQ_TYPE  struct fe6
#include "cuda/math/fq2_stamp.h"

#define GROUP       bn254_g1
#define GROUP_FIELD bn254_fq
#define GROUP_COORD struct fe4
#include "cuda/math/group_stamp.h"

#define GROUP       bn254_g2
#define GROUP_FIELD bn254_fq2
#define GROUP_COORD struct fe4x2
#include "cuda/math/group_stamp.h"

#define GROUP       bls12381_g1
#define GROUP_FIELD bls12381_fq
#define GROUP_COORD struct fe6
#include "cuda/math/group_stamp.h"

#define GROUP       bls12381_g2
#define GROUP_FIELD bls12381_fq2
#define GROUP_COORD struct fe6x2
#include "cuda/math/group_stamp.h"

#define FR bn254_fr
#include "cuda/host/fr_stamp.h"
#define FR bls12381_fr
#include "cuda/host/fr_stamp.h"

#define PTS       bn254_g1
#define PTS_FIELD bn254_fq
#define PTS_COORD struct fe4
#define PTS_P     bn254_fq_info.p
#define PTS_LIMBS 4
#include "cuda/host/points_stamp.h"

#define PTS       bn254_g2
#define PTS_FIELD bn254_fq2
#define PTS_COORD struct fe4x2
#define PTS_P     bn254_fq_info.p
#define PTS_LIMBS 4
#include "cuda/host/points_stamp.h"

#define PTS       bls12381_g1
#define PTS_FIELD bls12381_fq
#define PTS_COORD struct fe6
#define PTS_P     bls12381_fq_info.p
#define PTS_LIMBS 6
#include "cuda/host/points_stamp.h"

#define PTS       bls12381_g2
#define PTS_FIELD bls12381_fq2
#define PTS_COORD struct fe6x2
#define PTS_P     bls12381_fq_info.p
#define PTS_LIMBS 6
#include "cuda/host/points_stamp.h"

/* The rows of a table that the scalar code fills. */
#define KERNELS_GROUP(g)                                                                                               \
    .point_bytes = sizeof(struct g##_affine), .resolve = g##_resolve, .weighted_sum = g##_weighted_sum,                \
    .horner = g##_horner, .finite = g##_finite, .on_curve = g##_on_curve
#define KERNELS_PAIRS(g)                                                                                               \
    .batch = g##_batch, .scratch_bytes = g##_batch * sizeof(struct g##_pair), .add_pairs = g##_add_pairs
#define KERNELS_FR(f) .pointwise = f##_pointwise, .spmv = f##_spmv, .spmv_code = f##_spmv_code
