#include "prover/blinding.h"

#include "prover/scalar_random.h"

int blinding_draw(const struct curve *curve, struct scalar *r, struct scalar *s)
{
    int rc = scalar_random(curve, r);
    return rc ? rc : scalar_random(curve, s);
}
