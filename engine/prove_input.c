#include "engine/prove_input.h"

#include <string.h>
#include <unistd.h>

#include "perf/err.h"
#include "prover/file_read.h"

/* What one job may take of the machine for its inputs: what it has. Beyond that a sentence, not the kernel's killer. */
static uint64_t memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX / 2;
}

static int open_key(struct prove_input *in, struct device *device, const struct prove_request *req)
{
    int rc = budget_open(&in->budget, &(struct budget_opts){.limit_bytes = memory_bytes()});
    if (rc)
        return rc;
    struct key_source_opts opts = {.device = device,
                                   .tier = req->pages,
                                   .strict = req->pages_strict,
                                   .budget = in->budget,
                                   .first = req->read_first,
                                   .spans = req->spans};
    struct byte_source *source;
    rc = key_source_open(&source, req->key_path, &opts);
    if (!rc)
        rc = zkey_open_source(&in->zkey, source);
    if (!rc)
        in->source = source;
    return rc;
}

/* *bytes: of a regular file; 0: whatever else can be read. */
static int witness_bytes(const char *path, uint64_t *bytes)
{
    int fd;
    int rc = file_read_open(&fd, bytes, path);
    if (!rc)
        close(fd);
    return rc;
}

static int open_witness(struct prove_input *in, const char *path, uint64_t bytes)
{
    const uint8_t *data;
    int rc = load_ask(key_source_loader(in->source), &in->load, path, 0, bytes, NULL);
    if (rc)
        return rc;
    rc = key_source_plan(in->source, in->zkey); /* right behind the witness */
    if (!rc)
        rc = key_source_error(load_wait(in->load, &data));
    return rc ? rc : wtns_open_memory(&in->wtns, path, data, (size_t)bytes);
}

int prove_input_open(struct prove_input *in, struct device *device, const struct prove_request *req)
{
    *in = (struct prove_input){0};
    uint64_t bytes = 0;
    int rc = open_key(in, device, req);
    /* A pipe is opened once: opening it twice would lose its writer. */
    bool pipe = !rc && file_read_is_stream(req->witness_path);
    if (!rc && !pipe)
        rc = witness_bytes(req->witness_path, &bytes);
    if (!rc)
        rc = key_source_begin(in->source, in->zkey, bytes);
    if (!rc && bytes) {
        rc = open_witness(in, req->witness_path, bytes);
    } else if (!rc) {
        rc = wtns_open(&in->wtns, req->witness_path);
        if (!rc)
            rc = key_source_plan(in->source, in->zkey);
    }
    if (!rc)
        rc = wtns_match_zkey(in->wtns, in->zkey);
    if (rc) {
        char said[1024];
        err_copy(said);
        prove_input_close(in, NULL);
        err_set(said);
    }
    return rc;
}

void prove_input_close(struct prove_input *in, struct prove_report *report)
{
    if (report && in->source && key_source_loader(in->source)) {
        loader_read(key_source_loader(in->source), &report->loading);
        report->loaded = report->loading.bytes > 0;
    }
    wtns_close(in->wtns);
    load_drop(in->load);
    zkey_close(in->zkey); /* and its source */
    if (in->budget)
        budget_close(in->budget);
    *in = (struct prove_input){0};
}
