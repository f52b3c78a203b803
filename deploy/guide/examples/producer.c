/* Synthesis straight into the engine: the circuit of tests/data/bn128/mult says that a * b = c for a public c, so its
 * witness is 1, c, a, b. No witness file is written. */
#include <penstock/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct factors {
    uint64_t a, b;
};

/* Called by the engine when it has room; `scalars` is its memory, n numbers of 32 bytes, little-endian. */
static int synthesise(void *ctx, void *scalars, size_t n)
{
    const struct factors *f = ctx;
    uint64_t wires[] = {1, f->a * f->b, f->a, f->b};
    memset(scalars, 0, 32 * n);
    for (size_t i = 0; i < n && i < 4; i++)
        memcpy((char *)scalars + 32 * i, &wires[i], sizeof wires[i]);
    return 0;
}

int main(int argc, char **argv)
{
    struct pen_engine *engine;
    struct pen_result result = {0};
    uint64_t job;
    if (argc != 4)
        return fprintf(stderr, "usage: producer mult.zkey A B\n"), 2;
    struct factors f = {strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)};
    if (pen_engine_open(&engine, NULL) || pen_circuit_load(engine, "mult", argv[1]) ||
        pen_submit_producer(engine, &job, "mult", synthesise, &f, NULL) || pen_wait(engine, &result, job, PEN_FOREVER))
        return fprintf(stderr, "%s\n", pen_last_error()), 1;
    puts(result.state == PEN_DONE ? result.public_json : result.why);
    int status = result.state != PEN_DONE;
    pen_result_close(&result);
    pen_engine_close(engine);
    return status;
}
