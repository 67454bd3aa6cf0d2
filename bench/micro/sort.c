/* Sorting and grading of integers and floats that come in many ways: nanoseconds per element, by slices of so many elements, a million or more of them all together.
 *
 * What takes much longer than random elements do sticks out. Arguments: the number of threads, 2 if there is none; a part of the
 * names of what is to be measured; a part of the names of kinds of elements, which come after random ones. */
#define _POSIX_C_SOURCE 200809L

#include "math/random.h"
#include "vm/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOTAL_LEAST = 1000000, RUNS_LEAST = 3 };
#define SECONDS_LEAST 0.03
static const size_t lengths[] = {100, 1000, 10000, 100000, 1000000, 10000000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- elements ---- */

static uint64_t bits_at(uint64_t i)
{
    return random_hash(7, i);
}

static uint64_t below(uint64_t i, uint64_t limit)
{
    return random_below(bits_at(i), limit);
}

/* One of `count` values that are as random as can be. */
static uint64_t of_few(uint64_t i, uint64_t count)
{
    return random_hash(8, below(i, count));
}

static double unit(uint64_t bits)
{
    return (double)(bits >> 11) / (double)(UINT64_C(1) << 53);
}

/* Element i of n: the bits of an integer, and a float. */
typedef struct Element {
    int64_t integer;
    double floating;
} Element;

static Element of_bits(uint64_t bits)
{
    return (Element){(int64_t)bits, unit(bits)};
}

static Element of_integer(int64_t value)
{
    return (Element){value, (double)value};
}

static Element element_random(uint64_t i, uint64_t n)
{
    (void)n;
    return of_bits(bits_at(i));
}

/* Every value twice or so, and every value some twenty times. */
static Element element_pairs(uint64_t i, uint64_t n)
{
    return of_bits(of_few(i, n / 2 + 1));
}

static Element element_twenties(uint64_t i, uint64_t n)
{
    return of_bits(of_few(i, n / 20 + 1));
}

static Element element_small(uint64_t i, uint64_t n)
{
    (void)n;
    return of_integer((int64_t)below(i, 100));
}

static Element element_below_n(uint64_t i, uint64_t n)
{
    return of_integer((int64_t)below(i, n));
}

static Element element_narrow(uint64_t i, uint64_t n)
{
    (void)n;
    return (Element){(int64_t)(UINT64_C(1) << 40) + (int64_t)below(i, 1 << 20), 1.0 + unit(bits_at(i)) / (1 << 20)};
}

static Element element_multiple(uint64_t i, uint64_t n)
{
    (void)n;
    return of_integer((int64_t)below(i, 1 << 20) * 1000003 * 4096);
}

static Element element_sorted(uint64_t i, uint64_t n)
{
    (void)n;
    return of_integer((int64_t)i * 3);
}

static Element element_reversed(uint64_t i, uint64_t n)
{
    return of_integer((int64_t)(n - i) * 3);
}

static Element element_almost_sorted(uint64_t i, uint64_t n)
{
    return of_integer((int64_t)(bits_at(i) % 100 == 0 ? below(i + n, n) : i));
}

static Element element_outlier(uint64_t i, uint64_t n)
{
    return i == n / 2 ? (Element){INT64_MAX, 1e300} : (Element){(int64_t)below(i, 1 << 30), unit(bits_at(i))};
}

static Element element_outliers(uint64_t i, uint64_t n)
{
    (void)n;
    return bits_at(i) % 1024 == 0 ? (Element){(int64_t)bits_at(~i), (double)bits_at(~i)} : (Element){(int64_t)below(i, 1 << 30), unit(bits_at(i))};
}

/* Around one of 16 values. */
static Element element_clustered(uint64_t i, uint64_t n)
{
    uint64_t bits = (random_hash(8, below(i, 16)) & ~UINT64_C(0xffffff)) + (bits_at(i + n) & 0xffffff);
    double centre = unit(random_hash(8, below(i, 16)));
    return (Element){(int64_t)bits, centre + unit(bits_at(i + n)) * 1e-9};
}

/* As often of one magnitude as of another. */
static Element element_magnitudes(uint64_t i, uint64_t n)
{
    uint64_t shift = below(i + n, 60);
    return (Element){(int64_t)(bits_at(i) >> (shift + 1)), unit(bits_at(i)) * (double)(UINT64_C(1) << shift)};
}

static Element element_half_same(uint64_t i, uint64_t n)
{
    return bits_at(i + n) % 2 == 0 ? (Element){0, 0.0} : of_bits(bits_at(i));
}

/* Of both signs, and zero often. */
static Element element_signed(uint64_t i, uint64_t n)
{
    (void)n;
    return (Element){(int64_t)below(i, 2001) - 1000, ((double)below(i, 2001) - 1000.0) / 7.0};
}

static const struct {
    const char *name;
    Element (*element)(uint64_t i, uint64_t n);
    uint64_t different; /* if there is no function: so many values, at random */
} kinds[] = {
    {"random", .element = element_random},
    {"2 different", .different = 2},
    {"100 different", .different = 100},
    {"1000 different", .different = 1000},
    {"65521 different", .different = 65521},
    {"each twice", .element = element_pairs},
    {"each 20 times", .element = element_twenties},
    {"0 to 99", .element = element_small},
    {"0 to n - 1", .element = element_below_n},
    {"narrow", .element = element_narrow},
    {"multiples", .element = element_multiple},
    {"sorted", .element = element_sorted},
    {"reversed", .element = element_reversed},
    {"almost sorted", .element = element_almost_sorted},
    {"one far off", .element = element_outlier},
    {"some far off", .element = element_outliers},
    {"clustered", .element = element_clustered},
    {"all magnitudes", .element = element_magnitudes},
    {"half the same", .element = element_half_same},
    {"-1000 to 1000", .element = element_signed},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- runs ---- */

typedef void SortAll(Team *team, const Grade *slices, size_t count, bool is_descending);

typedef struct Task {
    const char *name;
    bool is_float, is_descending;
    SortAll *sort;
} Task;

static const Task tasks[] = {
    {"sorted ints", false, false, arrays_sort},       {"sorted floats", true, false, arrays_sort},
    {"graded ints", false, false, arrays_grade},      {"graded floats", true, false, arrays_grade},
    {"sorted down, floats", true, true, arrays_sort}, {"graded down, ints", false, true, arrays_grade},
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fill(uint64_t *cells, size_t kind, bool is_float, size_t length, size_t total)
{
    for (size_t i = 0; i < total; i++) {
        uint64_t at = i / length * length * 2 + i % length;
        Element element = kinds[kind].different > 0 ? of_bits(of_few(at, kinds[kind].different)) : kinds[kind].element(at, length);
        memcpy(cells + i, is_float ? (void *)&element.floating : (void *)&element.integer, sizeof *cells);
    }
}

static double nanoseconds(Team *team, const Task *task, const Array *array, int64_t *out, size_t length, size_t total)
{
    size_t count = total / length;
    Grade *slices = malloc(count * sizeof *slices);
    for (size_t i = 0; i < count; i++)
        slices[i] = (Grade){array, i * length, length, out + i * length};
    double best = 1e9, spent = 0.0;
    for (int run = 0; run < RUNS_LEAST || spent < SECONDS_LEAST; run++) {
        double start = now();
        task->sort(team, slices, count, task->is_descending);
        double took = now() - start;
        best = took < best ? took : best;
        spent += took;
    }
    free(slices);
    return best * 1e9 / (double)total;
}

static void measure(Team *team, const Task *task, Memory *memory, const Layout *layout, const char *part)
{
    size_t most = lengths[LENGTHS - 1];
    Array *array = array_new(memory, layout);
    array_reserve(memory, array, most);
    array_count_more(memory, array, most);
    int64_t *out = malloc(most * sizeof *out);
    double random[LENGTHS];
    printf("%s, %u: ns per element\n%-16s", task->name, team_size(team), "");
    for (size_t i = 0; i < LENGTHS; i++)
        printf(" %11zu", lengths[i]);
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (kind > 0 && strstr(kinds[kind].name, part) == NULL)
            continue;
        printf("\n%-16s", kinds[kind].name);
        for (size_t i = 0; i < LENGTHS; i++) {
            size_t total = lengths[i] > TOTAL_LEAST ? lengths[i] : TOTAL_LEAST;
            fill(array->columns[0].data, kind, task->is_float, lengths[i], total);
            double took = nanoseconds(team, task, array, out, lengths[i], total);
            if (kind == 0)
                random[i] = took;
            printf(" %5.1f %4.2f%c", took, took / random[i], took > 1.3 * random[i] ? '*' : ' ');
            fflush(stdout);
        }
    }
    printf("\n");
    free(out);
    array_release(memory, array);
}

int main(int argument_count, char **arguments)
{
    Memory memory = {0}, team_memory = {0};
    Arena arena;
    Names names;
    Types types;
    Layouts layouts;
    arena_init(&arena, &memory);
    names_init(&names, &arena);
    types_init(&types, &arena, &names);
    layouts_init(&layouts, &arena, &types);
    const char *part = argument_count > 2 ? arguments[2] : "", *kind = argument_count > 3 ? arguments[3] : "";
    Team *team = team_new(&team_memory, (TeamOptions){.threads = argument_count > 1 ? (uint32_t)atoi(arguments[1]) : 2});
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strstr(tasks[i].name, part) != NULL)
            measure(team, &tasks[i], &memory, layout_of(&layouts, tasks[i].is_float ? TYPE_FLOAT : TYPE_INT), kind);
    team_free(team);
    arena_free(&arena);
    return 0;
}
