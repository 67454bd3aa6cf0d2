/* Filters in an innermost loop: vectors of those elements for which a condition holds.
 *
 * They are packed several elements at a time. Filters of one block over the same vector, as `{e in a | e < p}` and `{e in a | e > p}`, are one loop if each does little for an element: all of them are made where the
 * first is. So is a reduction that picks one of the vector's elements, as the farthest point of those that a filter is of: block by block, so that memory is read once. */
#include "kernel/function_share.h"

/* ---- which are made together ---- */

static VariableShape *shape_of(const FunctionTexts *texts, const CoreAtom *atom)
{
    return atom->is_constant ? NULL : &texts->shapes[atom->variable];
}

/* The statement of a sequence that is not made, if it is of a kind. */
static const CoreStatement *find_delayed(const FunctionTexts *texts, const CoreAtom *atom, CoreKind kind)
{
    const VariableShape *shape = shape_of(texts, atom);
    const CoreStatement *definition = shape != NULL && shape->is_delayed && shape->member == 0 ? shape->definition : NULL;
    return definition != NULL && definition->kind == kind ? definition : NULL;
}

static const CoreStatement *find_delayed_op(const FunctionTexts *texts, const CoreAtom *atom, Op op)
{
    const CoreStatement *definition = find_delayed(texts, atom, CORE_OP);
    return definition != NULL && definition->op == op ? definition : NULL;
}

/* The comprehension over a vector, and up to `most` sequences in all, whose elements a vector keeps, if it is such a one. */
static const CoreStatement *find_comprehension(const FunctionTexts *texts, const CoreStatement *table, uint32_t most)
{
    bool is_table = table->kind == CORE_OP && table->op == OP_TAB;
    const CoreStatement *joined = is_table ? find_delayed_op(texts, &table->arguments[0], OP_CONCAT) : NULL;
    const CoreStatement *each = joined == NULL ? NULL : find_delayed(texts, &joined->arguments[0], CORE_EACH);
    bool keeps = each != NULL && each->argument_count <= most && find_delayed(texts, &each->blocks[0]->result, CORE_GUARD) != NULL;
    return keeps && shape_is_straight(texts, each->blocks[0]) ? each : NULL;
}

/* The vector that a comprehension is over; 0 if it is over something else. */
static CoreVar find_source(const FunctionTexts *texts, const CoreStatement *each)
{
    const CoreStatement *sequence = find_delayed_op(texts, &each->arguments[0], OP_SEQ);
    const VariableShape *vector = sequence == NULL ? NULL : shape_of(texts, &sequence->arguments[0]);
    return vector == NULL || vector->is_delayed ? 0 : sequence->arguments[0].variable;
}

/* Whether a body needs nothing that a block binds from a statement on. */
static bool is_known_before(const CoreBlock *block, uint32_t first, const CoreBlock *body)
{
    for (uint32_t i = first; i < block->statement_count; i++)
        if (shape_count_uses(body, block->statements[i].target) > 0)
            return false;
    return true;
}

/* Whether a vector is made where it is used, if it is not made before: as part of another one. */
static bool is_made_later(const CoreBlock *block, CoreVar variable)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *user = &block->statements[i];
        bool appends = user->kind == CORE_OP && (user->op == OP_APPEND || user->op == OP_CONS || user->op == OP_SNOC);
        if (shape_uses(user, variable))
            return appends;
    }
    return false;
}

/* Finds those that are made with the one that a statement makes. */
static void mark_with(FunctionTexts *texts, const CoreBlock *block, uint32_t first)
{
    const CoreStatement *table = &block->statements[first], *each = find_comprehension(texts, table, 1);
    VariableShape *last = &texts->shapes[table->target];
    CoreVar source = each == NULL || last->is_delayed || last->made_with != 0 ? 0 : find_source(texts, each);
    for (uint32_t i = first + 1; i < block->statement_count && source != 0; i++) {
        const CoreStatement *other = &block->statements[i], *other_each = find_comprehension(texts, other, 1);
        VariableShape *shape = &texts->shapes[other->target];
        bool is_alike = other_each != NULL && shape->made_with == 0 && find_source(texts, other_each) == source && is_known_before(block, first, other_each->blocks[0]);
        if (!is_alike || (shape->is_delayed && !is_made_later(block, other->target)))
            continue;
        shape->is_delayed = false;
        shape->made_with = table->target;
        last->made_next = other->target;
        last = shape;
    }
}

/* ---- reductions with them ---- */

/* Where a reduction stands that is to be done with a filter. */
typedef struct FoldPlace {
    const CoreBlock *block; /* the filter's, */
    uint32_t first;         /* ... and its number there */
    const CoreBlock *inner; /* the reduction's: the same, or one in it */
    CoreVar source;
} FoldPlace;

static bool binds(const CoreBlock *block, uint32_t first, CoreVar variable)
{
    for (uint32_t i = first; i < block->statement_count; i++)
        if (block->statements[i].target == variable)
            return true;
    return false;
}

static bool is_length_of_source(const FunctionTexts *texts, const FoldPlace *place, const CoreAtom *atom)
{
    const VariableShape *shape = shape_of(texts, atom);
    const CoreStatement *definition = shape == NULL ? NULL : shape->definition;
    return definition != NULL && definition->kind == CORE_OP && definition->op == OP_LENGTH && shape_is_variable(&definition->arguments[0], place->source) &&
           !binds(place->block, place->first, atom->variable) && !binds(place->inner, 0, atom->variable);
}

/* Whether a body can be part of a loop where the filter is: nothing in it fails, and all it needs is there. */
static bool can_be_moved(const FunctionTexts *texts, const FoldPlace *place, const CoreBlock *body)
{
    return shape_is_straight(texts, body) && shape_is_light(texts, body) && shape_cannot_fail(texts, body) && is_known_before(place->block, place->first, body) &&
           (place->inner == place->block || is_known_before(place->inner, 0, body));
}

/* Whether a sequence, or a vector that is not made, has an element for each of the source, and computing them is light. */
static bool goes_along(const FunctionTexts *texts, const FoldPlace *place, const CoreAtom *atom)
{
    if (shape_is_variable(atom, place->source))
        return true;
    const VariableShape *shape = shape_of(texts, atom);
    const CoreStatement *definition = shape != NULL && shape->is_delayed && shape->member == 0 ? shape->definition : NULL;
    if (definition == NULL)
        return false;
    if (definition->kind == CORE_OP && (definition->op == OP_SEQ || definition->op == OP_TAB))
        return goes_along(texts, place, &definition->arguments[0]);
    if (definition->kind == CORE_OP && definition->op == OP_INDICES)
        return is_length_of_source(texts, place, &definition->arguments[0]);
    if (definition->kind != CORE_EACH || !can_be_moved(texts, place, definition->blocks[0]))
        return false;
    for (uint32_t i = 0; i < definition->argument_count; i++)
        if (!goes_along(texts, place, &definition->arguments[i]))
            return false;
    return true;
}

static bool is_fold_along(const FunctionTexts *texts, const FoldPlace *place, const CoreStatement *statement)
{
    Pick pick;
    return statement->kind == CORE_OP && statement->op == OP_REDUCE && statement->function != 0 && statement->captured_count == 0 &&
           texts->shapes[statement->target].made_with == 0 && !texts->program->functions.items[statement->function]->is_recursive &&
           fold_find_pick(texts, texts->program->functions.items[statement->function]->body, &pick) && goes_along(texts, place, &statement->arguments[1]);
}

/* A reduction after the filter, or in a branch there: if that is not taken it was in vain, and has cost about as much as the filter. */
static const CoreStatement *find_fold_along(const FunctionTexts *texts, FoldPlace *place)
{
    place->inner = place->block;
    for (uint32_t i = place->first + 1; i < place->block->statement_count; i++)
        if (is_fold_along(texts, place, &place->block->statements[i]))
            return &place->block->statements[i];
    for (uint32_t i = place->first + 1; i < place->block->statement_count; i++)
        for (uint32_t b = 0; b < 2 && place->block->statements[i].kind == CORE_IF; b++) {
            place->inner = place->block->statements[i].blocks[b];
            for (uint32_t k = 0; k < place->inner->statement_count; k++)
                if (is_fold_along(texts, place, &place->inner->statements[k]))
                    return &place->inner->statements[k];
        }
    return NULL;
}

static void mark_fold(FunctionTexts *texts, const CoreBlock *block, uint32_t first)
{
    const CoreStatement *table = &block->statements[first], *each = find_comprehension(texts, table, 2);
    VariableShape *shape = &texts->shapes[table->target];
    if (each == NULL || shape->is_delayed || shape->made_with != 0)
        return;
    FoldPlace place = {.block = block, .first = first, .source = find_source(texts, each)};
    shape->fold = place.source == 0 ? NULL : find_fold_along(texts, &place);
    if (shape->fold != NULL)
        texts->shapes[shape->fold->target].made_with = table->target;
}

void filters_mark(FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        mark_with(texts, block, i);
        mark_fold(texts, block, i);
        for (uint32_t b = 0; b < 2; b++)
            if (block->statements[i].blocks[b] != NULL)
                filters_mark(texts, block->statements[i].blocks[b]);
    }
}

/* ---- vectors that are made ---- */

/* The elements that are gone over: all, or those of a thread's part. */
typedef struct Range {
    const char *first, *end, *room; /* ... and how many that are */
    bool is_shared;
    Share share;
} Range;

static Range begin_range(Writer *writer, const Traversal *traversal, bool may_share)
{
    const char *most = sequence_most(traversal);
    Range range = {.first = "0", .end = most, .room = most, .is_shared = may_share && share_is_possible(writer, traversal)};
    if (range.is_shared) {
        range.share = share_begin(writer, traversal, most, "KERNEL_LINE");
        range.first = range.share.first;
        range.end = range.share.end;
        range.room = arena_format(writer->arena, "%s - %s", range.end, range.first);
    }
    return range;
}

/* A filter that is being written. */
typedef struct Filter {
    Sink sink;         /* flags say which elements are kept, and those are put together later */
    Store to;
    Store tile;        /* where the elements at hand are meanwhile, */
    const char **kept; /* ... unless they are cells of a vector, which these words point to */
    const char *first; /* index of the first element at hand */
    const char *flags;
    const char *room;  /* elements that there is room for */
} Filter;

static void begin_count(Writer *writer, Filter *filter)
{
    filter->to.count = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", filter->to.count);
}

static void begin_filter(Writer *writer, const FilterSource *source, Filter *filter, const char *room)
{
    filter->to.array = vectors_new_array(writer, source->region, filter->to.elements, room, filter->to.cells);
    begin_count(writer, filter);
}

/* What all threads have kept. */
static void end_range(Writer *writer, const Range *range, Filter *filters, uint32_t count)
{
    if (!range->is_shared)
        return;
    for (uint32_t i = 0; i < count; i++)
        filters[i].to.array = share_join_parts(writer, filters[i].to.region, filters[i].to.array, filters[i].to.count, filters[i].to.elements);
    share_end(writer, &range->share);
}

static void end_filter(Writer *writer, const Filter *filter)
{
    write_line(writer, "kernel_array_end(%s, %s, %s, %s);", filter->to.region, filter->to.array, filter->to.count, vectors_sizes(writer, filter->to.elements));
}

static void take_flag(Writer *writer, Sink *sink, Element element, const char *condition)
{
    const Filter *filter = (const Filter *)(const void *)sink;
    const char *place = arena_format(writer->arena, "%s - %s", sink->index, filter->first);
    if (filter->kept == NULL)
        vectors_store(writer, &filter->tile, element, place);
    write_line(writer, "%s[%s] = %s;", filter->flags, place, condition);
}

static Filter new_filter(const Writer *writer, const FilterSource *source)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, source->type));
    Filter filter = {.to = {.elements = elements, .region = source->region}, .tile = {.elements = elements}};
    filter.sink = (Sink){.take_if = take_flag, .is_straight = true, .region = source->region};
    filter.to.sink = (Sink){.take_if = vectors_take_next_if, .is_straight = true, .region = source->region};
    filter.to.cells = ARENA_ARRAY(writer->arena, const char *, elements->count);
    filter.kept = sequence_kept_cells(writer, source->traversal);
    return filter;
}

/* ---- in tiles ----
 * A loop that takes long is done for some elements, then those that are kept are packed. */

static void declare_tile(Writer *writer, Filter *filter)
{
    const Layout *elements = filter->tile.elements;
    filter->flags = write_word(writer, 0);
    filter->tile.cells = ARENA_ARRAY(writer->arena, const char *, elements->count);
    for (uint32_t i = 0; i < elements->count && filter->kept == NULL; i++) {
        filter->tile.cells[i] = write_word(writer, 0);
        write_line(writer, "%s %s[KERNEL_PACK];", write_leaf_type(elements->leaves[i].type), filter->tile.cells[i]);
    }
    write_line(writer, "uint8_t %s[KERNEL_PACK];", filter->flags);
}

static void pack_tile(Writer *writer, const Filter *filter, const char *most, const char *end)
{
    for (uint32_t i = 0; i < filter->to.elements->count; i++) {
        const char *from = filter->kept == NULL ? filter->tile.cells[i] : arena_format(writer->arena, "%s + %s", filter->kept[i], filter->first);
        write_line(writer, "kernel_pack_%zu(%s + %s, %s, %s, %s - %s, %s - %s);", leaf_size(filter->to.elements->leaves[i].type), filter->to.cells[i], filter->to.count,
                   from, filter->flags, end, filter->first, most, filter->to.count);
    }
    write_line(writer, "%s += kernel_count_kept(%s, %s - %s);", filter->to.count, filter->flags, end, filter->first);
}

static void write_tiles(Writer *writer, const FilterSource *source, const Range *range, Filter *filter)
{
    const char *first = filter->first = write_word(writer, 0), *end = write_word(writer, 0);
    reduce_open_strips(writer, first, range->first, range->end, "KERNEL_PACK", end);
    declare_tile(writer, filter);
    sequence_traverse_part(writer, source->traversal, &filter->sink, first, end);
    pack_tile(writer, filter, range->room, end);
    write_close_brace(writer);
}

static void make_in_tiles(Writer *writer, const FilterSource *source, Filter *filter)
{
    Range range = begin_range(writer, source->traversal, true);
    begin_filter(writer, source, filter, range.room);
    write_open_brace(writer, arena_format(writer->arena, "if (KERNEL_PACKS && %s >= KERNEL_PACK_LEAST)", range.room));
    write_tiles(writer, source, &range, filter);
    write_else(writer);
    if (range.is_shared)
        sequence_traverse_part(writer, source->traversal, &filter->to.sink, range.first, range.end);
    else
        sequence_traverse(writer, source->traversal, &filter->to.sink);
    write_close_brace(writer);
    end_filter(writer, filter);
    end_range(writer, &range, filter, 1);
}

/* ---- in groups ----
 * Light loops are done for as many elements as a register has, and what is kept stays in registers until it is stored. Several long ones are done twice, to begin with so as to know
 * how many elements each keeps. */

/* Filters in one loop. */
typedef struct Group {
    const FilterSource *sources;
    Filter *filters;
    uint32_t count;
    size_t cell; /* bytes of the smallest: flags are as large, and there are as many elements in a group as a register has of them */
} Group;

typedef Sink *SinkOf(Filter *filter);

static Sink *store_of(Filter *filter)
{
    return &filter->to.sink;
}

static Sink *flags_of(Filter *filter)
{
    return &filter->sink;
}

static void traverse(Writer *writer, const Group *group, SinkOf *sink_of, const char *first, const char *end)
{
    Traversal **traversals = ARENA_ARRAY(writer->arena, Traversal *, group->count);
    Sink **sinks = ARENA_ARRAY(writer->arena, Sink *, group->count);
    for (uint32_t i = 0; i < group->count; i++) {
        traversals[i] = group->sources[i].traversal;
        sinks[i] = sink_of(&group->filters[i]);
    }
    sequence_traverse_filters(writer, traversals, sinks, group->count, first, end);
}

static void take_count(Writer *writer, Sink *sink, Element element, const char *condition)
{
    (void)element;
    write_line(writer, "%s += %s;", ((const Filter *)(const void *)sink)->room, condition);
}

/* What a single one does not need of its room is given back in the end anyway. */
static void write_rooms(Writer *writer, const Group *group, const Range *range)
{
    if (group->count == 1) {
        group->filters[0].room = range->room;
        return;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        group->filters[i].room = write_word(writer, 0);
        group->filters[i].sink.take_if = take_count;
        write_line(writer, "int64_t %s = %s < KERNEL_COUNT_LEAST ? %s : 0;", group->filters[i].room, range->room, range->room);
    }
    write_open_brace(writer, arena_format(writer->arena, "if (%s >= KERNEL_COUNT_LEAST)", range->room));
    traverse(writer, group, flags_of, range->first, range->end);
    write_close_brace(writer);
}

static void pack_group(Writer *writer, const Filter *filter, size_t cell)
{
    const char *bits = write_word(writer, 0);
    write_line(writer, "const uint64_t %s = kernel_bits_%zu(%s);", bits, cell, filter->flags);
    for (uint32_t i = 0; i < filter->to.elements->count; i++)
        write_line(writer, "kernel_keep_%zu(%s + %s, %s + %s, %s, KERNEL_REGISTER / %zu);", leaf_size(filter->to.elements->leaves[i].type), filter->to.cells[i],
                   filter->to.count, filter->kept[i], filter->first, bits, cell);
    write_line(writer, "%s += __builtin_popcountll(%s);", filter->to.count, bits);
}

static void write_groups(Writer *writer, const Group *group, const char *first, const char *most)
{
    const char *lanes = arena_format(writer->arena, "KERNEL_REGISTER / %zu", group->cell);
    write_open_brace(writer, arena_format(writer->arena, "for (; KERNEL_PACKS && %s - %s >= %s; %s += %s)", most, first, lanes, first, lanes));
    for (uint32_t i = 0; i < group->count; i++) {
        Filter *filter = &group->filters[i];
        filter->first = first;
        filter->flags = write_word(writer, 0);
        filter->sink.take_if = take_flag;
        write_line(writer, "int%zu_t %s[%s];", 8 * group->cell, filter->flags, lanes);
    }
    text_add(writer->out, "#pragma GCC unroll 1\n"); /* else it is no loop any more when vectors are looked for */
    traverse(writer, group, flags_of, first, arena_format(writer->arena, "%s + %s", first, lanes));
    for (uint32_t i = 0; i < group->count; i++)
        pack_group(writer, &group->filters[i], group->cell);
    write_close_brace(writer);
}

static size_t smallest_cell(const Layout *elements)
{
    size_t smallest = leaf_size(elements->leaves[0].type);
    for (uint32_t i = 1; i < elements->count; i++)
        smallest = leaf_size(elements->leaves[i].type) < smallest ? leaf_size(elements->leaves[i].type) : smallest;
    return smallest;
}

/* What does not belong to a vector is stored behind what does: a register, at most. */
static const char *room_of(Writer *writer, const Group *group, uint32_t filter)
{
    return arena_format(writer->arena, "%s + KERNEL_REGISTER / %zu", group->filters[filter].room, group->cell);
}

/* One vector gives back what it does not need of its room. Several are taken at once, the first one last, so that it can be released before the others. */
static void begin_group(Writer *writer, const Group *group)
{
    if (group->count == 1) {
        begin_filter(writer, &group->sources[0], &group->filters[0], room_of(writer, group, 0));
        return;
    }
    const char **rooms = ARENA_ARRAY(writer->arena, const char *, group->count), **arrays = ARENA_ARRAY(writer->arena, const char *, group->count);
    const char ***cells = ARENA_ARRAY(writer->arena, const char **, group->count);
    for (uint32_t i = 0; i < group->count; i++) {
        rooms[group->count - 1 - i] = room_of(writer, group, i);
        cells[group->count - 1 - i] = group->filters[i].to.cells;
    }
    vectors_new_arrays(writer, group->sources[0].region, group->filters[0].to.elements, group->count, rooms, arrays, cells);
    for (uint32_t i = 0; i < group->count; i++) {
        group->filters[i].to.array = arrays[group->count - 1 - i];
        begin_count(writer, &group->filters[i]);
    }
}

static void end_group(Writer *writer, const Group *group)
{
    if (group->count == 1) {
        end_filter(writer, &group->filters[0]);
        return;
    }
    for (uint32_t i = 0; i < group->count; i++)
        write_line(writer, "%s->count = (size_t)%s;", group->filters[i].to.array, group->filters[i].to.count);
}

/* Null if there is none, or it cannot be done here after all: then it is done where it stands. */
static const PickedFold *begin_fold(Writer *writer, const CoreStatement *statement, const char *most)
{
    Traversal *traversal = statement == NULL ? NULL : sequence_prepare(writer, &statement->arguments[1]);
    return traversal == NULL || sequence_most(traversal) != most ? NULL : reduce_begin_picking(writer, statement, traversal);
}

/* The groups of a block, then the reduction over it. */
static void write_groups_and_fold(Writer *writer, const Group *group, const PickedFold *fold, const char *first, const char *most)
{
    const char *block = write_word(writer, 0), *end = write_word(writer, 0);
    CoreVar target = group->sources[0].fold->target;
    reduce_open_strips(writer, block, "0", most, "COMBINE_BLOCK", end);
    write_groups(writer, group, first, end);
    reduce_pick_in_block(writer, fold, block, end);
    write_close_brace(writer);
    writer->texts->values[target] = reduce_picked(fold);
    writer->texts->shapes[target].fold_count = most;
}

void filters_end_fold(Writer *writer, const CoreStatement *statement)
{
    reduce_end_picking(writer, statement, writer->texts->values[statement->target], writer->texts->shapes[statement->target].fold_count);
}

/* A reduction along with them goes over all blocks in order, and only the first of several can have scans. */
static bool can_share(const FilterSource *sources, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (!sequence_is_in_parts(sources[i].traversal) || !sequence_is_repeatable(sources[i].traversal))
            return false;
    return sources[0].fold == NULL;
}

static void make_in_groups(Writer *writer, const FilterSource *sources, Filter *filters, uint32_t count)
{
    const char *most = sequence_most(sources[0].traversal), *first = write_word(writer, 0);
    Group group = {sources, filters, count, smallest_cell(filters[0].to.elements)};
    Range range = begin_range(writer, sources[0].traversal, can_share(sources, count));
    write_rooms(writer, &group, &range);
    begin_group(writer, &group);
    write_line(writer, "int64_t %s = %s;", first, range.first);
    const PickedFold *fold = begin_fold(writer, sources[0].fold, most);
    if (fold != NULL)
        write_groups_and_fold(writer, &group, fold, first, most);
    else
        write_groups(writer, &group, first, range.end);
    traverse(writer, &group, store_of, first, range.end);
    end_group(writer, &group);
    end_range(writer, &range, filters, count);
}

void filters_make(Writer *writer, const FilterSource *sources, uint32_t count, const char ***words)
{
    Filter *filters = ARENA_ARRAY(writer->arena, Filter, count);
    for (uint32_t i = 0; i < count; i++)
        filters[i] = new_filter(writer, &sources[i]);
    if (sequence_is_light_filter(writer, sources[0].traversal))
        make_in_groups(writer, sources, filters, count);
    else
        make_in_tiles(writer, &sources[0], &filters[0]);
    for (uint32_t i = 0; i < count; i++)
        words[i] = vectors_words(writer, filters[i].to.array, "0", filters[i].to.count);
}
