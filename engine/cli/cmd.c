#include "engine/cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>

#include "perf/err.h"
#include "perf/log.h"

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print the result as one JSON object on standard output", 10},
    {"quiet", 'q', NULL, 0, "Print errors only", 10},
    {"verbose", 'v', NULL, 0, "Say more (twice: debug)", 10},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct common_opts *common = state->input;
    switch (key) {
    case 'j':
        common->json = true;
        return 0;
    case 'q':
        common->quiet = true;
        log_set_level(LOG_ERROR);
        return 0;
    case 'v':
        log_set_level(++common->verbose > 1 ? LOG_DEBUG : LOG_INFO);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp common_argp = {.options = options, .parser = parse};

int cmd_fail_as(const struct common_opts *common, enum exit_code code)
{
    log_line(LOG_ERROR, "%s", pen_last_error());
    if (common->json) {
        json_t *tree = json_pack("{s:s, s:i}", "error", pen_last_error(), "exit", (int)code);
        if (tree)
            json_dumpf(tree, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(tree);
    }
    return (int)code;
}

int cmd_fail(const struct common_opts *common, int rc)
{
    return cmd_fail_as(common, (enum exit_code)exit_of_errno(rc));
}

int cmd_fail_output(const struct common_opts *common)
{
    return cmd_fail_as(common, EXIT_OUTPUT);
}

static void print_text(json_t *tree, int depth)
{
    const char *name;
    json_t *value;
    json_object_foreach(tree, name, value)
    {
        printf("%*s%s: ", depth * 2, "", name);
        if (json_is_object(value)) {
            putchar('\n');
            print_text(value, depth + 1);
            continue;
        }
        if (json_is_string(value)) {
            puts(json_string_value(value));
            continue;
        }
        char *plain = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        puts(plain ? plain : "?");
        free(plain);
    }
}

void cmd_print(const struct common_opts *common, json_t *tree)
{
    if (common->json) {
        json_dumpf(tree, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else if (!common->quiet) {
        print_text(tree, 0);
    }
    json_decref(tree);
}
