/* One step of n bodies in the plane by the method of Barnes and Hut (1986).
 *
 * Bodies are sorted along the curve that visits the quarters of every cell in turn; the quadtree is then built in one walk over them, as an array in
 * preorder in which each cell knows where the next one outside of it is. Neighbours on the curve need about the same cells: LANES of them go
 * through the tree together, and a lane that has taken a cell waits until its descendants are passed. */
#include "harness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char bench_arguments[] = "X Y VX VY MASS THETA";
static Array input[5]; /* x, y, vx, vy, mass */
static double theta;
static size_t n;
static double *output[4];

enum { DEPTH = 24, LANES = 8 };
static const double EPS = 1e-6;

typedef struct Cell {
    double x, y, mass;
    double limit; /* the cell counts as one body where the square of the distance is above it */
    int64_t next; /* the first cell in preorder that is not within this one */
} Cell;

typedef struct Keyed {
    uint64_t key; /* the quarters from the root down, two bits each */
    uint64_t body;
} Keyed;

typedef struct Tree {
    Cell *cells;
    int64_t count, room;
    const Keyed *order;
} Tree;

void bench_prepare(char **arguments)
{
    for (int k = 0; k < 5; k++)
        input[k] = argument_array(arguments[k], ELEMENT_F64);
    theta = argument_float(arguments[5]);
    n = input[0].rows;
}

static void bounds(const double *v, double *centre, double *extent)
{
    double low = v[0], high = v[0];
    for (size_t i = 1; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    *centre = (low + high) / 2;
    *extent = high - low;
}

/* By descent, so that a body is in the quarter that comparisons with the cell's centre say. */
static uint64_t key_of(double x, double y, double cx, double cy, double side)
{
    uint64_t key = 0;
    for (int depth = 0; depth < DEPTH; depth++) {
        uint64_t east = x >= cx, north = y >= cy;
        key = key << 2 | north << 1 | east;
        side /= 2;
        cx += east ? side / 2 : -side / 2;
        cy += north ? side / 2 : -side / 2;
    }
    return key;
}

static void sort_by_key(Keyed *items, Keyed *spare)
{
    enum { DIGIT = 12, DIGITS = 1 << DIGIT };
    _Static_assert(2 * DEPTH % (2 * DIGIT) == 0, "passes are even in number, so that the sorted items end where they began");
    for (int shift = 0; shift < 2 * DEPTH; shift += DIGIT) {
        size_t starts[DIGITS + 1] = {0};
        for (size_t i = 0; i < n; i++)
            starts[(items[i].key >> shift) % DIGITS + 1]++;
        for (size_t k = 0; k < DIGITS; k++)
            starts[k + 1] += starts[k];
        for (size_t i = 0; i < n; i++)
            spare[starts[(items[i].key >> shift) % DIGITS]++] = items[i];
        Keyed *swap = items;
        items = spare;
        spare = swap;
    }
}

static int64_t new_cell(Tree *tree)
{
    if (tree->count == tree->room) {
        tree->room = 2 * tree->room + 1024;
        tree->cells = realloc(tree->cells, (size_t)tree->room * sizeof(Cell));
        if (tree->cells == NULL)
            fail("no memory for %lld cells", (long long)tree->room);
    }
    return tree->count++;
}

/* Where the bodies of [low, high) end whose quarter at this depth is at most the given one. */
static size_t quarter_end(const Keyed *order, size_t low, size_t high, int depth, uint64_t quarter)
{
    int shift = 2 * (DEPTH - 1 - depth);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((order[middle].key >> shift & 3) <= quarter)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns sums of mass, mass * x and mass * y through the cell, which is a mean of them until then. */
static Cell build(Tree *tree, size_t low, size_t high, int depth, double side)
{
    int64_t place = new_cell(tree);
    bool is_leaf = high - low == 1 || depth == DEPTH;
    Cell sums = {0, 0, 0, is_leaf ? -1 : side * side / (theta * theta), 0};
    if (is_leaf)
        for (size_t i = low; i < high; i++) {
            size_t body = tree->order[i].body;
            double mass = ((double *)input[4].data)[body];
            sums.mass += mass;
            sums.x += mass * ((double *)input[0].data)[body];
            sums.y += mass * ((double *)input[1].data)[body];
        }
    for (uint64_t quarter = 0; quarter < 4 && !is_leaf; quarter++) {
        size_t end = quarter_end(tree->order, low, high, depth, quarter);
        if (end > low) {
            Cell child = build(tree, low, end, depth + 1, side / 2);
            sums.mass += child.mass, sums.x += child.x, sums.y += child.y;
        }
        low = end;
    }
    sums.next = tree->count;
    tree->cells[place] = sums;
    tree->cells[place].x /= sums.mass;
    tree->cells[place].y /= sums.mass;
    return sums;
}

typedef struct Lanes {
    double x[LANES], y[LANES], ax[LANES], ay[LANES];
} Lanes;

static void pull(const Cell *cells, int64_t count, Lanes *lanes)
{
    int64_t resume[LANES] = {0};
    double ax[LANES] = {0}, ay[LANES] = {0};
    for (int64_t at = 0; at < count;) {
        Cell cell = cells[at];
        int64_t descends = 0;
#pragma omp simd reduction(| : descends)
        for (int k = 0; k < LANES; k++) {
            double dx = cell.x - lanes->x[k], dy = cell.y - lanes->y[k], d2 = dx * dx + dy * dy;
            bool is_active = at >= resume[k], is_far = d2 > cell.limit;
            double soft = d2 + EPS, f = is_active && is_far ? cell.mass / (soft * sqrt(soft)) : 0;
            ax[k] += f * dx;
            ay[k] += f * dy;
            resume[k] = is_active && is_far ? cell.next : resume[k];
            descends |= is_active && !is_far ? 1 : 0;
        }
        at = descends ? at + 1 : cell.next;
    }
    memcpy(lanes->ax, ax, sizeof ax);
    memcpy(lanes->ay, ay, sizeof ay);
}

static void move_body(size_t body, double ax, double ay)
{
    const double *x = input[0].data, *y = input[1].data, *vx = input[2].data, *vy = input[3].data;
    output[0][body] = x[body] + vx[body] + ax / 2;
    output[1][body] = y[body] + vy[body] + ay / 2;
    output[2][body] = vx[body] + ax;
    output[3][body] = vy[body] + ay;
}

/* Lanes beyond the last body repeat it. */
static void step_bodies(const Tree *tree, size_t first)
{
    Lanes lanes;
    for (size_t k = 0; k < LANES; k++) {
        size_t body = tree->order[first + k < n ? first + k : n - 1].body;
        lanes.x[k] = ((double *)input[0].data)[body];
        lanes.y[k] = ((double *)input[1].data)[body];
    }
    pull(tree->cells, tree->count, &lanes);
    for (size_t k = 0; k < LANES && first + k < n; k++)
        move_body(tree->order[first + k].body, lanes.ax[k], lanes.ay[k]);
}

void bench_run(void)
{
    for (int k = 0; k < 4; k++) {
        release(output[k]);
        output[k] = allocate(n * sizeof(double));
    }
    double cx, cy, width, height;
    bounds(input[0].data, &cx, &width);
    bounds(input[1].data, &cy, &height);
    double side = width > height ? width : height;
    Keyed *order = allocate(n * sizeof *order), *spare = allocate(n * sizeof *spare);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        order[i] = (Keyed){key_of(((double *)input[0].data)[i], ((double *)input[1].data)[i], cx, cy, side), i};
    sort_by_key(order, spare);
    Tree tree = {NULL, 0, 0, order};
    build(&tree, 0, n, 0, side);
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t i = 0; i < n; i += LANES)
        step_bodies(&tree, i);
    free(tree.cells);
    release(order);
    release(spare);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, n, 4, (const double *const *)output);
}
