/* The four prime fields as types: words of 32 bits, least significant first. Same constants as cuda/math/fields.c; a
 * test compares them. */
#ifndef CUDA_GPU_PARAMS_CUH
#define CUDA_GPU_PARAMS_CUH

#include <stdint.h>

#define WORDS(x) (uint32_t)(x##ull), (uint32_t)(x##ull >> 32)

/* What multiplications read of the modulus: immediates, except on BLS12-381's r. Its words 1 and -1, and -1/r = -1, become
 * negations that break the chains of wide multiply-adds (5.4e10 instead of 6.2e10 products/s on an H200), so they stand in
 * constant memory, where the assembler cannot see them. */
/* clang-format off */
static __constant__ uint32_t bls381_fr_words[] = {WORDS(0xffffffff00000001), WORDS(0x53bda402fffe5bfe), WORDS(0x3339d80809a1d805), WORDS(0x73eda753299d7d48)};
static __constant__ uint32_t bls381_fr_inv = 0xffffffffu;
struct Bn254Fq {
    static constexpr int N = 8;
    static constexpr bool mul_below_2p = true; /* 4 p^2 / R + p < 2 p: p/R = 0.19 */
    static constexpr uint32_t inv = 0xe4866389u; /* -1/p mod 2^32 */
    __host__ __device__ static constexpr uint32_t operand(int i) { return p(i); }
    __host__ __device__ static constexpr uint32_t operand_inv() { return inv; }
    __host__ __device__ static constexpr uint32_t p(int i) {
        constexpr uint32_t w[] = {WORDS(0x3c208c16d87cfd47), WORDS(0x97816a916871ca8d), WORDS(0xb85045b68181585d), WORDS(0x30644e72e131a029)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t one(int i) {
        constexpr uint32_t w[] = {WORDS(0xd35d438dc58f0d9d), WORDS(0x0a78eb28f5c70b3d), WORDS(0x666ea36f7879462c), WORDS(0x0e0a77c19a07df2f)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t r2(int i) {
        constexpr uint32_t w[] = {WORDS(0xf32cfc5b538afa89), WORDS(0xb5e71911d44501fb), WORDS(0x47ab1eff0a417ff6), WORDS(0x06d89f71cab8351f)};
        return w[i];
    }
};
struct Bn254Fr {
    static constexpr int N = 8;
    static constexpr bool mul_below_2p = true;
    static constexpr uint32_t inv = 0xefffffffu;
    __host__ __device__ static constexpr uint32_t operand(int i) { return p(i); }
    __host__ __device__ static constexpr uint32_t operand_inv() { return inv; }
    __host__ __device__ static constexpr uint32_t p(int i) {
        constexpr uint32_t w[] = {WORDS(0x43e1f593f0000001), WORDS(0x2833e84879b97091), WORDS(0xb85045b68181585d), WORDS(0x30644e72e131a029)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t one(int i) {
        constexpr uint32_t w[] = {WORDS(0xac96341c4ffffffb), WORDS(0x36fc76959f60cd29), WORDS(0x666ea36f7879462e), WORDS(0x0e0a77c19a07df2f)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t r2(int i) {
        constexpr uint32_t w[] = {WORDS(0x1bb8e645ae216da7), WORDS(0x53fe3ab1e35c59e3), WORDS(0x8c49833d53bb8085), WORDS(0x0216d0b17f4e44a5)};
        return w[i];
    }
};
struct Bls381Fq {
    static constexpr int N = 12;
    static constexpr bool mul_below_2p = true; /* p/R = 0.10 */
    static constexpr uint32_t inv = 0xfffcfffdu;
    __host__ __device__ static constexpr uint32_t operand(int i) { return p(i); }
    __host__ __device__ static constexpr uint32_t operand_inv() { return inv; }
    __host__ __device__ static constexpr uint32_t p(int i) {
        constexpr uint32_t w[] = {WORDS(0xb9feffffffffaaab), WORDS(0x1eabfffeb153ffff), WORDS(0x6730d2a0f6b0f624), WORDS(0x64774b84f38512bf), WORDS(0x4b1ba7b6434bacd7), WORDS(0x1a0111ea397fe69a)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t one(int i) {
        constexpr uint32_t w[] = {WORDS(0x760900000002fffd), WORDS(0xebf4000bc40c0002), WORDS(0x5f48985753c758ba), WORDS(0x77ce585370525745), WORDS(0x5c071a97a256ec6d), WORDS(0x15f65ec3fa80e493)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t r2(int i) {
        constexpr uint32_t w[] = {WORDS(0xf4df1f341c341746), WORDS(0x0a76e6a609d104f1), WORDS(0x8de5476c4c95b6d5), WORDS(0x67eb88a9939d83c0), WORDS(0x9a793e85b519952d), WORDS(0x11988fe592cae3aa)};
        return w[i];
    }
};
struct Bls381Fr {
    static constexpr int N = 8;
    static constexpr bool mul_below_2p = false; /* p/R = 0.45: one operand must be below p */
    static constexpr uint32_t inv = 0xffffffffu;
#ifdef __CUDA_ARCH__
    __device__ static uint32_t operand(int i) { return bls381_fr_words[i]; }
    __device__ static uint32_t operand_inv() { return bls381_fr_inv; }
#else
    static constexpr uint32_t operand(int i) { return p(i); }
    static constexpr uint32_t operand_inv() { return inv; }
#endif
    __host__ __device__ static constexpr uint32_t p(int i) {
        constexpr uint32_t w[] = {WORDS(0xffffffff00000001), WORDS(0x53bda402fffe5bfe), WORDS(0x3339d80809a1d805), WORDS(0x73eda753299d7d48)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t one(int i) {
        constexpr uint32_t w[] = {WORDS(0x00000001fffffffe), WORDS(0x5884b7fa00034802), WORDS(0x998c4fefecbc4ff5), WORDS(0x1824b159acc5056f)};
        return w[i];
    }
    __host__ __device__ static constexpr uint32_t r2(int i) {
        constexpr uint32_t w[] = {WORDS(0xc999e990f3f29c6d), WORDS(0x2b6cedcb87925c23), WORDS(0x05d314967254398f), WORDS(0x0748d9d99f59ff11)};
        return w[i];
    }
};
/* clang-format on */

#undef WORDS

#endif
