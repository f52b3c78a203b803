/* Errors. Every pen_ function that can fail returns 0 or a negative errno value and, on failure, leaves one sentence
 * for the calling thread that says what was wrong, where, and what was expected. */
#ifndef PENSTOCK_ERROR_H
#define PENSTOCK_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PEN_API __attribute__((visibility("default")))
#else
#define PEN_API
#endif

/* The sentence of the calling thread's last failure, without a newline; "" before the first. Owned by the thread,
 * valid until its next failing call. Any thread. */
PEN_API const char *pen_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
