/* kill_keep [ROUNDS [DIR]]: kill -9 at random moments while a process fills a kept arena; the next one must find it
 * intact, or fill it again, and never take a half one for whole. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc/keep.h"
#include "perf/clock.h"
#include "perf/err.h"
#include "tests/slower.h"

enum { BYTES = 3 << 20, FILL_US = 8000 };
enum { INTACT = 10, REFILLED = 11, WRONG = 12 };

static struct keep_opts opts_for(const char *dir, uint64_t contents)
{
    struct keep_opts o = {.dir = dir, .name = "kill", .bytes = BYTES, .node = -1, .wait_ns = 1000000000};
    memcpy(o.identity, &contents, sizeof contents);
    return o;
}

static uint64_t word(uint64_t contents, uint64_t i)
{
    return (i + 1) * 0x9e3779b97f4a7c15u ^ contents;
}

/* In small steps, so that the signal can fall between any two. */
static void fill_data(struct keep *k, uint64_t contents)
{
    unsigned char *p = keep_data(k);
    uint64_t words = BYTES / 8, t0 = clock_now_ns();
    for (uint64_t i = 0; i < words; i++) {
        uint64_t w = word(contents, i);
        memcpy(p + 8 * i, &w, sizeof w);
        if (i % 1024 == 0) /* spread over FILL_US */
            while (clock_now_ns() - t0 < i * FILL_US * 1000 / words)
                ;
    }
}

static int child(const char *dir, uint64_t contents)
{
    struct keep *k;
    struct keep_opts o = opts_for(dir, contents);
    if (keep_open(&k, &o)) {
        fprintf(stderr, "open: %s\n", pen_last_error());
        return WRONG;
    }
    int found = keep_ready(k) ? INTACT : REFILLED;
    if (found == REFILLED) {
        fill_data(k, contents);
        if (keep_seal(k)) {
            fprintf(stderr, "seal: %s\n", pen_last_error());
            return WRONG;
        }
    }
    const unsigned char *p = keep_data(k);
    for (uint64_t i = 0; i < BYTES / 8; i++) {
        uint64_t w;
        memcpy(&w, p + 8 * i, sizeof w);
        if (w != word(contents, i)) {
            fprintf(stderr, "word %lu is wrong though the arena was called ready\n", i);
            return WRONG;
        }
    }
    return keep_check(k) || keep_close(k) ? WRONG : found;
}

static int run(const char *dir, uint64_t contents, unsigned kill_after_us)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(child(dir, contents));
    if (kill_after_us) {
        usleep(kill_after_us);
        kill(pid, SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 10;
    char made[] = "/dev/shm/penstock-kill-XXXXXX";
    times = slower() > 1 && times > 4 ? 4 : times;
    const char *dir = argc > 2 ? argv[2] : mkdtemp(made);
    if (!dir)
        return 77;
    uint64_t x = clock_now_ns();
    unsigned killed = 0, intact = 0, refilled = 0;
    int bad = 0;
    printf("seed %lu\n", x);
    for (int i = 0; i < times && !bad; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t contents = (uint64_t)i / 2; /* the same twice: a kill after the seal leaves it intact */
        int first = run(dir, contents, 1 + (unsigned)(x >> 33) % (i % 4 ? 2 * FILL_US : FILL_US));
        int second = run(dir, contents, 0);
        killed += first == 0;
        intact += second == INTACT;
        refilled += second == REFILLED;
        bad = first == WRONG || (second != INTACT && second != REFILLED);
    }
    printf("%d rounds: %u killed, then %u found intact, %u filled again%s\n", times, killed, intact, refilled,
           bad ? ", WRONG" : "");
    keep_drop(dir, "kill");
    if (argc <= 2)
        rmdir(dir);
    return bad || (times >= 10 && killed == 0);
}
