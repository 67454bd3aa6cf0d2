/* Statements that make vectors. */
#include "kernel/function_share.h"

#include "kernel/op_text.h"
#include "source/diagnostics.h"

#include <stdarg.h>

_Noreturn void vectors_refuse(Writer *writer)
{
    if (writer->on_refusal == NULL)
        bug("kernels", "a function was accepted and cannot be written");
    longjmp(*writer->on_refusal, 1);
}

void vectors_fail_if(Writer *writer, const char *format, ...)
{
    Text condition;
    text_init(&condition, writer->out->memory);
    va_list arguments;
    va_start(arguments, format);
    text_add_list(&condition, format, arguments);
    va_end(arguments);
    write_line(writer, "if (OP_RARELY(%s))", text_string(&condition));
    write_line(writer, "    return false;");
    text_free(&condition);
}

/* ---- regions ---- */

const char *vectors_region(const Writer *writer, CoreVar variable)
{
    return shape_rises(writer->texts, variable) ? writer->into : writer->aside;
}

const char *vectors_other(const Writer *writer, const char *region)
{
    return region == writer->into ? writer->aside : writer->into;
}

/* ---- arrays ---- */

const char *vectors_sizes(const Writer *writer, const Layout *elements)
{
    Text text;
    text_init(&text, writer->out->memory);
    text_addf(&text, "%u, (const uint8_t[]){", elements->count);
    for (uint32_t i = 0; i < elements->count; i++)
        text_addf(&text, "%s%zu", i == 0 ? "" : ", ", leaf_size(elements->leaves[i].type));
    text_add(&text, "}");
    const char *sizes = arena_text(writer->arena, text_string(&text), text.length);
    text_free(&text);
    return sizes;
}

static void know_cells(Writer *writer, const char *array, uint32_t leaf, const char *cells, const char *stride)
{
    *vec_push(writer->arena, &writer->cells) = (KnownCells){array, leaf, cells, stride, writer->depth};
}

const char *vectors_cells(Writer *writer, const char *array, uint32_t leaf, LeafType type, const char **stride)
{
    for (uint32_t i = 0; i < writer->cells.count; i++) {
        const KnownCells *known = &writer->cells.items[i];
        if (known->array == array && known->leaf == leaf) {
            *stride = known->stride;
            return known->cells;
        }
    }
    const char *cells = write_word(writer, 0);
    *stride = NULL;
    write_line(writer, "%s const *const %s = kernel_cells(%s, %u);", write_leaf_type(type), cells, array, leaf);
    if (!write_is_flat(writer, array)) {
        *stride = write_word(writer, 0);
        write_line(writer, "const int64_t %s = kernel_stride(%s, %u);", *stride, array, leaf);
    }
    know_cells(writer, array, leaf, cells, *stride);
    return cells;
}

/* An array that was just made, unless there was no memory: words for the cells of its columns. */
static void name_cells(Writer *writer, const char *region, const Layout *elements, const char *array, const char **cells)
{
    vectors_fail_if(writer, "%s == NULL", array);
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *type = write_leaf_type(elements->leaves[i].type);
        cells[i] = write_word(writer, 0);
        write_line(writer, "%s *%s = %s->columns[%u].data;", type, cells[i], array, i);
    }
    *vec_push(writer->arena, &writer->made) = (MadeArray){.array = array, .region = region};
}

const char *vectors_new_array(Writer *writer, const char *region, const Layout *elements, const char *count, const char **cells)
{
    const char *array = write_word(writer, 0);
    if (elements->count == 0)
        vectors_refuse(writer);
    write_line(writer, "KernelArray *%s = kernel_array(%s, %s, %s);", array, region, count, vectors_sizes(writer, elements));
    name_cells(writer, region, elements, array, cells);
    return array;
}

void vectors_new_arrays(Writer *writer, const char *region, const Layout *elements, uint32_t count, const char *const *rooms, const char **arrays, const char ***cells)
{
    const char *sizes = vectors_sizes(writer, elements), *memory = write_word(writer, 0), *end = write_word(writer, 0), *bytes = "0";
    const char **places = ARENA_ARRAY(writer->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        places[i] = write_word(writer, 0);
        write_line(writer, "const size_t %s = %s;", places[i], bytes);
        bytes = arena_format(writer->arena, "%s + kernel_array_bytes(%s, %s)", places[i], rooms[i], sizes);
    }
    write_line(writer, "char *const %s = kernel_take(%s, %s);", memory, region, bytes);
    for (uint32_t i = 0; i < count; i++) {
        arrays[i] = write_word(writer, 0);
        write_line(writer, "KernelArray *%s = kernel_array_at(%s, %s, %s, %s);", arrays[i], memory, places[i], rooms[i], sizes);
        name_cells(writer, region, elements, arrays[i], cells[i]);
        MadeArray *made = &writer->made.items[writer->made.count - 1];
        made->place = arena_format(writer->arena, "%s + %s", memory, places[i]);
        made->end = end;
        made->is_last = i + 1 == count;
    }
    write_line(writer, "const char *const %s = %s->top;", end, region);
}

const char **vectors_words(Writer *writer, const char *array, const char *start, const char *length)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, VECTOR_LEAVES);
    words[VECTOR_ARRAY] = array;
    words[VECTOR_START] = start;
    words[VECTOR_LENGTH] = length;
    return words;
}

void vectors_give(Writer *writer, const CoreStatement *statement, const char *array, const char *length)
{
    vectors_fail_if(writer, "%s == NULL", array);
    *vec_push(writer->arena, &writer->made) = (MadeArray){.array = array, .region = vectors_region(writer, statement->target)};
    writer->texts->values[statement->target] = vectors_words(writer, array, "0", length);
}

const char *vectors_canonical(const Writer *writer, LeafType type, const char *word)
{
    if (type == (LeafType)SCALAR_F64)
        return arena_format(writer->arena, "canonical_F64(%s)", word);
    return type == (LeafType)SCALAR_F32 ? arena_format(writer->arena, "canonical_F32(%s)", word) : word;
}

/* ---- elements of vectors, hoisting ---- */

static const char *find_run(const Writer *writer, const char **vector, uint32_t leaf)
{
    for (uint32_t i = 0; i < writer->runs.count; i++) {
        const KnownRun *run = &writer->runs.items[i];
        if (run->array == vector[VECTOR_ARRAY] && run->start == vector[VECTOR_START] && run->length == vector[VECTOR_LENGTH] && run->leaf == leaf)
            return run->cells;
    }
    return NULL;
}

static void write_element(Writer *writer, const CoreStatement *statement)
{
    const CoreAtom *from = &statement->arguments[0];
    if (!from->is_constant && writer->texts->shapes[from->variable].picked != NULL) {
        writer->texts->values[statement->target] = writer->texts->shapes[from->variable].picked[statement->arguments[1].constant.integer];
        return;
    }
    const char **vector = write_atom(writer, &statement->arguments[0]), *index = write_atom(writer, &statement->arguments[1])[0];
    const Layout *elements = write_layout(writer, write_type(writer, statement->target));
    const char **targets = write_new_words(writer, statement->target), *place = write_word(writer, 0);
    bool is_run = elements->count > 0 && find_run(writer, vector, 0) != NULL;
    const char *start = is_run ? "0" : vector[VECTOR_START];
    if (statement->op == OP_INSIDE)
        write_line(writer, "const int64_t %s = %s + %s;", place, start, index);
    else {
        write_line(writer, "const int64_t %s = kernel_index(%s, %s, %s, &failed);", place, index, start, vector[VECTOR_LENGTH]);
        write_check(writer);
    }
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *stride = NULL, *cells = is_run ? find_run(writer, vector, i) : vectors_cells(writer, vector[VECTOR_ARRAY], i, elements->leaves[i].type, &stride);
        write_line(writer, "const %s %s = %s[%s%s%s];", write_leaf_type(elements->leaves[i].type), targets[i], cells, place,
                   stride == NULL ? "" : " * ", stride == NULL ? "" : stride);
    }
}

const char *vectors_run(Writer *writer, const char **vector, uint32_t leaf, LeafType type)
{
    const char *known = find_run(writer, vector, leaf), *cells = known == NULL ? write_word(writer, 0) : known, *c = write_leaf_type(type);
    if (known != NULL)
        return known;
    write_line(writer, "%s const *const %s = kernel_run(%s, %s, %u, sizeof(%s), %s, %s);", c, cells, writer->aside, vector[VECTOR_ARRAY], leaf, c, vector[VECTOR_START],
               vector[VECTOR_LENGTH]);
    vectors_fail_if(writer, "%s == NULL", cells);
    *vec_push(writer->arena, &writer->runs) = (KnownRun){vector[VECTOR_ARRAY], vector[VECTOR_START], vector[VECTOR_LENGTH], leaf, cells, writer->depth};
    return cells;
}

/* In an innermost loop elements lie next to each other: one that stands for all is written out before, unless the loop is too short for that. */
static void hoist_run(Writer *writer, const char **vector, const Layout *elements, const char *turns)
{
    for (uint32_t i = 0; i < elements->count && find_run(writer, vector, i) == NULL; i++) {
        const char *cells = write_word(writer, 0), *type = write_leaf_type(elements->leaves[i].type);
        write_line(writer, "%s const *const %s = kernel_reach(%s, %s, %u, sizeof(%s), %s, %s, %s);", type, cells, writer->aside, vector[VECTOR_ARRAY], i, type,
                   vector[VECTOR_START], vector[VECTOR_LENGTH], turns);
        vectors_fail_if(writer, "%s == NULL", cells);
        *vec_push(writer->arena, &writer->runs) =
            (KnownRun){vector[VECTOR_ARRAY], vector[VECTOR_START], vector[VECTOR_LENGTH], i, cells, writer->depth};
    }
}

static void hoist_vector(Writer *writer, const CoreAtom *atom, const char *turns)
{
    const char **vector = atom->is_constant ? NULL : writer->texts->values[atom->variable];
    if (vector == NULL || !type_is_vector(writer->program->types, atom->type))
        return;
    const Layout *elements = write_layout(writer, write_element_type(writer, atom->type));
    if (turns != NULL && !layout_has_arrays(elements) && !write_is_flat(writer, vector[VECTOR_ARRAY])) {
        hoist_run(writer, vector, elements, turns);
        return;
    }
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *stride;
        vectors_cells(writer, vector[VECTOR_ARRAY], i, elements->leaves[i].type, &stride);
    }
}

static void hoist_block(Writer *writer, const CoreBlock *block, const char *turns)
{
    for (uint32_t i = 0; i < block->statement_count; i++)
        writer->texts->values[block->statements[i].target] = NULL;
    for (uint32_t i = 0; i < block->parameter_count; i++)
        writer->texts->values[block->parameters[i]] = NULL;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        if (shape_takes_element(statement))
            hoist_vector(writer, &statement->arguments[0], turns);
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                hoist_block(writer, statement->blocks[b], turns);
    }
}

/* Vectors of the body have no words yet. */
void vectors_hoist(Writer *writer, const CoreBlock *block, const char *turns)
{
    hoist_block(writer, block, shape_is_straight(writer->texts, block) ? turns : NULL);
}

/* ---- vectors of elements that come from a traversal ---- */

void vectors_store(Writer *writer, const Store *store, Element element, const char *place)
{
    for (uint32_t i = 0; i < store->elements->count; i++) {
        const char *value = element.is_stored ? element.words[i] : vectors_canonical(writer, store->elements->leaves[i].type, element.words[i]);
        write_line(writer, "%s[%s] = %s;", store->cells[i], place, value);
    }
}

static Element made(Writer *writer, Element element)
{
    if (element.atom != NULL)
        element.words = vectors_make(writer, element.atom);
    element.atom = NULL;
    return element;
}

static void take_by_index(Writer *writer, Sink *sink, Element element)
{
    const Store *to = (const Store *)(const void *)sink;
    const char *index = to->first == NULL ? sink->index : arena_format(writer->arena, "%s + %s", to->first, sink->index);
    vectors_store(writer, to, made(writer, element), index);
}

static void make_room(Writer *writer, const Store *to)
{
    if (to->capacity == NULL)
        return;
    write_open_brace(writer, arena_format(writer->arena, "if (%s == %s)", to->count, to->capacity));
    write_line(writer, "%s = kernel_array_grow(%s, %s, %s);", to->array, to->region, to->array, vectors_sizes(writer, to->elements));
    vectors_fail_if(writer, "%s == NULL", to->array);
    write_line(writer, "%s *= 2;", to->capacity);
    for (uint32_t i = 0; i < to->elements->count; i++)
        write_line(writer, "%s = %s->columns[%u].data;", to->cells[i], to->array, i);
    write_close_brace(writer);
}

/* Where the next element of a vector that is made goes. */
static const char *next_place(Writer *writer, Sink *sink)
{
    const Store *to = (const Store *)(const void *)sink;
    if (to->count == NULL)
        return sink->index;
    make_room(writer, to);
    return arena_format(writer->arena, "%s++", to->count);
}

static void take_next(Writer *writer, Sink *sink, Element element)
{
    const Store *to = (const Store *)(const void *)sink;
    element = made(writer, element);
    make_room(writer, to);
    vectors_store(writer, to, element, to->count);
    write_line(writer, "%s++;", to->count);
}

void vectors_take_next_if(Writer *writer, Sink *sink, Element element, const char *condition)
{
    const Store *to = (const Store *)(const void *)sink;
    vectors_store(writer, to, element, to->count);
    write_line(writer, "%s += %s;", to->count, condition);
}

/* A few elements in variables. */
typedef struct Variables {
    Sink sink;
    uint32_t leaves;
    const char ***words;
} Variables;

static void take_into_variables(Writer *writer, Sink *sink, Element element)
{
    const Variables *variables = (const Variables *)(const void *)sink;
    element = made(writer, element);
    for (uint32_t i = 0; i < variables->leaves; i++)
        write_line(writer, "%s = %s;", variables->words[sink->index[0] - '0'][i], element.words[i]);
}

static void pick_elements(Writer *writer, Traversal *traversal, CoreVar target, const char *region)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, write_type(writer, target)));
    uint32_t count = sequence_few(traversal);
    Variables to = {.sink = {.take = take_into_variables, .is_straight = true, .region = region}, .leaves = elements->count};
    to.words = ARENA_ARRAY(writer->arena, const char **, count);
    for (uint32_t k = 0; k < count; k++) {
        to.words[k] = ARENA_ARRAY(writer->arena, const char *, elements->count);
        for (uint32_t i = 0; i < elements->count; i++) {
            to.words[k][i] = write_word(writer, 0);
            write_line(writer, "%s %s;", write_leaf_type(elements->leaves[i].type), to.words[k][i]);
        }
    }
    sequence_traverse(writer, traversal, &to.sink);
    writer->texts->shapes[target].picked = to.words;
}

const char *vectors_shared_array(Writer *writer, const char *region, const Layout *elements, const char *count, const char **copied, const char **cells)
{
    const char *made = write_word(writer, 0), *array = write_word(writer, 0);
    write_line(writer, "KernelArray *%s = kernel_is_first(scalars->call) ? kernel_array(%s, %s, %s) : NULL;", made, region, count, vectors_sizes(writer, elements));
    for (uint32_t i = 0; i < elements->count && copied != NULL; i++) {
        write_line(writer, "if (%s != NULL)", made);
        write_line(writer, "    kernel_copy(%s->columns[%u].data, %s, %u, sizeof(%s), %s, %s);", made, i, copied[VECTOR_ARRAY], i,
                   write_leaf_type(elements->leaves[i].type), copied[VECTOR_START], count);
    }
    write_line(writer, "KernelArray *%s = kernel_shared(scalars->call, %s);", array, made);
    name_cells(writer, region, elements, array, cells);
    writer->made.items[writer->made.count - 1].is_shared = true;
    if (copied != NULL) /* as whoever fills it would */
        share_meet(writer);
    return array;
}

static uint32_t stored_bytes(const Layout *elements)
{
    return elements->count == 1 ? (uint32_t)leaf_size(elements->leaves[0].type) : 0;
}

/* Whether threads are to fill a vector together. */
static bool is_shared(const Writer *writer, const Traversal *traversal, TypeId sequence)
{
    return share_is_possible(writer, traversal) && sequence_is_exact(traversal) && write_layout(writer, write_element_type(writer, sequence))->count > 0;
}

/* A vector that threads fill together. */
static const char **make_shared(Writer *writer, Traversal *traversal, const CoreAtom *sequence, const char *region)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, sequence->type));
    const char *length = sequence_most(traversal);
    Store to = {.elements = elements, .region = region, .cells = ARENA_ARRAY(writer->arena, const char *, elements->count)};
    to.sink = (Sink){.take = take_by_index, .is_straight = true, .is_repeatable = true, .bytes = stored_bytes(elements), .region = region};
    to.array = vectors_shared_array(writer, region, elements, length, NULL, to.cells);
    sequence_traverse_shared(writer, traversal, &to.sink);
    share_meet(writer);
    return vectors_words(writer, to.array, "0", length);
}

static bool is_filter(Writer *writer, const Traversal *traversal, TypeId type)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, type));
    return sequence_most(traversal) != NULL && !sequence_is_exact(traversal) && elements->count > 0 && !layout_has_arrays(elements) && sequence_is_filter(writer, traversal);
}

/* Elements that calls give, the large ones when all are known: what they need is kept until then. */
static void make_by_calls(Writer *writer, Traversal *traversal, Store *to, const CoreStatement *call)
{
    const char *other = vectors_other(writer, to->region), *mark = write_word(writer, 0);
    LaterCalls *later = forks_begin_later(writer, call, other);
    later->is_for_large = true;
    to->sink.later = later;
    write_line(writer, "const KernelMark %s = kernel_mark(%s);", mark, other);
    sequence_traverse(writer, traversal, &to->sink);
    forks_end_later(writer, to);
    write_line(writer, "kernel_release(%s, %s);", other, mark);
}

/* An array in a window (kernel/function_windows.c). */
static const char *place_array(Writer *writer, const char *place, const char *region, const Layout *elements, const char *count, const char **cells)
{
    const char *array = write_word(writer, 0);
    write_line(writer, "KernelArray *%s = kernel_window_array(%s, %s, %s, %s);", array, region, place, count, vectors_sizes(writer, elements));
    name_cells(writer, region, elements, array, cells);
    return array;
}

/* The vector of what a traversal gives; `place` is where in a window it is made, or null. */
static const char **make_vector(Writer *writer, Traversal *traversal, const CoreAtom *sequence, const char *region, const char *place)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, sequence->type));
    const char *most = sequence_most(traversal), **words;
    if (place == NULL && is_shared(writer, traversal, sequence->type))
        return make_shared(writer, traversal, sequence, region);
    if (is_filter(writer, traversal, sequence->type)) {
        filters_make(writer, &(FilterSource){.traversal = traversal, .type = sequence->type, .region = region}, 1, &words);
        return words;
    }
    bool is_exact = sequence_is_exact(traversal);
    Store to = {.elements = elements, .region = region, .cells = ARENA_ARRAY(writer->arena, const char *, elements->count)};
    to.sink = (Sink){.take = is_exact ? take_by_index : take_next, .is_straight = most != NULL, .is_repeatable = is_exact, .bytes = is_exact ? stored_bytes(elements) : 0,
                     .region = region, .place = next_place};
    if (place != NULL)
        to.array = place_array(writer, place, region, elements, most, to.cells);
    else
        to.array = vectors_new_array(writer, region, elements, most == NULL ? "KERNEL_GROWTH" : most, to.cells);
    if (!is_exact) {
        to.count = write_word(writer, 0);
        write_line(writer, "int64_t %s = 0;", to.count);
    }
    if (most == NULL) {
        to.capacity = write_word(writer, 0);
        write_line(writer, "int64_t %s = KERNEL_GROWTH;", to.capacity);
    } else if (!is_exact)
        to.sink.take_if = vectors_take_next_if;
    const CoreStatement *call = sequence_element_call(writer, traversal, sequence);
    if (call == NULL)
        sequence_traverse(writer, traversal, &to.sink);
    else
        make_by_calls(writer, traversal, &to, call);
    if (!is_exact)
        write_line(writer, "kernel_array_end(%s, %s, %s, %s);", region, to.array, to.count, vectors_sizes(writer, elements));
    return vectors_words(writer, to.array, "0", is_exact ? most : to.count);
}

const char **vectors_make(Writer *writer, const CoreAtom *atom)
{
    const char **words = atom->is_constant ? NULL : writer->texts->values[atom->variable];
    if (words != NULL || atom->is_constant || !writer->texts->shapes[atom->variable].is_delayed)
        return write_atom(writer, atom);
    words = make_vector(writer, sequence_prepare(writer, atom), atom, vectors_region(writer, atom->variable), NULL);
    writer->texts->values[atom->variable] = words;
    *vec_push(writer->arena, &writer->made_late) = (MadeLate){atom->variable, writer->depth};
    return words;
}

static bool is_delayed(const Writer *writer, const CoreAtom *atom)
{
    return !atom->is_constant && writer->texts->values[atom->variable] == NULL && writer->texts->shapes[atom->variable].is_delayed;
}

/* What is made with a filter is made anew: the block may be written more than once. */
static void forget_made_with(Writer *writer, CoreVar filter)
{
    const VariableShape *shape = &writer->texts->shapes[filter];
    if (shape->fold != NULL)
        writer->texts->values[shape->fold->target] = NULL;
    for (CoreVar target = shape->made_next; target != 0; target = writer->texts->shapes[target].made_next)
        writer->texts->values[target] = NULL;
}

/* Several filters where the first of them is made, and a reduction; false if they are to be made one by one. */
static bool make_together(Writer *writer, const CoreStatement *statement, Traversal *traversal)
{
    enum { FILTERS_MAX = 8 };
    FilterSource sources[FILTERS_MAX] = {{0}};
    CoreVar targets[FILTERS_MAX];
    const char **words[FILTERS_MAX];
    uint32_t count = 0;
    const Layout *elements = write_layout(writer, write_element_type(writer, write_type(writer, statement->target)));
    for (CoreVar target = statement->target; target != 0 && count < FILTERS_MAX; target = writer->texts->shapes[target].made_next) {
        const CoreAtom *filter = &writer->texts->shapes[target].definition->arguments[0];
        traversal = count == 0 ? traversal : sequence_prepare(writer, filter);
        bool is_alike = count == 0 || (sequence_most(traversal) == sequence_most(sources[0].traversal) && vectors_region(writer, target) == sources[0].region &&
                                       write_layout(writer, write_element_type(writer, filter->type)) == elements);
        if (!is_alike || !is_filter(writer, traversal, filter->type) || !sequence_is_light_filter(writer, traversal))
            return false;
        sources[count] = (FilterSource){traversal, filter->type, vectors_region(writer, target), writer->texts->shapes[target].fold};
        targets[count++] = target;
    }
    filters_make(writer, sources, count, words);
    for (uint32_t i = 0; i < count; i++)
        writer->texts->values[targets[i]] = words[i];
    return true;
}

static void write_tab(Writer *writer, const CoreStatement *statement)
{
    const CoreAtom *argument = &statement->arguments[0];
    const char *region = vectors_region(writer, statement->target);
    const VariableShape *shape = &writer->texts->shapes[statement->target];
    forget_made_with(writer, statement->target);
    if (!is_delayed(writer, argument)) {
        writer->texts->values[statement->target] = write_atom(writer, argument);
        return;
    }
    Traversal *traversal = sequence_prepare(writer, argument);
    const CoreBlock *body = function_text_body(writer->texts, writer->function);
    if (!is_shared(writer, traversal, argument->type) && (shape->made_next != 0 || shape->fold != NULL) && make_together(writer, statement, traversal))
        return;
    if (sequence_few(traversal) > 0 && shape_is_picked(body, statement->target, sequence_few(traversal)))
        pick_elements(writer, traversal, statement->target, region);
    else
        writer->texts->values[statement->target] = make_vector(writer, traversal, argument, region, shape->place);
}

static void write_make(Writer *writer, const CoreStatement *statement)
{
    TypeId type = write_type(writer, statement->target);
    const Layout *elements = write_layout(writer, write_element_type(writer, type));
    Store to = {.elements = elements, .cells = ARENA_ARRAY(writer->arena, const char *, elements->count)};
    const char ***words = ARENA_ARRAY(writer->arena, const char **, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        words[i] = write_atom(writer, &statement->arguments[i]);
    const char *count = arena_format(writer->arena, "%u", statement->argument_count);
    to.array = vectors_new_array(writer, vectors_region(writer, statement->target), elements, count, to.cells);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        vectors_store(writer, &to, (Element){.words = words[i]}, arena_format(writer->arena, "%u", i));
    writer->texts->values[statement->target] = vectors_words(writer, to.array, "0", count);
}

/* ---- appended vectors ---- */

enum { PARTS_MAX = 64 };

/* A run of the elements of a vector that is there, or what a traversal gives, or elements that are known. */
typedef struct Part {
    const char *length;
    const char **words;
    Traversal *traversal;
    const char ***elements;
    uint32_t element_count;
} Part;

typedef struct Parts {
    Part items[PARTS_MAX];
    uint32_t count;
} Parts;

static Part *add_part(Writer *writer, Parts *parts)
{
    if (parts->count == PARTS_MAX) {
        vectors_refuse(writer);
        parts->count--;
    }
    parts->items[parts->count] = (Part){0};
    return &parts->items[parts->count++];
}

static void add_elements(Writer *writer, Parts *parts, const CoreAtom *atoms, uint32_t count)
{
    Part *part = add_part(writer, parts);
    part->length = arena_format(writer->arena, "%u", count);
    part->elements = ARENA_ARRAY(writer->arena, const char **, count);
    part->element_count = count;
    for (uint32_t i = 0; i < count; i++)
        part->elements[i] = write_atom(writer, &atoms[i]);
}

static void add_words(Writer *writer, Parts *parts, const char *array, const char *start, const char *length)
{
    Part *part = add_part(writer, parts);
    part->words = vectors_words(writer, array, start, length);
    part->length = length;
}

static void add_vector(Writer *writer, Parts *parts, const CoreAtom *atom)
{
    const CoreStatement *definition = is_delayed(writer, atom) ? writer->texts->shapes[atom->variable].definition : NULL;
    if (definition != NULL && definition->kind == CORE_OP && definition->op == OP_APPEND) {
        add_vector(writer, parts, &definition->arguments[0]);
        add_vector(writer, parts, &definition->arguments[1]);
    } else if (definition != NULL && definition->kind == CORE_MAKE) {
        add_elements(writer, parts, definition->arguments, definition->argument_count);
    } else if (definition != NULL && shape_steps(writer->texts, atom)) {
        Part *part = add_part(writer, parts);
        part->traversal = sequence_prepare(writer, atom);
        part->length = sequence_most(part->traversal);
        vectors_fail_if(writer, "%s > KERNEL_COUNT_MAX", part->length); /* the sum does not wrap */
    } else {
        const char **words = vectors_make(writer, atom);
        add_words(writer, parts, words[VECTOR_ARRAY], words[VECTOR_START], words[VECTOR_LENGTH]);
    }
}

/* All but one element of a vector, and another one before them or after. */
static void add_shifted(Writer *writer, Parts *parts, const CoreStatement *statement)
{
    bool is_next = statement->op == OP_NEXT;
    const char **vector = vectors_make(writer, &statement->arguments[0]), *one = write_word(writer, 0), *start = write_word(writer, 0), *rest = write_word(writer, 0);
    write_line(writer, "const int64_t %s = %s > 0;", one, vector[VECTOR_LENGTH]);
    write_line(writer, "const int64_t %s = %s + %s;", start, vector[VECTOR_START], is_next ? one : "0");
    write_line(writer, "const int64_t %s = %s - %s;", rest, vector[VECTOR_LENGTH], one);
    if (is_next)
        add_words(writer, parts, vector[VECTOR_ARRAY], start, rest);
    add_elements(writer, parts, &statement->arguments[1], 1);
    parts->items[parts->count - 1].length = one; /* there is room for it also where it does not count */
    if (!is_next)
        add_words(writer, parts, vector[VECTOR_ARRAY], start, rest);
}

static void write_part(Writer *writer, Store *to, const Part *part)
{
    if (part->traversal != NULL)
        sequence_traverse(writer, part->traversal, &to->sink);
    for (uint32_t i = 0; i < part->element_count; i++)
        vectors_store(writer, to, (Element){.words = part->elements[i]}, arena_format(writer->arena, "%s + %u", to->first, i));
    for (uint32_t i = 0; i < to->elements->count && part->words != NULL; i++)
        write_line(writer, "kernel_copy(%s + %s, %s, %u, sizeof(%s), %s, %s);", to->cells[i], to->first, part->words[VECTOR_ARRAY], i,
                   write_leaf_type(to->elements->leaves[i].type), part->words[VECTOR_START], part->length);
}

/* The same by all threads, but for single elements. */
static void write_shared_part(Writer *writer, Store *to, const Part *part)
{
    if (part->traversal != NULL) {
        sequence_traverse_shared(writer, part->traversal, &to->sink);
        return;
    }
    if (part->words == NULL) {
        write_open_brace(writer, "if (kernel_is_first(scalars->call))");
        write_part(writer, to, part);
        write_close_brace(writer);
        return;
    }
    Share share = share_begin(writer, NULL, part->length, "KERNEL_LINE");
    for (uint32_t i = 0; i < to->elements->count; i++)
        write_line(writer, "kernel_copy(%s + %s + %s, %s, %u, sizeof(%s), %s + %s, %s - %s);", to->cells[i], to->first, share.first, part->words[VECTOR_ARRAY], i,
                   write_leaf_type(to->elements->leaves[i].type), part->words[VECTOR_START], share.first, share.end, share.first);
    share_end(writer, &share);
}

static bool are_shareable(const Writer *writer, const Parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (parts->items[i].traversal != NULL && !sequence_is_shareable(parts->items[i].traversal))
            return false;
    return share_is_open(writer);
}

static void write_parts(Writer *writer, const CoreStatement *statement, const Parts *parts)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, write_type(writer, statement->target)));
    const char *region = vectors_region(writer, statement->target), *length = write_word(writer, 0);
    Store to = {.elements = elements, .region = region, .cells = ARENA_ARRAY(writer->arena, const char *, elements->count)};
    to.sink = (Sink){.take = take_by_index, .is_straight = true, .region = region};
    to.first = write_word(writer, 0);
    write_line(writer, "int64_t %s = %s;", length, parts->items[0].length);
    for (uint32_t i = 1; i < parts->count; i++)
        write_line(writer, "%s += %s;", length, parts->items[i].length);
    bool is_shared = are_shareable(writer, parts);
    to.array = is_shared ? vectors_shared_array(writer, region, elements, length, NULL, to.cells) : vectors_new_array(writer, region, elements, length, to.cells);
    write_line(writer, "int64_t %s = 0;", to.first);
    for (uint32_t i = 0; i < parts->count; i++) {
        (is_shared ? write_shared_part : write_part)(writer, &to, &parts->items[i]);
        if (i + 1 < parts->count)
            write_line(writer, "%s += %s;", to.first, parts->items[i].length);
    }
    if (is_shared)
        share_meet(writer);
    else
        writer->has_unshared |= writer->loops == 0;
    writer->texts->values[statement->target] = vectors_words(writer, to.array, "0", length);
}

static void write_append(Writer *writer, const CoreStatement *statement)
{
    Parts parts = {.count = 0};
    switch ((int)statement->op) {
    case OP_APPEND:
        add_vector(writer, &parts, &statement->arguments[0]);
        add_vector(writer, &parts, &statement->arguments[1]);
        break;
    case OP_CONS:
        add_elements(writer, &parts, &statement->arguments[0], 1);
        add_vector(writer, &parts, &statement->arguments[1]);
        break;
    case OP_SNOC:
        add_vector(writer, &parts, &statement->arguments[0]);
        add_elements(writer, &parts, &statement->arguments[1], 1);
        break;
    default: add_shifted(writer, &parts, statement); break;
    }
    write_parts(writer, statement, &parts);
}

/* ---- texts ---- */

static void write_text(Writer *writer, const CoreStatement *statement)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, write_type(writer, statement->target)));
    const char *cells[1], *length = arena_format(writer->arena, "%u", statement->text_length);
    const char *array = vectors_new_array(writer, vectors_region(writer, statement->target), elements, length, cells);
    Text text;
    text_init(&text, writer->out->memory);
    for (uint32_t i = 0; i < statement->text_length; i++)
        text_addf(&text, "\\%03o", (unsigned)(unsigned char)statement->text[i]);
    write_line(writer, "memcpy(%s, \"%s\", %s);", cells[0], text_string(&text), length);
    text_free(&text);
    writer->texts->values[statement->target] = vectors_words(writer, array, "0", length);
}

/* ---- statements ---- */

static void write_the(Writer *writer, const CoreStatement *statement)
{
    const char **vector = vectors_make(writer, &statement->arguments[0]), **targets = write_new_words(writer, statement->target);
    const Layout *elements = write_layout(writer, write_type(writer, statement->target));
    vectors_fail_if(writer, "%s != 1", vector[VECTOR_LENGTH]);
    for (uint32_t i = 0; i < elements->count; i++) {
        const char *stride, *cells = vectors_cells(writer, vector[VECTOR_ARRAY], i, elements->leaves[i].type, &stride);
        write_line(writer, "const %s %s = %s[%s%s%s];", write_leaf_type(elements->leaves[i].type), targets[i], cells, vector[VECTOR_START],
                   stride == NULL ? "" : " * ", stride == NULL ? "" : stride);
    }
}

static void write_empty(Writer *writer, const CoreStatement *statement)
{
    const char **vector = vectors_make(writer, &statement->arguments[0]);
    write_line(writer, "const uint8_t %s = %s == 0;", write_new_words(writer, statement->target)[0], vector[VECTOR_LENGTH]);
}

static bool write_op(Writer *writer, const CoreStatement *statement)
{
    const Types *types = writer->program->types;
    const CoreAtom *first = statement->argument_count == 0 ? NULL : &statement->arguments[0];
    switch ((int)statement->op) {
    case OP_ELEMENT:
    case OP_INSIDE: write_element(writer, statement); return true;
    case OP_SEQ:
    case OP_TAB: write_tab(writer, statement); return true;
    case OP_THE: write_the(writer, statement); return true;
    case OP_EMPTY: write_empty(writer, statement); return true;
    case OP_APPEND:
    case OP_CONS:
    case OP_SNOC:
    case OP_PREVIOUS:
    case OP_NEXT: write_append(writer, statement); return true;
    case OP_SLICE:
    case OP_SUBSEQ:
    case OP_TAKE:
    case OP_DROP:
    case OP_CHECKED_INDEX: return false;
    case OP_LENGTH:
        if (!is_delayed(writer, first))
            return false;
        break;
    default: break;
    }
    bool had_unshared = writer->has_unshared;
    if (reduce_write(writer, statement)) {
        writer->has_repeated |= writer->has_unshared && !had_unshared;
        writer->has_unshared = had_unshared;
        return true;
    }
    if (moves_write(writer, statement))
        return true;
    bool is_scalar = type_is_scalar(types, write_type(writer, statement->target)) && (first == NULL || type_is_scalar(types, first->type));
    if (is_scalar && op_text_exists(statement->op, first == NULL ? type_scalar(types, write_type(writer, statement->target)) : type_scalar(types, first->type),
                                    type_scalar(types, write_type(writer, statement->target))))
        return false;
    write_new_words(writer, statement->target);
    vectors_refuse(writer);
    return true;
}

/* What could be traversed is wanted as a whole. */
static void write_traversed(Writer *writer, const CoreStatement *statement)
{
    VariableShape *shape = &writer->texts->shapes[statement->target];
    CoreAtom target = {.type = write_type(writer, statement->target), .variable = statement->target};
    shape->is_delayed = true;
    const char **words = make_vector(writer, sequence_prepare(writer, &target), &target, vectors_region(writer, statement->target), NULL);
    shape->is_delayed = false;
    writer->texts->values[statement->target] = words;
}

bool vectors_write_statement(Writer *writer, const CoreStatement *statement)
{
    if (writer->texts->shapes[statement->target].made_with != 0 && writer->texts->values[statement->target] != NULL) {
        if (statement->op == OP_REDUCE)
            filters_end_fold(writer, statement);
        return true;
    }
    writer->texts->values[statement->target] = NULL;
    const DecidedCondition *decided = write_find_decided(writer, statement->target);
    if (decided != NULL) {
        const CoreAtom known = core_bool(decided->is_true);
        writer->texts->values[statement->target] = write_atom(writer, &known);
        return true;
    }
    const VariableShape *shape = &writer->texts->shapes[statement->target];
    if (shape->is_delayed || shape->is_joined || shape->is_late || shape->read_by != NULL)
        return true;
    if (shape_is_traversable(writer->texts, statement)) {
        write_traversed(writer, statement);
        return true;
    }
    switch (statement->kind) {
    case CORE_OP: return write_op(writer, statement);
    case CORE_MAKE: write_make(writer, statement); return true;
    case CORE_TEXT: write_text(writer, statement); return true;
    case CORE_EACH:
    case CORE_GUARD:
    case CORE_GROUP:
        write_new_words(writer, statement->target);
        vectors_refuse(writer);
        return true;
    default: return false;
    }
}
