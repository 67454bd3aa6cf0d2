/* Failures of a running program as values: what went wrong, where, and in which words. Every engine makes them here, so
 * that they say the same whoever runs the program.
 *
 *     return index < length || failure_index(failure_at(&failure, sources, span), OP_ELEMENT, index, length);
 *
 * The functions below failure_report take numbers and texts, never an engine's values, and give false. What was written
 * in NESL fails in the words of NESL's manual where it has some. */
#ifndef RUNNEL_IO_FAILURE_H
#define RUNNEL_IO_FAILURE_H

#include "base/stop.h"
#include "ops/ops.h"
#include "source/diagnostics.h"

typedef struct Failure {
    ErrorCode code;
    Span span;
    bool is_nesl; /* the words to use */
    Text text;    /* the message, owned */
} Failure;

void failure_init(Failure *failure, Memory *memory);
void failure_free(Failure *failure);

/* Starts anew, at a place in a source, whose dialect decides on the words. Gives `failure`. */
Failure *failure_at(Failure *failure, const Sources *sources, Span span);
void failure_report(const Failure *failure, Diagnostics *diagnostics);

/* ---- the run itself ---- */
bool failure_stopped(Failure *failure, const StopFlag *stop); /* that is set */
bool failure_memory(Failure *failure, uint64_t limit);
bool failure_too_deep(Failure *failure, uint64_t max_depth);
bool failure_no_value(Failure *failure, const char *global); /* "" for one without a name */

/* ---- scalars ---- */
/* An operation for which scalar_apply gave false, with what it was given. */
bool failure_scalar(Failure *failure, Op op, ScalarType operand, ScalarType target, const Scalar *arguments);
bool failure_rand(Failure *failure, ScalarType type, Scalar limit);
bool failure_hash(Failure *failure, int64_t limit);
bool failure_exp_string(Failure *failure, int64_t digits);

/* ---- lengths and indices ---- */
bool failure_index(Failure *failure, Op op, int64_t index, uint64_t length);
/* Containers that an operation needs to be of the same length. */
bool failure_lengths(Failure *failure, Op op, uint64_t a, uint64_t b);
/* ... and those that a comprehension goes through side by side, or a group. */
bool failure_comprehension_lengths(Failure *failure, uint64_t a, uint64_t b);
bool failure_the(Failure *failure, uint64_t length);
bool failure_subseq(Failure *failure, int64_t start, int64_t end, uint64_t length);
/* TAKE and DROP: of more than there is, and of a negative count from a sequence. */
bool failure_cut(Failure *failure, Op op, int64_t count, uint64_t length);
bool failure_cut_sequence(Failure *failure, Op op, int64_t count);
bool failure_interleave(Failure *failure, uint64_t a, uint64_t b);
/* Row number `row` is not as long as those before it. */
bool failure_transpose(Failure *failure, uint64_t row, uint64_t length, uint64_t length_before);
/* PERMUTE: one index at two positions. */
bool failure_repeated(Failure *failure, int64_t index, uint64_t first, uint64_t second);

/* ---- ranges ---- */
bool failure_negative_count(Failure *failure, int64_t count);
bool failure_range_step(Failure *failure);
bool failure_nesl_range(Failure *failure, int64_t first, int64_t end, int64_t step);

/* ---- flags and parts ---- */
/* How often each flag occurs, and how many elements there are for it. */
bool failure_flag_merge(Failure *failure, uint64_t falses, uint64_t trues, uint64_t xs, uint64_t ys);
bool failure_part_end(Failure *failure);
bool failure_part(Failure *failure, uint64_t falses, uint64_t length);
bool failure_part_length(Failure *failure, uint64_t part, int64_t count);
/* The sum of the parts' lengths, UINT64_MAX if it is more. */
bool failure_partition(Failure *failure, uint64_t total, uint64_t length);

/* ---- texts; what is behind a zero in them is not shown ---- */
bool failure_user_error(Failure *failure, const char *message, size_t length);
bool failure_not_provided(Failure *failure, const char *name, size_t length);
/* An error of the table, raised by the library. */
bool failure_raise(Failure *failure, ErrorCode code, const char *message, size_t length);
bool failure_cannot_read(Failure *failure, const char *path, size_t length, const char *reason);

#endif
