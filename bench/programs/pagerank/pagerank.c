/* PageRank: the links are first sorted by where they lead, so that a page collects what flows to it, and no two threads write to the same page. Ranks are
 * divided by the number of links once for each page, not for each link. */
#include "harness.h"

#include <omp.h>
#include <string.h>

const char bench_arguments[] = "N FROM TO STEPS";
static int64_t n, steps;
static Array from, to;
static double *ranks;

/* The links to page v come from sources[starts[v]] .. sources[starts[v + 1] - 1]. */
typedef struct Links {
    int64_t *starts, *sources;
    double *degrees;
} Links;

void bench_prepare(char **arguments)
{
    n = argument_int(arguments[0]);
    from = argument_array(arguments[1], ELEMENT_I64);
    to = argument_array(arguments[2], ELEMENT_I64);
    steps = argument_int(arguments[3]);
}

/* Counting sort. Each thread has a contiguous part of the links and its own counts, which become the places where it puts them. */
static void sort_links(Links links)
{
    int64_t threads = omp_get_max_threads();
    int64_t *counts = allocate((size_t)(threads * n) * sizeof *counts);
    const int64_t *source = from.data, *target = to.data;
#pragma omp parallel for schedule(static, 1)
    for (int64_t t = 0; t < threads; t++) {
        memset(counts + t * n, 0, (size_t)n * sizeof *counts);
        for (int64_t i = (int64_t)to.rows * t / threads; i < (int64_t)to.rows * (t + 1) / threads; i++)
            counts[t * n + target[i]]++;
    }
    int64_t sum = 0;
    for (int64_t v = 0; v < n; v++) {
        links.starts[v] = sum;
        for (int64_t t = 0; t < threads; t++) {
            int64_t count = counts[t * n + v];
            counts[t * n + v] = sum;
            sum += count;
        }
    }
    links.starts[n] = sum;
#pragma omp parallel for schedule(static, 1)
    for (int64_t t = 0; t < threads; t++)
        for (int64_t i = (int64_t)to.rows * t / threads; i < (int64_t)to.rows * (t + 1) / threads; i++)
            links.sources[counts[t * n + target[i]]++] = source[i];
    release(counts);
}

static void count_degrees(double *degrees)
{
    memset(degrees, 0, (size_t)n * sizeof *degrees);
    const int64_t *source = from.data;
    for (size_t i = 0; i < from.rows; i++)
        degrees[source[i]]++;
}

/* What flows from each page along each of its links; returns the ranks of pages without. */
static double divide_ranks(const double *degrees, double *flows)
{
    double stuck = 0;
#pragma omp parallel for simd reduction(+ : stuck) schedule(static)
    for (int64_t u = 0; u < n; u++) {
        stuck += degrees[u] == 0 ? ranks[u] : 0;
        flows[u] = degrees[u] == 0 ? 0 : ranks[u] / degrees[u];
    }
    return stuck;
}

static void step(Links links, double *flows)
{
    double pages = (double)n, stuck = divide_ranks(links.degrees, flows);
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t v = 0; v < n; v++) {
        double flow = 0;
        for (int64_t i = links.starts[v]; i < links.starts[v + 1]; i++)
            flow += flows[links.sources[i]];
        ranks[v] = 0.15 / pages + 0.85 * (flow + stuck / pages);
    }
}

void bench_run(void)
{
    release(ranks);
    ranks = allocate((size_t)n * sizeof *ranks);
    Links links = {allocate((size_t)(n + 1) * sizeof(int64_t)), allocate(from.rows * sizeof(int64_t)), allocate((size_t)n * sizeof(double))};
    double *flows = allocate((size_t)n * sizeof *flows);
    sort_links(links);
    count_degrees(links.degrees);
    for (int64_t v = 0; v < n; v++)
        ranks[v] = 1 / (double)n;
    for (int64_t k = 0; k < steps; k++)
        step(links, flows);
    release(flows);
    release(links.degrees);
    release(links.sources);
    release(links.starts);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, (size_t)n, 1, (const double *const[]){ranks});
}
