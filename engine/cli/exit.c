#include "engine/cli/exit.h"

#include <errno.h>

int exit_of_errno(int rc)
{
    switch (-rc) {
    case 0:
        return EXIT_DONE;
    case ENODEV:
        return EXIT_NO_DEVICE;
    case EIO:
    case EREMOTEIO:
        return EXIT_FAULT;
    case ENOMEM:
        return EXIT_NO_MEMORY;
    case EAGAIN:
    case EBUSY:
        return EXIT_BUSY;
    case EINTR:
    case ECANCELED:
        return EXIT_INTERRUPTED;
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EFBIG:
        return EXIT_OUTPUT;
    default:
        return EXIT_BAD_INPUT;
    }
}
