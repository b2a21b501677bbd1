// BERTH_VECTOR_CLONES before a function: compiled also for AVX2, and chosen where the processor has
// it. Nothing where the compiler cannot, or where the sanitizers' start comes after the choice.
// Both compute the same: for integers, and floating point without sums of products.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BERTH_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define BERTH_VECTOR_CLONES
#endif
