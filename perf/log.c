#include "perf/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic int max_level = LOG_NOTICE;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

void log_line(enum log_level level, const char *fmt, ...)
{
    if ((int)level > atomic_load_explicit(&max_level, memory_order_relaxed))
        return;
    char line[2048];
    int used = 0;
    if (getenv("JOURNAL_STREAM"))
        used = snprintf(line, sizeof line, "<%d>", (int)level);
    used += snprintf(line + used, sizeof line - (size_t)used, "penstock: ");
    va_list ap;
    va_start(ap, fmt);
    int text = vsnprintf(line + used, sizeof line - (size_t)used - 1, fmt, ap);
    va_end(ap);
    used += text < 0 ? 0 : text;
    if (used > (int)sizeof line - 2)
        used = (int)sizeof line - 2;
    line[used++] = '\n';
    ssize_t gone = write(STDERR_FILENO, line, (size_t)used);
    (void)gone; /* nobody is left to tell */
}
