#include "numa/limits.h"

#include <string.h>

static json_t *ids_or_null(const struct idset *set, bool known)
{
    char text[IDSET_TEXT];
    return known ? json_string(idset_text(text, set)) : json_null();
}

static json_t *limit_json(const struct limit *limit)
{
    return limit->known ? json_pack("{s:I, s:s}", "value", (json_int_t)limit->value, "file", limit->file) : json_null();
}

static json_t *count_or_null(uint64_t value, bool known)
{
    return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *calls_json(const struct limits *limits)
{
    json_t *out = json_object();
    for (int i = 0; i < LIMITS_CALLS; i++) {
        const struct limits_answer *a = &limits->call[i];
        const char *text = a->error == 0 ? "works" : a->error < 0 ? "kills" : strerror(a->error);
        json_object_set_new(out, limits_call_name((enum limits_call)i), a->known ? json_string(text) : json_null());
    }
    return out;
}

static json_t *nodes_json(const struct limits *limits)
{
    json_t *out = json_array();
    for (size_t i = 0; i < limits->nodes; i++) {
        json_t *pages = json_array();
        for (int p = 0; p < TOPO_PAGES; p++) {
            const struct topo_pages *s = &limits->node[i].pages[p];
            json_array_append_new(pages,
                                  json_pack("{s:I, s:o, s:o}", "bytes", (json_int_t)topo_page_bytes((enum topo_page)p),
                                            "total", count_or_null(s->total, s->total_known), "free",
                                            count_or_null(s->free, s->free_known)));
        }
        json_array_append_new(out, json_pack("{s:i, s:o}", "node", limits->node[i].os, "pages", pages));
    }
    return out;
}

json_t *limits_to_json(const struct limits *limits)
{
    json_t *hugetlb = json_array();
    for (int p = 0; p < TOPO_PAGES; p++)
        json_array_append_new(hugetlb,
                              json_pack("{s:I, s:o, s:o, s:o}", "bytes", (json_int_t)topo_page_bytes((enum topo_page)p),
                                        "cgroup_touch_room_bytes", limit_json(&limits->touch[p]),
                                        "cgroup_reserve_room_bytes", limit_json(&limits->reserve[p]), "reserved_pages",
                                        count_or_null(limits->reserved[p], limits->reserved_known[p])));
    return json_pack("{s:i, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "cpus",
                     ids_or_null(&limits->cpus, limits->cpus_known), "mems",
                     ids_or_null(&limits->mems, limits->mems_known), "cgroup2", limits->cgroup2, "hugetlb", hugetlb,
                     "memory_max_bytes", limit_json(&limits->memory), "cpu_milli", limit_json(&limits->cpu_milli),
                     "memlock_bytes", limit_json(&limits->memlock), "calls", calls_json(limits), "nodes",
                     nodes_json(limits));
}
