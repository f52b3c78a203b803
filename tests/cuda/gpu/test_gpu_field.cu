/* Claim, on the device: products, squares, sums and products with constants of the four fields equal the CPU's by
 * 64-bit words on every pair of edge operands: 0, 1, p - 1, p, 2p - 1, runs of ones and zeros, 52-bit limbs of ones,
 * powers of two; and on random ones. Results stay below 2p. Without a GPU: 77. Replay: PENSTOCK_SEED=... */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include "cuda/gpu/shoup.cuh"

static uint64_t rng_state;
static int failed;

static uint32_t rng()
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

template <class P> constexpr bool is_scalar = false;
template <> constexpr bool is_scalar<Bn254Fr> = true;
template <> constexpr bool is_scalar<Bls381Fr> = true;

template <class P> static bool below(const Fe<P> &a, bool twice)
{
    for (int i = P::N - 1; i >= 0; i--) {
        uint32_t p = twice ? field_2p<P>(i) : P::p(i);
        if (a.l[i] != p)
            return a.l[i] < p;
    }
    return false;
}

template <class P> static Fe<P> random_operand()
{
    Fe<P> a;
    do {
        for (int i = 0; i < P::N; i++)
            a.l[i] = rng();
        a.l[P::N - 1] %= field_2p<P>(P::N - 1) + 1;
    } while (!below(a, true));
    return a;
}

/* Numbers below 2p */
template <class P> static std::vector<Fe<P>> operands()
{
    std::vector<Fe<P>> all;
    auto add = [&](auto word) {
        Fe<P> a;
        for (int i = 0; i < P::N; i++)
            a.l[i] = word(i);
        while (!below(a, true))
            for (int i = P::N - 1, top = 1; i >= 0 && top; i--) /* clear the highest bit */
                for (int b = 31; b >= 0 && top; b--)
                    if (a.l[i] >> b & 1) {
                        a.l[i] &= ~(1u << b);
                        top = 0;
                    }
        all.push_back(a);
    };
    add([](int) { return 0u; });
    add([](int i) { return (uint32_t)(i == 0); });
    add([](int i) { return P::p(i) - (i == 0); }); /* p is odd */
    add([](int i) { return P::p(i); });
    add([](int i) { return i ? field_2p<P>(i) : field_2p<P>(i) + 1; });
    if (field_2p<P>(0))
        all.back().l[0] -= 2; /* 2p - 1 */
    add([](int) { return 0xffffffffu; });
    for (int from = 0; from < 32 * P::N; from += 52) /* ones from there on; one limb of ones; all but it */
        for (int kind = 0; kind < 3; kind++)
            add([&](int i) {
                uint32_t w = 0;
                for (int b = 0; b < 32; b++) {
                    bool in = 32 * i + b >= from && (kind == 0 || 32 * i + b < from + 52);
                    w |= (uint32_t)(in != (kind == 2)) << b;
                }
                return w;
            });
    for (int bit = 0; bit < 32 * P::N; bit += 31)
        add([&](int i) { return i == bit / 32 ? 1u << (bit % 32) : 0u; });
    for (int i = 0; i < 200; i++)
        all.push_back(random_operand<P>());
    return all;
}

enum { MUL, SQR, WIDE_SQR, ADD, SUB, CONSTANT, OPS };
static const char *const op_name[OPS] = {"product", "square",     "square before reduction",
                                         "sum",     "difference", "product with a constant"};

template <class P> static __global__ void run(Fe<P> *out, const Fe<P> *operand, unsigned n)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n * n)
        return;
    Fe<P> a = operand[t / n], b = operand[t % n], c, *r = out + (size_t)t * OPS;
    Wide<P> w;
    field_canon(c, a);
    field_mul(r[MUL], c, b);
    field_sqr(r[SQR], c);
    wide_mul(w, c, c);
    wide_reduce(r[WIDE_SQR], w);
    field_add(r[ADD], a, b);
    field_sub(r[SUB], a, b);
    r[CONSTANT] = r[MUL];
    if constexpr (is_scalar<P>) {
        Shoup<P> s;
        shoup_of(s, c);
        field_mul_shoup(r[CONSTANT], b, s);
    }
}

template <class P> static void expect(const char *field, int op, const Fe<P> &got, const Fe<P> &want)
{
    Fe<P> g, w;
    field_canon(g, got);
    field_canon(w, want);
    if (below(got, true) && memcmp(&g, &w, sizeof g) == 0)
        return;
    if (failed++ < 20)
        printf("%s: %s is wrong\n", field, op_name[op]);
}

template <class P> static void check(const char *field)
{
    std::vector<Fe<P>> in = operands<P>();
    size_t n = in.size();
    std::vector<Fe<P>> got(n * n * OPS);
    Fe<P> *device_in, *out;
    if (cudaMalloc(&device_in, n * sizeof *out) || cudaMalloc(&out, got.size() * sizeof *out) ||
        cudaMemset(out, 0xa5, got.size() * sizeof *out) ||
        cudaMemcpy(device_in, in.data(), n * sizeof *out, cudaMemcpyHostToDevice)) {
        printf("%s: no memory on the device\n", field);
        exit(1);
    }
    run<P><<<(unsigned)((n * n + 127) / 128), 128>>>(out, device_in, (unsigned)n);
    if (cudaMemcpy(got.data(), out, got.size() * sizeof *out, cudaMemcpyDeviceToHost)) {
        printf("%s: %s\n", field, cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
    cudaFree(device_in);
    cudaFree(out);
    for (size_t i = 0; i < n * n; i++) {
        const Fe<P> &a = in[i / n], &b = in[i % n], *r = &got[i * OPS];
        Fe<P> c, want;
        field_canon(c, a);
        field_mul_words(want, c, b);
        expect(field, MUL, r[MUL], want);
        expect(field, CONSTANT, r[CONSTANT], want);
        field_mul_words(want, c, c);
        expect(field, SQR, r[SQR], want);
        expect(field, WIDE_SQR, r[WIDE_SQR], want);
        field_sub(want, r[ADD], b);
        expect(field, ADD, r[ADD], r[ADD]);
        expect(field, ADD, want, a);
        field_add(want, r[SUB], b);
        expect(field, SUB, r[SUB], r[SUB]);
        expect(field, SUB, want, a);
    }
    printf("%s: %zu pairs\n", field, n * n);
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) || devices == 0)
        return 77;
    const char *env = getenv("PENSTOCK_SEED");
    rng_state = env ? strtoull(env, NULL, 0) : 0x5eed;
    printf("rerun: PENSTOCK_SEED=0x%llx\n", (unsigned long long)rng_state);
    check<Bn254Fq>("BN254 q");
    check<Bn254Fr>("BN254 r");
    check<Bls381Fq>("BLS12-381 q");
    check<Bls381Fr>("BLS12-381 r");
    return failed != 0;
}
