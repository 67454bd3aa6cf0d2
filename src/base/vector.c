#include "base/vector.h"

#include <stdbool.h>

#ifdef __x86_64__
#define HAS __builtin_cpu_supports

VectorLevel vector_level(void)
{
    if (!HAS("avx2") || !HAS("fma") || !HAS("bmi") || !HAS("bmi2"))
        return VECTOR_base;
    bool is_wide = HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl");
    return is_wide ? VECTOR_v4 : VECTOR_v3;
}

#else

VectorLevel vector_level(void)
{
    return VECTOR_base;
}

#endif

const char *vector_level_name(VectorLevel level)
{
    static const char *const names[VECTOR_LEVEL_COUNT] = {
#define LEVEL(level) [VECTOR_##level] = #level,
        VECTOR_LEVELS(LEVEL)
#undef LEVEL
    };
    return names[level];
}
