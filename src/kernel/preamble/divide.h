/* Divisions of floats by what stays the same in a loop, as multiplications that give the same bits. */
#ifndef RUNNEL_KERNEL_PREAMBLE_DIVIDE_H
#define RUNNEL_KERNEL_PREAMBLE_DIVIDE_H

#include "kernel/preamble/ops.h"
#include "kernel/preamble/region.h"

#if defined __FP_FAST_FMA && !defined __RECIPROCAL_MATH__
enum {
    KERNEL_SHARP_LEAST = 1 << 12, /* elements: finding out whether a divisor is sharp takes as long as is gained by it on about so many */
    KERNEL_SHARP_REST = 7,        /* see kernel_is_sharp */
    KERNEL_WATCH_LEAST = 128,     /* turns of a loop: looking for marks takes as long as testing what so many divide */
};

/* Whether the products with both parts of 1 / y give the quotient of every x, 1 <= y < 2. They are off by less than 4 * 2^-106, as the lower part is off by a unit and a half in its last place at most, and its product by
 * half a unit. So only an x is in doubt whose quotient is that close to m, a number with one bit more than there is room for: with integers instead, x * 2^53 = y * m + rest or, for quotients below 1,
 * x * 2^54 = y * m + rest, where the rest is not 0, and less than 8 both ways. There is about one such x for a rest, and all are tried (after Brisebarre, Muller and Raina 2004). */
__attribute__((noinline, unused)) static bool kernel_is_sharp(double y, double high, double low)
{
    const uint64_t integer = (math_bits(y) & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    const int zeros = __builtin_ctzll(integer);
    uint64_t inverse = integer >> zeros; /* modulo 2^64, of y without its zeros: right in 3 bits, and in twice as many with each step */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - (integer >> zeros) * inverse;
    for (int64_t rest = -KERNEL_SHARP_REST; rest <= KERNEL_SHARP_REST; rest++) {
        if (rest == 0 || __builtin_ctzll((uint64_t)rest) != zeros) /* m is odd */
            continue;
        for (int bits = 53; bits <= 54; bits++) {
            const uint64_t step = UINT64_C(1) << (bits - zeros), least = UINT64_C(1) << 53;
            for (uint64_t m = (uint64_t)-(rest >> zeros) * inverse & (step - 1); m < 2 * least; m += step) {
                const double unit = bits == 53 ? 0x1p-53 : 0x1p-54, x = __builtin_fma(y, (double)(m - 1) * unit, y * unit); /* rounded to the number that is so close */
                if (m >= least && x >= 1 && x < 2 && __builtin_fma(x, high, x * low) != x / y)
                    return false;
            }
        }
    }
    return true;
}

/* Parts of 1 / y that are sharp, if one of these is: the last place of the lower one makes a difference. */
__attribute__((noinline, unused)) static void kernel_sharpen(KernelDivisor *divisor)
{
    const double scale = math_of_bits((math_bits(divisor->y) & UINT64_C(0x7ff) << 52)), low = divisor->low * scale;
    static const uint64_t places[] = {0, 1, -UINT64_C(1)};
    for (uint32_t i = 0; i < 3 && !divisor->is_sharp; i++) {
        const double other = math_of_bits(math_bits(low) + places[i]);
        divisor->is_sharp = kernel_is_sharp(divisor->y / scale, divisor->high * scale, other);
        divisor->low = divisor->is_sharp ? other / scale : divisor->low;
    }
}

MATH_INLINE KernelDivisor kernel_new_divisor(double y)
{
    const double reciprocal = 1.0 / y;
    const bool is_above = __builtin_fma(-reciprocal, y, 1.0) < 0;
    const double high = is_above ? math_of_bits(math_bits(reciprocal) - 1) : reciprocal, low = __builtin_fma(-high, y, 1.0) / y;
    return (KernelDivisor){y, -reciprocal, high, low == 0 ? high * 0x1p-110 : low, 0, false}; /* of powers of two: too little to matter, but infinite numbers times 0 would be nan */
}

/* For a loop of so many turns. Sets the first flag unless y is above 0, and neither quotients nor what is left over come near the ends of the range; the second if it is not known to be sharp, or that would not pay. */
MATH_INLINE KernelDivisor kernel_divisor(KernelWorkspace *workspace, double y, int64_t turns, OpFlag *slow, OpFlag *dull)
{
    KernelDivisor *known = &workspace->divisors[math_bits(y) * UINT64_C(0x9e3779b97f4a7c15) >> 60 & (KERNEL_DIVISORS - 1)];
    const bool is_fit = (y >= 0x1p-400) & (y <= 0x1p400);
    if (known->y != y)
        *known = kernel_new_divisor(y);
    if (known->elements < KERNEL_SHARP_LEAST && is_fit) {
        known->elements += turns;
        if (known->elements >= KERNEL_SHARP_LEAST)
            kernel_sharpen(known);
    }
    *slow |= !is_fit;
    *dull |= !known->is_sharp | (turns < KERNEL_WATCH_LEAST);
    return *known;
}

/* What is to be divided. The flag is set where it is neither 0 nor from 2^-511 up to 2^513: in these the first two bits of the exponent differ, so that the first is 1 when 2^61 is added. */
MATH_INLINE double kernel_tested(double x, OpFlag *slow)
{
    const uint64_t beyond = ~(math_bits(x) + (UINT64_C(1) << 61)), nonzero = -(uint64_t)(x != 0); /* masks, as comparisons of vectors give them */
    *slow |= nonzero & beyond & UINT64_C(1) << 62;
    return x;
}

/* The product with both parts of 1 / y, which is x / y if y is sharp. No sum is of zeros with different signs, so a zero keeps its own. */
MATH_INLINE double kernel_divide_sharply(double x, KernelDivisor divisor)
{
    return __builtin_fma(x, divisor.high, x * divisor.low);
}

/* x / y, to the bit, for any y, of that product: it is off by less than a unit in the last place, and then its correction by what it leaves over rounds as division does (Markstein 1990). */
MATH_INLINE double kernel_corrected(double x, KernelDivisor divisor, double quotient)
{
    return __builtin_fma(__builtin_fma(quotient, divisor.y, -x), divisor.against, quotient);
}

MATH_INLINE double kernel_divide_by(double x, KernelDivisor divisor)
{
    return kernel_corrected(x, divisor, kernel_divide_sharply(x, divisor));
}

/* The same by a constant y from 2^-50 to 2^50, which leaves more to x: also what exponentials are far from the middle. */
MATH_INLINE double kernel_divide_by_constant(double x, double y, OpFlag *slow)
{
    const double size = __builtin_fabs(x);
    *slow |= -(uint64_t)(x != 0) & -(uint64_t)!((size >= 0x1p-900) & (size <= 0x1p900));
    const KernelDivisor divisor = kernel_new_divisor(y);
    return kernel_corrected(x, divisor, __builtin_fma(x, divisor.high, x * divisor.low));
}
#else
MATH_INLINE double kernel_divide_by_constant(double x, double y, OpFlag *slow)
{
    (void)slow;
    return x / y;
}

MATH_INLINE KernelDivisor kernel_divisor(KernelWorkspace *workspace, double y, int64_t turns, OpFlag *slow, OpFlag *dull)
{
    (void)workspace;
    (void)turns;
    (void)slow;
    *dull = 1;
    return (KernelDivisor){.y = y, .high = 1.0 / y};
}

MATH_INLINE double kernel_tested(double x, OpFlag *slow)
{
    (void)slow;
    return x;
}

/* Compilers that may multiply by reciprocals do not look for what stays the same in a loop. */
MATH_INLINE double kernel_divide_by(double x, KernelDivisor divisor)
{
#ifdef __RECIPROCAL_MATH__
    return x * divisor.high;
#else
    return x / divisor.y;
#endif
}

#define kernel_divide_sharply kernel_divide_by
#endif

/* Where machines mark what goes wrong, nothing has to be tested that is divided by a sharp number: a product differs from the quotient only if digits of it, or of its lower part, were lost below
 * the least number (underflow). So a loop looks for the mark when it is over. Other operations leave it too: then what was right is divided once more. */
#if defined __x86_64__ && defined __FP_FAST_FMA && !defined __RECIPROCAL_MATH__
enum { KERNEL_MARK = 1 << 4 };

MATH_INLINE uint32_t kernel_float_state(void)
{
    uint32_t state;
    __asm__ volatile("vstmxcsr %0" : "=m"(state) : : "memory"); /* what is in memory after it was computed before it */
    return state;
}

/* Called before the divisors of a loop of so many turns are found: products with them cannot be computed earlier. */
MATH_INLINE void kernel_clear_mark(int64_t turns)
{
    uint32_t state = turns < KERNEL_WATCH_LEAST ? 0 : kernel_float_state();
    if (OP_RARELY(state & KERNEL_MARK)) {
        state &= ~(uint32_t)KERNEL_MARK;
        __asm__ volatile("vldmxcsr %0" : : "m"(state) : "memory");
    }
}

MATH_INLINE OpFlag kernel_find_mark(void)
{
    return kernel_float_state() & KERNEL_MARK;
}

/* What is to be divided in a loop that looks for the mark. */
MATH_INLINE double kernel_watched(double x, OpFlag *slow)
{
    (void)slow;
    return x;
}
#else
#define kernel_clear_mark(turns) ((void)0)
#define kernel_find_mark() 0
#define kernel_watched kernel_tested
#endif

#endif
