/* penstock: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "engine/cli/cmd.h"

const struct command commands[] = {
    {"prove", "prove that a witness satisfies a circuit", cmd_prove},
    {"verify", "check a proof", cmd_verify},
    {"setup", "make a test key from an r1cs (not for production)", cmd_setup},
    {"key", "look into a key, check every point of it", cmd_key},
    {"topo", "show what this machine is made of", cmd_topo},
    {"plan", "say who would get what, and why", cmd_plan},
    {"doctor", "say what is wrong with this machine and what repairs it", cmd_doctor},
    {"keep", "list or drop keys that stay in huge pages over a restart", cmd_keep},
    {"bench", "measure one thing", cmd_bench},
    {0},
};

/* snarkjs's short names, so that fingers need not learn */
static const struct {
    const char *alias, *name;
} aliases[] = {{"g16p", "prove"}, {"g16v", "verify"}};

static void usage(FILE *out)
{
    fputs(
        "Usage: penstock COMMAND [ARGUMENT...]\n\nGroth16 proofs over BN254 and BLS12-381, on GPUs or on the host.\n\n",
        out);
    for (const struct command *c = commands; c->name; c++)
        fprintf(out, "  %-8s %s\n", c->name, c->summary);
    fputs("\n`penstock COMMAND --help' tells more. Exit codes: 0 done or valid, 1 proof invalid, 2 usage,\n"
          "65 bad input, 69 no usable device, 70 device fault, 71 host short of memory, 73 cannot write,\n"
          "75 queue full, 130 interrupted.\n",
          out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        usage(stdout);
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        puts("penstock " PENSTOCK_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strcmp(name, aliases[i].alias) == 0)
            name = aliases[i].name;
    }
    argp_err_exit_status = EXIT_USAGE;
    for (const struct command *c = commands; c->name; c++) {
        if (strcmp(name, c->name) != 0)
            continue;
        char full[64];
        snprintf(full, sizeof full, "penstock %s", c->name);
        argv[1] = full;
        int code = c->run(argc - 1, argv + 1);
        if (fflush(stdout) != 0) {
            fputs("penstock: cannot write to standard output\n", stderr);
            return EXIT_OUTPUT;
        }
        return code;
    }
    fprintf(stderr, "penstock: unknown command \"%s\"\n", name);
    usage(stderr);
    return EXIT_USAGE;
}
