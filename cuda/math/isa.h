/* Which instructions the arithmetic may use on this CPU. */
#ifndef CUDA_MATH_ISA_H
#define CUDA_MATH_ISA_H

/* Each level includes the ones before it. */
enum isa {
    ISA_ID_PORTABLE, /* plain C */
    ISA_ID_ADX,      /* mulx, adcx, adox: BMI2 and ADX */
    ISA_ID_IFMA,     /* 52-bit products in vectors: AVX-512 F, VL, DQ, IFMA, and the kernel saves the registers */
};

/* The best level of this CPU. PENSTOCK_ISA=portable|adx|ifma in the environment lowers it (for tests and for telling a
 * fault of one level from a fault of all); what the CPU lacks falls to the next level below. Read once; any thread. */
enum isa isa_best(void);

/* The same without the environment. */
enum isa isa_of_cpu(void);

/* "portable", "adx", "ifma" */
const char *isa_name(enum isa isa);

#endif
