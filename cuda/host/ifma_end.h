/* Undefines what ifma_stamp.h and its parameters defined. */
#undef IV
#undef IC
#undef IVEC
#undef IFMA_CAT
#undef IFMA_CAT_
#undef IFMA_FIELD
#undef IFMA_LIMBS
#undef IFMA_WORDS
