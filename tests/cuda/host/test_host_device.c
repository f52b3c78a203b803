/* Claim: names, memory, copies, registered ranges, events, spans and the thread pool of the host device keep device.h's
 * word; several streams may work at once. */
#include "host_test.h"

#include "perf/span.h"

static void names(void **state)
{
    (void)state;
    struct device *d;
    struct device_info info;
    assert_int_equal(device_open(&d, "host", &(struct device_opts){.threads = 3}), 0);
    assert_int_equal(d->ops->info(d, &info), 0);
    assert_int_equal(info.threads, 3);
    assert_true(info.flags & DEVICE_HOST_MEMORY);
    assert_string_equal(info.id, "host");
    assert_non_null(strstr(info.name, "3 threads"));
    assert_true(info.memory_bytes > 0);
    d->ops->close(d);
    d = NULL;
    assert_int_equal(device_open(&d, "gpu", NULL), -EINVAL);
    assert_int_equal(device_open(&d, "cuda:x", NULL), -EINVAL);
    assert_int_equal(device_open(&d, "cuda:-1", NULL), -EINVAL);
    assert_int_equal(device_open(&d, "cuda:999", NULL), -ENODEV);
    assert_null(d);
    if (device_cuda_count() == 0) {
        assert_int_equal(device_open(&d, "auto", NULL), 0);
        d->ops->close(d);
    }
    assert_int_equal(device_host_open_isa(&d, NULL, "vax"), -ENODEV);
}

static void memory(void **state)
{
    (void)state;
    struct device *d;
    assert_int_equal(device_host_open(&d, &(struct device_opts){.threads = 1, .memory_limit = 1 << 20}), 0);
    struct dbuf a, b;
    assert_int_equal(d->ops->alloc(d, &a, 700000), 0);
    assert_int_equal(a.addr % 64, 0);
    assert_int_equal(d->ops->alloc(d, &b, 700000), -ENOMEM);
    struct device_info info;
    assert_int_equal(d->ops->info(d, &info), 0);
    assert_int_equal(info.free_bytes, (1 << 20) - 700000);
    d->ops->free(d, a);
    assert_int_equal(d->ops->alloc(d, &b, 700000), 0);

    struct stream *s = stream_of(d);
    unsigned char in[1000], out[1000];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)rng();
    assert_int_equal(d->ops->copy_h2d(s, dbuf_at(b, 5, 1000), in, 1000), 0);
    assert_int_equal(d->ops->zero(s, dbuf_at(b, 5, 1000), 10), 0);
    assert_int_equal(d->ops->copy_d2h(s, out, dbuf_at(b, 5, 1000), 1000), 0);
    assert_int_equal(d->ops->stream_sync(s), 0);
    memset(in, 0, 10);
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(d->ops->copy_h2d(s, dbuf_at(b, 0, 10), in, 11), -EINVAL);
    assert_int_equal(d->ops->stream_sync(s), -EINVAL);
    d->ops->stream_close(s);
    d->ops->free(d, b);
    d->ops->close(d);
}

static void registered(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 1), *e = device_of("portable", 1);
    unsigned char *p = aligned_alloc(4096, 16 * 4096);
    assert_int_equal(d->ops->host_register(d, p, 4 * 4096), 0);
    assert_int_equal(d->ops->host_register(d, p, 4 * 4096), -EINVAL);            /* twice */
    assert_int_equal(d->ops->host_register(d, p + 4096, 4096), -EINVAL);         /* inside */
    assert_int_equal(d->ops->host_register(d, p + 3 * 4096, 4 * 4096), -EINVAL); /* across the end */
    assert_int_equal(d->ops->host_register(d, p + 4 * 4096, 100), 0);            /* next to it */
    assert_int_equal(d->ops->host_register(d, p + 4 * 4096 + 200, 8), -EINVAL);  /* the same page */
    assert_int_equal(d->ops->host_register(d, p + 8 * 4096, 0), -EINVAL);
    assert_int_equal(d->ops->host_register(d, NULL, 4096), -EINVAL);
    assert_int_equal(d->ops->host_register(e, p, 4096), 0); /* another device */
    assert_int_equal(d->ops->host_unregister(d, p + 4096), -EINVAL);
    assert_int_equal(d->ops->host_unregister(d, p), 0);
    assert_int_equal(d->ops->host_unregister(d, p), -EINVAL);
    assert_int_equal(d->ops->host_register(d, p, 4096), 0);
    d->ops->close(d); /* with ranges left */
    e->ops->close(e);
    free(p);
}

static void events_and_spans(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 1), *other = device_of("portable", 1);
    struct span_list *spans;
    assert_int_equal(span_list_open(&spans, 16), 0);
    struct stream *s, *t = stream_of(d), *u = stream_of(other);
    struct stream_opts opts = {.spans = spans, .job = 42};
    assert_int_equal(d->ops->stream_open(d, &s, &opts), 0);
    struct event *e;
    assert_int_equal(d->ops->event_open(d, &e), 0);
    struct fr x[8] = {{{1}}};
    struct pointwise_args a = {.curve = curve_get(CURVE_BN254), .op = POINTWISE_SUB, .n = 8};
    a.out = a.a = a.b = device_wrap(x, sizeof x);
    assert_int_equal(d->ops->pointwise(s, &a), 0);
    assert_int_equal(d->ops->copy_h2d(s, a.out, x, sizeof x), 0);
    assert_int_equal(d->ops->event_record(s, e), 0);
    assert_int_equal(d->ops->event_wait(t, e), 0);
    assert_int_equal(other->ops->event_wait(u, e), -EINVAL);
    assert_int_equal(span_count(spans), 2);
    assert_string_equal(span_at(spans, 0)->stage, "pointwise");
    assert_string_equal(span_at(spans, 0)->lane, "compute");
    assert_int_equal(span_at(spans, 0)->job, 42);
    assert_true(span_at(spans, 0)->end_ns >= span_at(spans, 0)->begin_ns);
    assert_string_equal(span_at(spans, 1)->stage, "h2d");
    assert_int_equal(span_at(spans, 1)->bytes, sizeof x);
    d->ops->event_close(e);
    d->ops->stream_close(s);
    d->ops->stream_close(t);
    other->ops->stream_close(u);
    d->ops->close(d);
    other->ops->close(other);
    span_list_close(spans);
}

struct tally {
    struct threads *t;
    _Atomic size_t done[500];
    _Atomic size_t wrong_slots, inner;
};

static void inner_task(void *arg, size_t task, unsigned slot)
{
    (void)task;
    (void)slot;
    ((struct tally *)arg)->inner++;
}

static void tally_task(void *arg, size_t task, unsigned slot)
{
    struct tally *t = arg;
    t->done[task]++;
    t->wrong_slots += slot >= threads_count(t->t);
    if (task % 50 == 0)
        threads_run(t->t, inner_task, t, 7);
}

static void pool(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 5, 16};
    for (int c = 0; c < 4; c++) {
        struct tally t = {0};
        assert_int_equal(threads_open(&t.t, counts[c]), 0);
        assert_int_equal(threads_count(t.t), counts[c]);
        for (int round = 0; round < 50; round++)
            threads_run(t.t, tally_task, &t, 500);
        threads_run(t.t, tally_task, &t, 0);
        for (int i = 0; i < 500; i++)
            assert_int_equal(t.done[i], 50);
        assert_int_equal(t.wrong_slots, 0);
        assert_int_equal(t.inner, 50 * 10 * 7);
        threads_close(t.t);
    }
}

struct worker {
    struct device *d;
    const struct curve *c;
    bool good;
};

/* cmocka's asserts belong to the main thread, so a worker only notes what it saw. */
static void *stream_worker(void *arg)
{
    struct worker *w = arg;
    struct stream *s;
    enum { LOG_N = 9, N = 1 << LOG_N };
    struct fr *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    w->good = w->d->ops->stream_open(w->d, &s, NULL) == 0;
    for (int i = 0; i < N; i++)
        w->c->fr_from_u64(&x[i], (uint64_t)i);
    memcpy(y, x, N * sizeof *x);
    struct ntt_args a = {.curve = w->c, .data = device_wrap(y, N * sizeof *y), .log_n = LOG_N, .order = NTT_NN};
    w->c->fr_root(&a.root, LOG_N);
    w->c->fr_from_u64(&a.shift, 3);
    for (int round = 0; round < 20 && w->good; round++) {
        a.inverse = round % 2;
        w->good = w->d->ops->ntt(s, &a) == 0;
    }
    w->good = w->good && memcmp(x, y, N * sizeof *x) == 0;
    w->d->ops->stream_close(s);
    free(x);
    free(y);
    return NULL;
}

static void streams_at_once(void **state)
{
    (void)state;
    struct device *d = device_of("portable", 3);
    struct worker w[4];
    pthread_t id[4];
    for (int i = 0; i < 4; i++) {
        w[i] = (struct worker){.d = d, .c = curve_get((enum curve_id)(i % 2))};
        assert_int_equal(pthread_create(&id[i], NULL, stream_worker, &w[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(id[i], NULL);
        assert_true(w[i].good);
    }
    d->ops->close(d);
}

int main(void)
{
    rng_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),      cmocka_unit_test(memory),
        cmocka_unit_test(registered), cmocka_unit_test(events_and_spans),
        cmocka_unit_test(pool),       cmocka_unit_test(streams_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
