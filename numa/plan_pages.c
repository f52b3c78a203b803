/* Pages that each node gives to each GPU: home first, in turn; then borrowing, in turn. */
#include <stdio.h>
#include <string.h>

#include "numa/plan_step.h"

static bool take_one(struct plan *plan, struct plan_gpu *gpu, int node, uint64_t *left)
{
    struct plan_node *from = &plan->node[node];
    if (*left == 0 || !from->usable || from->given == from->available)
        return false;
    from->given++;
    gpu->take[node]++;
    gpu->got++;
    (*left)--;
    return true;
}

static bool borrow_one(struct plan *plan, struct plan_gpu *gpu, uint64_t *left)
{
    for (size_t i = 0; i < gpu->orders; i++)
        if (take_one(plan, gpu, gpu->order[i], left))
            return true;
    return false;
}

static void share(struct plan *plan, uint64_t *left, bool borrow)
{
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t g = 0; g < plan->gpus; g++) {
            struct plan_gpu *gpu = &plan->gpu[g];
            if (gpu->got >= gpu->want)
                continue;
            if (borrow)
                progress = borrow_one(plan, gpu, left) || progress;
            else if (gpu->home >= 0)
                progress = take_one(plan, gpu, gpu->home, left) || progress;
        }
    }
}

static void explain(struct plan *plan, const struct plan_in *in, struct plan_gpu *gpu)
{
    size_t used = 0;
    gpu->why_pages[0] = 0;
    for (size_t i = 0; i < gpu->orders && used < PLAN_WHY; i++) {
        int node = gpu->order[i];
        if (gpu->take[node] == 0)
            continue;
        int n =
            snprintf(gpu->why_pages + used, PLAN_WHY - used, "%s%llu from %snode %d", used ? ", " : "",
                     (unsigned long long)gpu->take[node], node == gpu->home ? "home " : "", in->topo->node[node].os);
        used += n > 0 ? (size_t)n : 0;
    }
    if (gpu->got == gpu->want || used >= PLAN_WHY)
        return;
    const char *why = plan->capped ? plan->why_cap : "no node that may be used has more";
    snprintf(gpu->why_pages + used, PLAN_WHY - used, "%s%llu short of %llu: %.200s", used ? "; " : "",
             (unsigned long long)(gpu->want - gpu->got), (unsigned long long)gpu->want, why);
}

void plan_step_pages(struct plan *plan, const struct plan_in *in)
{
    uint64_t page_bytes = topo_page_bytes(plan->page), sum = 0;
    for (size_t i = 0; i < plan->nodes; i++)
        sum += plan->node[i].available;
    uint64_t left = plan->capped && plan->cap_pages < sum ? plan->cap_pages : sum;
    uint64_t even = plan->gpus ? left / plan->gpus : 0;
    for (size_t g = 0; g < plan->gpus; g++)
        plan->gpu[g].want = in->settings->bytes_per_gpu ? (in->settings->bytes_per_gpu - 1) / page_bytes + 1 : even;
    share(plan, &left, false);
    share(plan, &left, true);
    for (size_t g = 0; g < plan->gpus; g++)
        explain(plan, in, &plan->gpu[g]);
}
