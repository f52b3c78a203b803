/* One line per event on stderr, with the journal's priority prefix ("<6>") when stderr is the journal and without it on
 * a terminal. Never witness bytes. */
#ifndef PERF_LOG_H
#define PERF_LOG_H

enum log_level { LOG_ERROR = 3, LOG_WARN = 4, LOG_NOTICE = 5, LOG_INFO = 6, LOG_DEBUG = 7 };

/* Lines above this level are dropped. Default LOG_NOTICE. Any thread. */
void log_set_level(enum log_level level);

/* Write one line; a newline is added. The line leaves in one write(2), so lines of threads do not mix. Any thread. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
