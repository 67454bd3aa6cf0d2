/* What a benchmark should answer:
 *
 *     check CASE ARG...       prints the expected result, as the C programs print it
 *
 * It comes neither from Runnel nor from the timed C: another method where there is a cheap one, otherwise plain loops, in long double where rounding
 * counts. It need not be fast. */
#define _GNU_SOURCE
#include "arguments.h"
#include "digest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct Check {
    const char *name;
    int arguments;
    void (*print)(char **arguments);
} Check;

static const double *floats(const char *argument, size_t *n)
{
    Array array = argument_array(argument, ELEMENT_F64);
    if (n != NULL)
        *n = array.rows * array.columns;
    return array.data;
}

static const int64_t *ints(const char *argument, size_t *n)
{
    Array array = argument_array(argument, ELEMENT_I64);
    if (n != NULL)
        *n = array.rows * array.columns;
    return array.data;
}

static void *zeroed(size_t count, size_t size)
{
    return memset(allocate(count * size), 0, count * size);
}

/* The sum of log i is the logarithm of a factorial. */
static long double log_factorial(int64_t n)
{
    return lgammal((long double)n + 1);
}

static void check_logsum(char **arguments)
{
    print_float(stdout, (double)log_factorial(argument_int(arguments[0])));
}

static void check_sumlogsum(char **arguments)
{
    long double sum = 0;
    for (int64_t k = argument_int(arguments[0]); k > 0; k--)
        sum += log_factorial(k * k);
    print_float(stdout, (double)sum);
}

static void check_nbody(char **arguments)
{
    size_t n;
    const double *p[3], *v[3];
    for (int k = 0; k < 3; k++)
        p[k] = floats(arguments[k], &n), v[k] = floats(arguments[3 + k], NULL);
    long double eps = argument_float(arguments[6]);
    Digest digest = {0};
    for (size_t i = 0; i < n; i++) {
        long double a[3] = {0};
        for (size_t j = 0; j < n; j++) {
            long double delta[3], d = eps;
            for (int k = 0; k < 3; k++)
                delta[k] = (long double)p[k][i] - p[k][j], d += delta[k] * delta[k];
            for (int k = 0; k < 3; k++)
                a[k] += delta[k] / (d * sqrtl(d));
        }
        for (int k = 0; k < 3; k++)
            digest_float(&digest, (double)(p[k][i] + v[k][i] + a[k] / 2));
        for (int k = 0; k < 3; k++)
            digest_float(&digest, (double)(v[k][i] + a[k]));
    }
    digest_print_floats(&digest, stdout);
}

static void check_matmul(char **arguments)
{
    Array a = argument_array(arguments[0], ELEMENT_F64), b = argument_array(arguments[1], ELEMENT_F64);
    double *columns = allocate(b.rows * b.columns * sizeof *columns);
    for (size_t k = 0; k < b.rows; k++)
        for (size_t j = 0; j < b.columns; j++)
            columns[j * b.rows + k] = ((double *)b.data)[k * b.columns + j];
    Digest digest = {0};
    for (size_t i = 0; i < a.rows; i++)
        for (size_t j = 0; j < b.columns; j++) {
            const double *row = (double *)a.data + i * a.columns, *column = columns + j * b.rows;
            long double sum = 0;
            for (size_t k = 0; k < a.columns; k++)
                sum += (long double)row[k] * column[k];
            digest_float(&digest, (double)sum);
        }
    digest_print_floats(&digest, stdout);
}

static void check_spmv(char **arguments)
{
    size_t n, k = 0;
    const int64_t *lengths = ints(arguments[0], &n), *columns = ints(arguments[1], NULL);
    const double *values = floats(arguments[2], NULL), *x = floats(arguments[3], NULL);
    Digest digest = {0};
    for (size_t row = 0; row < n; row++) {
        long double sum = 0;
        for (int64_t i = 0; i < lengths[row]; i++, k++)
            sum += (long double)values[k] * x[columns[k]];
        digest_float(&digest, (double)sum);
    }
    digest_print_floats(&digest, stdout);
}

/* The power of a frequency by Goertzel's recurrence, which needs one cosine. */
static long double power_of(const double *samples, int64_t length, int64_t frequency)
{
    long double coefficient = 2 * cosl(2 * 3.14159265358979323846264338327950288L * (long double)frequency / (long double)length), s1 = 0, s2 = 0;
    for (int64_t j = 0; j < length; j++) {
        long double s = samples[j] + coefficient * s1 - s2;
        s2 = s1;
        s1 = s;
    }
    return s1 * s1 + s2 * s2 - coefficient * s1 * s2;
}

static void check_windows(char **arguments)
{
    size_t n;
    const double *samples = floats(arguments[0], NULL);
    const int64_t *starts = ints(arguments[1], &n), *lengths = ints(arguments[2], NULL);
    Digest digest = {0};
    for (size_t i = 0; i < n; i++) {
        long double total = 0, weighted = 0;
        for (int64_t k = 1; k <= 4; k++) {
            long double power = power_of(samples + starts[i], lengths[i], k);
            total += power;
            weighted += (long double)k * power;
        }
        digest_float(&digest, total == 0 ? 0 : (double)(weighted / total));
    }
    digest_print_floats(&digest, stdout);
}

/* The hash was made from the word three quarters through the list; md5sum agrees. */
static void check_md5(char **arguments)
{
    FILE *file = fopen(argument_text(arguments[0]), "rb");
    if (file == NULL)
        fail("%s: cannot be opened", arguments[0]);
    char *line = NULL;
    size_t room = 0, lines = 0, wanted;
    while (getline(&line, &room, file) >= 0)
        lines++;
    rewind(file);
    for (wanted = 3 * lines / 4 + 1; wanted > 0 && getline(&line, &room, file) >= 0; wanted--)
        ;
    line[strcspn(line, "\n")] = '\0';
    printf("{\"%s\"}", line);
    free(line);
    fclose(file);
}

static void pagerank_step(size_t n, size_t links, const int64_t *from, const int64_t *to, const int64_t *degrees, long double *ranks, long double *flow)
{
    long double stuck = 0;
    for (size_t v = 0; v < n; v++) {
        flow[v] = 0;
        stuck += degrees[v] == 0 ? ranks[v] : 0;
    }
    for (size_t i = 0; i < links; i++)
        flow[to[i]] += ranks[from[i]] / (long double)degrees[from[i]];
    for (size_t v = 0; v < n; v++)
        ranks[v] = 0.15L / (long double)n + 0.85L * (flow[v] + stuck / (long double)n);
}

static void check_pagerank(char **arguments)
{
    size_t n = (size_t)argument_int(arguments[0]), links;
    const int64_t *from = ints(arguments[1], &links), *to = ints(arguments[2], NULL);
    int64_t *degrees = zeroed(n, sizeof *degrees);
    for (size_t i = 0; i < links; i++)
        degrees[from[i]]++;
    long double *ranks = allocate(n * sizeof *ranks), *flow = allocate(n * sizeof *flow);
    for (size_t v = 0; v < n; v++)
        ranks[v] = 1 / (long double)n;
    for (int64_t k = argument_int(arguments[3]); k > 0; k--)
        pagerank_step(n, links, from, to, degrees, ranks, flow);
    Digest digest = {0};
    for (size_t v = 0; v < n; v++)
        digest_float(&digest, (double)ranks[v]);
    digest_print_floats(&digest, stdout);
}

static void check_dotp(char **arguments)
{
    size_t n;
    const double *x = floats(arguments[0], &n), *y = floats(arguments[1], NULL);
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (long double)x[i] * y[i];
    print_float(stdout, (double)sum);
}

static int compare_ints(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check_sort(char **arguments)
{
    size_t n;
    int64_t *values = (int64_t *)ints(arguments[0], &n);
    qsort(values, n, sizeof *values, compare_ints);
    digest_int_vectors(stdout, n, 1, (const int64_t *const[]){values});
}

static long double normal(long double x)
{
    long double u = 1 / (1 + 0.2316419L * fabsl(x)), power = 1, poly = 0;
    static const long double coefficients[] = {0.319381530L, -0.356563782L, 1.781477937L, -1.821255978L, 1.330274429L};
    for (int k = 0; k < 5; k++)
        poly += coefficients[k] * (power *= u);
    long double tail = expl(-x * x / 2) / sqrtl(2 * 3.14159265358979323846264338327950288L) * poly;
    return x < 0 ? tail : 1 - tail;
}

/* The put by parity: a call less a put is worth as much as the share less the strike, paid later. */
static void check_blackscholes(char **arguments)
{
    size_t n;
    const double *spot = floats(arguments[0], &n), *strike = floats(arguments[1], NULL), *years = floats(arguments[2], NULL);
    long double rate = argument_float(arguments[3]), volatility = argument_float(arguments[4]);
    Digest digest = {0};
    for (size_t i = 0; i < n; i++) {
        long double spread = volatility * sqrtl(years[i]);
        long double d1 = (logl((long double)spot[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / spread;
        long double later = strike[i] * expl(-rate * years[i]);
        long double call = spot[i] * normal(d1) - later * normal(d1 - spread);
        digest_float(&digest, (double)call);
        digest_float(&digest, (double)(call - spot[i] + later));
    }
    digest_print_floats(&digest, stdout);
}

typedef struct Point {
    double x, y;
} Point;

static int compare_points(const void *a, const void *b)
{
    const Point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static bool turns_right(Point a, Point b, Point c)
{
    return ((long double)b.x - a.x) * ((long double)c.y - a.y) - ((long double)b.y - a.y) * ((long double)c.x - a.x) < 0;
}

/* Appends the corners met on the way over the sorted points, in either direction, but for the last. */
static size_t half_hull(Point *corners, size_t base, const Point *points, size_t n, bool is_backwards)
{
    size_t count = base;
    for (size_t i = 0; i < n; i++) {
        Point p = points[is_backwards ? n - 1 - i : i];
        while (count >= base + 2 && !turns_right(corners[count - 2], corners[count - 1], p))
            count--;
        corners[count++] = p;
    }
    return count - 1;
}

/* By sorting (Andrew 1979). */
static void check_quickhull(char **arguments)
{
    size_t n;
    const double *x = floats(arguments[0], &n), *y = floats(arguments[1], NULL);
    Point *points = allocate(n * sizeof *points), *corners = allocate((2 * n + 2) * sizeof *corners);
    for (size_t i = 0; i < n; i++)
        points[i] = (Point){x[i], y[i]};
    qsort(points, n, sizeof *points, compare_points);
    size_t count = half_hull(corners, half_hull(corners, 0, points, n, false), points, n, true);
    Digest digest = {0};
    for (size_t i = 0; i < count; i++) {
        digest_float(&digest, corners[i].x);
        digest_float(&digest, corners[i].y);
    }
    digest_print_floats(&digest, stdout);
}

/* A quadtree with pointers, into which bodies are divided cell by cell. */
typedef struct Cell {
    double mass, x, y, side;
    bool is_leaf;
    struct Cell *children[4];
} Cell;

typedef struct Bodies {
    const double *x, *y, *vx, *vy, *mass;
} Bodies;

static Cell *new_cell(const Bodies *bodies, const size_t *members, size_t count, double cx, double cy, double side, int depth)
{
    Cell *cell = zeroed(1, sizeof *cell);
    cell->side = side;
    cell->is_leaf = count == 1 || depth == 24;
    for (size_t i = 0; i < count; i++) {
        size_t body = members[i];
        cell->mass += bodies->mass[body];
        cell->x += bodies->mass[body] * bodies->x[body];
        cell->y += bodies->mass[body] * bodies->y[body];
    }
    cell->x /= cell->mass;
    cell->y /= cell->mass;
    size_t *part = allocate(count * sizeof *part);
    for (int quarter = 0; quarter < 4 && !cell->is_leaf; quarter++) {
        bool is_east = quarter & 1, is_north = quarter & 2;
        size_t in_part = 0;
        for (size_t i = 0; i < count; i++)
            if ((bodies->x[members[i]] >= cx) == is_east && (bodies->y[members[i]] >= cy) == is_north)
                part[in_part++] = members[i];
        if (in_part > 0)
            cell->children[quarter] = new_cell(bodies, part, in_part, cx + (is_east ? side / 4 : -side / 4), cy + (is_north ? side / 4 : -side / 4),
                                               side / 2, depth + 1);
    }
    release(part);
    return cell;
}

static void pull(const Cell *cell, double theta, double x, double y, double a[2])
{
    double dx = cell->x - x, dy = cell->y - y, d2 = dx * dx + dy * dy;
    if (cell->is_leaf || cell->side * cell->side < theta * theta * d2) {
        double soft = d2 + 1e-6, f = cell->mass / (soft * sqrt(soft));
        a[0] += f * dx;
        a[1] += f * dy;
        return;
    }
    for (int quarter = 0; quarter < 4; quarter++)
        if (cell->children[quarter] != NULL)
            pull(cell->children[quarter], theta, x, y, a);
}

static void extremes(const double *v, size_t n, double *low, double *high)
{
    *low = *high = v[0];
    for (size_t i = 1; i < n; i++) {
        *low = fmin(*low, v[i]);
        *high = fmax(*high, v[i]);
    }
}

static void check_barneshut(char **arguments)
{
    size_t n;
    Bodies b = {floats(arguments[0], &n), floats(arguments[1], NULL), floats(arguments[2], NULL), floats(arguments[3], NULL), floats(arguments[4], NULL)};
    double theta = argument_float(arguments[5]), west, east, south, north;
    extremes(b.x, n, &west, &east);
    extremes(b.y, n, &south, &north);
    size_t *all = allocate(n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = i;
    Cell *root = new_cell(&b, all, n, (west + east) / 2, (south + north) / 2, fmax(east - west, north - south), 0);
    Digest digest = {0};
    for (size_t i = 0; i < n; i++) {
        double a[2] = {0};
        pull(root, theta, b.x[i], b.y[i], a);
        digest_float(&digest, b.x[i] + b.vx[i] + a[0] / 2);
        digest_float(&digest, b.y[i] + b.vy[i] + a[1] / 2);
        digest_float(&digest, b.vx[i] + a[0]);
        digest_float(&digest, b.vy[i] + a[1]);
    }
    digest_print_floats(&digest, stdout);
}

/* A sieve that strikes each composite once, by its least factor (Gries and Misra 1978). */
static void check_primes(char **arguments)
{
    int64_t n = argument_int(arguments[0]), count = 0;
    uint8_t *is_composite = zeroed((size_t)n + 1, 1);
    int64_t *primes = allocate(((size_t)n + 1) * sizeof *primes);
    for (int64_t i = 2; i < n; i++) {
        if (!is_composite[i])
            primes[count++] = i;
        for (int64_t k = 0; k < count && i * primes[k] < n; k++) {
            is_composite[i * primes[k]] = 1;
            if (i % primes[k] == 0)
                break;
        }
    }
    digest_int_vectors(stdout, (size_t)count, 1, (const int64_t *const[]){primes});
}

/* The anonymous algorithm of 1876 that Meeus (1991) gives. */
static int64_t easter(int64_t year)
{
    int64_t a = year % 19, b = year / 100, c = year % 100, h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
    h = h < 0 ? h + 30 : h;
    int64_t l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7, m = (a + 11 * h + 22 * l) / 451, day = h + l - 7 * m + 114;
    return 10000 * year + 100 * (day / 31) + day % 31 + 1;
}

static void check_easter(char **arguments)
{
    Digest digest = {0};
    int64_t n = argument_int(arguments[0]);
    for (int64_t year = 1; year <= n; year++)
        digest_int(&digest, easter(year));
    digest_print_ints(&digest, stdout);
}

/* Points in order differ by one direction number each (Antonov and Saleev 1979). */
static void check_sobolpi(char **arguments)
{
    int64_t n = argument_int(arguments[0]), inside = 0;
    uint64_t x = 0, y = 0, second[33] = {(uint64_t)1 << 31};
    for (int k = 1; k < 33; k++)
        second[k] = second[k - 1] ^ second[k - 1] >> 1;
    for (int64_t i = 0; i < n; i++) {
        double px = (double)x / 4294967296.0, py = (double)y / 4294967296.0;
        inside += px * px + py * py < 1;
        int bit = __builtin_ctzll((uint64_t)i + 1);
        x ^= (uint64_t)1 << 31 >> bit;
        y ^= second[bit];
    }
    print_float(stdout, 4.0 * (double)inside / (double)n);
}

static uint8_t lives_on(const uint8_t *board, size_t rows, size_t columns, size_t i, size_t j)
{
    int neighbours = -board[i * columns + j];
    for (size_t di = 0; di < 3; di++)
        for (size_t dj = 0; dj < 3; dj++)
            neighbours += board[(i + rows - 1 + di) % rows * columns + (j + columns - 1 + dj) % columns];
    return neighbours == 3 || (neighbours == 2 && board[i * columns + j]);
}

static void check_life(char **arguments)
{
    Array array = argument_array(arguments[0], ELEMENT_U8);
    size_t cells = array.rows * array.columns;
    uint8_t *board = array.data, *next = allocate(cells);
    for (int64_t step = argument_int(arguments[1]); step > 0; step--) {
        for (size_t i = 0; i < array.rows; i++)
            for (size_t j = 0; j < array.columns; j++)
                next[i * array.columns + j] = lives_on(board, array.rows, array.columns, i, j);
        memcpy(board, next, cells);
    }
    Digest digest = {0};
    for (size_t i = 0; i < cells; i++)
        digest_int(&digest, board[i]);
    digest_print_ints(&digest, stdout);
}

/* A cell or, beyond the edge, the nearest one on it. */
static long double cell_at(const long double *cells, Array shape, int64_t i, int64_t j)
{
    int64_t rows = (int64_t)shape.rows, columns = (int64_t)shape.columns;
    i = i < 0 ? 0 : i >= rows ? rows - 1 : i;
    j = j < 0 ? 0 : j >= columns ? columns - 1 : j;
    return cells[i * columns + j];
}

static long double next_temperature(const long double *t, const double *power, Array shape, int64_t i, int64_t j)
{
    long double grid = 0.016L / (long double)shape.rows, chip = 0.0005L, silicon = 100, heat = 1.75e6L, factor = 0.5L;
    long double capacity = factor * heat * chip * grid * grid, r = grid / (2 * silicon * chip * grid), rz = chip / (silicon * grid * grid);
    long double step = 0.001L / (3e6L / (factor * chip * heat)), here = cell_at(t, shape, i, j);
    long double vertical = (cell_at(t, shape, i + 1, j) + cell_at(t, shape, i - 1, j) - 2 * here) / r;
    long double horizontal = (cell_at(t, shape, i, j + 1) + cell_at(t, shape, i, j - 1) - 2 * here) / r;
    return here + step / capacity * (power[i * (int64_t)shape.columns + j] + vertical + horizontal + (80 - here) / rz);
}

static void check_hotspot(char **arguments)
{
    Array shape = argument_array(arguments[0], ELEMENT_F64);
    size_t cells = shape.rows * shape.columns;
    const double *power = floats(arguments[1], NULL);
    long double *t = allocate(cells * sizeof *t), *next = allocate(cells * sizeof *next);
    for (size_t i = 0; i < cells; i++)
        t[i] = ((double *)shape.data)[i];
    for (int64_t step = argument_int(arguments[2]); step > 0; step--) {
        for (size_t i = 0; i < cells; i++)
            next[i] = next_temperature(t, power, shape, (int64_t)(i / shape.columns), (int64_t)(i % shape.columns));
        memcpy(t, next, cells * sizeof *t);
    }
    Digest digest = {0};
    for (size_t i = 0; i < cells; i++)
        digest_float(&digest, (double)t[i]);
    digest_print_floats(&digest, stdout);
}

/* The z below which a normal number is with probability u: by Newton's method on the distribution function, from the nearer end. */
static double inverse_normal(double u)
{
    double tail = u < 0.5 ? u : 1 - u, z = tail > 0.1 ? 0 : -sqrt(-2 * log(tail));
    for (int k = 0; k < 60; k++) {
        double error = 0.5 * erfc(-z * M_SQRT1_2) - tail, step = error / (exp(-z * z / 2) * M_2_SQRTPI * M_SQRT1_2 / 2);
        z -= step;
        if (fabs(step) < 1e-15)
            break;
    }
    return u < 0.5 ? z : -z;
}

enum { DATES = 5, ASSETS = 3, DIMENSIONS = DATES * ASSETS, BITS = 30 };

/* The arguments after the number of paths. */
typedef struct Model {
    const int64_t *directions, *bridge;
    const double *weights, *correlation, *volatility, *drift, *start, *discount;
} Model;

/* Increments of the Brownian motion of an asset, out[date]. */
static void bridge_increments(const Model *m, const double z[DIMENSIONS], int asset, double out[DATES])
{
    double w[DATES + 1] = {0}; /* w[date], date 0 being today */
    w[m->bridge[0]] = m->weights[0] * z[asset];
    for (int k = 1; k < DATES; k++)
        w[m->bridge[k]] = m->weights[k] * z[ASSETS * k + asset] + m->weights[DATES + k] * w[m->bridge[DATES + k]] +
                          m->weights[2 * DATES + k] * w[m->bridge[2 * DATES + k]];
    for (int date = 0; date < DATES; date++)
        out[date] = w[date + 1] - w[date];
}

static double discounted_payoff(const Model *m, const double z[DIMENSIONS])
{
    double d[ASSETS][DATES], price[ASSETS];
    for (int a = 0; a < ASSETS; a++) {
        bridge_increments(m, z, a, d[a]);
        price[a] = m->start[a];
    }
    for (int date = 0;; date++) {
        double worst = (double)INFINITY;
        for (int a = 0; a < ASSETS; a++) {
            double e = 0;
            for (int b = 0; b < ASSETS; b++)
                e += m->correlation[ASSETS * a + b] * d[b][date];
            price[a] *= exp(m->volatility[ASSETS * date + a] * e + m->drift[ASSETS * date + a]);
            worst = fmin(worst, price[a] / m->start[a]);
        }
        if (worst >= 1)
            return (1150 + 150 * date) * m->discount[date];
        if (date == DATES - 1)
            return (worst > 0.75 ? 1000 : 1000 * worst) * m->discount[date];
    }
}

static void check_optionpricer(char **arguments)
{
    int64_t n = argument_int(arguments[0]);
    Model m = {ints(arguments[1], NULL),   ints(arguments[2], NULL),   floats(arguments[3], NULL), floats(arguments[4], NULL),
               floats(arguments[5], NULL), floats(arguments[6], NULL), floats(arguments[7], NULL), floats(arguments[8], NULL)};
    int64_t bits[DIMENSIONS] = {0};
    long double sum = 0;
    for (int64_t i = 1; i <= n; i++) {
        double z[DIMENSIONS];
        for (int d = 0; d < DIMENSIONS; d++) {
            bits[d] ^= m.directions[BITS * d + __builtin_ctzll((uint64_t)i)];
            z[d] = inverse_normal((double)bits[d] / (double)(1 << BITS));
        }
        sum += discounted_payoff(&m, z);
    }
    print_float(stdout, (double)(sum / (long double)n));
}

static void check_reverse(char **arguments)
{
    size_t n;
    const int64_t *values = ints(arguments[0], &n);
    Digest digest = {0};
    while (n > 0)
        digest_int(&digest, values[--n]);
    digest_print_ints(&digest, stdout);
}

static void check_transpose(char **arguments)
{
    Array matrix = argument_array(arguments[0], ELEMENT_I64);
    Digest digest = {0};
    for (size_t j = 0; j < matrix.columns; j++)
        for (size_t i = 0; i < matrix.rows; i++)
            digest_int(&digest, ((int64_t *)matrix.data)[i * matrix.columns + j]);
    digest_print_ints(&digest, stdout);
}

static void check_reduce(char **arguments)
{
    size_t n;
    const int64_t *values = ints(arguments[0], &n);
    __int128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    printf("%lld", (long long)sum);
}

static void check_scan(char **arguments)
{
    size_t n;
    const int64_t *values = ints(arguments[0], &n);
    Digest digest = {0};
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        digest_int(&digest, sum);
        sum += values[i];
    }
    digest_print_ints(&digest, stdout);
}

typedef struct Triple {
    int64_t x, y, z;
} Triple;

static int compare_triples(const void *a, const void *b)
{
    const Triple *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : greatest_divisor(b, a % b);
}

/* Euclid's: all are multiples of (p^2 - q^2, 2 p q, p^2 + q^2), p and q without common divisor, one of them even. */
static void check_triples(char **arguments)
{
    int64_t n = argument_int(arguments[0]);
    size_t count = 0;
    Triple *triples = allocate((size_t)(n * n + 1) * sizeof *triples);
    for (int64_t p = 2; p * p < n; p++)
        for (int64_t q = 1 + p % 2; q < p; q += 2)
            for (int64_t k = 1; greatest_divisor(p, q) == 1 && k * (p * p + q * q) < n; k++) {
                int64_t x = k * (p * p - q * q), y = k * 2 * p * q;
                triples[count++] = (Triple){x < y ? x : y, x < y ? y : x, k * (p * p + q * q)};
            }
    qsort(triples, count, sizeof *triples, compare_triples);
    Digest digest = {0};
    for (size_t i = 0; i < count; i++) {
        digest_int(&digest, triples[i].x);
        digest_int(&digest, triples[i].y);
        digest_int(&digest, triples[i].z);
    }
    digest_print_ints(&digest, stdout);
}

static int64_t sign(int64_t x)
{
    return (x > 0) - (x < 0);
}

static void check_lines(char **arguments)
{
    size_t n;
    const int64_t *x1 = ints(arguments[0], &n), *y1 = ints(arguments[1], NULL), *x2 = ints(arguments[2], NULL), *y2 = ints(arguments[3], NULL);
    Digest digest = {0};
    for (size_t k = 0; k < n; k++) {
        int64_t width = x2[k] - x1[k], height = y2[k] - y1[k], w = llabs(width), h = llabs(height);
        double slope = w > h ? (double)height / (double)w : (double)width / (double)h;
        for (int64_t i = 0; i <= (w > h ? w : h); i++) {
            int64_t aside = i == 0 ? 0 : (int64_t)round(slope * (double)i);
            digest_int(&digest, x1[k] + (w > h ? sign(width) * i : aside));
            digest_int(&digest, y1[k] + (w > h ? aside : sign(height) * i));
        }
    }
    digest_print_ints(&digest, stdout);
}

/* The main cardioid and the circle left of it never escape. */
static bool is_in_bulbs(double x, double y)
{
    double q = (x - 0.25) * (x - 0.25) + y * y;
    return q * (q + (x - 0.25)) < 0.25 * y * y || (x + 1) * (x + 1) + y * y < 0.0625;
}

static int64_t escape_steps(double cx, double cy, int64_t limit)
{
    if (is_in_bulbs(cx, cy))
        return limit;
    int64_t steps = 0;
    for (double x = 0, y = 0; steps < limit && x * x + y * y <= 4; steps++) {
        double old = x;
        x = x * x - y * y + cx;
        y = 2 * old * y + cy;
    }
    return steps;
}

static void check_mandelbrot(char **arguments)
{
    int64_t n = argument_int(arguments[0]), limit = argument_int(arguments[1]);
    Digest digest = {0};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            digest_int(&digest, escape_steps(-2 + 3 * ((double)i + 0.5) / (double)n, -1 + 2 * ((double)j + 0.5) / (double)n, limit));
    digest_print_ints(&digest, stdout);
}

static void check_histogram(char **arguments)
{
    size_t n, bins = (size_t)argument_int(arguments[1]);
    const int64_t *values = ints(arguments[0], &n);
    int64_t *counts = zeroed(bins, sizeof *counts);
    for (size_t i = 0; i < n; i++)
        counts[values[i]]++;
    digest_int_vectors(stdout, bins, 1, (const int64_t *const[]){counts});
}

static void check_filter(char **arguments)
{
    size_t n;
    const double *values = floats(arguments[0], &n);
    Digest digest = {0};
    for (size_t i = 0; i < n; i++)
        if (values[i] > 0)
            digest_float(&digest, values[i]);
    digest_print_floats(&digest, stdout);
}

static void check_gather(char **arguments)
{
    size_t n;
    const double *values = floats(arguments[0], NULL);
    const int64_t *indices = ints(arguments[1], &n);
    Digest digest = {0};
    for (size_t i = 0; i < n; i++)
        digest_float(&digest, values[indices[i]]);
    digest_print_floats(&digest, stdout);
}

typedef struct Pair {
    int64_t key, value;
} Pair;

/* By sorting: equal keys are then neighbours. */
static void check_groupby(char **arguments)
{
    size_t n;
    const int64_t *keys = ints(arguments[0], &n), *values = ints(arguments[1], NULL);
    Pair *pairs = allocate(n * sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        pairs[i] = (Pair){keys[i], values[i]};
    qsort(pairs, n, sizeof *pairs, compare_ints); /* by the first component */
    Digest digest = {0};
    for (size_t i = 0, end; i < n; i = end) {
        int64_t sum = 0;
        for (end = i; end < n && pairs[end].key == pairs[i].key; end++)
            sum += pairs[end].value;
        digest_int(&digest, pairs[i].key);
        digest_int(&digest, sum);
    }
    digest_print_ints(&digest, stdout);
}

/* A tree with a node for each beginning of a word of small letters. */
typedef struct Node {
    uint32_t children[26];
    int64_t count;
} Node;

typedef struct Trie {
    Node *nodes;
    uint32_t count, room;
} Trie;

static uint32_t child_of(Trie *trie, uint32_t node, int letter)
{
    if (trie->nodes[node].children[letter] != 0)
        return trie->nodes[node].children[letter];
    if (trie->count == trie->room) {
        trie->room *= 2;
        trie->nodes = realloc(trie->nodes, trie->room * sizeof(Node));
        if (trie->nodes == NULL)
            fail("no memory for %u nodes", trie->room);
    }
    trie->nodes[trie->count] = (Node){0};
    return trie->nodes[node].children[letter] = trie->count++;
}

enum { BEST = 20, WORD_MAX = 100 };

typedef struct Ranking {
    struct {
        char word[WORD_MAX + 1];
        int64_t count;
    } best[BEST + 1];
    int count;
} Ranking;

/* Words come in alphabetical order, so one goes behind those that are as frequent. */
static void rank_words(const Trie *trie, uint32_t node, char *word, int length, Ranking *ranking)
{
    int64_t count = trie->nodes[node].count;
    int at = ranking->count;
    for (; at > 0 && ranking->best[at - 1].count < count; at--)
        ranking->best[at] = ranking->best[at - 1];
    if (count > 0 && at < BEST) {
        memcpy(ranking->best[at].word, word, (size_t)length);
        ranking->best[at].word[length] = '\0';
        ranking->best[at].count = count;
        ranking->count += ranking->count < BEST;
    }
    for (int letter = 0; letter < 26 && length < WORD_MAX; letter++)
        if (trie->nodes[node].children[letter] != 0) {
            word[length] = (char)('a' + letter);
            rank_words(trie, trie->nodes[node].children[letter], word, length + 1, ranking);
        }
}

static void check_wordcount(char **arguments)
{
    FILE *file = fopen(argument_text(arguments[0]), "rb");
    if (file == NULL)
        fail("%s: cannot be opened", arguments[0]);
    Trie trie = {zeroed(1024, sizeof(Node)), 1, 1024};
    uint32_t node = 0;
    for (int c; (c = getc_unlocked(file)) != EOF;)
        if (c >= 'a' && c <= 'z')
            node = child_of(&trie, node, c - 'a');
        else {
            trie.nodes[node].count += node != 0;
            node = 0;
        }
    trie.nodes[node].count += node != 0;
    fclose(file);
    Ranking ranking = {0};
    char word[WORD_MAX + 1];
    rank_words(&trie, 0, word, 0, &ranking);
    putchar('[');
    for (int i = 0; i < ranking.count; i++)
        printf("%s(\"%s\", %lld)", i == 0 ? "" : ", ", ranking.best[i].word, (long long)ranking.best[i].count);
    putchar(']');
}

static const Check checks[] = {
    {"logsum", 1, check_logsum},
    {"sumlogsum", 1, check_sumlogsum},
    {"nbody", 7, check_nbody},
    {"matmul", 2, check_matmul},
    {"spmv-uniform", 4, check_spmv},
    {"spmv-power", 4, check_spmv},
    {"spmv-giant", 4, check_spmv},
    {"windows", 3, check_windows},
    {"md5", 2, check_md5},
    {"pagerank", 4, check_pagerank},
    {"dotp", 2, check_dotp},
    {"quicksort", 1, check_sort},
    {"sort-1m", 1, check_sort},
    {"sort-10m", 1, check_sort},
    {"blackscholes", 5, check_blackscholes},
    {"quickhull", 2, check_quickhull},
    {"barneshut", 6, check_barneshut},
    {"primes", 1, check_primes},
    {"easter", 1, check_easter},
    {"sobolpi", 1, check_sobolpi},
    {"life", 2, check_life},
    {"hotspot", 3, check_hotspot},
    {"optionpricer", 9, check_optionpricer},
    {"reverse", 1, check_reverse},
    {"transpose", 1, check_transpose},
    {"reduce", 1, check_reduce},
    {"scan", 1, check_scan},
    {"triples", 1, check_triples},
    {"lines", 4, check_lines},
    {"mandelbrot", 2, check_mandelbrot},
    {"histogram", 2, check_histogram},
    {"filter", 1, check_filter},
    {"gather", 2, check_gather},
    {"groupby", 2, check_groupby},
    {"wordcount", 1, check_wordcount},
};

int main(int count, char **words)
{
    if (count < 2)
        fail("usage: check CASE ARG...");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (strcmp(checks[i].name, words[1]) == 0) {
            if (count - 2 != checks[i].arguments)
                fail("%s has %d arguments, not %d", words[1], checks[i].arguments, count - 2);
            checks[i].print(words + 2);
            putchar('\n');
            return 0;
        }
    fail("there is no benchmark \"%s\"", words[1]);
}
