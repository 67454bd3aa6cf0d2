/* A dictionary attack: which lines of a file have the given MD5 hash (Rivest 1992)?
 *
 * LANES lines are hashed at once, a 32-bit number of each in one vector; the vectors are as long as two registers, since the steps of one hash wait for each
 * other. The file is read in blocks. */
#define _GNU_SOURCE
#include "harness.h"
#include "text_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char bench_arguments[] = "PATH HASH";
static char *path;
static uint32_t target[4];

enum { LANES = 16, BLOCK_BYTES = 64, SHORT = BLOCK_BYTES - 9 }; /* a short text fits one block with its mark and its length */
typedef uint32_t Lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));

static const uint32_t initial[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

typedef struct Match {
    int64_t offset;
    char *line;
} Match;

static Match *matches;
static size_t match_count;

void bench_prepare(char **arguments)
{
    path = argument_text(arguments[0]);
    char *digits = argument_text(arguments[1]);
    unsigned char bytes[16];
    for (int i = 0; i < 16; i++)
        if (strlen(digits) != 32 || sscanf(digits + 2 * i, "%2hhx", &bytes[i]) != 1)
            fail("\"%s\" is not a hash of 32 hexadecimal digits", digits);
    memcpy(target, bytes, 16);
    free(digits);
}

#define ROTATE(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define G(x, y, z) F(z, x, y)
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
#define STEP(f, a, b, c, d, word, constant, by) a += f(b, c, d) + words[word] + constant, a = ROTATE(a, by) + b;

/* The sixteen steps of a round, four at a time; from one step to the next the word goes on by `stride`. */
#define FOUR(f, first, stride, s1, s2, s3, s4, k1, k2, k3, k4)                                                                                       \
    STEP(f, a, b, c, d, (first) % 16, k1, s1)                                                                                                        \
    STEP(f, d, a, b, c, ((first) + (stride)) % 16, k2, s2)                                                                                           \
    STEP(f, c, d, a, b, ((first) + 2 * (stride)) % 16, k3, s3)                                                                                       \
    STEP(f, b, c, d, a, ((first) + 3 * (stride)) % 16, k4, s4)

static void compress(Lanes state[4], const Lanes words[16])
{
    Lanes a = state[0], b = state[1], c = state[2], d = state[3];
    FOUR(F, 0, 1, 7, 12, 17, 22, 0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu)
    FOUR(F, 4, 1, 7, 12, 17, 22, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u)
    FOUR(F, 8, 1, 7, 12, 17, 22, 0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu)
    FOUR(F, 12, 1, 7, 12, 17, 22, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u)
    FOUR(G, 1, 5, 5, 9, 14, 20, 0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau)
    FOUR(G, 5, 5, 5, 9, 14, 20, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u)
    FOUR(G, 9, 5, 5, 9, 14, 20, 0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu)
    FOUR(G, 13, 5, 5, 9, 14, 20, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au)
    FOUR(H, 5, 3, 4, 11, 16, 23, 0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu)
    FOUR(H, 1, 3, 4, 11, 16, 23, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u)
    FOUR(H, 13, 3, 4, 11, 16, 23, 0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u)
    FOUR(H, 9, 3, 4, 11, 16, 23, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u)
    FOUR(I, 0, 7, 6, 10, 15, 21, 0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u)
    FOUR(I, 12, 7, 6, 10, 15, 21, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u)
    FOUR(I, 8, 7, 6, 10, 15, 21, 0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u)
    FOUR(I, 4, 7, 6, 10, 15, 21, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u)
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

static void begin(Lanes state[4])
{
    for (int k = 0; k < 4; k++)
        state[k] = (Lanes){0} + initial[k];
}

/* Lines waiting to be hashed together. */
typedef struct Batch {
    Lanes words[16];
    const char *lines[LANES];
    size_t lengths[LANES];
    int count;
    size_t words_used; /* words from here to the length are zero in all lanes */
} Batch;

static void add_match(const char *line, size_t length, int64_t offset)
{
#pragma omp critical(matches)
    {
        matches = realloc(matches, (match_count + 1) * sizeof *matches);
        if (matches == NULL)
            fail("no memory for %zu matches", match_count + 1);
        matches[match_count++] = (Match){offset, strndup(line, length)};
    }
}

static void hash_batch(Batch *batch, const char *text, int64_t offset)
{
    Lanes state[4];
    begin(state);
    compress(state, batch->words);
    for (int lane = 0; lane < batch->count; lane++)
        if (state[0][lane] == target[0] && state[1][lane] == target[1] && state[2][lane] == target[2] && state[3][lane] == target[3])
            add_match(batch->lines[lane], batch->lengths[lane], offset + (batch->lines[lane] - text));
    memset(batch->words, 0, batch->words_used * sizeof(Lanes));
    batch->words_used = 0;
    batch->count = 0;
}

/* The text may be read beyond its end, so it is taken word by word; what follows it is masked. */
static void add_short(Batch *batch, const char *line, size_t length)
{
    size_t whole = length / 4, rest = length % 4;
    uint32_t *words = (uint32_t *)batch->words + batch->count, word;
    for (size_t k = 0; k < whole; k++) {
        memcpy(&word, line + 4 * k, 4);
        words[k * LANES] = word;
    }
    memcpy(&word, line + 4 * whole, 4);
    uint32_t mark = (uint32_t)0x80 << 8 * rest;
    words[whole * LANES] = (word & (((uint32_t)1 << 8 * rest) - 1)) | mark;
    words[14 * LANES] = (uint32_t)(8 * length);
    batch->words_used = whole + 1 > batch->words_used ? whole + 1 : batch->words_used;
    batch->lines[batch->count] = line;
    batch->lengths[batch->count++] = length;
}

/* A line of several blocks, in the first lane of a batch of its own. */
static void hash_long(const char *line, size_t length, int64_t offset)
{
    Lanes state[4], words[16];
    begin(state);
    size_t blocks = (length + 8) / BLOCK_BYTES + 1;
    for (size_t k = 0; k < blocks; k++) {
        unsigned char block[BLOCK_BYTES] = {0};
        size_t at = k * BLOCK_BYTES, left = at < length ? length - at : 0;
        memcpy(block, line + (at < length ? at : length), left < BLOCK_BYTES ? left : BLOCK_BYTES);
        if (left < BLOCK_BYTES && at <= length)
            block[left] = 0x80;
        uint64_t bits = 8 * (uint64_t)length;
        if (k + 1 == blocks)
            memcpy(block + BLOCK_BYTES - 8, &bits, 8);
        for (int w = 0; w < 16; w++) {
            uint32_t word;
            memcpy(&word, block + 4 * w, 4);
            words[w] = (Lanes){0} + word;
        }
        compress(state, words);
    }
    if (state[0][0] == target[0] && state[1][0] == target[1] && state[2][0] == target[2] && state[3][0] == target[3])
        add_match(line, length, offset);
}

static void hash_lines(const char *text, size_t length, int64_t offset, int thread)
{
    (void)thread;
    Batch batch;
    memset(&batch, 0, sizeof batch);
    for (const char *line = text, *end = text + length; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t bytes = (size_t)((newline == NULL ? end : newline) - line);
        if (bytes <= SHORT)
            add_short(&batch, line, bytes);
        else
            hash_long(line, bytes, offset + (line - text));
        if (batch.count == LANES)
            hash_batch(&batch, text, offset);
        line += bytes + 1;
    }
    if (batch.count > 0)
        hash_batch(&batch, text, offset);
}

static int compare_matches(const void *a, const void *b)
{
    int64_t x = ((const Match *)a)->offset, y = ((const Match *)b)->offset;
    return (x > y) - (x < y);
}

void bench_run(void)
{
    for (size_t i = 0; i < match_count; i++)
        free(matches[i].line);
    match_count = 0;
    text_blocks_each(path, hash_lines);
    if (match_count > 0)
        qsort(matches, match_count, sizeof *matches, compare_matches);
}

void bench_result(FILE *out)
{
    fputc('{', out);
    for (size_t i = 0; i < match_count; i++)
        fprintf(out, "%s\"%s\"", i == 0 ? "" : ", ", matches[i].line);
    fputc('}', out);
}
