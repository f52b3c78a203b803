/* penstock keep list | drop NAME */
#include <stdio.h>
#include <string.h>

#include "alloc/keep.h"
#include "engine/cli/cmd.h"
#include "perf/err.h"
#include "perf/units.h"

static const char doc[] =
    "Look at the keys that stay in huge pages over a restart, and let go of them.\n\n"
    "list shows each kept arena: its name, state (ready, filling, empty, damaged), whether a process uses it, its "
    "size, the process that filled it and how often it was filled. drop removes one; its pages go back to the system. "
    "One in use is not dropped (exit code 75). The mounts of hugetlbfs are found by themselves; without one nothing is "
    "kept (exit code 71)."
    "\v"
    "Examples:\n"
    "  penstock keep list\n"
    "  penstock keep list --dir /dev/hugepages1G --json\n"
    "  penstock keep drop circuit-1";

enum { OPT_DIR = 256 };
static const struct argp_option options[] = {
    {"dir", OPT_DIR, "MOUNT", 0, "The mount to look at; default: those of hugetlbfs for 1 GiB and 2 MiB pages", 1},
    {0},
};

struct args {
    struct common_opts common;
    const char *dir, *what, *name;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->common;
        return 0;
    case OPT_DIR:
        a->dir = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            a->what = arg;
        else if (state->arg_num == 1 && strcmp(a->what, "drop") == 0)
            a->name = arg;
        else
            argp_error(state, "too many arguments: \"%s\"", arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->what)
            argp_error(state, "need list, or drop and NAME");
        if (strcmp(a->what, "list") != 0 && strcmp(a->what, "drop") != 0)
            argp_error(state, "\"%s\" is neither list nor drop", a->what);
        if (strcmp(a->what, "drop") == 0 && !a->name)
            argp_error(state, "drop needs NAME (penstock keep list shows the names)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {options, parse, "list\ndrop NAME", doc, children, NULL, NULL};

static int entry_print(void *ctx, const struct keep_entry *e)
{
    size_t *n = ctx;
    char bytes[UNITS_TEXT], file[UNITS_TEXT];
    if ((*n)++ == 0)
        printf("%-24s %-8s %-6s %12s %12s %9s %6s\n", "name", "state", "in use", "data", "pages", "filled by", "times");
    printf("%-24s %-8s %-6s %12s %12s %9ld %6lu\n", e->name, keep_state_name(e->state), e->in_use ? "yes" : "no",
           units_bytes(bytes, e->bytes), units_bytes(file, e->file_bytes), (long)e->owner, e->generation);
    return 0;
}

static int entry_collect(void *ctx, const struct keep_entry *e)
{
    char identity[2 * KEEP_IDENTITY + 1];
    for (int i = 0; i < KEEP_IDENTITY; i++)
        snprintf(identity + 2 * i, 3, "%02x", e->identity[i]);
    json_t *row =
        json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:s}", "name", e->name, "state", keep_state_name(e->state),
                  "in_use", e->in_use, "bytes", (json_int_t)e->bytes, "file_bytes", (json_int_t)e->file_bytes, "owner",
                  (json_int_t)e->owner, "generation", (json_int_t)e->generation, "identity", identity);
    return json_array_append_new(ctx, row) ? err_fail(-ENOMEM, "no memory for the list") : 0;
}

static int entry_skip(void *ctx, const struct keep_entry *e)
{
    (void)ctx;
    (void)e;
    return 0;
}

static int keep_fail(const struct args *a, int rc)
{
    if (rc != -ENOTSUP)
        return cmd_fail(&a->common, rc);
    rc = err_fail(rc, "no hugetlbfs is mounted, so no key is kept over a restart; to keep some: mkdir -p "
                      "/dev/hugepages1G && mount -t hugetlbfs -o pagesize=1G none /dev/hugepages1G");
    return cmd_fail_as(&a->common, EXIT_NO_MEMORY);
}

static int list(const struct args *a)
{
    size_t n = 0;
    json_t *rows = json_array();
    int rc = a->common.json ? keep_list(a->dir, entry_collect, rows) : keep_list(a->dir, entry_print, &n);
    if (rc) {
        json_decref(rows);
        return keep_fail(a, rc);
    }
    if (a->common.json) {
        cmd_print(&a->common, json_pack("{s:i, s:o}", "schema", 1, "kept", rows));
        return EXIT_DONE;
    }
    if (n == 0 && !a->common.quiet)
        printf("nothing is kept%s%s\n", a->dir ? " in " : "", a->dir ? a->dir : "");
    json_decref(rows);
    return EXIT_DONE;
}

static int drop(const struct args *a)
{
    int rc = a->dir ? 0 : keep_list(NULL, entry_skip, NULL); /* "no mount" tells more than "no such name" */
    if (!rc)
        rc = keep_drop(a->dir, a->name);
    if (rc)
        return keep_fail(a, rc);
    if (a->common.json)
        cmd_print(&a->common, json_pack("{s:s}", "dropped", a->name));
    else if (!a->common.quiet)
        printf("dropped %s\n", a->name);
    return EXIT_DONE;
}

int cmd_keep(int argc, char **argv)
{
    struct args a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    return strcmp(a.what, "list") == 0 ? list(&a) : drop(&a);
}
