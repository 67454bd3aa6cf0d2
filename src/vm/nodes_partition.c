/* Nodes that cut the points of a space into parts. */
#include "vm/nodes.h"

/* ---- part ---- */

typedef struct PartEnds {
    int64_t elements; /* flags that were false */
} PartEnds;

static bool part_ends(Firing *firing)
{
    PartEnds *state = firing->state;
    size_t available = firing_available(firing, 0), room = least(firing_room(firing, 0), available);
    if (available == 0)
        return firing_rest(firing, 0);
    Cells flags = firing_cells(firing, 0);
    const bool *is_end = flags.data;
    int64_t *ends = firing_reserve(firing, 0, room);
    size_t read = 0, made = 0;
    for (; read < available; read++) {
        if (!is_end[cells_index(flags, read)])
            state->elements++;
        else if (made < room)
            ends[made++] = state->elements;
        else
            break;
    }
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

/* Goes over `count` points of one parent. False when there was no room for a part. */
static bool cut(FlagPartition *state, PartOutput *output, Walk *walk, Cells flags, size_t count)
{
    const bool *is_start = flags.data;
    for (size_t end = walk->child + count; walk->child < end; walk->child++) {
        if (is_start[cells_index(flags, walk->child)] && !end_part(state, output, walk_position(walk)))
            return false;
        if (!state->has_part && !begin_part(state, output))
            return false;
    }
    return true;
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
