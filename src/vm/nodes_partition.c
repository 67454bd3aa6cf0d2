/* Nodes that cut the points of a space into parts. */
#include "vm/nodes.h"

/* ---- flags ----
 * Flags that are true, listed by a team: pieces count theirs, and so know where in the list they belong. */

enum { FLAG_PICOSECONDS = 1500 }; /* in one thread */

typedef struct Marks {
    const bool *flags;
    size_t count;
    TeamPieces pieces;
    size_t *trues; /* by piece; then in the pieces before */
    size_t true_count;
    /* mark k, which is flag i, is listed as base + i - k * skip */
    int64_t base, skip;
    int64_t *out;
} Marks;

static size_t marks_end(const Marks *marks, size_t piece)
{
    return least((piece + 1) * marks->pieces.length, marks->count);
}

static void count_marks(void *context, size_t piece, size_t end, uint32_t member)
{
    const Marks *marks = context;
    (void)member;
    for (; piece < end; piece++) {
        size_t trues = 0;
        for (size_t i = piece * marks->pieces.length; i < marks_end(marks, piece); i++)
            trues += marks->flags[i];
        marks->trues[piece] = trues;
    }
}

static void list_marks(void *context, size_t piece, size_t end, uint32_t member)
{
    const Marks *marks = context;
    (void)member;
    for (; piece < end; piece++) {
        size_t mark = marks->trues[piece];
        for (size_t i = piece * marks->pieces.length; i < marks_end(marks, piece); i++)
            if (marks->flags[i]) {
                marks->out[mark] = marks->base + (int64_t)i - (int64_t)mark * marks->skip;
                mark++;
            }
    }
}

/* Lists the marks if they are many enough for a team and there is room for all of them; else gives false. */
static bool share_marks(Team *team, Marks *marks, size_t room)
{
    size_t grain = team_grain(team, FLAG_PICOSECONDS);
    if (!team_shares(team, marks->count, grain))
        return false;
    marks->pieces = team_pieces(team, marks->count, grain);
    marks->trues = team_alloc(team, marks->pieces.count * sizeof *marks->trues);
    team_run(team, marks->pieces.count, 1, count_marks, marks);
    for (size_t piece = 0; piece < marks->pieces.count; piece++) {
        size_t here = marks->trues[piece];
        marks->trues[piece] = marks->true_count;
        marks->true_count += here;
    }
    bool has_room = marks->true_count <= room;
    if (has_room)
        team_run(team, marks->pieces.count, 1, list_marks, marks);
    team_give_back(team, marks->trues);
    return has_room;
}

/* ---- part ---- */

typedef struct PartEnds {
    int64_t elements; /* flags that were false */
} PartEnds;

/* Lists the ends of parts among `count` flags; all flags are read, or those before the first end for which there is no room. */
static size_t list_ends(Firing *firing, Cells flags, size_t count, size_t room, int64_t *ends, size_t *read)
{
    PartEnds *state = firing->state;
    const bool *is_end = flags.data;
    Marks marks = {.flags = is_end, .count = count, .base = state->elements, .skip = 1, .out = ends};
    if (!flags.is_uniform && share_marks(firing->vm->team, &marks, room)) {
        state->elements += (int64_t)(count - marks.true_count);
        *read = count;
        return marks.true_count;
    }
    size_t made = 0;
    for (*read = 0; *read < count; ++*read) {
        if (!is_end[cells_index(flags, *read)])
            state->elements++;
        else if (made < room)
            ends[made++] = state->elements;
        else
            break;
    }
    return made;
}

static bool part_ends(Firing *firing)
{
    PartEnds *state = firing->state;
    size_t available = firing_available(firing, 0), room = least(firing_room(firing, 0), available);
    if (available == 0)
        return firing_rest(firing, 0);
    size_t read, made = list_ends(firing, firing_cells(firing, 0), available, room, firing_reserve(firing, 0, room), &read);
    firing_produce(firing, 0, made);
    firing_set_frontier(firing, 0, state->elements);
    firing_consume(firing, 0, read);
    return read > 0;
}

static void fire_part_ends(Firing *firing)
{
    while (part_ends(firing))
        continue;
}

const NodeKind node_kind_PART_ENDS = {.fire = fire_part_ends, .state_size = sizeof(PartEnds)};

/* ---- flag_partition ---- */

enum { PARTITION_POINTS, PARTITION_PARENT_ENDS, PARTITION_PART_ENDS };

typedef struct FlagPartition {
    WalkState walk;
    bool has_part;   /* a part was begun and not yet ended */
    int64_t parts;   /* begun so far */
} FlagPartition;

/* Where points and ends of parts go during one firing. */
typedef struct PartOutput {
    size_t points, point_room;
    int64_t *ends;
    size_t end_count, end_room;
} PartOutput;

/* A part has at least one point: a run of n points can begin and end no more than n parts, and one before. */
static PartOutput part_output(Firing *firing, size_t most)
{
    PartOutput output = {
        .point_room = least(firing_room(firing, PARTITION_POINTS), most),
        .end_room = least(firing_room(firing, PARTITION_PART_ENDS), most),
    };
    output.ends = firing_reserve(firing, PARTITION_PART_ENDS, output.end_room);
    return output;
}

static bool end_part(FlagPartition *state, PartOutput *output, uint64_t position)
{
    if (!state->has_part)
        return true;
    if (output->end_count == output->end_room)
        return false;
    output->ends[output->end_count++] = (int64_t)position;
    state->has_part = false;
    return true;
}

static bool begin_part(FlagPartition *state, PartOutput *output)
{
    if (output->points == output->point_room)
        return false;
    output->points++;
    state->parts++;
    state->has_part = true;
    return true;
}

/* Goes over points of a parent up to `end`. False when there was no room for a part. */
static bool cut_in_order(FlagPartition *state, PartOutput *output, Walk *walk, Cells flags, size_t end)
{
    const bool *is_start = flags.data;
    for (; walk->child < end; walk->child++) {
        if (is_start[cells_index(flags, walk->child)] && !end_part(state, output, walk_position(walk)))
            return false;
        if (!state->has_part && !begin_part(state, output))
            return false;
    }
    return true;
}

/* The same by a team, if a part is open and there are many points: every start ends a part and begins one. */
static bool cut_together(FlagPartition *state, PartOutput *output, Walk *walk, Cells flags, size_t end)
{
    Marks marks = {.flags = (const bool *)flags.data + walk->child,
                   .count = end - walk->child,
                   .base = (int64_t)walk_position(walk),
                   .out = output->ends + output->end_count};
    size_t room = least(output->end_room - output->end_count, output->point_room - output->points);
    if (!state->has_part || flags.is_uniform || !share_marks(walk->firing->vm->team, &marks, room))
        return false;
    output->end_count += marks.true_count;
    output->points += marks.true_count;
    state->parts += (int64_t)marks.true_count;
    walk->child = end;
    return true;
}

/* Goes over `count` points of one parent, the first of which may begin a part without ending one. */
static bool cut(FlagPartition *state, PartOutput *output, Walk *walk, Cells flags, size_t count)
{
    size_t end = walk->child + count;
    return cut_in_order(state, output, walk, flags, walk->child + 1) &&
           (cut_together(state, output, walk, flags, end) || cut_in_order(state, output, walk, flags, end));
}

static void give_parts(Firing *firing, const PartOutput *output, uint64_t position)
{
    FlagPartition *state = firing->state;
    firing_produce(firing, PARTITION_POINTS, output->points);
    firing_produce(firing, PARTITION_PART_ENDS, output->end_count);
    firing_set_frontier(firing, PARTITION_PARENT_ENDS, state->parts);
    if (state->has_part)
        firing_set_frontier(firing, PARTITION_PART_ENDS, (int64_t)position);
}

static bool flag_partition(Firing *firing)
{
    FlagPartition *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){0, 1}, (Inputs){0}, 1);
    for (;;) {
        size_t count = walk_points(&walk);
        PartOutput output = part_output(firing, count + 1);
        bool has_room = count == 0 || cut(state, &output, &walk, firing_cells(firing, 0), count);
        bool is_done = has_room && walk_is_parent_done(&walk) && firing_room(firing, PARTITION_PARENT_ENDS) > 0 &&
                       end_part(state, &output, walk_position(&walk));
        give_parts(firing, &output, walk_position(&walk));
        if (!is_done)
            return walk_end(&walk);
        firing_give(firing, PARTITION_PARENT_ENDS, LEAF_ENDS, &state->parts);
        walk_next_parent(&walk);
    }
}

static void fire_flag_partition(Firing *firing)
{
    while (flag_partition(firing))
        continue;
}

const NodeKind node_kind_FLAG_PARTITION = {.fire = fire_flag_partition, .state_size = sizeof(FlagPartition)};

/* ---- partition ---- */

typedef struct PartitionEnds {
    WalkState walk;
    int64_t total;
} PartitionEnds;

/* Sums that nothing can be as long as stay at the largest number there is. */
static int64_t add_length(int64_t total, int64_t length)
{
    return length > INT64_MAX - total ? INT64_MAX : total + length;
}

/* Gives the ends of up to `count` parts; fewer where a length is negative. */
static size_t add_lengths(PartitionEnds *state, Cells lengths, size_t first, size_t count, int64_t *ends)
{
    const int64_t *items = lengths.data;
    for (size_t i = 0; i < count; i++) {
        int64_t length = items[cells_index(lengths, first + i)];
        if (length < 0)
            return i;
        state->total = add_length(state->total, length);
        ends[i] = state->total;
    }
    return count;
}

static bool fail_length(Walk *walk, Cells lengths)
{
    int64_t length = ((const int64_t *)lengths.data)[cells_index(lengths, walk->child)];
    return failure_part_length(walk_fail(walk, 0), walk_index(walk), length);
}

static bool partition_ends(Firing *firing)
{
    PartitionEnds *state = firing->state;
    Walk walk = walk_begin(firing, &state->walk, (Inputs){0, 1}, (Inputs){0}, 1);
    for (;;) {
        size_t count = least(walk_points(&walk), firing_room(firing, 0));
        if (count > 0) {
            Cells lengths = firing_cells(firing, 0);
            size_t made = add_lengths(state, lengths, walk.child, count, firing_reserve(firing, 0, count));
            firing_produce(firing, 0, made);
            walk.child += made;
            if (made < count)
                return fail_length(&walk, lengths);
        }
        if (!walk_is_parent_done(&walk))
            return walk_end(&walk);
        walk_next_parent(&walk);
    }
}

static void fire_partition_ends(Firing *firing)
{
    while (partition_ends(firing))
        continue;
}

const NodeKind node_kind_PARTITION_ENDS = {.fire = fire_partition_ends, .state_size = sizeof(PartitionEnds)};
