/* verification_key.json of snarkjs. */
#ifndef PROVER_VK_JSON_H
#define PROVER_VK_JSON_H

#include <stddef.h>
#include <stdio.h>

#include "prover/proof.h"

/* Read and check everything: protocol, curve, number of IC, each point canonical, on the curve, in its subgroup; the
 * four fixed points not infinity. vk_alphabeta_12 is not read (it follows from the others). -EBADMSG. Close with
 * vk_close. */
int vk_json_read(struct vk *vk, const char *path);
int vk_json_parse(struct vk *vk, const char *name, const void *text, size_t bytes);

/* Byte for byte what snarkjs writes. -EIO. */
int vk_json_write(FILE *out, const struct vk *vk);

#endif
