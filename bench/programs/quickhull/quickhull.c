/* The convex hull by recursive elimination of points (Barber et al. 1996), in the plane. Each thread finds the hull of a part of the points, and the hull of
 * these few corners is that of all. A pass over points keeps those outside of either new edge, and finds the farthest of each, without
 * branches that depend on the data but for the rare new maximum. */
#include "harness.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char bench_arguments[] = "X Y";
static Array xs, ys;

typedef struct Point {
    double x, y;
} Point;

typedef struct Corners {
    Point *points;
    size_t count, room;
} Corners;

/* Points outside of an edge, and which of them is farthest from it. */
typedef struct Outside {
    Point *points;
    size_t count, farthest;
    double distance;
} Outside;

static Corners hull;

void bench_prepare(char **arguments)
{
    xs = argument_array(arguments[0], ELEMENT_F64);
    ys = argument_array(arguments[1], ELEMENT_F64);
}

static void corners_add(Corners *corners, Point p)
{
    if (corners->count == corners->room) {
        corners->room = 2 * corners->room + 64;
        corners->points = realloc(corners->points, corners->room * sizeof *corners->points);
        if (corners->points == NULL)
            fail("no memory for %zu corners", corners->room);
    }
    corners->points[corners->count++] = p;
}

/* Twice the area of the triangle: positive if r is left of the way from p to q. */
static inline double side(Point p, Point q, Point r)
{
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
}

/* Keeps p if it is outside; there must be room for it if not, too. */
static inline void outside_add(Outside *outside, Point p, double distance)
{
    outside->points[outside->count] = p;
    if (distance > outside->distance) {
        outside->distance = distance;
        outside->farthest = outside->count;
    }
    outside->count += distance > 0;
}

/* Corners strictly between p and q, in order; `free_room` has room for a point more than there are, and the given points may be overwritten. */
static void expand(Corners *corners, Point p, Point q, Outside given, Point *free_room)
{
    if (given.count == 0)
        return;
    Point far = given.points[given.farthest];
    given.points[given.farthest] = given.points[--given.count];
    Outside first = {given.points, 0, 0, 0}, second = {free_room, 0, 0, 0};
    for (size_t i = 0; i < given.count; i++) {
        Point r = given.points[i];
        double distance = side(p, far, r);
        outside_add(&first, r, distance);
        outside_add(&second, r, distance > 0 ? 0 : side(far, q, r)); /* in one of the two at most, whatever is rounded */
    }
    expand(corners, p, far, first, free_room + second.count);
    corners_add(corners, far);
    expand(corners, far, q, second, free_room + second.count);
}

/* Clockwise from the leftmost point. */
static void find_hull(Corners *corners, const double *x, const double *y, size_t n)
{
    if (n == 0)
        return;
    size_t west = 0, east = 0;
    for (size_t i = 1; i < n; i++) {
        west = x[i] < x[west] ? i : west;
        east = x[i] > x[east] ? i : east;
    }
    Point p = {x[west], y[west]}, q = {x[east], y[east]};
    Point *room = allocate((2 * n + 64) * sizeof *room);
    Outside above = {room, 0, 0, 0}, below = {room + n + 1, 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        Point r = {x[i], y[i]};
        double distance = i == west || i == east ? 0 : side(p, q, r);
        outside_add(&above, r, distance);
        outside_add(&below, r, -distance);
    }
    corners_add(corners, p);
    expand(corners, p, q, above, below.points + below.count);
    if (west != east)
        corners_add(corners, q);
    expand(corners, q, p, below, room);
    release(room);
}

static void find_hull_of_corners(Corners *corners, const Corners *parts, int count)
{
    size_t n = 0;
    for (int t = 0; t < count; t++)
        n += parts[t].count;
    double *x = allocate(n * sizeof *x), *y = allocate(n * sizeof *y);
    n = 0;
    for (int t = 0; t < count; t++)
        for (size_t i = 0; i < parts[t].count; i++, n++)
            x[n] = parts[t].points[i].x, y[n] = parts[t].points[i].y;
    find_hull(corners, x, y, n);
    release(x);
    release(y);
}

void bench_run(void)
{
    int threads = omp_get_max_threads();
    Corners *parts = calloc((size_t)threads, sizeof *parts);
    free(hull.points);
    hull = (Corners){0};
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        size_t low = xs.rows * (size_t)t / (size_t)threads, high = xs.rows * (size_t)(t + 1) / (size_t)threads;
        find_hull(threads == 1 ? &hull : &parts[t], (double *)xs.data + low, (double *)ys.data + low, high - low);
    }
    if (threads > 1)
        find_hull_of_corners(&hull, parts, threads);
    for (int t = 0; t < threads; t++)
        free(parts[t].points);
    free(parts);
}

void bench_result(FILE *out)
{
    Digest digest = {0};
    for (size_t i = 0; i < hull.count; i++) {
        digest_float(&digest, hull.points[i].x);
        digest_float(&digest, hull.points[i].y);
    }
    digest_print_floats(&digest, out);
}
