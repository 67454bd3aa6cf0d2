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

/* How often each page is among the links' ends: a row of n counts for each thread, which has a contiguous part of the links. */
static int64_t *count_ends(const int64_t *ends, int64_t threads)
{
    int64_t *counts = allocate((size_t)(threads * n) * sizeof *counts), links = (int64_t)to.rows;
#pragma omp parallel for schedule(static, 1)
    for (int64_t t = 0; t < threads; t++) {
        memset(counts + t * n, 0, (size_t)n * sizeof *counts);
        for (int64_t i = links * t / threads; i < links * (t + 1) / threads; i++)
            counts[t * n + ends[i]]++;
    }
    return counts;
}

/* Counting sort: the counts become the places where each thread puts its links. */
static void sort_links(Links links)
{
    const int64_t *source = from.data, *target = to.data;
    int64_t threads = omp_get_max_threads(), *places = count_ends(target, threads), sum = 0;
    for (int64_t v = 0; v < n; v++) {
        links.starts[v] = sum;
        for (int64_t t = 0; t < threads; t++) {
            int64_t count = places[t * n + v];
            places[t * n + v] = sum;
            sum += count;
        }
    }
    links.starts[n] = sum;
#pragma omp parallel for schedule(static, 1)
    for (int64_t t = 0; t < threads; t++)
        for (int64_t i = sum * t / threads; i < sum * (t + 1) / threads; i++)
            links.sources[places[t * n + target[i]]++] = source[i];
    release(places);
}

static void count_degrees(double *degrees)
{
    int64_t threads = omp_get_max_threads(), *counts = count_ends(from.data, threads);
#pragma omp parallel for schedule(static)
    for (int64_t u = 0; u < n; u++) {
        int64_t count = 0;
        for (int64_t t = 0; t < threads; t++)
            count += counts[t * n + u];
        degrees[u] = (double)count;
    }
    release(counts);
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
