/* Makes the data of a benchmark:
 *
 *     data CASE SIZE DIR      writes DIR/CASE.PART.npy, or .txt, for each part
 *
 * The same size gives the same bytes everywhere: random numbers are a hash of a stream's number and a position. */
#define _GNU_SOURCE
#include "arguments.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct Target {
    const char *directory, *name;
} Target;

typedef void Generator(Target target, size_t n);

/* Files. Data that is saved is released. */

static void path_of(char path[4096], Target target, const char *part, const char *suffix)
{
    if (snprintf(path, 4096, "%s/%s.%s.%s", target.directory, target.name, part, suffix) >= 4096)
        fail("%s: the name is too long", target.directory);
}

static void save_matrix(Target target, const char *part, ElementType type, void *data, size_t rows, size_t columns)
{
    char path[4096];
    path_of(path, target, part, "npy");
    npy_write(path, type, data, rows, columns);
    release(data);
}

static void save_floats(Target target, const char *part, double *data, size_t n)
{
    save_matrix(target, part, ELEMENT_F64, data, n, 1);
}

static void save_ints(Target target, const char *part, int64_t *data, size_t n)
{
    save_matrix(target, part, ELEMENT_I64, data, n, 1);
}

static FILE *open_text(Target target, const char *part)
{
    char path[4096];
    path_of(path, target, part, "txt");
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        fail("%s: cannot be written", path);
    return file;
}

static void close_text(FILE *file)
{
    if (ferror(file) || fclose(file) != 0)
        fail("a text could not be written to its end");
}

/* Random numbers. */

static uint64_t hash(uint64_t stream, uint64_t i)
{
    uint64_t x = i * 0x9E3779B97F4A7C15u + (stream + 1) * 0xD1B54A32D192ED03u;
    for (int round = 0; round < 2; round++) {
        x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
        x = (x ^ (x >> 29)) * 0xA0761D6478BD642Fu;
    }
    return x ^ (x >> 32);
}

static double uniform(uint64_t stream, uint64_t i)
{
    return (double)(hash(stream, i) >> 11) * 0x1p-53;
}

static uint64_t below(uint64_t bound, uint64_t stream, uint64_t i)
{
    return (uint64_t)(((unsigned __int128)hash(stream, i) * bound) >> 64);
}

static double *new_floats(size_t n)
{
    return allocate(n * sizeof(double));
}

static int64_t *new_ints(size_t n)
{
    return allocate(n * sizeof(int64_t));
}

static double *floats_between(size_t n, uint64_t stream, double low, double high)
{
    double *data = new_floats(n);
    for (size_t i = 0; i < n; i++)
        data[i] = low + (high - low) * uniform(stream, i);
    return data;
}

static int64_t *ints_between(size_t n, uint64_t stream, int64_t low, int64_t high)
{
    int64_t *data = new_ints(n);
    for (size_t i = 0; i < n; i++)
        data[i] = low + (int64_t)below((uint64_t)(high - low), stream, i);
    return data;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    return b == 0 ? a : greatest_divisor(b, a % b);
}

/* A fixed permutation of 0 .. n - 1 that looks shuffled, for n below 2^40. */
static uint64_t shuffled(uint64_t i, uint64_t n)
{
    uint64_t factor = 7368787;
    while (greatest_divisor(factor, n) != 1)
        factor += 2;
    return i * factor % n;
}

/* Cases, in the order of their table. Each random vector has a stream of its own. */

static void make_nbody(Target target, size_t n)
{
    const char *const parts[] = {"x", "y", "z", "vx", "vy", "vz"};
    for (uint64_t k = 0; k < 6; k++)
        save_floats(target, parts[k], k < 3 ? floats_between(n, k, 0, 1) : floats_between(n, k, -0.5, 0.5), n);
}

static void make_matmul(Target target, size_t n)
{
    save_matrix(target, "a", ELEMENT_F64, floats_between(n * n, 0, -1, 1), n, n);
    save_matrix(target, "b", ELEMENT_F64, floats_between(n * n, 1, -1, 1), n, n);
}

/* A sparse matrix of n rows and columns with 16 n elements, given the lengths of its rows. */
static void save_sparse(Target target, int64_t *lengths, size_t n)
{
    save_ints(target, "lengths", lengths, n);
    save_ints(target, "columns", ints_between(16 * n, 0, 0, (int64_t)n), 16 * n);
    save_floats(target, "values", floats_between(16 * n, 1, -1, 1), 16 * n);
    save_floats(target, "x", floats_between(n, 2, -1, 1), n);
}

static void make_spmv_uniform(Target target, size_t n)
{
    int64_t *lengths = new_ints(n);
    for (size_t i = 0; i < n; i++)
        lengths[i] = 16;
    save_sparse(target, lengths, n);
}

/* The row of rank r has a length proportional to (r + 1)^-0.7; what rounding leaves goes to the longest rows, one each. */
static void make_spmv_power(Target target, size_t n)
{
    double total = 0;
    for (size_t r = 0; r < n; r++)
        total += pow((double)(r + 1), -0.7);
    int64_t *lengths = new_ints(n), left = (int64_t)(16 * n);
    for (size_t r = 0; r < n; r++) {
        int64_t length = (int64_t)(pow((double)(r + 1), -0.7) / total * (double)(16 * n));
        lengths[shuffled(r, n)] = length;
        left -= length;
    }
    for (size_t r = 0; left > 0; r++, left--)
        lengths[shuffled(r, n)]++;
    save_sparse(target, lengths, n);
}

static void make_spmv_giant(Target target, size_t n)
{
    int64_t *lengths = new_ints(n);
    memset(lengths, 0, n * sizeof *lengths);
    lengths[n / 2] = (int64_t)(16 * n);
    save_sparse(target, lengths, n);
}

/* Three tones whose pitch drifts, with noise; amplitudes change where windows are short. */
static double *sound(size_t n)
{
    static const double pitch[] = {70, 210, 480}, drift[] = {0.31, 0.17, 0.23}, rate = 44100;
    double *samples = new_floats(n), phase[3] = {0};
    for (size_t i = 0; i < n; i++) {
        samples[i] = 0.02 * (uniform(0, i) - 0.5);
        for (size_t k = 0; k < 3; k++) {
            double loud = 0.1 + 0.3 * uniform(k + 1, i >> 15);
            phase[k] += pitch[k] * (1 + 0.2 * sin(drift[k] * (double)i / rate)) / rate;
            phase[k] -= floor(phase[k]);
            samples[i] += loud * sin(6.283185307179586 * phase[k]);
        }
    }
    return samples;
}

/* The length of a window that starts so far behind the last change of the sound. */
static int64_t window_length(size_t behind, uint64_t position)
{
    if (behind < 4096)
        return below(3, 4, position) == 0 ? 512 : 256;
    return behind < 8192 ? 1024 : 2048;
}

static void make_windows(Target target, size_t n)
{
    size_t room = n / 128 + 1, count = 0;
    int64_t *starts = new_ints(room), *lengths = new_ints(room);
    for (size_t start = 0;;) {
        int64_t length = window_length(start & 32767, start);
        if (start + (size_t)length > n)
            break;
        starts[count] = (int64_t)start;
        lengths[count++] = length;
        start += (size_t)length / 2;
    }
    save_floats(target, "samples", sound(n), n);
    save_ints(target, "starts", starts, count);
    save_ints(target, "lengths", lengths, count);
}

static uint32_t rotate_left(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* MD5 of a text of at most 55 characters, that is of one block (Rivest 1992). */
static void md5_short(const char *text, size_t length, unsigned char hash_bytes[16])
{
    static const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    unsigned char block[64] = {0};
    memcpy(block, text, length);
    block[length] = 0x80;
    block[56] = (unsigned char)(8 * length);
    block[57] = (unsigned char)(8 * length >> 8);
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, a = state[0], b = state[1], c = state[2], d = state[3];
    for (int i = 0; i < 64; i++) {
        int round = i / 16, at = (int[]){i, 5 * i + 1, 3 * i + 5, 7 * i}[round] % 16;
        uint32_t mixed = (uint32_t[]){(b & c) | (~b & d), (b & d) | (c & ~d), b ^ c ^ d, c ^ (b | ~d)}[round], word;
        memcpy(&word, block + 4 * at, 4);
        uint32_t sum = a + mixed + word + (uint32_t)(int64_t)floor(fabs(sin(i + 1)) * 0x1p32);
        a = d, d = c, c = b;
        b += rotate_left(sum, turns[round][i % 4]);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    memcpy(hash_bytes, state, 16);
}

static void digits_base_36(char *text, int digits, uint64_t number)
{
    for (int k = digits - 1; k >= 0; k--, number /= 36)
        text[k] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
}

/* Word i: words of four characters differ from each other, and longer ones in their first five. */
static int make_word(char text[13], uint64_t i, uint64_t *short_words)
{
    enum { FOUR = 36 * 36 * 36 * 36, FIVE = FOUR * 36 };
    int length = 4 + (int)below(9, 0, i);
    if (length == 4 && *short_words < FOUR)
        digits_base_36(text, 4, shuffled((*short_words)++, FOUR));
    else {
        length = length == 4 ? 5 : length;
        digits_base_36(text, 5, shuffled(i, FIVE));
        for (int k = 5; k < length; k++)
            digits_base_36(text + k, 1, below(36, 1, 16 * i + (uint64_t)k));
    }
    return length;
}

/* The word that is looked for is three quarters through the list. */
static void make_md5(Target target, size_t n)
{
    FILE *words = open_text(target, "words"), *hash_file = open_text(target, "target");
    uint64_t short_words = 0;
    for (size_t i = 0; i < n; i++) {
        char text[13];
        int length = make_word(text, i, &short_words);
        fprintf(words, "%.*s\n", length, text);
        if (i != 3 * n / 4)
            continue;
        unsigned char bytes[16];
        md5_short(text, (size_t)length, bytes);
        for (int k = 0; k < 16; k++)
            fprintf(hash_file, "%02x", bytes[k]);
        fputc('\n', hash_file);
    }
    close_text(words);
    close_text(hash_file);
}

/* Popular pages are few: the density of rank r is as r^(-2/3). One page in 20 has no links. */
static void make_pagerank(Target target, size_t n)
{
    int64_t *from = new_ints(16 * n), *to = new_ints(16 * n);
    for (size_t i = 0; i < 16 * n; i++) {
        uint64_t page = below(n, 0, i);
        from[i] = (int64_t)(page % 20 == 19 ? page - 1 - below(19, 1, i) : page);
        double u = uniform(2, i);
        to[i] = (int64_t)shuffled((uint64_t)(u * u * u * (double)n), n);
    }
    save_ints(target, "from", from, 16 * n);
    save_ints(target, "to", to, 16 * n);
}

static void make_dotp(Target target, size_t n)
{
    save_floats(target, "x", floats_between(n, 0, -1, 1), n);
    save_floats(target, "y", floats_between(n, 1, -1, 1), n);
}

static void make_quicksort(Target target, size_t n)
{
    save_ints(target, "values", ints_between(n, 0, 0, 1000000000), n);
}

static void make_sort(Target target, size_t n)
{
    int64_t *values = new_ints(n);
    for (size_t i = 0; i < n; i++)
        values[i] = (int64_t)hash(0, i);
    save_ints(target, "values", values, n);
}

static void make_blackscholes(Target target, size_t n)
{
    save_floats(target, "spot", floats_between(n, 0, 5, 30), n);
    save_floats(target, "strike", floats_between(n, 1, 1, 100), n);
    save_floats(target, "years", floats_between(n, 2, 0.25, 10), n);
}

/* Points of the unit disk; the radius is a power of a uniform number, 1/2 for even density. */
static void save_disk(Target target, size_t n, double power)
{
    double *x = new_floats(n), *y = new_floats(n);
    for (size_t i = 0; i < n; i++) {
        double radius = pow(uniform(0, i), power), angle = 6.283185307179586 * uniform(1, i);
        x[i] = radius * cos(angle);
        y[i] = radius * sin(angle);
    }
    save_floats(target, "x", x, n);
    save_floats(target, "y", y, n);
}

static void make_quickhull(Target target, size_t n)
{
    save_disk(target, n, 0.5);
}

static void make_barneshut(Target target, size_t n)
{
    save_disk(target, n, 1.0);
    save_floats(target, "vx", floats_between(n, 2, -0.01, 0.01), n);
    save_floats(target, "vy", floats_between(n, 3, -0.01, 0.01), n);
    save_floats(target, "mass", floats_between(n, 4, 0.5 / (double)n, 1.5 / (double)n), n);
}

static void make_life(Target target, size_t n)
{
    uint8_t *board = allocate(n * n);
    for (size_t i = 0; i < n * n; i++)
        board[i] = uniform(0, i) < 0.3;
    save_matrix(target, "board", ELEMENT_U8, board, n, n);
}

static void make_hotspot(Target target, size_t n)
{
    save_matrix(target, "temperature", ELEMENT_F64, floats_between(n * n, 0, 320, 345), n, n);
    save_matrix(target, "power", ELEMENT_F64, floats_between(n * n, 1, 0, 0.01), n, n);
}

enum { DATES = 5, UNDERLYINGS = 3, DIMENSIONS = DATES * UNDERLYINGS, BITS = 30 };

/* Direction numbers of Joe and Kuo (2008): degree of the polynomial, its inner coefficients, the first numbers. */
static const struct {
    int degree;
    uint32_t inner, first[6];
} polynomials[DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
};

static void directions_of(int64_t v[BITS], int degree, uint32_t inner, const uint32_t *first)
{
    uint32_t m[BITS];
    for (int k = 0; k < BITS; k++) {
        m[k] = k < degree ? first[k] : m[k - degree] ^ m[k - degree] << degree;
        for (int j = 1; j < degree && k >= degree; j++)
            if (inner >> (degree - 1 - j) & 1)
                m[k] ^= m[k - j] << j;
        v[k] = (int64_t)m[k] << (BITS - 1 - k);
    }
}

static int64_t *all_directions(void)
{
    int64_t *v = new_ints(DIMENSIONS * BITS);
    for (int k = 0; k < BITS; k++)
        v[k] = (int64_t)1 << (BITS - 1 - k);
    for (int d = 1; d < DIMENSIONS; d++)
        directions_of(v + d * BITS, polynomials[d - 1].degree, polynomials[d - 1].inner, polynomials[d - 1].first);
    return v;
}

/* The dates are 1 .. 5 years; the bridge is built at the last, then between what is there already. */
static void save_bridge(Target target)
{
    static const int64_t built[DATES] = {5, 3, 1, 2, 4}, left[DATES] = {1, 0, 0, 1, 3}, right[DATES] = {1, 5, 3, 3, 5};
    int64_t *bridge = new_ints(3 * DATES);
    double *weights = new_floats(3 * DATES);
    for (int k = 0; k < DATES; k++) {
        bridge[k] = built[k], bridge[DATES + k] = left[k], bridge[2 * DATES + k] = right[k];
        double before = (double)(built[k] - left[k]), after = (double)(right[k] - built[k]), span = before + after;
        weights[k] = k == 0 ? sqrt(5) : sqrt(before * after / span);
        weights[DATES + k] = k == 0 ? 0 : after / span;
        weights[2 * DATES + k] = k == 0 ? 0 : before / span;
    }
    save_matrix(target, "bridge", ELEMENT_I64, bridge, 3, DATES);
    save_matrix(target, "weights", ELEMENT_F64, weights, 3, DATES);
}

static double *copy_floats(const double *from, size_t n)
{
    return memcpy(new_floats(n), from, n * sizeof *from);
}

static void make_optionpricer(Target target, size_t n)
{
    (void)n;
    static const double rate = 0.03, volatilities[UNDERLYINGS] = {0.19, 0.19, 0.15}, start[UNDERLYINGS] = {3758.05, 11840, 1200};
    const double correlation[] = {1, 0, 0, 0.6, 0.8, 0, 0.5, 0.25, sqrt(1 - 0.3125)};
    double *volatility = new_floats(DIMENSIONS), *drift = new_floats(DIMENSIONS), *discount = new_floats(DATES);
    for (int date = 0; date < DATES; date++) {
        discount[date] = exp(-rate * (date + 1));
        for (int u = 0; u < UNDERLYINGS; u++) {
            volatility[date * UNDERLYINGS + u] = volatilities[u];
            drift[date * UNDERLYINGS + u] = rate - volatilities[u] * volatilities[u] / 2;
        }
    }
    save_matrix(target, "directions", ELEMENT_I64, all_directions(), DIMENSIONS, BITS);
    save_bridge(target);
    save_matrix(target, "correlation", ELEMENT_F64, copy_floats(correlation, UNDERLYINGS * UNDERLYINGS), UNDERLYINGS, UNDERLYINGS);
    save_matrix(target, "volatility", ELEMENT_F64, volatility, DATES, UNDERLYINGS);
    save_matrix(target, "drift", ELEMENT_F64, drift, DATES, UNDERLYINGS);
    save_floats(target, "start", copy_floats(start, UNDERLYINGS), UNDERLYINGS);
    save_floats(target, "discount", discount, DATES);
}

static void make_small_ints(Target target, size_t n)
{
    save_ints(target, "values", ints_between(n, 0, -1000, 1001), n);
}

static void make_transpose(Target target, size_t n)
{
    save_matrix(target, "values", ELEMENT_I64, ints_between(n * n, 0, -1000000, 1000001), n, n);
}

/* Most lines are short; one in twenty goes anywhere. */
static int64_t *line_ends(const int64_t *starts, size_t n, uint64_t stream)
{
    int64_t *ends = new_ints(n);
    for (size_t i = 0; i < n; i++) {
        int64_t near = starts[i] + (int64_t)below(81, stream, i) - 40;
        near = near < 0 ? 0 : near > 1999 ? 1999 : near;
        ends[i] = below(20, 4, i) == 0 ? (int64_t)below(2000, stream, n + i) : near;
    }
    return ends;
}

static void make_lines(Target target, size_t n)
{
    int64_t *x = ints_between(n, 0, 0, 2000), *y = ints_between(n, 1, 0, 2000);
    save_ints(target, "x2", line_ends(x, n, 2), n);
    save_ints(target, "y2", line_ends(y, n, 3), n);
    save_ints(target, "x1", x, n);
    save_ints(target, "y1", y, n);
}

static void make_histogram(Target target, size_t n)
{
    int64_t *values = new_ints(n);
    for (size_t i = 0; i < n; i++) {
        double u = uniform(0, i);
        values[i] = (int64_t)(u * u * 1000);
    }
    save_ints(target, "values", values, n);
}

static void make_filter(Target target, size_t n)
{
    save_floats(target, "values", floats_between(n, 0, -1, 1), n);
}

static void make_gather(Target target, size_t n)
{
    save_floats(target, "values", floats_between(n, 0, -1, 1), n);
    save_ints(target, "indices", ints_between(n, 1, 0, (int64_t)n), n);
}

/* Every key occurs, 100 times where n is a multiple of 100. */
static void make_groupby(Target target, size_t n)
{
    uint64_t different = n < 100 ? 1 : n / 100, spacing = 1000000000 / different;
    int64_t *keys = new_ints(n);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = shuffled(i, n) % different;
        keys[i] = (int64_t)(key * spacing + below(spacing, 0, key));
    }
    save_ints(target, "keys", keys, n);
    save_ints(target, "values", ints_between(n, 1, -1000, 1001), n);
}

enum { VOCABULARY = 50000, WORD_MAX = 12 };

/* The word of that rank: frequent ones have two or three letters; the others differ in their first four. */
static void vocabulary_word(char word[WORD_MAX + 1], uint64_t rank)
{
    int fixed = rank < 40 ? 2 : rank < 600 ? 3 : 4;
    uint64_t combinations = (uint64_t)pow(26, fixed), number = shuffled(rank, combinations);
    for (int k = 0; k < fixed; k++, number /= 26)
        word[k] = (char)('a' + number % 26);
    int length = fixed < 4 ? fixed : 4 + (int)below(WORD_MAX - 3, 0, rank);
    for (int k = fixed; k < length; k++)
        word[k] = (char)('a' + below(26, 1, 16 * rank + (uint64_t)k));
    word[length] = '\0';
}

/* Zipf's law: rank r has the share 1 / (r + 1). A table of where to begin makes drawing one short. */
typedef struct Zipf {
    double ends[VOCABULARY];
    uint32_t begin[65537];
} Zipf;

static void zipf_init(Zipf *zipf)
{
    double total = 0;
    for (int r = 0; r < VOCABULARY; r++)
        total += 1.0 / (r + 1);
    double sum = 0;
    for (int r = 0; r < VOCABULARY; r++)
        zipf->ends[r] = sum += 1.0 / (r + 1) / total;
    zipf->ends[VOCABULARY - 1] = 1;
    uint32_t rank = 0;
    for (int k = 0; k <= 65536; k++) {
        while (zipf->ends[rank] < k / 65536.0)
            rank++;
        zipf->begin[k] = rank;
    }
}

static uint32_t zipf_draw(const Zipf *zipf, double u)
{
    uint32_t rank = zipf->begin[(int)(u * 65536)];
    while (zipf->ends[rank] < u)
        rank++;
    return rank;
}

/* About n bytes, about ten words to a line. */
static void make_wordcount(Target target, size_t n)
{
    static char words[VOCABULARY][WORD_MAX + 1];
    for (uint64_t r = 0; r < VOCABULARY; r++)
        vocabulary_word(words[r], r);
    Zipf *zipf = allocate(sizeof *zipf);
    zipf_init(zipf);
    FILE *text = open_text(target, "text");
    uint64_t left_on_line = 0;
    for (uint64_t i = 0, bytes = 0; bytes + WORD_MAX < n; i++) {
        const char *word = words[zipf_draw(zipf, uniform(2, i))];
        left_on_line = left_on_line == 0 ? 5 + below(11, 3, i) : left_on_line - 1;
        bytes += strlen(word) + 1;
        bool is_last = left_on_line == 0 || bytes + WORD_MAX >= n;
        fputs(word, text);
        fputc(is_last ? '\n' : ' ', text);
    }
    close_text(text);
    release(zipf);
}

/* Programs whose only argument is a number have no data, and no row. */
static const struct {
    const char *name;
    Generator *generate;
} cases[] = {
    {"nbody", make_nbody},
    {"matmul", make_matmul},
    {"spmv-uniform", make_spmv_uniform},
    {"spmv-power", make_spmv_power},
    {"spmv-giant", make_spmv_giant},
    {"windows", make_windows},
    {"md5", make_md5},
    {"pagerank", make_pagerank},
    {"dotp", make_dotp},
    {"quicksort", make_quicksort},
    {"sort-1m", make_sort},
    {"sort-10m", make_sort},
    {"blackscholes", make_blackscholes},
    {"quickhull", make_quickhull},
    {"barneshut", make_barneshut},
    {"life", make_life},
    {"hotspot", make_hotspot},
    {"optionpricer", make_optionpricer},
    {"reverse", make_small_ints},
    {"transpose", make_transpose},
    {"reduce", make_small_ints},
    {"scan", make_small_ints},
    {"lines", make_lines},
    {"histogram", make_histogram},
    {"filter", make_filter},
    {"gather", make_gather},
    {"groupby", make_groupby},
    {"wordcount", make_wordcount},
};

int main(int count, char **words)
{
    if (count != 4)
        fail("usage: data CASE SIZE DIR");
    int64_t size = argument_int(words[2]);
    if (size < 1)
        fail("the size is at least 1, not %lld", (long long)size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, words[1]) == 0) {
            cases[i].generate((Target){words[3], words[1]}, (size_t)size);
            return 0;
        }
    fail("%s has no data", words[1]);
}
