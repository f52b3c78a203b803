#include "perf/err.h"

#include <stdio.h>
#include <string.h>

enum { SENTENCE_BYTES = 1024 };

static _Thread_local char sentence[SENTENCE_BYTES];

const char *pen_last_error(void)
{
    return sentence;
}

int err_fail(int code, const char *fmt, ...)
{
    /* Through a second buffer: an argument may be the old sentence itself. */
    char next[SENTENCE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(next, sizeof next, fmt, ap);
    va_end(ap);
    memcpy(sentence, next, sizeof next);
    return code;
}

int err_in(int code, const char *fmt, ...)
{
    char where[SENTENCE_BYTES / 2], next[SENTENCE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(where, sizeof where, fmt, ap);
    va_end(ap);
    int used = snprintf(next, sizeof next, "%s: ", where);
    strncat(next, sentence, sizeof next - (size_t)used - 1);
    memcpy(sentence, next, sizeof next);
    return code;
}

void err_copy(char out[1024])
{
    memcpy(out, sentence, sizeof sentence);
}

void err_set(const char *text)
{
    snprintf(sentence, sizeof sentence, "%s", text);
}
