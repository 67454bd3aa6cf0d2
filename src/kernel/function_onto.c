/* Functions that put their elements onto those that there are already (kernel/function_join.h):
 *
 *     static bool quicksort_f7_onto(KernelArrayRef a_1, int64_t a_2, int64_t a_3, KernelOnto *onto, KernelRegion *into, KernelRegion *aside, char *given, int64_t depth, const KernelScalars *scalars)
 *
 * What is joined beside calls is made first, in `aside`, and so is what calls are given; then everything is put where it belongs, one part after the other. If there are several calls, all but the first are offered to
 * other threads: what these give is put onto the rest when it is its turn.
 *
 * A call that may release what it is given has the regions the other way round: that is at the end of its `into`, from `given` on. It does so before it calls others, if it needs it no more. So a recursion that
 * takes its vector apart holds its elements once, wherever they are on their way to the result, and those that are being taken apart a second time. */
#include "kernel/function_vectors.h"

#include "kernel/function_join.h"

/* A part, ready to be put where it belongs. */
typedef struct Step {
    const JoinPart *part;
    const char **words;        /* VECTOR: its leaves; calls: arguments, */
    uint32_t argument_count;
    const char ***elements;    /* ELEMENTS: of each its leaves */
    const char *task;          /* of a call that is offered; else null, */
    const char *is_shared;     /* ... a word that says whether it was, in the end */
    LaterCalls *later;         /* LOOP: its calls */
    const char *place;         /* of elements that are late */
    const char *given;         /* of a call: where what it is given begins, if it may release that; else null */
} Step;

typedef struct Steps {
    Step items[JOIN_MAX];
    uint32_t count;
    const Layout *elements;
    const char *is_good, *is_shared;
} Steps;

/* ---- what is known before ---- */

static void prepare_turn(Writer *writer, Steps *steps, Step *step)
{
    const char **arguments[SHAPE_FEW];
    if (step->words != NULL)
        return;
    CoreAtom each = {.type = write_type(writer, step->part->each->target), .variable = step->part->each->target};
    uint32_t turns = sequence_call_arguments(writer, &each, step->part->call, arguments, &step->argument_count);
    for (uint32_t i = 0; i < steps->count; i++) {
        const JoinPart *part = steps->items[i].part;
        if (part->kind != JOIN_TURN || part->each != step->part->each || part->turn >= turns)
            continue;
        steps->items[i].words = arguments[part->turn];
        steps->items[i].argument_count = step->argument_count;
    }
}

static void take_none(Writer *writer, Sink *sink, Element element)
{
    (void)sink, (void)element;
    vectors_refuse(writer); /* elements come from calls only */
}

/* All calls of a loop are known before the first of them is done. */
static void prepare_loop(Writer *writer, Step *step)
{
    step->later = forks_begin_later(writer, step->part->call, writer->aside);
    Sink sink = {.take = take_none, .region = writer->aside, .later = step->later};
    sequence_traverse(writer, sequence_prepare(writer, &step->part->atoms[0]), &sink);
}

static void prepare_elements(Writer *writer, Step *step)
{
    const JoinPart *part = step->part;
    step->elements = ARENA_ARRAY(writer->arena, const char **, part->atom_count);
    for (uint32_t i = 0; i < part->atom_count; i++)
        step->elements[i] = write_atom(writer, &part->atoms[i]);
}

static void prepare(Writer *writer, Steps *steps, Step *step)
{
    const JoinPart *part = step->part;
    switch (part->kind) {
    case JOIN_VECTOR:
        step->words = vectors_make(writer, &part->atoms[0]);
        step->argument_count = VECTOR_LEAVES;
        break;
    case JOIN_ELEMENTS:
        if (!part->is_late)
            prepare_elements(writer, step);
        break;
    case JOIN_LOOP: prepare_loop(writer, step); return;
    case JOIN_CALL: step->words = write_arguments(writer, part->call, &step->argument_count); break;
    case JOIN_TURN: prepare_turn(writer, steps, step); break;
    }
    if (part->call != NULL)
        *vec_push(writer->arena, &writer->callees) = part->call->function;
}

/* ---- calls that are offered ---- */

/* Null for what is no call, and for loops of them, which are offered when it is their turn. */
static const CoreStatement *single_call(const Step *step)
{
    return step->part->kind == JOIN_LOOP ? NULL : step->part->call;
}

/* Null for all but those that others may do while this thread does what comes before. */
static void find_offers(Writer *writer, Steps *steps)
{
    bool is_first = true, is_shared = false;
    for (uint32_t i = 0; i < steps->count; i++) {
        const CoreStatement *call = single_call(&steps->items[i]);
        if (call == NULL || !forks_can_be_shared(writer->texts, call->function))
            continue;
        steps->items[i].task = is_first ? NULL : write_word(writer, 0);
        is_shared |= !is_first;
        is_first = false;
    }
    steps->is_shared = is_shared ? write_word(writer, 0) : NULL;
    for (uint32_t i = 0; i < steps->count; i++)
        steps->items[i].is_shared = steps->is_shared;
    if (is_shared && !writer->is_trial)
        writer->texts->is_shared[writer->function] = true;
}

/* Of the vectors that all calls are given. */
static const char *total_length(Writer *writer, const Steps *steps)
{
    Text text;
    text_init(&text, writer->out->memory);
    for (uint32_t i = 0; i < steps->count; i++)
        if (single_call(&steps->items[i]) != NULL)
            forks_add_lengths(writer, steps->items[i].part->call, steps->items[i].words, &text);
    return forks_take_sum(writer, &text);
}

static ForkedCall forked_call(Writer *writer, const Step *step)
{
    return (ForkedCall){forks_name(writer, step->part->call->function), step->words, step->argument_count, step->task};
}

static void write_offers(Writer *writer, const Steps *steps)
{
    if (steps->is_shared == NULL)
        return;
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->items[i].task != NULL)
            write_line(writer, "%s_task %s;", forks_name(writer, steps->items[i].part->call->function), steps->items[i].task);
    write_line(writer, "const bool %s = kernel_may_share(scalars->call, %s);", steps->is_shared, total_length(writer, steps));
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY(%s))", steps->is_shared));
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->items[i].task != NULL)
            forks_write_offer(writer, forked_call(writer, &steps->items[i]));
    write_close_brace(writer);
}

/* ---- what is released before calls ---- */

/* Whether a step from one on refers to an array. */
static bool is_needed(const Steps *steps, uint32_t first, const char *array)
{
    for (uint32_t i = first; i < steps->count; i++)
        for (uint32_t leaf = 0; leaf < steps->items[i].argument_count; leaf++)
            if (steps->items[i].words[leaf] == array)
                return true;
    return false;
}

/* Whether no step after this one needs an array, or those that lie behind it. */
static bool is_spent_by(const Steps *steps, uint32_t step, const MadeArray *array)
{
    while (!is_needed(steps, step + 1, array->array)) {
        if (array->is_last)
            return true;
        array++;
    }
    return false;
}

/* The first of several arrays side by side that a call is given, if it may release it. */
static const MadeArray *find_given(const Writer *writer, const Steps *steps, uint32_t step)
{
    for (uint32_t i = 0; i < writer->made.count && single_call(&steps->items[step]) != NULL; i++) {
        const MadeArray *made = &writer->made.items[i];
        if (made->place != NULL && made->region == writer->aside && is_needed(steps, step, made->array) && is_spent_by(steps, step, made))
            return made;
    }
    return NULL;
}

/* Calls release what they are given, if nothing was taken from the region after it. */
static void find_gifts(Writer *writer, Steps *steps)
{
    const char *is_last = NULL, *end = NULL;
    for (uint32_t i = 0; i < steps->count; i++) {
        const MadeArray *given = find_given(writer, steps, i);
        if (given == NULL || (end != NULL && end != given->end))
            continue;
        if (is_last == NULL) {
            is_last = write_word(writer, 0);
            end = given->end;
            write_line(writer, "const bool %s = aside->top == %s;", is_last, end);
        }
        steps->items[i].given = arena_format(writer->arena, "%s ? %s : NULL", is_last, given->place);
    }
}

/* Whether a step refers to vectors only that were made here, of elements that refer to nothing else. */
static bool needs_only_own(const Writer *writer, const Step *step)
{
    if (step->part->kind == JOIN_ELEMENTS)
        return true;
    if (step->part->kind == JOIN_LOOP)
        return false;
    const CoreStatement *call = step->part->call;
    const CoreAtom *atoms = call == NULL ? step->part->atoms : call->arguments;
    for (uint32_t i = 0, first = 0; i < (call == NULL ? 1 : call->argument_count); i++) {
        const Layout *layout = write_layout(writer, atoms[i].type);
        for (uint32_t leaf = 0; leaf < layout->count; leaf++)
            if (layout->leaves[leaf].type == LEAF_ARRAY &&
                (layout_has_arrays(layout->leaves[leaf].elements) || write_region_of(writer, step->words[first + leaf]) != writer->aside))
                return false;
        first += layout->count;
    }
    return true;
}

/* What the function was given is released before it calls others, if nothing refers to it any more; what calls are given they may release. */
static void write_releases(Writer *writer, Steps *steps)
{
    bool calls = false;
    for (uint32_t i = 0; i < steps->count; i++) {
        if (!needs_only_own(writer, &steps->items[i]))
            return;
        calls |= steps->items[i].part->call != NULL;
    }
    if (!calls)
        return;
    find_gifts(writer, steps);
    write_line(writer, "kernel_spend(into, given, given_end);");
}

/* ---- parts ---- */

static void store_elements(Writer *writer, const Steps *steps, const Step *step, const char *place)
{
    for (uint32_t leaf = 0; leaf < steps->elements->count; leaf++) {
        LeafType type = steps->elements->leaves[leaf].type;
        for (uint32_t i = 0; i < step->part->atom_count; i++)
            write_line(writer, "((%s *)onto->array->columns[%u].data)[%s + %u] = %s;", write_leaf_type(type), leaf, place, i,
                       vectors_canonical(writer, type, step->elements[i][leaf]));
    }
}

static void put_elements(Writer *writer, const Steps *steps, Step *step)
{
    uint32_t count = step->part->atom_count;
    write_line(writer, "%s = %s && kernel_onto_has_room(onto, %u, %s);", steps->is_good, steps->is_good, count, vectors_sizes(writer, steps->elements));
    if (step->part->is_late) {
        step->place = write_word(writer, 0);
        write_line(writer, "const int64_t %s = onto->count;", step->place);
    }
    write_open_brace(writer, arena_format(writer->arena, "if (%s)", steps->is_good));
    if (!step->part->is_late)
        store_elements(writer, steps, step, "onto->count");
    write_line(writer, "onto->count += %u;", count);
    write_close_brace(writer);
}

static void put_vector(Writer *writer, const Steps *steps, const char *array, const char *start, const char *length)
{
    write_line(writer, "%s = %s && kernel_onto_add(onto, %s, %s, %s, %s);", steps->is_good, steps->is_good, array, start, length,
               vectors_sizes(writer, steps->elements));
}

static void put_by_call(Writer *writer, const Steps *steps, const Step *step)
{
    Text text;
    text_init(&text, writer->out->memory);
    text_addf(&text, "%s = %s && %s_onto(", steps->is_good, steps->is_good, forks_name(writer, step->part->call->function));
    for (uint32_t i = 0; i < step->argument_count; i++)
        text_addf(&text, "%s, ", step->words[i]);
    bool is_last = steps->count == 1 && step->part->kind != JOIN_LOOP;
    if (step->given == NULL)
        text_add(&text, "onto, into, aside, NULL, ");
    else
        text_addf(&text, "onto, aside, into, %s, ", step->given);
    text_addf(&text, "depth%s, scalars);", is_last ? "" : " - 1");
    write_line(writer, "%s", text_string(&text));
    text_free(&text);
}

static void put_call(Writer *writer, const Steps *steps, const Step *step)
{
    if (step->task == NULL) {
        put_by_call(writer, steps, step);
        return;
    }
    const char *task = step->task;
    write_open_brace(writer, arena_format(writer->arena, "if (OP_RARELY(%s && kernel_settle(scalars->call, &%s.task)))", step->is_shared, task));
    write_line(writer, "%s &= %s.task.is_good;", steps->is_good, task);
    put_vector(writer, steps, arena_format(writer->arena, "%s.r0", task), arena_format(writer->arena, "%s.r1", task), arena_format(writer->arena, "%s.r2", task));
    write_line(writer, "kernel_finish(scalars->call, &%s.task);", task);
    write_else(writer);
    put_by_call(writer, steps, step);
    write_close_brace(writer);
}

static void put_loop(Writer *writer, const Steps *steps, Step *step)
{
    const char *ignored;
    step->is_shared = write_word(writer, 0);
    write_line(writer, "const bool %s = kernel_may_share(scalars->call, %s.size);", step->is_shared, step->later->calls);
    ForkedCall call = forks_open_waiting(writer, step->later, &ignored);
    step->words = call.arguments;
    step->argument_count = call.argument_count;
    step->task = call.task;
    put_call(writer, steps, step);
    write_close_brace(writer);
}

static void put(Writer *writer, const Steps *steps, Step *step)
{
    switch (step->part->kind) {
    case JOIN_VECTOR: put_vector(writer, steps, step->words[VECTOR_ARRAY], step->words[VECTOR_START], step->words[VECTOR_LENGTH]); break;
    case JOIN_ELEMENTS: put_elements(writer, steps, step); break;
    case JOIN_LOOP: put_loop(writer, steps, step); break;
    case JOIN_CALL:
    case JOIN_TURN: put_call(writer, steps, step); break;
    }
}

/* ---- lengths ---- */

/* Parts, and the lengths that are wanted of some: words. */
static void put_all(Writer *writer, Steps *steps, const Join *join, const char **lengths)
{
    const char *starts[JOIN_LENGTHS_MAX];
    for (uint32_t i = 0; i < join->count; i++) {
        for (uint32_t k = 0; k < join->length_count; k++)
            if (join->lengths[k].first == i) {
                starts[k] = write_word(writer, 0);
                write_line(writer, "const int64_t %s = onto->count;", starts[k]);
            }
        put(writer, steps, &steps->items[i]);
        for (uint32_t k = 0; k < join->length_count; k++)
            if (join->lengths[k].end == i + 1) {
                lengths[k] = write_word(writer, 0);
                write_line(writer, "const int64_t %s = onto->count - %s;", lengths[k], starts[k]);
            }
    }
}

/* What has waited for lengths. */
static void write_late(Writer *writer, const CoreBlock *block, const Join *join, const char **lengths)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        CoreStatement *statement = &block->statements[i];
        VariableShape *shape = &writer->texts->shapes[statement->target];
        const JoinLength *length = join_find_length(join, statement);
        if (length != NULL)
            writer->texts->values[statement->target] = &lengths[length - join->lengths];
        else if (shape->is_late) {
            shape->is_late = false;
            write_statements(writer, &(CoreBlock){.statements = statement, .statement_count = 1, .result = core_bool(true)});
            shape->is_late = true;
        }
    }
}

void onto_write_result(Writer *writer, const CoreBlock *block)
{
    Join join;
    Steps steps = {.elements = write_layout(writer, write_element_type(writer, block->result.type))};
    const char **lengths = ARENA_ARRAY(writer->arena, const char *, JOIN_LENGTHS_MAX);
    join_find(writer->texts, writer->function, block, &join);
    steps.count = join.count;
    for (uint32_t i = 0; i < join.count; i++)
        steps.items[i] = (Step){.part = &join.parts[i]};
    for (uint32_t i = 0; i < join.count; i++)
        prepare(writer, &steps, &steps.items[i]);
    find_offers(writer, &steps);
    write_offers(writer, &steps);
    write_releases(writer, &steps);
    steps.is_good = write_word(writer, 0);
    write_line(writer, "bool %s = true;", steps.is_good);
    put_all(writer, &steps, &join, lengths);
    vectors_fail_if(writer, "!%s", steps.is_good);
    write_late(writer, block, &join, lengths);
    for (uint32_t i = 0; i < join.count; i++)
        if (join.parts[i].is_late) {
            prepare_elements(writer, &steps.items[i]);
            store_elements(writer, &steps, &steps.items[i], steps.items[i].place);
        }
}

/* ---- the function that begins ---- */

/* As many elements as the function is given: that may be how many it gives. */
static const char *likely_length(Writer *writer, const CoreBlock *body)
{
    const char *length = "0";
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (type_is_vector(writer->program->types, write_type(writer, body->parameters[i])))
            length = arena_format(writer->arena, "%s + %s", length, writer->texts->values[body->parameters[i]][VECTOR_LENGTH]);
    return length;
}

void onto_write_beginning(Writer *writer, const CoreBlock *body)
{
    const Layout *elements = write_layout(writer, write_element_type(writer, body->result.type));
    const char *sizes = vectors_sizes(writer, elements);
    Text call;
    write_line(writer, "KernelOnto onto;");
    vectors_fail_if(writer, "!kernel_onto_begin(&onto, scalars->call, into, %s, %s)", likely_length(writer, body), sizes);
    text_init(&call, writer->out->memory);
    text_addf(&call, "!%s_onto(", forks_name(writer, writer->function));
    write_own_parameters(writer, body, &call);
    text_add(&call, "&onto, into, aside, NULL, depth, scalars)");
    vectors_fail_if(writer, "%s", text_string(&call));
    text_free(&call);
    vectors_fail_if(writer, "!kernel_onto_end(&onto, into, %s)", sizes);
    write_line(writer, "*result0 = onto.array;");
    write_line(writer, "*result1 = 0;");
    write_line(writer, "*result2 = onto.count;");
    write_line(writer, "return true;");
}
