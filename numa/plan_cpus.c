/* Cores for synthesis and I/O threads: near the GPU, split evenly, none idle in a package that has GPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numa/plan_step.h"
#include "perf/err.h"

enum { NO_GROUP = -1, ANYWHERE = -2 };

struct cpu_state {
    struct idset usable;
    struct idset *node_cpus; /* usable CPUs of each node */
    int *lends;              /* node -> the node whose GPUs get its cores, NO_GROUP */
    int *base;               /* gpu -> node whose group it belongs to, ANYWHERE: home unknown */
    struct idset *core;      /* scratch: usable CPUs of each core of a block */
};

static size_t gpus_based_at(const struct plan *plan, const struct cpu_state *s, int node)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->gpus; i++)
        n += s->base[i] == node;
    return n;
}

static bool nearer_to(const struct topology *topo, size_t from, size_t a, size_t b)
{
    int ra = plan_ring(topo, from, a), rb = plan_ring(topo, from, b);
    return ra != rb ? ra < rb : topo_distance(topo, from, a) < topo_distance(topo, from, b);
}

/* Home, or the nearest node with CPUs that we may use. */
static int base_of(const struct plan *plan, const struct plan_in *in, const struct cpu_state *s, int home)
{
    if (home < 0)
        return ANYWHERE;
    int best = NO_GROUP;
    for (size_t i = 0; i < plan->nodes; i++)
        if (!idset_empty(&s->node_cpus[i]) && (best < 0 || nearer_to(in->topo, (size_t)home, i, (size_t)best)))
            best = (int)i;
    return best == NO_GROUP ? ANYWHERE : best;
}

static double cpus_per_gpu(const struct plan *plan, const struct cpu_state *s, int base)
{
    unsigned n = 0;
    for (size_t i = 0; i < plan->nodes; i++)
        n += s->lends[i] == base ? idset_count(&s->node_cpus[i]) : 0;
    return (double)n / (double)gpus_based_at(plan, s, base);
}

/* A node without GPUs lends its cores inside its package: to the nearest, then to the one with fewest CPUs per GPU. */
static void lend(const struct plan *plan, const struct plan_in *in, struct cpu_state *s, size_t node)
{
    int best = NO_GROUP;
    for (size_t b = 0; b < plan->nodes; b++) {
        if (gpus_based_at(plan, s, (int)b) == 0 || plan_ring(in->topo, node, b) != 1)
            continue;
        if (best == NO_GROUP || nearer_to(in->topo, node, b, (size_t)best) ||
            (!nearer_to(in->topo, node, (size_t)best, b) &&
             cpus_per_gpu(plan, s, (int)b) < cpus_per_gpu(plan, s, best)))
            best = (int)b;
    }
    s->lends[node] = best;
}

/* The usable parts of the cores that lie in `within`, lowest CPU first. Returns how many. */
static size_t cores_in(struct cpu_state *s, const struct topology *topo, const struct idset *within)
{
    size_t n = 0;
    for (size_t i = 0; i < topo->cores; i++) {
        struct idset cpus = idset_and(&topo->core[i].cpus, within);
        cpus = idset_and(&cpus, &s->usable);
        if (idset_empty(&cpus))
            continue;
        size_t at = n++;
        for (; at > 0 && idset_next(&s->core[at - 1], 0) > idset_next(&cpus, 0); at--)
            s->core[at] = s->core[at - 1];
        s->core[at] = cpus;
    }
    return n;
}

/* Share number `i` of `k` of the cores in s->core[0 .. n). */
static struct idset block(const struct cpu_state *s, size_t n, size_t i, size_t k, size_t *cores)
{
    struct idset out = {{0}};
    for (size_t c = n * i / k; c < n * (i + 1) / k; c++)
        out = idset_or(&out, &s->core[c]);
    *cores = n * (i + 1) / k - n * i / k;
    return out;
}

static void give_shared(struct plan_gpu *gpu, const struct idset *all, size_t cores, size_t sharers)
{
    gpu->io = gpu->synth = *all;
    snprintf(gpu->why_cpus, PLAN_WHY, "%zu GPUs share %zu core%s: I/O and synthesis threads run on the same CPUs",
             sharers, cores, cores == 1 ? "" : "s");
}

/* GPU `i` of `k` of the group at `base`: a block of the base node's cores, and a block of each lender's. */
static void give(struct plan *plan, const struct plan_in *in, struct cpu_state *s, struct plan_gpu *gpu, int base,
                 size_t i, size_t k)
{
    const struct topology *topo = in->topo;
    struct idset own = base == ANYWHERE ? s->usable : s->node_cpus[base];
    size_t mine, lent = 0, n = cores_in(s, topo, &own);
    if (n < k) {
        struct idset all = block(s, n, 0, 1, &mine);
        give_shared(gpu, &all, n, k);
        return;
    }
    struct idset cpus = block(s, n, i, k, &mine);
    gpu->io = s->core[n * i / k];
    for (size_t node = 0; node < plan->nodes; node++) {
        if (base == ANYWHERE || (int)node == base || s->lends[node] != base)
            continue;
        size_t more, m = cores_in(s, topo, &s->node_cpus[node]);
        struct idset part = block(s, m, i, k, &more);
        cpus = idset_or(&cpus, &part);
        lent += more;
    }
    gpu->synth = idset_minus(&cpus, &gpu->io);
    char where[64];
    if (base == ANYWHERE)
        snprintf(where, sizeof where, "anywhere, as home is unknown");
    else
        snprintf(where, sizeof where, "of node %d%s", topo->node[base].os,
                 base == gpu->home ? "" : ", the nearest with CPUs");
    if (idset_empty(&gpu->synth)) {
        gpu->synth = gpu->io;
        snprintf(gpu->why_cpus, PLAN_WHY, "one core %s: I/O and synthesis threads share it", where);
    } else if (lent > 0) {
        snprintf(gpu->why_cpus, PLAN_WHY,
                 "%zu of %zu cores %s and %zu lent by nodes of the package without GPUs; the first runs I/O", mine, n,
                 where, lent);
    } else {
        snprintf(gpu->why_cpus, PLAN_WHY, "%zu of %zu cores %s; the first runs I/O", mine, n, where);
    }
}

static void give_all(struct plan *plan, const struct plan_in *in, struct cpu_state *s)
{
    for (size_t g = 0; g < plan->gpus; g++) {
        size_t before = 0;
        for (size_t other = 0; other < g; other++)
            before += s->base[other] == s->base[g];
        give(plan, in, s, &plan->gpu[g], s->base[g], before, gpus_based_at(plan, s, s->base[g]));
    }
    plan->spare = s->usable;
    for (size_t g = 0; g < plan->gpus; g++) {
        plan->spare = idset_minus(&plan->spare, &plan->gpu[g].io);
        plan->spare = idset_minus(&plan->spare, &plan->gpu[g].synth);
    }
    if (!idset_empty(&plan->spare))
        snprintf(plan->why_spare, PLAN_WHY, "%s", plan->gpus ? "no GPU hangs on their package" : "there is no GPU");
}

int plan_step_cpus(struct plan *plan, const struct plan_in *in)
{
    const struct topology *topo = in->topo;
    struct cpu_state s = {.usable = topo->online};
    if (in->limits->cpus_known)
        s.usable = idset_and(&s.usable, &in->limits->cpus);
    s.node_cpus = calloc(plan->nodes + 1, sizeof *s.node_cpus);
    s.lends = calloc(plan->nodes + 1, sizeof *s.lends);
    s.base = calloc(plan->gpus + 1, sizeof *s.base);
    s.core = calloc(topo->cores + 1, sizeof *s.core);
    int rc = 0;
    if (!s.node_cpus || !s.lends || !s.base || !s.core) {
        rc = err_fail(-ENOMEM, "no memory to plan %zu cores", topo->cores);
    } else {
        for (size_t i = 0; i < plan->nodes; i++)
            s.node_cpus[i] = idset_and(&topo->node[i].cpus, &s.usable);
        for (size_t g = 0; g < plan->gpus; g++)
            s.base[g] = base_of(plan, in, &s, plan->gpu[g].home);
        for (size_t i = 0; i < plan->nodes; i++)
            s.lends[i] = gpus_based_at(plan, &s, (int)i) ? (int)i : NO_GROUP;
        for (size_t i = 0; i < plan->nodes; i++)
            if (s.lends[i] == NO_GROUP && !idset_empty(&s.node_cpus[i]))
                lend(plan, in, &s, i);
        give_all(plan, in, &s);
    }
    free(s.node_cpus);
    free(s.lends);
    free(s.base);
    free(s.core);
    return rc;
}
