/* Bucket sums by trees of affine additions: the one way in which the host device adds many points.
 *
 * The points of a group of buckets are added pairwise, level by level, all pairs of a level in one batch that shares an
 * inversion. Pairs never depend on each other, so there are no conflicts to handle, and one bucket with all the points
 * costs the same as many with a few (equal scalars, equal bases, P and -P are cases of the pair kernel). */
#ifndef CUDA_HOST_TREE_H
#define CUDA_HOST_TREE_H

#include "cuda/host/kernels.h"

/* Scratch of one thread. NULL when there is no memory. */
struct tree;
struct tree *tree_open(const struct group_kernels *k);
void tree_close(struct tree *t);

enum { TREE_NEGATIVE = 31 }; /* bit of an entry: subtract */

/* sums[b] += the entries [end[b - 1], end[b]) of bucket b (end[-1] = 0), each an index into `points`.
 * used[b] = 0: bucket b is empty so far and sums[b] undefined; set to 1 where a sum was stored. */
struct tree_input {
    const unsigned char *points;
    const uint32_t *entry, *end;
    size_t buckets;
};
void tree_add(struct tree *t, unsigned char *sums, uint8_t *used, const struct tree_input *in);

#endif
