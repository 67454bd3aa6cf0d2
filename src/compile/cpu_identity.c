#include "compile/cpu_identity.h"

#if defined __x86_64__

#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { OSXSAVE = 1 << 27 };

/* Asking the processor takes a microsecond or so, a hundred times less than the system's description of all of them. */
void cpu_identity_add(Sha256 *hash)
{
    static const struct {
        unsigned leaf, subleaf;
    } rows[] = {{1, 0}, {0, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
    unsigned words[4 * sizeof rows / sizeof *rows + 2] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        __get_cpuid_count(rows[i].leaf, rows[i].subleaf, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
    words[1] = 0; /* which of several processors this is */
    /* Which registers the system saves. */
    unsigned *saved = words + 4 * sizeof rows / sizeof *rows;
    if ((words[2] & OSXSAVE) != 0)
        __asm__ volatile("xgetbv" : "=a"(saved[0]), "=d"(saved[1]) : "c"(0));
    sha256_add(hash, words, sizeof words);
}

size_t cpu_identity_flags(const char **flags, size_t capacity)
{
    size_t count = 0;
#define FEATURE(name)                                                                                                 \
    if (__builtin_cpu_supports(name) && count < capacity)                                                             \
        flags[count++] = "-m" name;
    FEATURE("popcnt")
    FEATURE("sse4.2")
    FEATURE("avx2")
    FEATURE("bmi")
    FEATURE("bmi2")
    FEATURE("fma")
    FEATURE("avx512f")
    FEATURE("avx512bw")
    FEATURE("avx512cd")
    FEATURE("avx512dq")
    FEATURE("avx512vl")
#undef FEATURE
    return count;
}

/* Models of family 6 that leaked, Skylake to Rocket Lake: what a virtual machine is told need not be what its processor does. */
static bool is_cured_model(void)
{
    static const uint8_t models[] = {0x4e, 0x55, 0x5e, 0x66, 0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x8e, 0x9e, 0xa5, 0xa6, 0xa7};
    unsigned version = 0, other;
    __get_cpuid(1, &version, &other, &other, &other);
    unsigned family = version >> 8 & 15, model = (version >> 4 & 15) | (version >> 12 & 0xf0);
    return family == 6 && memchr(models, (int)model, sizeof models) != NULL;
}

bool cpu_identity_has_gathers(void)
{
    static const char unaffected[] = "Not affected";
    char state[sizeof unaffected] = "";
    bool may_have = __builtin_cpu_is("intel") && __builtin_cpu_supports("avx2") && !is_cured_model();
    FILE *file = may_have ? fopen("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling", "r") : NULL;
    if (file == NULL)
        return false;
    bool is_read = fread(state, 1, sizeof state - 1, file) == sizeof state - 1;
    fclose(file);
    return is_read && strcmp(state, unaffected) == 0;
}

#else

#include <string.h>
#include <sys/utsname.h>

#ifdef __linux__
#include <sys/auxv.h>
#endif

void cpu_identity_add(Sha256 *hash)
{
    struct utsname system;
    memset(&system, 0, sizeof system);
    uname(&system);
    sha256_add(hash, system.machine, sizeof system.machine);
#ifdef __linux__
    const unsigned long features[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    sha256_add(hash, features, sizeof features);
#endif
}

size_t cpu_identity_flags(const char **flags, size_t capacity)
{
    if (capacity > 0)
        flags[0] = "-mcpu=native"; /* what some compilers for ARM say instead of -march=native */
    return capacity > 0 ? 1 : 0;
}

bool cpu_identity_has_gathers(void)
{
    return false;
}

#endif
