/* Moving cells about: pack, distribute, merge, select, and the counts that go with them. Cells have 1, 2, 4 or 8 bytes, or none. References of
 * arrays are the caller's affair. Outputs do not overlap inputs. A team shares what is large; it may be null, as in work that a team shares already.
 *
 * Segments are as in vm/fold.h: segment k is positions [ends[k - 1], ends[k]), where ends[-1] is `first`, and position `first` is out[0]. */
#ifndef RUNNEL_VM_MOVEMENT_H
#define RUNNEL_VM_MOVEMENT_H

#include "vm/array.h"
#include "vm/cut.h"
#include "vm/team.h"

/* How many flags equal `keep`. */
size_t movement_count(Team *team, const bool *flags, size_t count, bool keep);
/* Copies the cells whose flag equals `keep`; gives how many. */
size_t movement_pack(Team *team, size_t size, void *out, const void *from, const bool *flags, size_t count, bool keep);
/* running[i] = start + how many of flags[0..i], the last included, equal `keep`. */
void movement_count_running(Team *team, int64_t *running, const bool *flags, size_t count, bool keep, int64_t start);

/* Whether all numbers are the same; whether all segments have the same length. Soon seen where they are not. */
bool movement_are_equal(Team *team, const int64_t *numbers, size_t count);
bool movement_is_regular(Team *team, int64_t first, const int64_t *ends, size_t segments, size_t *length);
/* out[i] = first + i * step */
void movement_progression(Team *team, int64_t *out, int64_t first, int64_t step, size_t count);
/* ends[i] = start + the sum of lengths[0..i], the last included, where none counts more than `limit`; none is negative. */
void movement_ends(Team *team, int64_t *ends, Cells lengths, size_t count, int64_t start, int64_t limit);

/* Fills segment k with the cell from[k]. */
void movement_distribute(Team *team, size_t size, void *out, const void *from, int64_t first, const int64_t *ends,
                         size_t segments);
void movement_distribute_regular(Team *team, size_t size, void *out, const void *from, size_t length, size_t segments);
/* Each position gets its index within its segment. */
void movement_local_index(Team *team, int64_t *out, int64_t first, const int64_t *ends, size_t segments);
void movement_local_index_regular(Team *team, int64_t *out, size_t length, size_t segments);

/* Every position gets the cell of the one before it in its segment, or after it if `is_next`; the first, or the last, gets that of fills[k]. Segments by ends
 * if there are any, else all of `length`. */
void movement_shift(Team *team, size_t size, void *out, Cells from, Cells fills, CutSegments segments, bool is_next);
/* Cells of one row of a matrix: one that stands for all has a step of 0, otherwise it is their size. */
typedef struct MovementRow {
    const char *data;
    size_t step;
} MovementRow;
/* Column by column: out[column * height + row] is the cell of that row and column. */
void movement_transpose(Team *team, size_t size, void *out, const MovementRow *rows, size_t height, size_t width);
/* Copies cells. */
void movement_copy(Team *team, size_t size, void *out, Cells from, size_t count);

/* out[i] is the next cell of sources[selector[i]], which is at taken[selector[i]]; a uniform source always gives its one cell. `taken` goes up by what
 * was taken. */
void movement_merge_bool(Team *team, size_t size, void *out, const bool *selector, size_t count, const Cells sources[2],
                         size_t taken[2]);
void movement_merge_int32(Team *team, size_t size, void *out, const int32_t *selector, size_t count, const Cells *sources,
                          size_t *taken, size_t source_count);
/* out[i] = selector[i] ? sources[1][i] : sources[0][i] */
void movement_select(Team *team, size_t size, void *out, const bool *selector, size_t count, const Cells sources[2]);

#endif
