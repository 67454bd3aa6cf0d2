/* Divisions by what stays the same (kernel/preamble/divide.h) against divisions, also where a quotient is close to the middle between two numbers. */
#if defined __x86_64__ && defined __GNUC__
#pragma GCC target("fma")
#define __FP_FAST_FMA 1
#endif
#include "kernel/preamble/divide.h"
#include "check.h"

#include <math.h>

enum { STATUS_SKIPPED = 77, DIVISORS = 3000, NUMBERS = 400 };

static uint64_t state = 0x853c49e6748fea9b;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* From 1 on, below 2. */
static double random_number(void)
{
    return math_of_bits(next_random() >> 12 | UINT64_C(0x3ff) << 52);
}

/* As a loop does it that looks for the mark, by a sharp divisor. */
static OpFlag divide_watched(KernelDivisor divisor, double dividend, double *quotient)
{
    volatile double x = dividend;
    OpFlag slow = 0;
    kernel_clear_mark(KERNEL_WATCH_LEAST);
    volatile double result = kernel_divide_sharply(kernel_watched(x, &slow), divisor);
    *quotient = result;
    return slow | kernel_find_mark();
}

static OpFlag divide_tested(KernelDivisor divisor, bool is_dull, double x, double *quotient)
{
    OpFlag slow = 0;
    *quotient = is_dull ? kernel_divide_by(kernel_tested(x, &slow), divisor) : kernel_divide_sharply(kernel_tested(x, &slow), divisor);
    return slow;
}

static bool is_same(double a, double b)
{
    return math_bits(a) == math_bits(b) || (isnan(a) && isnan(b));
}

static void check_quotient(KernelDivisor divisor, bool is_dull, double x)
{
    double corrected, sharp, watched;
    CHECK(divide_tested(divisor, true, x, &corrected) != 0 || is_same(corrected, x / divisor.y));
    if (is_dull)
        return;
    CHECK(divide_tested(divisor, false, x, &sharp) != 0 || is_same(sharp, x / divisor.y));
    CHECK(divide_watched(divisor, x, &watched) != 0 || is_same(watched, x / divisor.y));
}

static void check_tested(double x, bool is_slow)
{
    OpFlag slow = 0;
    CHECK(is_same(kernel_tested(x, &slow), x) && (slow != 0) == is_slow);
}

static void check_unmarked(KernelDivisor divisor, double x)
{
    double quotient;
    CHECK(divide_watched(divisor, x, &quotient) == 0);
}

static bool check_divisor(KernelWorkspace *workspace, double y)
{
    OpFlag slow = 0, dull = 0, never_sharp = 0;
    kernel_divisor(workspace, y, 1, &slow, &never_sharp);
    KernelDivisor divisor = kernel_divisor(workspace, y, KERNEL_SHARP_LEAST, &slow, &dull);
    CHECK(slow == 0 && never_sharp != 0 && divisor.low >= 0);
    for (int i = 0; i < NUMBERS; i++) {
        double x = ldexp(random_number(), (int)(next_random() % 900) - 450), close = fma(random_number(), y, y * 0x1p-53);
        check_quotient(divisor, dull, i % 2 == 0 ? x : -x);
        check_quotient(divisor, dull, close);
        check_quotient(divisor, dull, nextafter(close, 0));
    }
    for (int i = 0; i < NUMBERS; i++) {
        double x = ldexp(random_number(), (int)(next_random() % 2098) - 1074); /* of any size */
        check_quotient(divisor, dull, i % 2 == 0 ? x : -x);
        check_quotient(divisor, dull, math_of_bits(next_random() >> 12 >> i % 52)); /* below the normal ones */
    }
    static const double special[] = {0, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-1023, 0x1p-970, 0x1p-511, 0x1p513, 0x1.fffffffffffffp1023, (double)INFINITY, (double)NAN};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        check_quotient(divisor, dull, special[i]);
        check_quotient(divisor, dull, -special[i]);
        check_quotient(divisor, dull, special[i] * y);
    }
    static const double unmarked[] = {0, -0.0, 0x1.1p-400, -0x1.3p400, 0x1.7p1023, (double)INFINITY, (double)NAN};
    for (size_t i = 0; dull == 0 && i < sizeof unmarked / sizeof *unmarked; i++)
        check_unmarked(divisor, unmarked[i]);
    return dull == 0;
}

static void check_unfit(KernelWorkspace *workspace, double y)
{
    OpFlag slow = 0, dull = 0;
    kernel_divisor(workspace, y, KERNEL_SHARP_LEAST, &slow, &dull);
    CHECK(slow != 0);
}

int main(void)
{
#if !defined __x86_64__ || !defined __GNUC__
    return STATUS_SKIPPED;
#else
    if (!__builtin_cpu_supports("fma"))
        return STATUS_SKIPPED;
    KernelWorkspace workspace;
    kernel_workspace_init(&workspace, NULL, NULL);
    check_tested(0x1p-600, true);
    check_tested(-0x1p600, true);
    check_tested((double)INFINITY, true);
    check_tested((double)NAN, true);
    check_tested(-0x1p-400, false);
    check_tested(-0.0, false);
    int sharp = 0;
    for (int i = 0; i < DIVISORS; i++)
        sharp += check_divisor(&workspace, ldexp(random_number(), i % 700 - 350));
    CHECK(sharp > DIVISORS * 9 / 10 && sharp < DIVISORS); /* 97 of 100 are */
    static const double simple[] = {1, 2, 0.25, 3, 10, 0.1, 1000, 1e-3, 7, 0x1.fffffffffffffp0, 0x1.0000000000001p0, 0x1p-400, 0x1p400};
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        check_divisor(&workspace, simple[i]);
    static const double unfit[] = {0, -0.0, -3, (double)INFINITY, (double)NAN, 0x1p-401, 0x1p401};
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        check_unfit(&workspace, unfit[i]);
    return failures > 0;
#endif
}
