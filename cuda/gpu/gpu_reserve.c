/* Memory of calls to come, taken before the first of them. */
#include "cuda/gpu/gpu.h"

int gpu_reserve(struct stream *s, const struct reserve_args *a)
{
    struct gpu_lane *l = lane_of(s);
    void *ignored;
    int rc = lane_enter(s);
    l->reserved = false; /* planned anew, from what is free now */
    for (size_t i = 0; i < a->n_matrix && !rc; i++)
        rc = lane_work(s, &ignored, gpu_spmv_work(a->matrix[i]), "a streamed matrix");
    if (!rc && a->ntt_coset)
        rc = gpu_ntt_coset_tables(s, a->ntt_coset);
    for (size_t i = 0; i < a->n_msm && !rc; i++)
        rc = gpu_msm_reserve(s, &a->msm[i]);
    if (!rc)
        rc = lane_pinned(s, &ignored, 0);
    l->reserved = !rc && l->work_bytes;
    return rc;
}
