/* Number-theoretic transforms of the host device. */
#ifndef CUDA_HOST_NTT_H
#define CUDA_HOST_NTT_H

#include "cuda/host/kernels.h"
#include "cuda/host/threads.h"

/* Twiddle tables, kept between calls: at most NTT_TABLES_BYTES more than what running transforms hold. One table of a
 * root serves all smaller sizes of the same tower of roots. */
struct ntt_tables;
int ntt_tables_open(struct ntt_tables **out);
void ntt_tables_close(struct ntt_tables *t);

struct ntt_env {
    const struct kernels *kernels;
    struct threads *threads;
    struct ntt_tables *tables;
};

/* As in device.h, on memory. -ENOMEM for a table. Several threads at once. */
int ntt_run(const struct ntt_env *env, const struct ntt_args *args);
int ntt_coset_run(const struct ntt_env *env, const struct ntt_coset_args *args);

/* Inside: a table held for one transform. tw[i] = root^bitrev(i), i < 2^(log_n - 1), in the form of `k`. */
struct ntt_table;
int ntt_table_take(const struct ntt_env *env, struct ntt_table **out, const struct curve *c, const struct fr_kernels *k,
                   unsigned log_n, const struct fr *root);
void ntt_table_give(struct ntt_tables *t, struct ntt_table *table);
const struct fr *ntt_table_at(const struct ntt_table *table);

/* Powers factor(i) = scale * base^i in two small tables; `reversed`: for data in bit-reversed order. */
struct ntt_powers {
    struct fr *low, *high; /* factor at position p = low[p mod 2^bits] * high[p >> bits] */
    unsigned bits;
};
int ntt_powers_open(struct ntt_powers *out, const struct curve *c, const struct fr_kernels *k, unsigned log_n,
                    const struct fr *base, const struct fr *scale, bool reversed);
void ntt_powers_close(struct ntt_powers *p);

#endif
