/* Filters in an innermost loop: vectors of those elements for which a condition holds.
 *
 * Long ones are packed several elements at a time. Filters of one block over the same vector, as `{e in a | e < p}` and `{e in a | e > p}`, are one loop: all of them are made where the first is. */
#include "kernel/function_vectors.h"

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

/* The comprehension over a vector whose elements a vector keeps, if it is such a one. */
static const CoreStatement *find_comprehension(const FunctionTexts *texts, const CoreStatement *table)
{
    bool is_table = table->kind == CORE_OP && table->op == OP_TAB;
    const CoreStatement *joined = is_table ? find_delayed_op(texts, &table->arguments[0], OP_CONCAT) : NULL;
    const CoreStatement *each = joined == NULL ? NULL : find_delayed(texts, &joined->arguments[0], CORE_EACH);
    bool keeps = each != NULL && each->argument_count == 1 && find_delayed(texts, &each->blocks[0]->result, CORE_GUARD) != NULL;
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
    const CoreStatement *table = &block->statements[first], *each = find_comprehension(texts, table);
    VariableShape *last = &texts->shapes[table->target];
    CoreVar source = each == NULL || last->is_delayed || last->made_with != 0 ? 0 : find_source(texts, each);
    for (uint32_t i = first + 1; i < block->statement_count && source != 0; i++) {
        const CoreStatement *other = &block->statements[i], *other_each = find_comprehension(texts, other);
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

void filters_mark(FunctionTexts *texts, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        mark_with(texts, block, i);
        for (uint32_t b = 0; b < 2; b++)
            if (block->statements[i].blocks[b] != NULL)
                filters_mark(texts, block->statements[i].blocks[b]);
    }
}

/* ---- loops ---- */

/* A filter that is being written. */
typedef struct Filter {
    Sink sink;         /* of a long one: flags say which elements are kept, and those are put together later */
    Store to;
    Store tile;        /* where the elements at hand are meanwhile, */
    const char **kept; /* ... unless they are cells of a vector, which these words point to */
    const char *first; /* index of the first element at hand */
    const char *flags;
} Filter;

static void take_for_packing(Writer *writer, Sink *sink, Element element, const char *condition)
{
    const Filter *filter = (const Filter *)(const void *)sink;
    const char *place = arena_format(writer->arena, "%s - %s", sink->index, filter->first);
    if (filter->kept == NULL)
        vectors_store(writer, &filter->tile, element, place);
    write_line(writer, "%s[%s] = %s;", filter->flags, place, condition);
}

static void begin_filter(Writer *writer, const FilterSource *source, Filter *filter)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, source->type));
    *filter = (Filter){.to = {.elements = elements, .region = source->region}, .tile = {.elements = elements}};
    filter->sink = (Sink){.take_if = take_for_packing, .is_straight = true, .region = source->region};
    filter->kept = sequence_kept_cells(writer, source->traversal);
    filter->to.cells = ARENA_ARRAY(writer->arena, const char *, elements->count);
    filter->to.array = vectors_new_array(writer, source->region, elements, sequence_most(source->traversal), filter->to.cells);
    filter->to.count = write_word(writer, 0);
    filter->to.sink = (Sink){.take_if = vectors_take_next_if, .is_straight = true, .region = source->region};
    write_line(writer, "int64_t %s = 0;", filter->to.count);
}

static void declare_tile(Writer *writer, Filter *filter, const char *first)
{
    const Layout *elements = filter->tile.elements;
    filter->first = first;
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

static void traverse(Writer *writer, const FilterSource *sources, Filter *filters, uint32_t count, bool packs, const char *first, const char *end)
{
    if (count == 1 && packs)
        sequence_traverse_part(writer, sources[0].traversal, &filters[0].sink, first, end);
    else if (count == 1)
        sequence_traverse(writer, sources[0].traversal, &filters[0].to.sink);
    if (count == 1)
        return;
    Traversal **traversals = ARENA_ARRAY(writer->arena, Traversal *, count);
    Sink **sinks = ARENA_ARRAY(writer->arena, Sink *, count);
    for (uint32_t i = 0; i < count; i++) {
        traversals[i] = sources[i].traversal;
        sinks[i] = packs ? &filters[i].sink : &filters[i].to.sink;
    }
    sequence_traverse_filters(writer, traversals, sinks, count, first, end);
}

/* Long filters, several elements at a time. */
static void write_packing(Writer *writer, const FilterSource *sources, Filter *filters, uint32_t count)
{
    const char *first = write_word(writer, 0), *end = write_word(writer, 0), *most = sequence_most(sources[0].traversal);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s; %s += KERNEL_PACK)", first, first, most, first));
    write_line(writer, "const int64_t %s = %s - %s < KERNEL_PACK ? %s : %s + KERNEL_PACK;", end, most, first, most, first);
    for (uint32_t i = 0; i < count; i++)
        declare_tile(writer, &filters[i], first);
    traverse(writer, sources, filters, count, true, first, end);
    for (uint32_t i = 0; i < count; i++)
        pack_tile(writer, &filters[i], most, end);
    write_close_brace(writer);
}

/* Of long ones, those that follow others are moved to where these end. */
static void end_together(Writer *writer, const Filter *filters, uint32_t count)
{
    const char *arrays = write_word(writer, 0);
    Text text;
    text_init(&text, writer->out->memory);
    for (uint32_t i = 0; i < count; i++)
        text_addf(&text, "%s%s", i == 0 ? "" : ", ", filters[i].to.array);
    write_line(writer, "KernelArray *%s[] = {%s};", arrays, text_string(&text));
    text_clear(&text);
    for (uint32_t i = 0; i < count; i++)
        text_addf(&text, "%s%s", i == 0 ? "" : ", ", filters[i].to.count);
    write_line(writer, "kernel_arrays_end(%s, %s, (const int64_t[]){%s}, %u, %s);", filters[0].to.region, arrays, text_string(&text), count,
               vectors_sizes(writer, filters[0].to.elements));
    text_free(&text);
    for (uint32_t i = 0; i < count; i++)
        write_line(writer, "%s = %s[%u];", filters[i].to.array, arrays, i);
}

static void end_one_by_one(Writer *writer, const Filter *filters, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        write_line(writer, "kernel_array_end(%s, %s, %s, %s);", filters[i].to.region, filters[i].to.array, filters[i].to.count, vectors_sizes(writer, filters[i].to.elements));
}

static void end_filters(Writer *writer, const Filter *filters, uint32_t count, const char *most)
{
    if (count > 1) {
        write_open_brace(writer, arena_format(writer->arena, "if (%s >= KERNEL_PACK_LEAST)", most));
        end_together(writer, filters, count);
        write_else(writer);
    }
    end_one_by_one(writer, filters, count);
    if (count > 1)
        write_close_brace(writer);
}

void filters_make(Writer *writer, const FilterSource *sources, uint32_t count, const char ***words)
{
    Filter *filters = ARENA_ARRAY(writer->arena, Filter, count);
    const char *most = sequence_most(sources[0].traversal);
    if (count > 1)
        vectors_fail_if(writer, "!kernel_arrays_fit(%s, %s, %u, %s)", sources[0].region, most, count,
                        vectors_sizes(writer, write_layout(writer, write_element_type(writer, sources[0].type))));
    for (uint32_t i = 0; i < count; i++)
        begin_filter(writer, &sources[i], &filters[i]);
    write_open_brace(writer, arena_format(writer->arena, "if (KERNEL_PACKS && %s >= KERNEL_PACK_LEAST)", most));
    write_packing(writer, sources, filters, count);
    write_else(writer);
    traverse(writer, sources, filters, count, false, "0", most);
    write_close_brace(writer);
    end_filters(writer, filters, count, most);
    for (uint32_t i = 0; i < count; i++)
        words[i] = vectors_words(writer, filters[i].to.array, "0", filters[i].to.count);
}
