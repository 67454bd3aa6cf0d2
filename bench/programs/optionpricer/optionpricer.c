/* The price of an option on the worst of three underlyings, by simulation: Sobol's numbers, inverse normal distribution, Brownian bridge, correlation,
 * Black and Scholes' paths, payoff.
 *
 * Each step is done for a block of paths, with a vector for each quantity, so every loop is SIMD and what it needs stays in the first-level cache. Sobol's points
 * of an aligned block are those of the first block combined with the block's first (the Gray code is linear). The tails of the normal distribution, which
 * need a logarithm, are collected and computed together. */
#include "harness.h"
#include "simd_math.h"

#include <stdbool.h>

const char bench_arguments[] = "N DIRECTIONS BRIDGE WEIGHTS CORRELATION VOLATILITY DRIFT START DISCOUNT";

enum { DATES = 5, ASSETS = 3, DIMENSIONS = DATES * ASSETS, BITS = 30, BLOCK = 128 };

static int64_t paths;
static int64_t (*directions)[BITS];
static int64_t (*bridge)[DATES];           /* rows: the date that is built, those left and right of it, from 1 on */
static double (*weights)[DATES];           /* rows: deviation, weight of the left, of the right */
static double (*correlation)[ASSETS], (*volatility)[ASSETS], (*drift)[ASSETS];
static double *start, *discount;
static double result;

typedef double Vector[BLOCK];

static void *read_matrix(const char *argument, ElementType type, size_t rows, size_t columns)
{
    Array array = argument_array(argument, type);
    if (array.rows != rows || array.columns != columns)
        fail("%s: %zu by %zu elements, expected %zu by %zu", argument, array.rows, array.columns, rows, columns);
    return array.data;
}

void bench_prepare(char **arguments)
{
    paths = argument_int(arguments[0]);
    if (paths >= (int64_t)1 << BITS)
        fail("there are less than 2^%d paths, not %lld", BITS, (long long)paths);
    directions = read_matrix(arguments[1], ELEMENT_I64, DIMENSIONS, BITS);
    bridge = read_matrix(arguments[2], ELEMENT_I64, 3, DATES);
    weights = read_matrix(arguments[3], ELEMENT_F64, 3, DATES);
    correlation = read_matrix(arguments[4], ELEMENT_F64, ASSETS, ASSETS);
    volatility = read_matrix(arguments[5], ELEMENT_F64, DATES, ASSETS);
    drift = read_matrix(arguments[6], ELEMENT_F64, DATES, ASSETS);
    start = read_matrix(arguments[7], ELEMENT_F64, ASSETS, 1);
    discount = read_matrix(arguments[8], ELEMENT_F64, DATES, 1);
}

static int32_t sobol(int dimension, uint32_t i)
{
    int64_t sum = 0;
    for (uint32_t gray = i ^ i >> 1; gray != 0; gray &= gray - 1)
        sum ^= directions[dimension][__builtin_ctz(gray)];
    return (int32_t)sum;
}

/* Wichura's algorithm AS 241 (1988), for numbers within 0.425 of a half. */
static inline double normal_central(double q)
{
    double r = 0.180625 - q * q;
    double above = ((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r +
                       1.3731693765509461125e4) * r + 1.9715909503065514427e3) * r + 1.3314166789178437745e2) * r + 3.3871328727963666080e0;
    double below = ((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r +
                       5.3941960214247511077e3) * r + 6.8718700749205790830e2) * r + 4.2313330701600911252e1) * r + 1.0;
    return q * above / below;
}

/* The same for the tails, from the distance to the nearer end. Its square root of a logarithm is below 5, since a number has 30 bits. */
static inline double normal_tail(double distance)
{
    double r = sqrt(-log(distance)) - 1.6;
    double above = ((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258) * r +
                       3.64784832476320460504) * r + 5.76949722146069140550) * r + 4.63033784615654529590) * r + 1.42343711074968357734;
    double below = ((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r +
                       6.89767334985100004550e-1) * r + 1.67638483018380384940) * r + 2.05319162663775882187) * r + 1.0;
    return above / below;
}

static void normals_of(const double *restrict u, double *restrict z)
{
    double distances[BLOCK];
    int places[BLOCK], count = 0;
#pragma omp simd
    for (int j = 0; j < BLOCK; j++)
        z[j] = normal_central(u[j] - 0.5);
    for (int j = 0; j < BLOCK; j++) {
        places[count] = j;
        distances[count] = u[j] < 0.5 ? u[j] : 1 - u[j];
        count += distances[count] < 0.075;
    }
#pragma omp simd
    for (int k = 0; k < count; k++)
        distances[k] = normal_tail(distances[k]);
    for (int k = 0; k < count; k++)
        z[places[k]] = u[places[k]] < 0.5 ? -distances[k] : distances[k];
}

static void block_normals(Vector z[DIMENSIONS], const int32_t first_block[DIMENSIONS][BLOCK], uint32_t base)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        Vector u;
        int32_t offset = sobol(d, base);
        for (int j = 0; j < BLOCK; j++)
            u[j] = (double)(first_block[d][j] ^ offset) * 0x1p-30;
        normals_of(u, z[d]);
    }
}

/* Replaces the normal numbers of an asset, at z[3 * date + asset], by the increments of its bridge. */
static void build_bridge(Vector *z, int asset)
{
    Vector w[DATES];
    for (int k = 0; k < DATES; k++) {
        double *restrict built = w[bridge[0][k] - 1];
        const double *deviate = z[ASSETS * k + asset];
        const double *left = k > 0 && bridge[1][k] > 0 ? w[bridge[1][k] - 1] : NULL, *right = k > 0 ? w[bridge[2][k] - 1] : NULL;
        double deviation = weights[0][k], left_weight = weights[1][k], right_weight = weights[2][k];
        for (int j = 0; j < BLOCK; j++)
            built[j] = deviation * deviate[j];
        for (int j = 0; j < BLOCK && right != NULL; j++)
            built[j] += right_weight * right[j];
        for (int j = 0; j < BLOCK && left != NULL; j++)
            built[j] += left_weight * left[j];
    }
    for (int date = 0; date < DATES; date++)
        for (int j = 0; j < BLOCK; j++)
            z[ASSETS * date + asset][j] = w[date][j] - (date > 0 ? w[date - 1][j] : 0);
}

/* worst[j] becomes the least of the assets' prices at the date, each relative to its start. */
static void worst_prices(int date, Vector prices[ASSETS], Vector *increments, double *restrict worst)
{
    for (int a = 0; a < ASSETS; a++) {
        const double *c = correlation[a], *x = increments[0], *y = increments[1], *w = increments[2];
        double *restrict price = prices[a], share = 1 / start[a], v = volatility[date][a], m = drift[date][a];
#pragma omp simd
        for (int j = 0; j < BLOCK; j++) {
            price[j] *= exp(v * (c[0] * x[j] + c[1] * y[j] + c[2] * w[j]) + m);
            double relative = price[j] * share;
            worst[j] = a == 0 || relative < worst[j] ? relative : worst[j];
        }
    }
}

/* Pays where the worst is at its start at least, for the first time; at the last date everybody is paid. A payoff is 0 until then. */
static void pay(int date, const double *restrict worst, double *restrict payoff)
{
    static const double amounts[DATES] = {1150, 1300, 1450, 1600, 1750};
    double amount = amounts[date] * discount[date], whole = 1000 * discount[date];
    bool is_last = date == DATES - 1;
    for (int j = 0; j < BLOCK; j++) {
        double otherwise = is_last ? (worst[j] > 0.75 ? whole : whole * worst[j]) : 0;
        double paid = worst[j] >= 1 ? amount : otherwise;
        payoff[j] = payoff[j] > 0 ? payoff[j] : paid;
    }
}

/* Payoffs of the paths base .. base + BLOCK - 1. */
static void simulate(uint32_t base, const int32_t first_block[DIMENSIONS][BLOCK], double *payoff)
{
    Vector z[DIMENSIONS], prices[ASSETS], worst;
    block_normals(z, first_block, base);
    for (int a = 0; a < ASSETS; a++) {
        build_bridge(z, a);
        for (int j = 0; j < BLOCK; j++)
            prices[a][j] = start[a];
    }
    for (int j = 0; j < BLOCK; j++)
        payoff[j] = 0;
    for (int date = 0; date < DATES; date++) {
        worst_prices(date, prices, z + ASSETS * date, worst);
        pay(date, worst, payoff);
    }
}

void bench_run(void)
{
    int32_t first_block[DIMENSIONS][BLOCK];
    for (int d = 0; d < DIMENSIONS; d++)
        for (uint32_t j = 0; j < BLOCK; j++)
            first_block[d][j] = sobol(d, j);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int64_t base = 0; base <= paths; base += BLOCK) {
        Vector payoff;
        simulate((uint32_t)base, first_block, payoff);
        for (int64_t j = base == 0; j < BLOCK && base + j <= paths; j++) /* paths count from 1 */
            sum += payoff[j];
    }
    result = sum / (double)paths;
}

void bench_result(FILE *out)
{
    print_float(out, result);
}
