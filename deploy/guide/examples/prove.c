/* Prove in 30 lines: prove KEY.zkey WITNESS.wtns prints the proof. */
#include <penstock/engine.h>
#include <stdio.h>

static int fail(void)
{
    fprintf(stderr, "%s\n", pen_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    struct pen_engine *engine;
    struct pen_result result;
    uint64_t job;

    if (argc != 3)
        return fprintf(stderr, "usage: prove KEY.zkey WITNESS.wtns\n"), 2;
    if (pen_engine_open(&engine, NULL))
        return fail();
    if (pen_circuit_load(engine, "mine", argv[1]) || pen_submit_file(engine, &job, "mine", argv[2], NULL) ||
        pen_wait(engine, &result, job, PEN_FOREVER))
        return fail();
    if (result.state == PEN_DONE)
        fputs(result.proof_json, stdout);
    else
        fprintf(stderr, "%s: %s\n", pen_state_name(result.state), result.why);
    int status = result.state != PEN_DONE;
    pen_result_close(&result);
    pen_engine_close(engine);
    return status;
}
