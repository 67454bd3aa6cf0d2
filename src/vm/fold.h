/* Reductions and scans by built-in operators, in the order of math/combine.h: the same bits as the reference interpreter's, however a
 * segment is cut into pieces, and whoever does them.
 *
 * Elements are canonical, and so are results. Outputs do not overlap the elements. A team shares what is large; it may be null, as in work
 * that a team shares already. */
#ifndef RUNNEL_VM_FOLD_H
#define RUNNEL_VM_FOLD_H

#include "vm/array.h"
#include "vm/team.h"

typedef struct FoldKind FoldKind; /* an operation on a type */

/* `op` is a reduction (OP_SUM ... OP_COUNT_TRUE) or a scan (OP_PLUS_SCAN ... OP_XOR_SCAN_INCLUSIVE), `type` that of the elements. Null where
 * there is none. */
const FoldKind *fold_kind(Op op, ScalarType type);
/* The reduction OP_SUM or OP_PRODUCT of floats in the order of users' operators. */
const FoldKind *fold_left_kind(Op op, ScalarType type);

/* ---- a segment that is still open ---- */
enum { FOLD_STATE_MAX = 256 };
size_t fold_state_size(const FoldKind *kind); /* in bytes, at most FOLD_STATE_MAX; aligned as for uint64_t */
void fold_start(const FoldKind *kind, void *state);

/* Reductions: adds elements to the segment; gives its result. */
void fold_add(Team *team, const FoldKind *kind, void *state, Cells elements, size_t count);
void fold_result(const FoldKind *kind, const void *state, void *out);
/* The same in two steps, for whole blocks of COMBINE_BLOCK elements, if the segment is at the start of one: totals, which may be computed in any order; then the
 * segment takes them in order. */
size_t fold_result_size(const FoldKind *kind);
void fold_block_totals(const FoldKind *kind, const void *elements, size_t blocks, void *totals);
void fold_join_totals(const FoldKind *kind, void *state, void *totals, size_t blocks);
/* Scans: takes the segment's next elements, writes one output for each. */
void fold_scan(Team *team, const FoldKind *kind, void *state, Cells elements, size_t count, void *out);

/* ---- many whole segments ----
 * Segment k is elements [ends[k - 1], ends[k]), where ends[-1] is `first`; elements.data points at element `first`. */
void fold_segments(Team *team, const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments,
                   void *out); /* one result each */
void fold_scan_segments(Team *team, const FoldKind *kind, Cells elements, int64_t first, const int64_t *ends, size_t segments,
                        void *out); /* one output for each element */
/* The same where all segments have `length` elements; it may be 0. */
void fold_regular(Team *team, const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out);
void fold_scan_regular(Team *team, const FoldKind *kind, Cells elements, size_t length, size_t segments, void *out);

#endif
