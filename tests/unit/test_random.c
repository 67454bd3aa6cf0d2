/* The quality of the random generator (math/random.h): standard statistical tests with fixed seeds, so that the verdict
 * is always the same. Each statistic has a known distribution for truly random numbers; it must lie where all but one in
 * a million would, on either side: too even is as suspicious as too uneven. Streams tested: counters under one key, keys
 * at one counter, the states of comprehension elements, and keys and counters that differ in one bit. */
#include "math/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

/* Statistics come as standard normal deviates; 4.9 is one in a million, both sides together. */
static void check_deviate(const char *test, const char *stream, double deviate)
{
    if (fabs(deviate) < 4.9)
        return;
    failures++;
    fprintf(stderr, "%s of %s: %.2f standard deviations off\n", test, stream, deviate);
}

/* Chi-square with many degrees of freedom, as a deviate (Wilson and Hilferty). */
static double chi_square_deviate(double chi_square, double freedom)
{
    double ninth = 2.0 / (9.0 * freedom);
    return (cbrt(chi_square / freedom) - (1.0 - ninth)) / sqrt(ninth);
}

static double chi_square(const uint32_t *counts, int cells, double expected)
{
    double sum = 0.0;
    for (int i = 0; i < cells; i++)
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    return sum;
}

/* ---- the streams ---- */

typedef uint64_t Stream(uint64_t i);

static uint64_t counters_of_key_0(uint64_t i)
{
    return random_hash(0, i);
}

static uint64_t counters_of_a_key(uint64_t i)
{
    return random_hash(UINT64_C(0x123456789abcdef), i);
}

static uint64_t counters_by_1024(uint64_t i)
{
    return random_hash(7, i << 10);
}

static uint64_t counters_down(uint64_t i)
{
    return random_hash(1, UINT64_MAX - i);
}

static uint64_t keys(uint64_t i)
{
    return random_hash(i, 0);
}

static uint64_t keys_high(uint64_t i)
{
    return random_hash(i << 40, 3);
}

static uint64_t key_and_counter(uint64_t i)
{
    return random_hash(i, i);
}

/* The first draws of the elements of a comprehension, as `{rand(...) : i in ...}` has them. */
static uint64_t elements(uint64_t i)
{
    RandomState state = random_element(random_hash(RANDOM_FIRST_KEY, 0), i);
    return random_draw(&state);
}

/* Four draws in each element. */
static uint64_t draws_of_elements(uint64_t i)
{
    RandomState state = random_element(random_hash(RANDOM_FIRST_KEY, 1), i / 4);
    state.counter += i % 4;
    return random_draw(&state);
}

static const struct {
    const char *name;
    Stream *at;
} streams[] = {
    {"counters of key 0", counters_of_key_0},
    {"counters of a key", counters_of_a_key},
    {"every 1024th counter", counters_by_1024},
    {"counters downwards", counters_down},
    {"keys", keys},
    {"keys in the high bits", keys_high},
    {"equal key and counter", key_and_counter},
    {"elements", elements},
    {"draws of elements", draws_of_elements},
};

enum { STREAM_COUNT = sizeof streams / sizeof streams[0], LENGTH = 1 << 19 };

/* ---- the tests ---- */

static void test_bytes(const char *name, Stream *at)
{
    static uint32_t counts[8][256];
    memset(counts, 0, sizeof counts);
    for (uint64_t i = 0; i < LENGTH; i++) {
        uint64_t bits = at(i);
        for (int byte = 0; byte < 8; byte++)
            counts[byte][bits >> (8 * byte) & 255]++;
    }
    for (int byte = 0; byte < 8; byte++)
        check_deviate("chi-square of bytes", name, chi_square_deviate(chi_square(counts[byte], 256, LENGTH / 256.0), 255.0));
}

/* Pairs of consecutive values, by their high and low 8 bits. */
static void test_pairs(const char *name, Stream *at)
{
    static uint32_t high[65536], low[65536];
    memset(high, 0, sizeof high);
    memset(low, 0, sizeof low);
    for (uint64_t i = 0; i < LENGTH; i++) {
        uint64_t a = at(2 * i), b = at(2 * i + 1);
        high[a >> 56 << 8 | b >> 56]++;
        low[(a & 255) << 8 | (b & 255)]++;
    }
    check_deviate("chi-square of pairs", name, chi_square_deviate(chi_square(high, 65536, LENGTH / 65536.0), 65535.0));
    check_deviate("chi-square of pairs, low bits", name, chi_square_deviate(chi_square(low, 65536, LENGTH / 65536.0), 65535.0));
}

/* Each bit is set half of the time, and agrees half of the time with the same bit of the next value. */
static void test_bits(const char *name, Stream *at)
{
    uint32_t ones[64] = {0}, same[64] = {0};
    uint64_t before = at(0);
    for (uint64_t i = 1; i <= LENGTH; i++) {
        uint64_t bits = at(i);
        for (int b = 0; b < 64; b++) {
            ones[b] += (uint32_t)(bits >> b & 1);
            same[b] += (uint32_t)(~(bits ^ before) >> b & 1);
        }
        before = bits;
    }
    for (int b = 0; b < 64; b++) {
        check_deviate("bit frequency", name, ((double)ones[b] - LENGTH / 2.0) / sqrt(LENGTH / 4.0));
        check_deviate("bit repetition", name, ((double)same[b] - LENGTH / 2.0) / sqrt(LENGTH / 4.0));
    }
}

/* The number of runs above and below one half. */
static void test_runs(const char *name, Stream *at)
{
    double above = 0.0, runs = 1.0;
    bool was_above = at(0) >> 63;
    for (uint64_t i = 0; i < LENGTH; i++) {
        bool is_above = at(i) >> 63;
        above += is_above;
        runs += is_above != was_above;
        was_above = is_above;
    }
    double below = LENGTH - above, product = 2.0 * above * below;
    double mean = product / LENGTH + 1.0;
    double variance = product * (product - LENGTH) / ((double)LENGTH * LENGTH * (LENGTH - 1.0));
    check_deviate("runs", name, (runs - mean) / sqrt(variance));
}

/* Correlation of fractions with those some places later; its deviation is 1 / sqrt n. */
static void test_correlation(const char *name, Stream *at)
{
    static const uint64_t lags[] = {1, 2, 3, 4, 8, 64, 1024};
    for (size_t l = 0; l < sizeof lags / sizeof lags[0]; l++) {
        double sum = 0.0;
        for (uint64_t i = 0; i < LENGTH; i++)
            sum += (random_unit_f64(at(i)) - 0.5) * (random_unit_f64(at(i + lags[l])) - 0.5);
        check_deviate("serial correlation", name, sum / LENGTH * 12.0 * sqrt((double)LENGTH));
    }
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Birthday spacings (Marsaglia): of m birthdays in a year of n days, sorted, the number of spacings that occur again is
 * Poisson with mean m^3 / (4 n). Here m = 4096 and n = 2^32, mean 4, from the high and from the low half; summed over 64
 * samples: mean 256. */
static void test_birthdays(const char *name, Stream *at)
{
    enum { BIRTHDAYS = 4096, SAMPLES = 64 };
    static uint64_t days[BIRTHDAYS];
    for (int half = 0; half < 2; half++) {
        double repeated = 0.0;
        for (uint64_t sample = 0; sample < SAMPLES; sample++) {
            for (uint64_t i = 0; i < BIRTHDAYS; i++)
                days[i] = half == 0 ? at(sample * BIRTHDAYS + i) >> 32 : at(sample * BIRTHDAYS + i) & UINT32_MAX;
            qsort(days, BIRTHDAYS, sizeof days[0], compare_words);
            for (size_t i = BIRTHDAYS - 1; i > 0; i--)
                days[i] -= days[i - 1];
            qsort(days, BIRTHDAYS, sizeof days[0], compare_words);
            for (size_t i = 1; i < BIRTHDAYS; i++)
                repeated += days[i] == days[i - 1];
        }
        double mean = SAMPLES * 4.0;
        check_deviate("birthday spacings", name, (repeated - mean) / sqrt(mean));
    }
}

/* The largest of 32 fractions to the power 32 is uniform. */
static void test_maximum(const char *name, Stream *at)
{
    static uint32_t counts[128];
    memset(counts, 0, sizeof counts);
    for (uint64_t i = 0; i < LENGTH / 32; i++) {
        double largest = 0.0;
        for (uint64_t j = 0; j < 32; j++)
            largest = fmax(largest, random_unit_f64(at(i * 32 + j)));
        counts[(int)(pow(largest, 32.0) * 128.0)]++;
    }
    check_deviate("maximum of 32", name, chi_square_deviate(chi_square(counts, 128, LENGTH / 32 / 128.0), 127.0));
}

/* Avalanche: a bit of the key or counter turned turns each bit of the result half of the time. All 128 x 64 pairs of bits
 * are checked, together as chi-square and each for itself. */
static void test_avalanche(void)
{
    enum { SAMPLES = 4096 };
    double sum = 0.0, worst = 0.0;
    for (int input = 0; input < 128; input++) {
        uint32_t turned[64] = {0};
        for (uint64_t i = 0; i < SAMPLES; i++) {
            uint64_t key = i * 3, counter = i; /* small ones, as programs have */
            uint64_t key_bit = input < 64 ? UINT64_C(1) << input : 0;
            uint64_t counter_bit = input < 64 ? 0 : UINT64_C(1) << (input - 64);
            uint64_t change = random_hash(key, counter) ^ random_hash(key ^ key_bit, counter ^ counter_bit);
            for (int b = 0; b < 64; b++)
                turned[b] += (uint32_t)(change >> b & 1);
        }
        for (int b = 0; b < 64; b++) {
            double deviate = ((double)turned[b] - SAMPLES / 2.0) / sqrt(SAMPLES / 4.0);
            sum += deviate * deviate;
            worst = fmax(worst, fabs(deviate));
        }
    }
    check_deviate("avalanche", "all bits", chi_square_deviate(sum, 128.0 * 64.0));
    if (worst > 5.8) { /* one in a million for the worst of 8192 */
        failures++;
        fprintf(stderr, "avalanche: a bit is %.2f standard deviations off\n", worst);
    }
}

/* What is made of the bits: fractions within [0, 1), numbers below a limit, each as likely as the others. */
static void test_ranges(void)
{
    static uint32_t counts[1000];
    double mean = 0.0;
    for (uint64_t i = 0; i < LENGTH; i++) {
        uint64_t bits = random_hash(11, i);
        double unit = random_unit_f64(bits);
        float narrow = random_unit_f32(bits);
        failures += !(unit >= 0.0 && unit < 1.0) + !(narrow >= 0.0f && narrow < 1.0f);
        mean += unit / LENGTH;
        counts[random_below(bits, 1000)]++;
    }
    check_deviate("mean", "fractions", (mean - 0.5) * sqrt(12.0 * LENGTH));
    check_deviate("chi-square", "random_below", chi_square_deviate(chi_square(counts, 1000, LENGTH / 1000.0), 999.0));
    failures += random_unit_f64(UINT64_MAX) >= 1.0;
    failures += random_unit_f32(UINT64_MAX) >= 1.0f;
    failures += random_below(UINT64_MAX, UINT64_MAX) != UINT64_MAX - 1;
    failures += random_below(UINT64_MAX, 1) != 0;
    failures += random_scale_f64(UINT64_MAX, 0x1p-1074) >= 0x1p-1074;
    failures += random_scale_f32(UINT64_MAX, 0x1p-149f) >= 0x1p-149f;
}

int main(void)
{
    for (int i = 0; i < STREAM_COUNT; i++) {
        test_bytes(streams[i].name, streams[i].at);
        test_pairs(streams[i].name, streams[i].at);
        test_bits(streams[i].name, streams[i].at);
        test_runs(streams[i].name, streams[i].at);
        test_correlation(streams[i].name, streams[i].at);
        test_birthdays(streams[i].name, streams[i].at);
        test_maximum(streams[i].name, streams[i].at);
    }
    test_avalanche();
    test_ranges();
    return failures == 0 ? 0 : 1;
}
