#include "engine/prove_input.h"

#include <string.h>

#include "perf/err.h"
#include "prover/file_read.h"

static int open_key(struct prove_input *in, struct device *device, const struct prove_request *req)
{
    int rc = key_source_budget_open(&in->budget);
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
    if (!rc)
        rc = file_read_bytes(&bytes, req->witness_path);
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
