/* Exit codes of every command; the man page and the tests know the same list. */
#ifndef ENGINE_CLI_EXIT_H
#define ENGINE_CLI_EXIT_H

enum exit_code {
    EXIT_DONE = 0,         /* done, or the proof is valid */
    EXIT_INVALID = 1,      /* the proof is not valid; `doctor`: warnings */
    EXIT_USAGE = 2,        /* wrong arguments */
    EXIT_BAD_INPUT = 65,   /* a file is missing, unreadable or malformed, or the witness does not satisfy the circuit */
    EXIT_NO_DEVICE = 69,   /* no usable device */
    EXIT_FAULT = 70,       /* the device computed wrongly or failed; with `prove` the host made the right proof */
    EXIT_NO_MEMORY = 71,   /* the host is short of memory or hugepages */
    EXIT_OUTPUT = 73,      /* an output cannot be written */
    EXIT_BUSY = 75,        /* queue full, or in use by another process: try again */
    EXIT_INTERRUPTED = 130 /* by SIGINT */
};

/* What a negative errno of the library means to a shell. */
int exit_of_errno(int rc);

#endif
