/* Which gated calls work here. Default seccomp profiles of container runtimes let mempolicy calls through only with
 * CAP_SYS_NICE, stricter than the kernel, and io_uring not at all; numa_available() of libnuma before 2.0.19 does not
 * see it. So each call is tried, with arguments that the kernel refuses (EINVAL, EFAULT) or that do nothing: any such
 * answer came from the kernel, so the call is open. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "numa/limits.h"

const char *limits_call_name(enum limits_call call)
{
    static const char *const names[LIMITS_CALLS] = {"mbind", "set_mempolicy", "get_mempolicy", "move_pages",
                                                    "io_uring_setup"};
    return names[call];
}

static long try_call(enum limits_call call)
{
    int mode;
    switch (call) {
    case LIMITS_MBIND: /* no bytes */
        return syscall(SYS_mbind, NULL, 0UL, 0, NULL, 0UL, 0U);
    case LIMITS_SET_MEMPOLICY: /* no such mode */
        return syscall(SYS_set_mempolicy, 0x7fff, NULL, 0UL);
    case LIMITS_GET_MEMPOLICY:
        return syscall(SYS_get_mempolicy, &mode, NULL, 0UL, NULL, 0UL);
    case LIMITS_MOVE_PAGES: /* no pages */
        return syscall(SYS_move_pages, 0, 0UL, NULL, NULL, NULL, 0);
    case LIMITS_IO_URING: /* no parameters */
        return syscall(SYS_io_uring_setup, 0U, NULL);
    default:
        errno = EINVAL;
        return -1;
    }
}

static int answer(enum limits_call call)
{
    if (try_call(call) >= 0 || errno == EINVAL || errno == EFAULT)
        return 0;
    return errno;
}

/* One child per call: it writes its answer, or dies of the filter. The child only makes system calls. */
static void probe_guarded(struct limits_answer *out, enum limits_call call, int *shared)
{
    *shared = -1;
    pid_t child = fork();
    if (child < 0)
        return;
    if (child == 0) {
        signal(SIGSYS, SIG_DFL); /* a handler of the program is not for the child to run */
        *shared = answer(call);
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return;
    out->known = true;
    out->error = *shared;
}

void limits_probe(struct limits_answer call[LIMITS_CALLS], bool guarded)
{
    int *shared = MAP_FAILED;
    if (guarded)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < LIMITS_CALLS; i++) {
        call[i] = (struct limits_answer){.known = false};
        if (guarded && shared != MAP_FAILED)
            probe_guarded(&call[i], (enum limits_call)i, shared);
        else if (!guarded)
            call[i] = (struct limits_answer){.known = true, .error = answer((enum limits_call)i)};
    }
    if (shared != MAP_FAILED)
        munmap(shared, sizeof *shared);
}
