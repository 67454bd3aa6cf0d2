/* Nodes that only check: of lengths and flags. They read on to the end of a parent even where what follows is sure to fail, for the messages
 * tell the numbers. */
#include "vm/nodes.h"

#include "vm/points.h"

#include <string.h>

/* ---- the last flag of part ---- */

typedef struct CheckPart {
    WalkState walk;
    bool is_element_last; /* the last flag of the parent at hand was false */
} CheckPart;

static bool check_part(Firing *firing)
{
    CheckPart *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){0, 1}, (Inputs){0}, 1);
    for (;;) {
        size_t count = walk_points(&walk);
        walk.child += count;
        if (count > 0) {
            Cells flags = firing_cells(firing, 0);
            state->is_element_last = !((const bool *)flags.data)[cells_index(flags, walk.child - 1)];
        }
        if (!walk_is_parent_done(&walk))
            return walk_end(&walk);
        if (state->is_element_last)
            return failure_part_end(walk_fail_parent(&walk));
        walk_next_parent(&walk);
    }
}

static void fire_check_part(Firing *firing)
{
    while (check_part(firing))
        continue;
}

const NodeKind node_kind_CHECK_PART = {.fire = fire_check_part, .state_size = sizeof(CheckPart)};

/* ---- counting ---- */

/* Reads up an input of which only the number of points counts. True once it has ended. */
static bool count_points(Firing *firing, uint32_t input, uint64_t *total)
{
    for (size_t available; (available = firing_available(firing, input)) > 0;) {
        *total += available;
        firing_consume(firing, input, available);
    }
    return firing_is_ended(firing, input);
}

/* How many points the next parent has, by the stream of ends; `end` is that of the parent before. */
static uint64_t next_length(const Firing *firing, uint32_t input, int64_t end)
{
    Cells ends = firing_cells(firing, input);
    return (uint64_t)(*(const int64_t *)ends.data - end);
}

/* ---- equal lengths ---- */

enum { COMPARED_COUNT = 2 };

typedef struct SameLengths {
    uint64_t totals[COMPARED_COUNT]; /* points of all parents before */
} SameLengths;

static bool fail_lengths(Failure *failure, Op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_PART: return failure_part(failure, a, b);
    case OP_PARTITION: return failure_partition(failure, a, b);
    case OP_ZIP:
    case OP_PUT:
    case OP_PERMUTE:
    case OP_FLAG_PARTITION: return failure_lengths(failure, op, a, b);
    default: return failure_comprehension_lengths(failure, a, b); /* no operation at all */
    }
}

static bool compare_totals(Firing *firing)
{
    SameLengths *state = firing->state;
    bool is_first_ended = count_points(firing, 0, &state->totals[0]);
    bool is_second_ended = count_points(firing, 1, &state->totals[1]);
    if (!is_first_ended || !is_second_ended)
        return false;
    if (state->totals[0] != state->totals[1])
        return fail_lengths(firing_fail_unit(firing, 0), firing->node->core_op, state->totals[0], state->totals[1]);
    firing_finish(firing);
    return true;
}

static bool compare_ends(Firing *firing)
{
    SameLengths *state = firing->state;
    Inputs ends = {0, COMPARED_COUNT};
    while (inputs_available(firing, ends) > 0) {
        uint64_t lengths[COMPARED_COUNT];
        for (uint32_t i = 0; i < COMPARED_COUNT; i++)
            lengths[i] = next_length(firing, i, (int64_t)state->totals[i]);
        if (lengths[0] != lengths[1])
            return fail_lengths(firing_fail(firing, 0, 0), firing->node->core_op, lengths[0], lengths[1]);
        for (uint32_t i = 0; i < COMPARED_COUNT; i++)
            state->totals[i] += lengths[i];
        inputs_consume(firing, ends, 1);
    }
    if (firing_is_ended(firing, 0))
        firing_finish(firing);
    return true;
}

static void fire_same_lengths(Firing *firing)
{
    if (firing->node->segments == SEGMENTS_SINGLE)
        compare_totals(firing);
    else
        compare_ends(firing);
}

static void skip_same_lengths(const FlowNode *node, void *state, uint64_t points, uint64_t parents)
{
    (void)parents;
    if (node->segments == SEGMENTS_SINGLE)
        *(SameLengths *)state = (SameLengths){{points, points}};
}

const NodeKind node_kind_SAME_LENGTHS = {
    .fire = fire_same_lengths, .state_size = sizeof(SameLengths), .skip = skip_same_lengths};

static void fire_same_counts(Firing *firing)
{
    if (firing_available(firing, 0) == 0 || firing_available(firing, 1) == 0)
        return;
    uint64_t counts[COMPARED_COUNT];
    for (uint32_t i = 0; i < COMPARED_COUNT; i++)
        counts[i] = *(const uint64_t *)firing_cells(firing, i).data;
    if (counts[0] != counts[1])
        fail_lengths(firing_fail_unit(firing, 0), firing->node->core_op, counts[0], counts[1]);
    else
        firing_finish(firing);
}

const NodeKind node_kind_SAME_COUNTS = {.fire = fire_same_counts};

/* ---- lengths of parts ---- */

enum { PARTS_TOTAL, PARTS_ARRAY, PARTS_START, PARTS_COUNT, PARTS_INPUTS };

/* Lengths that are summed up by a team, block by block. */
typedef struct PartsSum {
    const int64_t *lengths;
    uint64_t limit;        /* of each, and of their sum */
    _Atomic uint64_t total;
    _Atomic bool is_bad;
} PartsSum;

/* One block: so many sums of limits are far from overflowing. */
static void sum_block(PartsSum *sum, size_t first, size_t end)
{
    uint64_t total = 0, greatest = 0;
    for (size_t i = first; i < end; i++) {
        uint64_t length = (uint64_t)sum->lengths[i];
        total += length;
        greatest = length > greatest ? length : greatest;
    }
    if (greatest > sum->limit || total > sum->limit)
        atomic_store_explicit(&sum->is_bad, true, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&sum->total, total, memory_order_relaxed);
}

static void sum_parts(void *context, size_t first, size_t end, uint32_t member)
{
    (void)member;
    for (size_t at = first; at < end; at += COMBINE_BLOCK)
        sum_block(context, at, end - at < COMBINE_BLOCK ? end : at + COMBINE_BLOCK);
}

static bool fail_parts(Failure *failure, Cells lengths, size_t count, uint64_t limit)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t length = cells_scalar(SCALAR_I64, lengths, i).integer;
        if (length < 0)
            return failure_part_length(failure, i, length);
        total = (uint64_t)length > UINT64_MAX - total ? UINT64_MAX : total + (uint64_t)length;
    }
    return total == limit || failure_partition(failure, total, limit);
}

static bool are_parts_good(Firing *firing, Cells lengths, size_t count, uint64_t limit)
{
    enum { PICOSECONDS = 250 };
    PartsSum sum = {.lengths = lengths.data, .limit = limit};
    if (lengths.is_uniform && count > 1) {
        uint64_t length = *(const uint64_t *)lengths.data;
        return length <= limit && (length == 0 || count <= limit / length) && length * count == limit;
    }
    team_run(firing->vm->team, count, team_grain(firing->vm->team, PICOSECONDS) / COMBINE_BLOCK * COMBINE_BLOCK + COMBINE_BLOCK, sum_parts, &sum);
    return !atomic_load(&sum.is_bad) && atomic_load(&sum.total) == limit;
}

static void fire_check_parts(Firing *firing)
{
    if (inputs_available(firing, (Inputs){0, PARTS_INPUTS}) == 0 || points_room(firing) == 0)
        return;
    uint64_t cells[PARTS_INPUTS];
    for (uint32_t i = 0; i < PARTS_INPUTS; i++)
        memcpy(&cells[i], firing_cells(firing, i).data, sizeof *cells);
    const Array *array = *(Array *const *)firing_cells(firing, PARTS_ARRAY).data;
    Cells lengths = array_cells(array, 0, cells[PARTS_START]);
    if (!are_parts_good(firing, lengths, cells[PARTS_COUNT], cells[PARTS_TOTAL])) {
        fail_parts(firing_fail_unit(firing, 0), lengths, cells[PARTS_COUNT], cells[PARTS_TOTAL]);
        return;
    }
    firing_produce_uniform(firing, 0, &cells[PARTS_COUNT], 1);
    firing_finish(firing);
}

const NodeKind node_kind_CHECK_PARTS = {.fire = fire_check_parts};

/* ---- flags and elements to be merged ---- */

/* The inputs: flags; then, without ends, two drivers; else three streams of ends. */
enum { MERGE_FLAGS, MERGE_DRIVERS = 1, MERGE_FLAG_ENDS = 1, MERGE_ENDS = 2, MERGED_COUNT = 2 };

typedef struct CheckMerge {
    WalkState walk;
    uint64_t flags[MERGED_COUNT];    /* how often each value came under this parent */
    uint64_t elements[MERGED_COUNT]; /* ENDS: those of all parents before */
} CheckMerge;

static void count_flags(CheckMerge *state, Cells flags, size_t first, size_t count)
{
    const bool *items = flags.data;
    size_t trues = 0;
    for (size_t i = 0; i < count; i++)
        trues += items[cells_index(flags, first + i)];
    state->flags[true] += trues;
    state->flags[false] += count - trues;
}

/* The number of elements for each flag under the parent at hand, once both are known. */
static bool count_elements(Firing *firing, const Walk *walk, uint64_t lengths[MERGED_COUNT])
{
    CheckMerge *state = firing->state;
    bool is_known = true;
    for (uint32_t i = 0; i < MERGED_COUNT; i++) {
        if (walk->kind == SEGMENTS_SINGLE) {
            is_known = count_points(firing, MERGE_DRIVERS + i, &state->elements[i]) && is_known;
            lengths[i] = state->elements[i];
        } else if (walk->parent < walk->parent_count) {
            Cells ends = firing_cells(firing, MERGE_ENDS + i);
            int64_t end = ((const int64_t *)ends.data)[cells_index(ends, walk->parent)];
            lengths[i] = (uint64_t)end - state->elements[i];
        }
    }
    return is_known;
}

static void forget_flags(CheckMerge *state, const uint64_t lengths[MERGED_COUNT])
{
    for (uint32_t i = 0; i < MERGED_COUNT; i++) {
        state->flags[i] = 0;
        state->elements[i] += lengths[i];
    }
}

static bool check_merge(Firing *firing)
{
    CheckMerge *state = firing->state;
    bool is_single = firing->node->segments == SEGMENTS_SINGLE;
    Inputs on_parents = is_single ? (Inputs){0} : (Inputs){MERGE_ENDS, MERGED_COUNT};
    Walk walk = walk_begin(firing, &state->walk, (Inputs){MERGE_FLAGS, 1}, on_parents, MERGE_FLAG_ENDS);
    for (;;) {
        uint64_t lengths[MERGED_COUNT] = {0};
        bool is_known = count_elements(firing, &walk, lengths);
        size_t count = walk_points(&walk);
        if (count > 0)
            count_flags(state, firing_cells(firing, MERGE_FLAGS), walk.child, count);
        walk.child += count;
        if (!walk_is_parent_done(&walk) || !is_known)
            return walk_end(&walk);
        if (state->flags[false] != lengths[false] || state->flags[true] != lengths[true])
            return failure_flag_merge(walk_fail_parent(&walk), state->flags[false], state->flags[true], lengths[false],
                                      lengths[true]);
        forget_flags(state, lengths);
        walk_next_parent(&walk);
    }
}

static void fire_check_merge(Firing *firing)
{
    while (check_merge(firing))
        continue;
}

const NodeKind node_kind_CHECK_MERGE = {.fire = fire_check_merge, .state_size = sizeof(CheckMerge)};

/* ---- exactly one point ---- */

typedef struct OneEach {
    uint64_t total;
} OneEach;

static bool one_in_all(Firing *firing)
{
    OneEach *state = firing->state;
    if (!count_points(firing, 0, &state->total))
        return false;
    if (state->total != 1)
        return failure_the(firing_fail_unit(firing, 0), state->total);
    firing_finish(firing);
    return true;
}

static bool one_regular(Firing *firing)
{
    uint64_t points = 0;
    bool is_ended = firing_is_ended(firing, 0);
    if (!is_ended && (firing_available(firing, 0) == 0 || firing_available(firing, 1) == 0))
        return false;
    uint64_t count = is_ended ? 1 : cells_scalar(SCALAR_I64, firing_cells(firing, 1), 0).bits;
    if (count != 1)
        return failure_the(firing_fail(firing, 0, 0), count);
    if (count_points(firing, 0, &points))
        firing_finish(firing);
    return true;
}

static bool one_by_ends(Firing *firing)
{
    OneEach *state = firing->state;
    while (firing_available(firing, 0) > 0) {
        uint64_t length = next_length(firing, 0, (int64_t)state->total);
        if (length != 1)
            return failure_the(firing_fail(firing, 0, 0), length);
        state->total += length;
        firing_consume(firing, 0, 1);
    }
    if (firing_is_ended(firing, 0))
        firing_finish(firing);
    return true;
}

static void fire_one_each(Firing *firing)
{
    switch (firing->node->segments) {
    case SEGMENTS_SINGLE: one_in_all(firing); break;
    case SEGMENTS_REGULAR: one_regular(firing); break;
    case SEGMENTS_ENDS: one_by_ends(firing); break;
    }
}

const NodeKind node_kind_ONE_EACH = {.fire = fire_one_each, .state_size = sizeof(OneEach)};

/* ---- cuts of sequences ---- */

enum { CUT_COUNT, CUT_DRIVER, CUT_SEGMENTS };

typedef struct CheckCut {
    WalkState walk;
} CheckCut;

/* As soon as it is known: a negative count at once, one that is too large at the end of the parent. */
static bool check_count(Firing *firing, Walk *walk, bool is_done)
{
    Op op = firing->node->core_op;
    int64_t count = cells_scalar(SCALAR_I64, firing_cells(firing, CUT_COUNT), walk->parent).integer;
    uint64_t length = walk_index(walk);
    if (count < 0)
        return failure_cut_sequence(walk_fail_parent(walk), op, count);
    return !is_done || (uint64_t)count <= length || failure_cut(walk_fail_parent(walk), op, count, length);
}

static bool check_cut(Firing *firing)
{
    CheckCut *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){CUT_DRIVER, 1}, (Inputs){CUT_COUNT, 1}, CUT_SEGMENTS);
    for (;;) {
        size_t count = walk_points(&walk);
        walk.child += count;
        bool is_done = walk_is_parent_done(&walk);
        if ((count > 0 || is_done) && !check_count(firing, &walk, is_done))
            return false;
        if (!is_done)
            return walk_end(&walk);
        walk_next_parent(&walk);
    }
}

static void fire_check_cut(Firing *firing)
{
    while (check_cut(firing))
        continue;
}

const NodeKind node_kind_CHECK_CUT = {.fire = fire_check_cut, .state_size = sizeof(CheckCut)};
