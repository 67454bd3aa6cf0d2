/* Moving cells about: pack, distribute, merge, select, and the counts that go with them. Cells have 1, 2, 4 or 8 bytes, or none. References of
 * arrays are the caller's affair. Outputs do not overlap inputs.
 *
 * Segments are as in vm/fold.h: segment k is positions [ends[k - 1], ends[k]), where ends[-1] is `first`, and position `first` is out[0]. */
#ifndef RUNNEL_VM_MOVEMENT_H
#define RUNNEL_VM_MOVEMENT_H

#include "vm/array.h"

/* How many flags equal `keep`. */
size_t movement_count(const bool *flags, size_t count, bool keep);
/* Copies the cells whose flag equals `keep`; gives how many. */
size_t movement_pack(size_t size, void *out, const void *from, const bool *flags, size_t count, bool keep);
/* running[i] = start + how many of flags[0..i], the last included, equal `keep`. */
void movement_count_running(int64_t *running, const bool *flags, size_t count, bool keep, int64_t start);

/* Fills segment k with the cell from[k]. */
void movement_distribute(size_t size, void *out, const void *from, int64_t first, const int64_t *ends, size_t segments);
void movement_distribute_regular(size_t size, void *out, const void *from, size_t length, size_t segments);
/* Each position gets its index within its segment. */
void movement_local_index(int64_t *out, int64_t first, const int64_t *ends, size_t segments);

/* out[i] is the next cell of sources[selector[i]], which is at taken[selector[i]]; a uniform source always gives its one cell. `taken` goes up by what
 * was taken. */
void movement_merge_bool(size_t size, void *out, const bool *selector, size_t count, const Cells sources[2],
                         size_t taken[2]);
void movement_merge_int32(size_t size, void *out, const int32_t *selector, size_t count, const Cells *sources,
                          size_t *taken);
/* out[i] = selector[i] ? sources[1][i] : sources[0][i] */
void movement_select(size_t size, void *out, const bool *selector, size_t count, const Cells sources[2]);

#endif
