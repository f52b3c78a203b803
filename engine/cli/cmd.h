/* The commands of the program and what they share. */
#ifndef ENGINE_CLI_CMD_H
#define ENGINE_CLI_CMD_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>

#include "engine/cli/exit.h"

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's full name; returns an exit code */
};

extern const struct command commands[]; /* ends with a NULL name */

int cmd_prove(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_keep(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* Options that every command takes; a child parser of each command's own. */
struct common_opts {
    bool json, quiet;
    unsigned verbose;
};
extern const struct argp common_argp; /* input: struct common_opts * */

/* Print an error sentence ("penstock: ...") for this thread's last failure and return the exit code of `rc`. With
 * --json the same goes to stdout as {"error": ..., "exit": N}. */
int cmd_fail(const struct common_opts *common, int rc);
/* The same for an output that cannot be written: EXIT_OUTPUT, whatever the errno. */
int cmd_fail_output(const struct common_opts *common);

/* The same with a code that the errno does not tell. */
int cmd_fail_as(const struct common_opts *common, enum exit_code code);

/* Print a result: with --json the tree as it is, else `text` lines "name: value" of its members. Steals `tree`. */
void cmd_print(const struct common_opts *common, json_t *tree);

#endif
