#include "engine/cli/key_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "engine/residency.h"
#include "perf/err.h"
#include "perf/units.h"
#include "prover/csr.h"
#include "prover/zkey.h"

struct key_device {
    char id[32];
    char pci[TOPO_PCI]; /* "" when it is not a GPU of the machine */
    struct residency_limits limits;
    double link_bytes_per_s; /* 0: unknown, residency's own figure is taken */
    bool link_shared;
    struct residency_plan plan;
};

struct key_plan {
    struct zkey *zkey;
    struct key_sizes sizes;
    bool counted;
    size_t devices;
    struct key_device device[];
};

/* A point of zeros is infinity in a zkey. */
static int finite_points(uint64_t *n, const struct zkey *z, enum zkey_set set)
{
    static const unsigned char zeros[sizeof(struct point)];
    const struct zkey_points *p = &z->points[set];
    size_t bytes = z->curve->point_bytes[p->group];
    const uint8_t *data;
    int rc = zkey_points_take(z, &data, set);
    if (rc)
        return rc;
    *n = 0;
    for (size_t i = 0; i < p->n; i++)
        *n += memcmp(data + i * bytes, zeros, bytes) != 0;
    zkey_points_done(z, set);
    return 0;
}

static int sizes_read(struct key_sizes *s, const struct zkey *z, const struct key_plan_opts *opts)
{
    static const enum zkey_set sets[GROTH16_PARTS] = {ZKEY_A, ZKEY_B1, ZKEY_B2, ZKEY_C, ZKEY_H};
    *s = (struct key_sizes){.curve = z->curve,
                            .n_vars = z->n_vars,
                            .n_public = z->n_public,
                            .domain_size = z->domain_size,
                            .nonzeros = z->n_coefs,
                            .full_share = opts->full_share};
    int rc = 0;
    for (int i = 0; i < GROTH16_PARTS; i++) {
        s->points[i] = z->points[sets[i]].n;
        if (opts->count && (rc = finite_points(&s->points[i], z, sets[i])))
            return rc;
    }
    if (!opts->count)
        return 0;
    struct csr *csr;
    rc = csr_open(&csr, z);
    if (rc)
        return rc;
    s->n_dict = csr->n_dict;
    csr_close(csr);
    return 0;
}

/* Of 63.0 GB/s of a Gen5 x16 link an H200 was measured to copy 55.4 (88 %); the same share is taken of others. GPUs
 * below one root port have an even part of its link. An idle GPU slows its link down: what it can do counts. */
static void link_read(struct key_device *d, const struct topology *topo, const struct topo_device *dev)
{
    double link = topo_link_speed(dev->link.max_gen, dev->link.max_width);
    link = link > dev->link.gb_per_s ? link : dev->link.gb_per_s;
    if (dev->uplink >= 0) {
        const struct topo_uplink *up = &topo->uplink[dev->uplink];
        const struct topo_link *port = &topo->bridge[up->port].link;
        double all = topo_link_speed(port->max_gen, port->max_width);
        all = all > port->gb_per_s ? all : port->gb_per_s;
        double part = all / (up->count[TOPO_GPU] ? up->count[TOPO_GPU] : 1);
        d->link_shared = up->count[TOPO_GPU] > 1 && part > 0 && (link <= 0 || part < link);
        if (d->link_shared)
            link = part;
    }
    d->link_bytes_per_s = link * 1e9 * (55.4 / 63.0);
}

static int memory_ask(uint64_t *bytes, unsigned ordinal)
{
    struct device *device;
    struct device_info info;
    int rc = device_cuda_open(&device, ordinal, NULL);
    if (rc)
        return err_in(rc, "asking a GPU for its memory (--device-memory SIZE says it instead)");
    rc = device->ops->info(device, &info);
    device->ops->close(device);
    if (!rc)
        *bytes = info.free_bytes;
    return rc;
}

static int devices_fill(struct key_plan *k, const struct key_plan_opts *opts, const struct topology *topo,
                        const struct plan *plan)
{
    for (size_t i = 0; i < k->devices; i++) {
        struct key_device *d = &k->device[i];
        int rc = 0;
        snprintf(d->id, sizeof d->id, "cuda:%zu", i);
        d->limits.device_bytes = opts->device_bytes;
        if (!opts->device_bytes)
            rc = memory_ask(&d->limits.device_bytes, (unsigned)i);
        if (rc)
            return rc;
        d->limits.keep = opts->kept;
        d->limits.pinned_bytes = opts->pinned_bytes;
        if (topo && i < topo->gpus) {
            snprintf(d->pci, sizeof d->pci, "%s", topo->device[i].pci);
            link_read(d, topo, &topo->device[i]);
            if (!opts->pinned_given)
                d->limits.pinned_bytes = plan->gpu[i].got * topo_page_bytes(plan->page);
        }
        struct residency_rates rates = {.link_bytes_per_s = d->link_bytes_per_s};
        rc = residency_make(&d->plan, &k->sizes, &d->limits, &rates);
        if (rc)
            return err_in(rc, "%s on %s", opts->path, d->id);
    }
    return 0;
}

int key_plan_make(struct key_plan **out, const struct key_plan_opts *opts, const struct topology *topo,
                  const struct plan *plan)
{
    size_t n = opts->gpus ? opts->gpus : topo->gpus;
    struct zkey *zkey;
    int rc = zkey_open(&zkey, opts->path);
    if (rc)
        return rc;
    struct key_plan *k = n ? calloc(1, sizeof *k + n * sizeof k->device[0]) : NULL;
    if (!k) {
        zkey_close(zkey);
        return n ? err_fail(-ENOMEM, "no memory for a plan of %zu devices", n)
                 : err_fail(-ENODEV,
                            "%s has no GPU: the host device reads the key where it is. For a machine that has "
                            "some, give --gpus N and --device-memory SIZE, or --xml FILE",
                            topo->this_machine ? "this machine" : topo->origin);
    }
    k->zkey = zkey;
    k->devices = n;
    k->counted = opts->count;
    rc = sizes_read(&k->sizes, zkey, opts);
    if (!rc)
        rc = devices_fill(k, opts, topo, plan);
    if (rc) {
        key_plan_close(k);
        return rc;
    }
    *out = k;
    return 0;
}

void key_plan_close(struct key_plan *key)
{
    zkey_close(key->zkey);
    free(key);
}

static const char *const host_names[] = {"none", "pinned", "kept", "disk"};

static json_t *device_json(const struct key_plan *k, const struct key_device *d)
{
    const struct residency_plan *p = &d->plan;
    json_t *parts = json_object();
    for (int i = 0; i < GROTH16_PARTS; i++) {
        enum group g = i == PART_B2 ? GROUP_G2 : GROUP_G1;
        json_object_set_new(
            parts, groth16_part_names[i],
            json_pack("{s:s, s:I, s:I, s:s}", "place", p->part[i] == PLACE_DEVICE ? "device" : "streamed", "points",
                      (json_int_t)k->sizes.points[i], "bytes",
                      (json_int_t)(k->sizes.points[i] * k->sizes.curve->point_bytes[g]), "why", p->why[i]));
    }
    json_object_set_new(
        parts, "matrices",
        json_pack("{s:s, s:s}", "place", p->matrices_on_device ? "device" : "streamed", "why", p->why[GROTH16_PARTS]));
    json_t *predicted = json_pack("{s:f, s:f, s:f, s:f}", "load_seconds", p->load_s, "compute_seconds", p->compute_s,
                                  "link_seconds", p->link_s, "proof_seconds", p->proof_s);
    return json_pack("{s:s, s:o, s:I, s:I, s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:o}", "device",
                     d->id, "pci", d->pci[0] ? json_string(d->pci) : json_null(), "free_bytes",
                     (json_int_t)d->limits.device_bytes, "pinned_bytes", (json_int_t)d->limits.pinned_bytes,
                     "link_bytes_per_s", d->link_bytes_per_s > 0 ? json_real(d->link_bytes_per_s) : json_null(),
                     "parts", parts, "host", host_names[p->host], "device_bytes", (json_int_t)p->device_bytes,
                     "streamed_bytes", (json_int_t)p->streamed_bytes, "link_bytes", (json_int_t)p->link_bytes, "copies",
                     (json_int_t)p->multiples, "slots", (json_int_t)p->slots, "proofs_per_pass",
                     (json_int_t)p->per_pass, "why_copies", p->why[GROTH16_PARTS + 1], "why_passes",
                     p->why[GROTH16_PARTS + 2], "predicted", predicted);
}

json_t *key_plan_to_json(const struct key_plan *k)
{
    json_t *devices = json_array();
    for (size_t i = 0; i < k->devices; i++)
        json_array_append_new(devices, device_json(k, &k->device[i]));
    return json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:o}", "schema", 1, "key", k->zkey->map.path, "curve",
                     k->sizes.curve->name, "wires", (json_int_t)k->sizes.n_vars, "domain",
                     (json_int_t)k->sizes.domain_size, "coefficients", (json_int_t)k->sizes.nonzeros, "bytes",
                     (json_int_t)k->zkey->map.bytes, "counted", k->counted, "devices", devices);
}

static bool same(const struct key_device *a, const struct key_device *b)
{
    return a->limits.device_bytes == b->limits.device_bytes && a->limits.pinned_bytes == b->limits.pinned_bytes &&
           a->link_bytes_per_s == b->link_bytes_per_s && a->link_shared == b->link_shared;
}

static void write_limits(FILE *out, const struct key_device *d)
{
    char a[UNITS_TEXT], b[UNITS_TEXT], link[80] = "link as measured on an H200, 55.4 GB/s";
    if (d->link_bytes_per_s > 0)
        snprintf(link, sizeof link, "link %.1f GB/s%s", d->link_bytes_per_s * 1e-9,
                 d->link_shared ? " (its part of a shared uplink)" : "");
    fprintf(out, "  %s free, %s of pinned pages%s, %s\n", units_bytes(a, d->limits.device_bytes),
            units_bytes(b, d->limits.pinned_bytes), d->limits.keep && d->limits.pinned_bytes ? " that are kept" : "",
            link);
}

int key_plan_write_text(const struct key_plan *k, FILE *out)
{
    char text[UNITS_TEXT];
    fprintf(out, "%s: %s, %" PRIu64 " wires, %" PRIu64 " rows, %" PRIu64 " coefficients, %s; points %s\n",
            k->zkey->map.path, k->sizes.curve->title, k->sizes.n_vars, k->sizes.domain_size, k->sizes.nonzeros,
            units_bytes(text, k->zkey->map.bytes),
            k->counted ? "at infinity left out" : "as the header says (--count leaves out those at infinity)");
    for (size_t i = 0; i < k->devices; i++) {
        size_t first = 0;
        while (!same(&k->device[first], &k->device[i]))
            first++;
        if (first < i)
            continue; /* told already */
        for (size_t j = i; j < k->devices; j++)
            if (same(&k->device[i], &k->device[j]))
                fprintf(out, "%s%s", j > i ? ", " : "", k->device[j].id);
        fputc('\n', out);
        write_limits(out, &k->device[i]);
        int rc = residency_write(&k->device[i].plan, out);
        if (rc)
            return rc;
    }
    return ferror(out) ? err_fail(-EIO, "cannot write the plan") : 0;
}
