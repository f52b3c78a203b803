/* The table of operations: each one is noted on its stream before it is queued, so that a fault of the work can be
 * told with its stage and sizes. */
#include "cuda/gpu/gpu.h"

static int op_copy_h2d(struct stream *s, struct dbuf dst, const void *src, size_t bytes)
{
    lane_note(s, "copy of %zu bytes to the device", bytes);
    return gpu_copy_h2d(s, dst, src, bytes);
}

static int op_copy_d2h(struct stream *s, void *dst, struct dbuf src, size_t bytes)
{
    lane_note(s, "copy of %zu bytes to the host", bytes);
    return gpu_copy_d2h(s, dst, src, bytes);
}

static int op_zero(struct stream *s, struct dbuf dst, size_t bytes)
{
    lane_note(s, "zeroing of %zu bytes", bytes);
    return gpu_zero(s, dst, bytes);
}

static int op_ntt(struct stream *s, const struct ntt_args *a)
{
    lane_note(s, "NTT of %zu times 2^%u", a->batch ? a->batch : 1, a->log_n);
    return gpu_ntt(s, a);
}

static int op_ntt_coset(struct stream *s, const struct ntt_coset_args *a)
{
    lane_note(s, "coset NTT of %zu times 2^%u", a->batch ? a->batch : 1, a->log_n);
    return gpu_ntt_coset(s, a);
}

static int op_msm(struct stream *s, const struct msm_args *a)
{
    size_t points = 0;
    for (size_t i = 0; i < a->n_sets; i++)
        points += a->sets[i].bases->n;
    lane_note(s, "MSM of %zu scalars, %zu points in %zu sets", a->n, points, a->n_sets);
    return gpu_msm(s, a);
}

static int op_sum_selected(struct stream *s, const struct sum_selected_args *a)
{
    lane_note(s, "sum of selected ones of %zu points", a->bases->n);
    return gpu_sum_selected(s, a);
}

static int op_spmv(struct stream *s, const struct spmv_args *a)
{
    lane_note(s, "sparse product of %zu rows", a->out_rows);
    return gpu_spmv(s, a);
}

static int op_pointwise(struct stream *s, const struct pointwise_args *a)
{
    lane_note(s, "pointwise work on %zu scalars", a->n);
    return gpu_pointwise(s, a);
}

static int op_mul_base(struct stream *s, const struct mul_base_args *a)
{
    lane_note(s, "fixed-base multiplication of %zu scalars", a->n);
    return gpu_mul_base(s, a);
}

static int op_check_points(struct stream *s, const struct check_points_args *a)
{
    lane_note(s, "check of %zu points", a->n);
    return gpu_check_points(s, a);
}

const struct device_ops gpu_ops = {
    .close = gpu_close,
    .info = gpu_info,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .stream_open = gpu_stream_open,
    .stream_close = gpu_stream_close,
    .stream_sync = gpu_stream_sync,
    .event_open = gpu_event_open,
    .event_close = gpu_event_close,
    .event_record = gpu_event_record,
    .event_wait = gpu_event_wait,
    .copy_h2d = op_copy_h2d,
    .copy_d2h = op_copy_d2h,
    .zero = op_zero,
    .host_register = gpu_host_register,
    .host_unregister = gpu_host_unregister,
    .bases_open = gpu_bases_open,
    .bases_close = gpu_bases_close,
    .matrix_open = gpu_matrix_open,
    .matrix_close = gpu_matrix_close,
    .ntt = op_ntt,
    .ntt_coset = op_ntt_coset,
    .msm = op_msm,
    .sum_selected = op_sum_selected,
    .spmv = op_spmv,
    .pointwise = op_pointwise,
    .mul_base = op_mul_base,
    .check_points = op_check_points,
    .reserve = gpu_reserve,
};
