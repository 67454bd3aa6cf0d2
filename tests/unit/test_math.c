/* The elementary functions against MPFR: every function of math/functions.def over random arguments, all exponents, hard
 * cases and special values. Bounds: 1 ulp, or 4 for the scalar ones, where errors of lgamma count absolutely below 1 (it
 * has zeros).
 *
 * The worst errors seen are the table in docs/math.md, which must agree: results are the same bits everywhere, so the
 * worst of a run with a fixed seed is, too.
 *
 *     test_math             test
 *     test_math --update    rewrite the table
 *     test_math COUNT       test more arguments for each function (2000 if not given), without looking at the table */
#include <stdio.h>

#ifndef RUNNEL_HAVE_MPFR

int main(void)
{
    fprintf(stderr, "test_math: built without MPFR\n");
    return 77;
}

#else

#include "math/elementary.h"

#include <mpfr.h>
#include <stdlib.h>

enum { PRECISION = 160, DEFAULT_COUNT = 2000 };

typedef int Reference(mpfr_t result, const mpfr_t x, const mpfr_t y);

typedef enum Kind { KIND_VECTOR, KIND_ANGLE, KIND_SCALAR, KIND_EXACT } Kind;

typedef struct Function {
    const char *name;
    Kind kind;
    int arity;
    double (*of_f64)(double, double);
    float (*of_f32)(float, float);
    Reference *reference;
} Function;

/* ---- what MPFR calls them ---- */

#define REFERENCE_1(name, call)                                                                                       \
    static int reference_##name(mpfr_t result, const mpfr_t x, const mpfr_t y)                                        \
    {                                                                                                                 \
        (void)y;                                                                                                      \
        return call(result, x, MPFR_RNDN);                                                                            \
    }
#define REFERENCE_2(name, call)                                                                                       \
    static int reference_##name(mpfr_t result, const mpfr_t x, const mpfr_t y)                                        \
    {                                                                                                                 \
        return call(result, x, y, MPFR_RNDN);                                                                         \
    }
REFERENCE_1(exp, mpfr_exp)
REFERENCE_1(exp2, mpfr_exp2)
REFERENCE_1(exp10, mpfr_exp10)
REFERENCE_1(expm1, mpfr_expm1)
REFERENCE_1(ln, mpfr_log)
REFERENCE_1(log2, mpfr_log2)
REFERENCE_1(log10, mpfr_log10)
REFERENCE_1(log1p, mpfr_log1p)
REFERENCE_2(pow, mpfr_pow)
REFERENCE_1(sqrt, mpfr_sqrt)
REFERENCE_1(cbrt, mpfr_cbrt)
REFERENCE_1(sin, mpfr_sin)
REFERENCE_1(cos, mpfr_cos)
REFERENCE_1(tan, mpfr_tan)
REFERENCE_1(asin, mpfr_asin)
REFERENCE_1(acos, mpfr_acos)
REFERENCE_1(atan, mpfr_atan)
REFERENCE_2(atan2, mpfr_atan2)
REFERENCE_1(sinh, mpfr_sinh)
REFERENCE_1(cosh, mpfr_cosh)
REFERENCE_1(tanh, mpfr_tanh)
REFERENCE_1(asinh, mpfr_asinh)
REFERENCE_1(acosh, mpfr_acosh)
REFERENCE_1(atanh, mpfr_atanh)
REFERENCE_2(hypot, mpfr_hypot)
REFERENCE_1(erf, mpfr_erf)
REFERENCE_1(erfc, mpfr_erfc)
REFERENCE_1(gamma, mpfr_gamma)
REFERENCE_2(fmod, mpfr_fmod)
REFERENCE_2(remainder, mpfr_remainder)
REFERENCE_2(fdim, mpfr_dim)
REFERENCE_1(floor, mpfr_rint_floor)
REFERENCE_1(ceil, mpfr_rint_ceil)
REFERENCE_1(trunc, mpfr_rint_trunc)
REFERENCE_1(round, mpfr_rint_round)
REFERENCE_1(round_even, mpfr_rint_roundeven)

/* All nans are one, without a sign. */
static int reference_copysign(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    return mpfr_nan_p(y) ? mpfr_abs(result, x, MPFR_RNDN) : mpfr_copysign(result, x, y, MPFR_RNDN);
}

static int reference_lgamma(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    (void)y;
    int sign;
    return mpfr_lgamma(result, &sign, x, MPFR_RNDN);
}

/* As C defines it; MPFR has it for numbers only. */
static int reference_logb(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    (void)y;
    if (!mpfr_regular_p(x))
        return mpfr_zero_p(x) ? (mpfr_set_inf(result, -1), 0) : mpfr_abs(result, x, MPFR_RNDN);
    return mpfr_set_si(result, mpfr_get_exp(x) - 1, MPFR_RNDN);
}

static int reference_significand(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    (void)y;
    int inexact = mpfr_set(result, x, MPFR_RNDN);
    if (mpfr_regular_p(x))
        mpfr_set_exp(result, 1);
    return inexact;
}

#define MATH_1(name, kind)                                                                                            \
    static double f64_##name(double x, double y)                                                                      \
    {                                                                                                                 \
        (void)y;                                                                                                      \
        return math_##name(x);                                                                                        \
    }                                                                                                                 \
    static float f32_##name(float x, float y)                                                                         \
    {                                                                                                                 \
        (void)y;                                                                                                      \
        return math_##name##_f32(x);                                                                                  \
    }
#define MATH_2(name, kind)                                                                                            \
    static double f64_##name(double x, double y)                                                                      \
    {                                                                                                                 \
        return math_##name(x, y);                                                                                     \
    }                                                                                                                 \
    static float f32_##name(float x, float y)                                                                         \
    {                                                                                                                 \
        return math_##name##_f32(x, y);                                                                               \
    }
#include "math/functions.def"
#undef MATH_1
#undef MATH_2

/* Depends on the precision of its argument, which is not that of the result here: test_math_exact.c compares all its bits
 * with those of the C library. */
#define reference_nextafter NULL

static const Function functions[] = {
#define MATH_1(name, kind) {#name, KIND_##kind, 1, f64_##name, f32_##name, reference_##name},
#define MATH_2(name, kind) {#name, KIND_##kind, 2, f64_##name, f32_##name, reference_##name},
#include "math/functions.def"
#undef MATH_1
#undef MATH_2
};

enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

/* ---- measuring ---- */

typedef struct Worst {
    double error; /* in ulp; infinite for a wrong special value */
    double x, y;
} Worst;

typedef struct Meter {
    const Function *function;
    bool is_f32;
    mpfr_t x, y, exact, difference;
    Worst worst;
} Meter;

static void set_up(Meter *m, const Function *function, bool is_f32)
{
    m->function = function;
    m->is_f32 = is_f32;
    m->worst = (Worst){-1.0, 0.0, 0.0};
    mpfr_inits2(53, m->x, m->y, (mpfr_ptr)0);
    mpfr_inits2(PRECISION, m->exact, m->difference, (mpfr_ptr)0);
}

static void tear_down(Meter *m)
{
    mpfr_clears(m->x, m->y, m->exact, m->difference, (mpfr_ptr)0);
}

/* The error of a result against m->exact, in ulp of the exact value. */
static double error_of(Meter *m, double result)
{
    long digits = m->is_f32 ? 24 : 53, least = m->is_f32 ? -149 : -1074, limit = m->is_f32 ? 128 : 1024;
    bool is_same_nan = (result != result) && mpfr_nan_p(m->exact);
    if (result != result || mpfr_nan_p(m->exact))
        return is_same_nan ? 0.0 : MATH_INFINITY;
    if (!mpfr_regular_p(m->exact))
        return result == mpfr_get_d(m->exact, MPFR_RNDN) && signbit(result) == mpfr_signbit(m->exact) ? 0.0
                                                                                                    : MATH_INFINITY;
    if (mpfr_get_exp(m->exact) > limit) /* at least 2^limit: infinity is what is meant */
        return isinf(result) && signbit(result) == mpfr_signbit(m->exact) ? 0.0 : MATH_INFINITY;
    mpfr_set_d(m->difference, result, MPFR_RNDN);
    if (isinf(result)) /* counts as the power of two that the largest numbers round up to */
        mpfr_set_si_2exp(m->difference, result > 0.0 ? 1 : -1, limit, MPFR_RNDN);
    mpfr_sub(m->difference, m->difference, m->exact, MPFR_RNDN);
    long ulp = mpfr_get_exp(m->exact) - digits;
    ulp = ulp < least ? least : ulp;
    if (strcmp(m->function->name, "lgamma") == 0 && ulp < 1 - digits)
        ulp = 1 - digits;
    mpfr_mul_2si(m->difference, m->difference, -ulp, MPFR_RNDN);
    return fabs(mpfr_get_d(m->difference, MPFR_RNDU));
}

static void try_point(Meter *m, double x, double y)
{
    double result;
    if (m->is_f32) {
        x = (double)(float)x;
        y = (double)(float)y;
        result = (double)m->function->of_f32((float)x, (float)y);
    } else {
        result = m->function->of_f64(x, y);
    }
    mpfr_set_d(m->x, x, MPFR_RNDN);
    mpfr_set_d(m->y, y, MPFR_RNDN);
    int inexact = m->function->reference(m->exact, m->x, m->y);
    double error = error_of(m, result);
    (void)inexact;
    if (error > m->worst.error)
        m->worst = (Worst){error, x, y};
}

/* ---- arguments ----
 * The same with every compiler and library: draws are made in statements of their own, and what is computed of them is
 * exact or ours. */

static uint64_t random_state;

static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double random_unit(void)
{
    return (double)(next_random() >> 11) * 0x1p-53;
}

static double random_between(double low, double high)
{
    return low + (high - low) * random_unit();
}

/* A magnitude between 2^low and 2^high, all exponents alike, of either sign. */
static double random_scale(int low, int high)
{
    double fraction = random_unit();
    double magnitude = ldexp(1.0 + fraction, low + (int)(next_random() % (uint64_t)(high - low)));
    return next_random() & 1 ? magnitude : -magnitude;
}

static double random_pattern(bool is_f32)
{
    if (!is_f32)
        return math_of_bits(next_random());
    uint32_t bits = (uint32_t)next_random();
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static const double specials[] = {
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1.5, -1.5, 2.5, -2.5, 10.0, 0.1, 1e-300, 1e300, 0x1p-1074,
    -0x1p-1074, 0x1p-1022, -0x1p-1022, 0x1.fffffffffffffp-1023, 0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+1023,
    0x1p-149, -0x1p-149, 0x1p-126, 0x1.fffffep+127, -0x1.fffffep+127, (double)INFINITY, -(double)INFINITY,
    (double)NAN, 0x1p52, 0x1p52 + 1.0, 0x1p53, 0x1p53 - 1.0, -0x1p53 + 1.0, 0x1p23 + 1.0, 0x1p24, 0x1p31, 0x1p32,
    0x1p63, 0x1p64, -0x1p64, 0x1p20, 0x1.0000000000001p+20, 0x1p30, 0x1.fffffffffffffp-1, 0x1.0000000000001p+0,
    -0x1.fffffffffffffp-1, -0x1.0000000000001p+0, 0x1.fffffep-1, 0x1.000002p+0,
    /* limits of exp, exp2, exp10, sinh, gamma */
    709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, -708.3964185322641, 1024.0,
    1023.9999999999999, -1074.0, -1075.0, -1074.9999999999998, 308.25471555991675, 308.2547155599167,
    -323.3062153431158, 710.4758600739439, 710.475860073944, 88.72283, 88.72284, -103.97207, -103.97208, 128.0,
    -149.0, -150.0, 38.53184, 171.62437695630272, 171.6243769563027, 35.04010, 26.543258430632, 27.226017111108366,
    -0.9999999999999999, 36.7, -37.0, 22.0,
    /* boundaries of reductions: sqrt 2, sqrt(1/2), ln 2 / 2, tan(pi/8), tan(3 pi/8), pi/4, pi/2, pi */
    0x1.6a09e667f3bccp+0, 0x1.6a09e667f3bcdp+0, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1, 0x1.62e42fefa39efp-2,
    0x1.62e42fefa39f0p-2, 0x1.62e42fefa39eep-2, 0x1.a827999fcef31p-2, 0x1.a827999fcef33p-2, 0x1.3504f333f9de6p+1,
    0x1.3504f333f9de7p+1, 0x1.921fb54442d18p-1, 0x1.921fb54442d19p-1, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1,
    0x1.2d97c7f3321d2p+1,
    /* near multiples of pi/2: the nearest of all f64, and of those below 2^20 and 2^60 some of the nearest; f32 likewise */
    0x1.6ac5b262ca1ffp+849, 0x1.dd1c32b1a6d30p+1, 0x1.5fdbbe9bba775p+3, 0x1.9251f93aeb59dp+12, 0x1.1475cc9eedf01p+5,
    0x1.7cb7757b2a4a6p+19, 0x1.921fb54442d18p+20, 0x1.2d97c7f3321d2p+59, 0x1.e2e1ccp+5, 0x1.5ba0ep+4, 0x1.4f0654p+29,
    0x1.6cbe44p+57, 0x1.fae0ccp+115,
    /* the worst of runs with millions of arguments */
    -0x1.624e361c11e88p+9, -0x1.ff0fca1b65261p+9, 0x1.0f0dcc6e90548p+0, -0x1.33ded04a70bb9p+8, 0x1.2b065a9dfb52ep+5,
    0x1.8bd75e8bbc7a8p-2, 0x1.69e9b0ff33f3cp-1, 0x1.66a07f5b28f82p+0, 0x1.6841d624e9117p-1, -0x1.2f5ccaed53f98p-2,
    0x1.6d3fee68c4653p-1, 0x1.27d51c495502dp+10, 0x1.2030f4fdd31f4p+0, -0x1.7606d3c3bb8d2p+12, 0x1.ffffff201bd82p-1,
    -0x1.1c2d5e89a48a4p+19, -0x1.210b7e9d0c130p+15, 0x1.950717acf63e5p-1, -0x1.9e5952ebcab76p+18, 0x1.120bb4b34713ep-1,
    0x1.19f8e8bd91a8ap-1, 0x1.ba00442be09adp-2, 0x1.6f937a7f3de00p-2, 0x1.8f83c58c3c738p+1, -0x1.5169eedd1ddb0p-2,
    -0x1.f0c5c5c7b0068p-2, 0x1.0788fe1600f2dp+0, 0x1.69104de585b54p-3, 0x1.fffed250e99e1p-1, 0x1.5c54ec6d8b3b1p+4,
    0x1.60a2c632dba71p+4, -0x1.44cda2527f480p+0, 0x1.f53ccddc68764p+187,
    /* zeros of lgamma and of its derivative */
    -2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -3.955294284858598, -10.000000275573,
    1.4616321449683623,
};

enum { SPECIAL_COUNT = sizeof specials / sizeof specials[0] };

/* Where a function of one argument has its interesting part. */
static double interesting(const char *name)
{
    static const struct {
        const char *name;
        double low, high;
    } ranges[] = {
        {"exp", -746.0, 710.0}, {"exp2", -1075.0, 1024.0}, {"exp10", -324.0, 308.3}, {"expm1", -3.0, 3.0}, {"ln", 0.0, 4.0},
        {"log2", 0.0, 4.0},     {"log10", 0.0, 4.0},       {"log1p", -1.0, 3.0},     {"asin", -1.0, 1.0},  {"acos", -1.0, 1.0},
        {"atanh", -1.0, 1.0},   {"acosh", 1.0, 3.0},       {"sin", -1e6, 1e6},       {"cos", -1e6, 1e6},   {"tan", -1e6, 1e6},
        {"gamma", -184.0, 172.0}, {"lgamma", -30.0, 30.0}, {"erfc", -6.0, 27.5},     {"erf", -6.0, 6.0},   {"sinh", -20.0, 20.0},
        {"cosh", -20.0, 20.0},  {"tanh", -3.0, 3.0},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (strcmp(ranges[i].name, name) == 0)
            return random_between(ranges[i].low, ranges[i].high);
    return random_between(-8.0, 8.0);
}

/* The float nearest to k pi/2 is nearer to it than most: hard for the reduction. */
static double near_quarter_turn(void)
{
    double fraction = random_unit();
    return floor(ldexp(1.0 + fraction, (int)(next_random() % 24))) * MATH_HALF_PI;
}

static void try_one_argument(Meter *m, int count)
{
    int low = m->is_f32 ? -149 : -1074, high = m->is_f32 ? 128 : 1024;
    for (int i = 0; i < SPECIAL_COUNT; i++)
        try_point(m, specials[i], 0.0);
    for (int exponent = low; exponent < high; exponent++) {
        try_point(m, ldexp(1.0, exponent), 0.0);
        try_point(m, ldexp(1.0 + random_unit(), exponent), 0.0);
        try_point(m, -ldexp(1.0 + random_unit(), exponent), 0.0);
    }
    for (int i = 0; i < count; i++) {
        try_point(m, random_pattern(m->is_f32), 0.0);
        try_point(m, interesting(m->function->name), 0.0);
        try_point(m, interesting(m->function->name), 0.0);
        try_point(m, random_between(-2.0, 2.0), 0.0);
        try_point(m, random_scale(-30, 10), 0.0);
        try_point(m, 1.0 + random_scale(m->is_f32 ? -23 : -52, -1), 0.0);
        try_point(m, near_quarter_turn(), 0.0);
    }
}

static void try_two_arguments(Meter *m, int count)
{
    bool is_pow = strcmp(m->function->name, "pow") == 0;
    double limit = is_pow ? (m->is_f32 ? 95.0 : 740.0) : 0.0;
    for (int i = 0; i < SPECIAL_COUNT; i++)
        for (int j = 0; j < SPECIAL_COUNT; j++)
            try_point(m, specials[i], specials[j]);
    for (int i = 0; i < count; i++) {
        double x = random_pattern(m->is_f32), y = random_pattern(m->is_f32);
        try_point(m, x, y);
        y = ldexp(1.0 + random_unit(), i % 60 - 30) * x;
        try_point(m, x, y);
        double a = random_between(-8.0, 8.0), b = random_between(-8.0, 8.0);
        try_point(m, a, b);
        a = random_scale(-30, 10);
        b = random_scale(-10, 10);
        try_point(m, a, b);
        a = floor(random_scale(0, 6));
        b = floor(random_scale(0, 6));
        try_point(m, a, b);
        if (!is_pow)
            continue;
        /* results over the whole range, from bases of all sizes and from those near 1 */
        try_point(m, fabs(x), random_between(-limit, limit) / (fabs(math_ln(fabs(x))) + 1e-300));
        x = 1.0 + random_scale(m->is_f32 ? -23 : -52, -1);
        try_point(m, x, random_between(-limit, limit) / (fabs(math_ln(fabs(x))) + 1e-20));
    }
}

static Worst measure(const Function *function, bool is_f32, int count)
{
    Meter m;
    set_up(&m, function, is_f32);
    random_state = (uint64_t)(function - functions) * 2 + is_f32;
    /* MPFR's gamma functions are slow, and slower the larger their argument */
    bool is_slow = strcmp(function->name, "lgamma") == 0 || strcmp(function->name, "gamma") == 0;
    if (function->arity == 1)
        try_one_argument(&m, is_slow ? count / 4 : count);
    else
        try_two_arguments(&m, count);
    tear_down(&m);
    return m.worst;
}

/* ---- docs/math.md ---- */

static const char begin_mark[] = "<!-- table: begin -->\n", end_mark[] = "<!-- table: end -->\n";

typedef struct Table {
    char text[16384];
    size_t length;
} Table;

static void add_worst(Table *table, const Function *function, const Worst *worst)
{
    char *end = table->text + table->length;
    size_t room = sizeof table->text - table->length;
    int written = worst->error == 0.0        ? snprintf(end, room, " 0 |")
                  : function->arity == 1 ? snprintf(end, room, " %.4f at `%a` |", worst->error, worst->x)
                                         : snprintf(end, room, " %.4f at `%a`, `%a` |", worst->error, worst->x, worst->y);
    table->length += (size_t)written;
}

static void add_row(Table *table, const Function *function, const Worst *f64, const Worst *f32)
{
    static const char *const bounds[] = {"1", "1", "4", "0.5"};
    char *end = table->text + table->length;
    size_t room = sizeof table->text - table->length;
    table->length += (size_t)snprintf(end, room, "| `%s` | %s |", function->name, bounds[function->kind]);
    add_worst(table, function, f64);
    add_worst(table, function, f32);
    table->length += (size_t)snprintf(table->text + table->length, sizeof table->text - table->length, "\n");
}

static char *read_document(void)
{
    FILE *file = fopen("docs/math.md", "rb");
    char *text = calloc(1, 1 << 16);
    if (file == NULL || text == NULL || fread(text, 1, (1 << 16) - 1, file) == 0) {
        fprintf(stderr, "test_math: docs/math.md cannot be read\n");
        exit(1);
    }
    fclose(file);
    return text;
}

static bool document_agrees(const char *text, const Table *table)
{
    const char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
    if (begin == NULL || end == NULL)
        return false;
    begin += strlen(begin_mark);
    return (size_t)(end - begin) == table->length && memcmp(begin, table->text, table->length) == 0;
}

static int update_document(const char *text, const Table *table)
{
    const char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
    FILE *file = begin == NULL || end == NULL ? NULL : fopen("docs/math.md", "wb");
    if (file == NULL)
        return 1;
    fwrite(text, 1, (size_t)(begin - text) + strlen(begin_mark), file);
    fwrite(table->text, 1, table->length, file);
    fputs(end, file);
    return fclose(file) == 0 ? 0 : 1;
}

static bool is_within(const Function *function, const Worst *worst, const char *type)
{
    static const double bounds[] = {1.0, 1.0, 4.0, 0.5};
    if (worst->error <= bounds[function->kind])
        return true;
    fprintf(stderr, "math_%s of %s: error %.4f ulp at %a (%.17g), %a\n", function->name, type, worst->error, worst->x,
            worst->x, worst->y);
    return false;
}

int main(int argc, char **argv)
{
    static Table table;
    bool is_update = argc > 1 && strcmp(argv[1], "--update") == 0;
    int count = argc > 1 && !is_update ? atoi(argv[1]) : DEFAULT_COUNT;
    bool is_good = true;
    static const char head[] = "| function | bound | f64: worst, where | f32: worst, where |\n|---|---|---|---|\n";
    table.length = (size_t)snprintf(table.text, sizeof table.text, "%s", head);
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        const Function *function = &functions[i];
        if (function->reference == NULL) {
            Worst none = {0.0, 0.0, 0.0};
            add_row(&table, function, &none, &none);
            continue;
        }
        Worst f64 = measure(function, false, count), f32 = measure(function, true, count);
        is_good &= is_within(function, &f64, "f64");
        is_good &= is_within(function, &f32, "f32");
        add_row(&table, function, &f64, &f32);
        if (count != DEFAULT_COUNT)
            printf("%-12s %.4f at %a %a    %.4f\n", function->name, f64.error, f64.x, f64.y, f32.error);
    }
    mpfr_free_cache();
    char *document = read_document();
    int status = is_good ? 0 : 1;
    if (is_update) {
        status |= update_document(document, &table);
    } else if (count == DEFAULT_COUNT && !document_agrees(document, &table)) {
        fprintf(stderr, "the table in docs/math.md is not this:\n%s`test_math --update` rewrites it\n", table.text);
        status = 1;
    }
    free(document);
    return status;
}

#endif
