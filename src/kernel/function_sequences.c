/* Traversals of sequences, as loops. */
#include "kernel/function_recall.h"
#include "kernel/function_share.h"
#include "kernel/function_supply.h"
#include "kernel/op_text.h"
#include "source/diagnostics.h"

static const Types *types_of(const Writer *writer)
{
    return writer->program->types;
}

static const CoreStatement *definition_of(const Writer *writer, const CoreAtom *atom)
{
    return writer->texts->shapes[atom->variable].definition;
}

static bool is_delayed(const Writer *writer, const CoreAtom *atom)
{
    return !atom->is_constant && writer->texts->values[atom->variable] == NULL && writer->texts->shapes[atom->variable].is_delayed;
}

/* ---- sources ---- */

static Supply *prepare(Writer *writer, const CoreAtom *atom);

static Supply *new_supply(Writer *writer, SupplyKind kind, TypeId type)
{
    Supply *supply = ARENA_NEW(writer->arena, Supply);
    *supply = (Supply){.kind = kind, .type = type, .turn = writer->turn};
    return supply;
}

/* The cells of a vector from its start on. One cell that stands for all is written out, but for arrays of rows, which mostly are the same. */
static Supply *supply_of_words(Writer *writer, TypeId type, const char **vector)
{
    Supply *supply = new_supply(writer, SUPPLY_CELLS, write_element_type(writer, type));
    const Layout *elements = write_layout(writer, supply->type);
    supply->length = vector[VECTOR_LENGTH];
    supply->is_of_memory = true;
    supply->words = ARENA_ARRAY(writer->arena, const char *, elements->count);
    supply->strides = ARENA_ARRAY(writer->arena, const char *, elements->count);
    for (uint32_t i = 0; i < elements->count; i++) {
        LeafType leaf = elements->leaves[i].type;
        const char *c = write_leaf_type(leaf);
        if (leaf != LEAF_ARRAY && !write_is_flat(writer, vector[VECTOR_ARRAY])) {
            supply->words[i] = vectors_run(writer, vector, i, leaf);
            continue;
        }
        const char *word = supply->words[i] = write_word(writer, 0);
        if (write_is_flat(writer, vector[VECTOR_ARRAY])) {
            const char *stride;
            write_line(writer, "%s const *const %s = %s + %s;", c, word, vectors_cells(writer, vector[VECTOR_ARRAY], i, leaf, &stride), vector[VECTOR_START]);
        } else {
            const char *stride, *cells = vectors_cells(writer, vector[VECTOR_ARRAY], i, leaf, &stride);
            supply->strides[i] = stride;
            write_line(writer, "%s const *const %s = %s + %s * %s;", c, word, cells, vector[VECTOR_START], stride);
        }
    }
    return supply;
}

static const char *constant_word(Writer *writer, const char *format, const char *a, const char *b)
{
    const char *word = write_word(writer, 0);
    write_line(writer, "const int64_t %s = %s;", word, arena_format(writer->arena, format, a, b));
    return word;
}

static Supply *supply_of_indices(Writer *writer, const CoreStatement *statement)
{
    Supply *supply = new_supply(writer, SUPPLY_RANGE, TYPE_INT);
    supply->length = write_atom(writer, &statement->arguments[0])[0];
    if (statement->op == OP_IOTA)
        vectors_fail_if(writer, "%s < 0", supply->length);
    return supply;
}

/* Ranges of ints by one; all others are left to the VM. */
static Supply *supply_of_range(Writer *writer, const CoreStatement *statement)
{
    const CoreAtom *arguments = statement->arguments;
    bool is_inclusive = statement->op == OP_RANGE_INCLUSIVE;
    Supply *supply = new_supply(writer, SUPPLY_RANGE, TYPE_INT);
    bool is_by_one = is_inclusive || (arguments[2].is_constant && arguments[2].constant.integer == 1);
    supply->length = "0";
    if (arguments[0].type != TYPE_INT || !is_by_one) {
        vectors_refuse(writer);
        return supply;
    }
    const char *first = write_atom(writer, &arguments[0])[0], *last = write_atom(writer, &arguments[1])[0];
    supply->words = ARENA_ARRAY(writer->arena, const char *, 1);
    supply->words[0] = arguments[0].is_constant && arguments[0].constant.integer == 0 ? NULL : first;
    writer->has_flag = true;
    supply->length = write_word(writer, 0);
    if (statement->op == OP_NESL_RANGE)
        vectors_fail_if(writer, "%s < %s", last, first);
    if (arguments[0].is_constant && arguments[1].is_constant) {
        int64_t count = arguments[1].constant.integer - arguments[0].constant.integer + is_inclusive;
        write_line(writer, "const int64_t %s = %lld;", supply->length, (long long)(count > 0 ? count : 0));
        return supply;
    }
    write_line(writer, "const int64_t %s = kernel_%s(%s, %s, &failed);", supply->length, is_inclusive ? "distance_inclusive" : "distance", first, last);
    write_check(writer);
    return supply;
}

/* How many loops are around a vector; most for what is no vector. */
static uint32_t level_of(const Writer *writer, const Supply *supply)
{
    return supply->vector == NULL || supply->vector->is_constant ? UINT32_MAX : writer->texts->shapes[supply->vector->variable].level;
}

/* The length of all is that of the one with fewest loops around: others are as long as that one too, and need no loop of their own. */
static void add_members(Writer *writer, Supply *supply, const CoreAtom *atoms, uint32_t count)
{
    supply->members = ARENA_ARRAY(writer->arena, Supply *, count);
    supply->member_count = count;
    for (uint32_t i = 0; i < count; i++) {
        supply->members[i] = prepare(writer, &atoms[i]);
        supply->is_of_memory |= supply->members[i]->is_of_memory;
        supply->few = supply->members[i]->few > 0 ? supply->members[i]->few : supply->few;
        if (i > 0 && supply->members[i]->length != supply->members[0]->length)
            vectors_fail_if(writer, "%s != %s", supply->members[i]->length, supply->members[0]->length);
    }
    const Supply *outermost = supply->members[0];
    for (uint32_t i = 1; i < count; i++)
        if (level_of(writer, supply->members[i]) < level_of(writer, outermost))
            outermost = supply->members[i];
    supply->length = outermost->length;
}

static Supply *supply_of_each(Writer *writer, const CoreStatement *statement)
{
    Supply *supply = new_supply(writer, SUPPLY_EACH, statement->blocks[0]->result.type);
    supply->statement = statement;
    supply->windows = windows_prepare(writer, statement);
    add_members(writer, supply, statement->arguments, statement->argument_count);
    vectors_hoist(writer, statement->blocks[0], supply->length);
    if (supply->windows != NULL)
        windows_open(writer, supply);
    return supply;
}

static Supply *supply_of_members(Writer *writer, SupplyKind kind, const CoreStatement *statement)
{
    TypeId type = write_type(writer, statement->target);
    Supply *supply = new_supply(writer, kind, write_element_type(writer, type));
    supply->statement = statement;
    uint32_t first = kind == SUPPLY_ZIP ? 0 : statement->argument_count - 1;
    add_members(writer, supply, statement->arguments + first, statement->argument_count - first);
    return supply;
}

static Supply *supply_of_scan(Writer *writer, const CoreStatement *statement)
{
    Supply *supply = supply_of_members(writer, SUPPLY_SCAN, statement);
    supply->scan = reduce_scan_start(writer, statement);
    return supply;
}

static Supply *supply_of_read(Writer *writer, const CoreStatement *statement)
{
    Supply *supply = supply_of_members(writer, SUPPLY_READ, statement);
    const Layout *elements = write_layout(writer, supply->type);
    const char **vector = write_atom(writer, &statement->arguments[0]);
    supply->base = vector[VECTOR_START];
    supply->vector_length = vector[VECTOR_LENGTH];
    supply->words = ARENA_ARRAY(writer->arena, const char *, elements->count);
    supply->strides = ARENA_ARRAY(writer->arena, const char *, elements->count);
    for (uint32_t i = 0; i < elements->count; i++)
        supply->words[i] = vectors_cells(writer, vector[VECTOR_ARRAY], i, elements->leaves[i].type, &supply->strides[i]);
    return supply;
}

static Supply *supply_of_few(Writer *writer, const CoreStatement *statement)
{
    Supply *supply = new_supply(writer, SUPPLY_FEW, write_element_type(writer, write_type(writer, statement->target)));
    supply->few = statement->argument_count;
    supply->length = arena_format(writer->arena, "%u", supply->few);
    supply->elements = ARENA_ARRAY(writer->arena, const char **, supply->few);
    supply->is_of_memory = true;
    for (uint32_t i = 0; i < supply->few; i++)
        supply->elements[i] = write_atom(writer, &statement->arguments[i]);
    return supply;
}

static Supply *supply_of_window(Writer *writer, TypeId type, const Window *window)
{
    Supply *supply = new_supply(writer, SUPPLY_WINDOW, write_element_type(writer, type));
    supply->length = windows_length(window);
    supply->window = window;
    supply->is_of_memory = true;
    return supply;
}

static Supply *prepare(Writer *writer, const CoreAtom *atom)
{
    const Window *window = atom->is_constant ? NULL : writer->texts->shapes[atom->variable].window;
    if (window != NULL)
        return supply_of_window(writer, atom->type, window);
    if (!is_delayed(writer, atom) || !shape_steps(writer->texts, atom)) {
        Supply *supply = supply_of_words(writer, atom->type, vectors_make(writer, atom));
        supply->vector = atom;
        return supply;
    }
    const CoreStatement *statement = definition_of(writer, atom);
    if (statement->kind == CORE_EACH)
        return supply_of_each(writer, statement);
    if (statement->kind == CORE_MAKE)
        return supply_of_few(writer, statement);
    switch ((int)statement->op) {
    case OP_SEQ:
    case OP_TAB: return prepare(writer, &statement->arguments[0]);
    case OP_IOTA:
    case OP_INDICES: return supply_of_indices(writer, statement);
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE: return supply_of_range(writer, statement);
    case OP_ZIP: return supply_of_members(writer, SUPPLY_ZIP, statement);
    case OP_READ: return supply_of_read(writer, statement);
    default: return supply_of_scan(writer, statement);
    }
}

/* ---- elements of sources ---- */

static Element element_of_words(const Supply *supply, const char **words, bool is_stored)
{
    return (Element){.words = words, .type = supply->type, .is_stored = is_stored};
}

static Element step_cells(Writer *writer, const Supply *supply, const char *index)
{
    const Layout *elements = write_layout(writer, supply->type);
    const char **words = ARENA_ARRAY(writer->arena, const char *, elements->count);
    for (uint32_t i = 0; i < elements->count; i++) {
        words[i] = write_word(writer, 0);
        const char *c = write_leaf_type(elements->leaves[i].type);
        if (supply->strides[i] == NULL)
            write_line(writer, "const %s %s = %s[%s];", c, words[i], supply->words[i], index);
        else
            write_line(writer, "const %s %s = %s[%s * %s];", c, words[i], supply->words[i], index, supply->strides[i]);
    }
    return element_of_words(supply, words, true);
}

static Element step_range(Writer *writer, const Supply *supply, const char *index)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, 1);
    words[0] = supply->words == NULL || supply->words[0] == NULL ? index : constant_word(writer, "%s + %s", supply->words[0], index);
    return element_of_words(supply, words, false);
}

/* What the body gives for the elements that its parameters are. */
static Element write_body(Writer *writer, const CoreBlock *block)
{
    write_statements(writer, block);
    if (is_delayed(writer, &block->result))
        return (Element){.atom = &block->result, .type = block->result.type};
    return (Element){.words = write_atom(writer, &block->result), .type = block->result.type};
}

void supply_bind(Writer *writer, CoreVar parameter, Element element)
{
    if (element.atom != NULL) {
        element.words = vectors_make(writer, element.atom);
    }
    writer->texts->values[parameter] = element.words;
}

/* The body of a comprehension, without what is there. */
static const CoreBlock *body_of(const Supply *supply)
{
    if (supply->windows != NULL)
        return windows_rest(supply->windows);
    return supply->recall != NULL ? &supply->recall->rest : supply->statement->blocks[0];
}

static void bind_members(Writer *writer, const Supply *supply, const char *index)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        supply_bind(writer, supply->statement->blocks[0]->parameters[i], supply_step(writer, supply->members[i], index));
}

static Element step_each(Writer *writer, const Supply *supply, const char *index)
{
    const CoreBlock *block = body_of(supply);
    uint32_t turn = abreast_enter(writer, supply->turn);
    bind_members(writer, supply, index);
    if (supply->recall != NULL)
        recall_write_get(writer, supply->recall, index);
    Element element = write_body(writer, supply->table == NULL ? block : tables_read(writer, supply->table));
    abreast_enter(writer, turn);
    return element;
}

static Element step_scan(Writer *writer, const Supply *supply, const char *index)
{
    return element_of_words(supply, reduce_scan_step(writer, supply->scan, supply_step(writer, supply->members[0], index).words), false);
}

static Element step_zip(Writer *writer, const Supply *supply, const char *index)
{
    uint32_t count = 0, filled = 0;
    for (uint32_t i = 0; i < supply->member_count; i++)
        count += write_layout(writer, supply->members[i]->type)->count;
    const char **words = ARENA_ARRAY(writer->arena, const char *, count);
    bool is_stored = true;
    for (uint32_t i = 0; i < supply->member_count; i++) {
        Element element = supply_step(writer, supply->members[i], index);
        is_stored &= element.is_stored;
        for (uint32_t k = 0; k < write_layout(writer, element.type)->count; k++)
            words[filled++] = element.words[k];
    }
    return element_of_words(supply, words, is_stored);
}

static Element step_read(Writer *writer, const Supply *supply, const char *index)
{
    const Layout *elements = write_layout(writer, supply->type);
    const char *wanted = supply_step(writer, supply->members[0], index).words[0], *place = write_word(writer, 0);
    const char **words = ARENA_ARRAY(writer->arena, const char *, elements->count);
    write_line(writer, "const int64_t %s = kernel_index(%s, %s, %s, &failed);", place, wanted, supply->base, supply->vector_length);
    write_check(writer);
    for (uint32_t i = 0; i < elements->count; i++) {
        words[i] = write_word(writer, 0);
        write_line(writer, "const %s %s = %s[%s%s%s];", write_leaf_type(elements->leaves[i].type), words[i], supply->words[i], place,
                   supply->strides[i] == NULL ? "" : " * ", supply->strides[i] == NULL ? "" : supply->strides[i]);
    }
    return element_of_words(supply, words, true);
}

Element supply_step(Writer *writer, const Supply *supply, const char *index)
{
    if (supply->given != NULL)
        return element_of_words(supply, supply->given, false);
    if (supply->place != NULL)
        index = supply->place;
    switch (supply->kind) {
    case SUPPLY_CELLS: return step_cells(writer, supply, index);
    case SUPPLY_RANGE: return step_range(writer, supply, index);
    case SUPPLY_EACH: return step_each(writer, supply, index);
    case SUPPLY_SCAN: return step_scan(writer, supply, index);
    case SUPPLY_ZIP: return step_zip(writer, supply, index);
    case SUPPLY_READ: return step_read(writer, supply, index);
    case SUPPLY_WINDOW: return element_of_words(supply, windows_own_row(supply->window), true);
    case SUPPLY_FEW: return element_of_words(supply, supply->elements[index[0] - '0'], false);
    }
    bug("kernels", "a sequence has no such supply");
}

bool supply_is_straight(const Writer *writer, const Supply *supply)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        if (!supply_is_straight(writer, supply->members[i]))
            return false;
    return supply->kind != SUPPLY_EACH || shape_is_straight(writer->texts, supply->statement->blocks[0]);
}

static bool is_light(const Writer *writer, const Supply *supply)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        if (!is_light(writer, supply->members[i]))
            return false;
    return supply->kind == SUPPLY_CELLS || supply->kind == SUPPLY_RANGE || supply->kind == SUPPLY_ZIP ||
           (supply->kind == SUPPLY_EACH && shape_is_light(writer->texts, body_of(supply)));
}

static void go_on(const Writer *writer, const Supply *supply, Progress *progress)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        go_on(writer, supply->members[i], progress);
    progress->has_failed |= supply->kind == SUPPLY_READ;
    const CoreBlock *block = supply->kind == SUPPLY_EACH   ? body_of(supply)
                             : supply->kind == SUPPLY_SCAN ? reduce_operator(writer, supply->statement)
                                                           : NULL;
    if (block != NULL)
        shape_go_on(writer->texts, block, progress);
}

/* Whether, where something fails for an element, the rest of the loop may be computed nonetheless. */
bool supply_may_go_on(const Writer *writer, const Supply *supply, const Sink *sink)
{
    Progress progress = {0};
    go_on(writer, supply, &progress);
    if (sink->applied != NULL)
        shape_go_on(writer->texts, sink->applied, &progress);
    return !progress.must_stop;
}

/* ---- loops ---- */

Around supply_open_turn(Writer *writer, bool is_straight, bool is_deferred, const Sink *sink)
{
    Around around = {.into = writer->into, .aside = writer->aside, .is_deferred = writer->is_deferred, .is_straight = is_straight};
    writer->is_deferred = is_deferred;
    if (sink->region != NULL) {
        writer->aside = vectors_other(writer, sink->region);
        writer->into = sink->region;
    }
    if (!is_straight) {
        around.mark = write_word(writer, 0);
        write_line(writer, "const KernelMark %s = kernel_mark(%s);", around.mark, writer->aside);
        vectors_fail_if(writer, "kernel_is_over(scalars->call)");
    }
    if (!is_straight && sink->later != NULL && sink->later->is_for_large) {
        around.waiting = sink->later->calls;
        around.waited = constant_word(writer, "%s.count", around.waiting, NULL);
    }
    return around;
}

void supply_close_turn(Writer *writer, Around around)
{
    if (around.waiting != NULL)
        write_line(writer, "if (%s.count == %s)", around.waiting, around.waited);
    if (!around.is_straight)
        write_line(writer, "%skernel_release(%s, %s);", around.waiting == NULL ? "" : "    ", writer->aside, around.mark);
    writer->into = around.into;
    writer->aside = around.aside;
    writer->is_deferred = around.is_deferred;
}

/* What a body gives, for whoever takes it. If that is the result of a call, it may come later. */
static void give_body(Writer *writer, const CoreBlock *block, Sink *sink)
{
    if (!forks_waits(sink, block)) {
        sink->take(writer, sink, write_body(writer, block));
        return;
    }
    CoreBlock before = *block, last = *block;
    before.statement_count--;
    last.statements += before.statement_count;
    last.statement_count = 1;
    write_statements(writer, &before);
    if (!sink->later->is_for_large) {
        forks_add_later(writer, sink);
        return;
    }
    forks_open_later(writer, sink);
    sink->take(writer, sink, write_body(writer, &last));
    write_close_brace(writer);
}

void supply_give_turn(Writer *writer, const Supply *supply, Sink *sink, const char *index)
{
    const char *outer_index = sink->index;
    if (supply->kind == SUPPLY_EACH && forks_waits(sink, supply->statement->blocks[0])) {
        bind_members(writer, supply, index);
        sink->index = index;
        give_body(writer, supply->statement->blocks[0], sink);
    } else {
        Element element = supply_step(writer, supply, index);
        sink->index = index;
        sink->take(writer, sink, element);
    }
    sink->index = outer_index;
}

void supply_write_turn(Writer *writer, const Supply *supply, Sink *sink, const char *index, bool is_straight, bool is_deferred)
{
    if (supply->windows != NULL)
        windows_write_rows(writer, supply, index);
    Around around = supply_open_turn(writer, is_straight, is_deferred, sink);
    supply_give_turn(writer, supply, sink, index);
    supply_close_turn(writer, around);
}

/* A turn of a loop that is written out. */
static void write_turn_of_few(Writer *writer, const Supply *supply, Sink *sink, uint32_t number)
{
    bool straight = supply_is_straight(writer, supply) && sink->is_straight;
    write_line(writer, "{");
    writer->depth++;
    supply_write_turn(writer, supply, sink, arena_format(writer->arena, "%u", number), straight, writer->is_deferred);
    write_close_brace(writer);
}

/* What the call that a body ends in is given in each turn. */
static void write_turns_arguments(Writer *writer, const Supply *supply, const CoreStatement *call, const char ***arguments, uint32_t *argument_count)
{
    const CoreBlock *block = supply->statement->blocks[0];
    CoreBlock before = *block;
    before.statement_count--;
    for (uint32_t turn = 0; turn < supply->few; turn++) {
        for (uint32_t i = 0; i < supply->member_count; i++)
            supply_bind(writer, block->parameters[i], supply_step(writer, supply->members[i], arena_format(writer->arena, "%u", turn)));
        write_statements(writer, &before);
        arguments[turn] = write_arguments(writer, call, argument_count);
    }
}

uint32_t sequence_call_arguments(Writer *writer, const CoreAtom *each, const CoreStatement *call, const char ***arguments, uint32_t *argument_count)
{
    const Supply *supply = prepare(writer, each);
    write_turns_arguments(writer, supply, call, arguments, argument_count);
    return supply->few;
}

/* Calls that other threads may do are written before what takes their results. */
static void write_forked_turns(Writer *writer, const Supply *supply, Sink *sink, const CoreStatement *call)
{
    const CoreBlock *block = supply->statement->blocks[0];
    ForkedCalls calls = {.call = call, .count = supply->few};
    write_line(writer, "{");
    writer->depth++;
    Around around = supply_open_turn(writer, false, writer->is_deferred, sink);
    write_turns_arguments(writer, supply, call, calls.arguments, &calls.argument_count);
    calls.region = vectors_region(writer, call->target);
    forks_write_calls(writer, &calls);
    const char *outer_index = sink->index;
    for (uint32_t turn = 0; turn < supply->few; turn++) {
        sink->index = arena_format(writer->arena, "%u", turn);
        sink->take(writer, sink, (Element){.words = calls.results[turn], .type = block->result.type});
    }
    sink->index = outer_index;
    supply_close_turn(writer, around);
    write_close_brace(writer);
}

static const CoreStatement *find_forked_call(const Writer *writer, const Supply *supply)
{
    return supply->few < 2 || supply->kind != SUPPLY_EACH ? NULL : forks_find_call(writer->texts, supply->statement->blocks[0]);
}

const CoreStatement *sequence_element_call(Writer *writer, const Traversal *traversal, const CoreAtom *sequence)
{
    bool is_forked = sequence_few(traversal) > 0 && find_forked_call(writer, traversal->supply) != NULL;
    bool is_recursive = writer->program->functions.items[writer->function]->is_recursive; /* what is not has its calls shared by the VM */
    return is_forked || !is_recursive ? NULL : forks_find_element_call(writer->texts, NULL, sequence);
}

/* Turns from `first` on, before `end`; `few`: less than a register has elements. */
static void write_turns(Writer *writer, Supply *supply, Sink *sink, const char *first, const char *end, bool few, bool is_straight, bool is_deferred)
{
    const char *index = write_word(writer, 0);
    if (is_straight && sink->is_repeatable && !few)
        write_line(writer, "KERNEL_APART");
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s++)", index, first, index, end, index));
    if (few)
        write_line(writer, "KERNEL_ONE_BY_ONE;");
    writer->has_unshared |= writer->loops == 0;
    writer->loops++;
    supply_write_turn(writer, supply, sink, index, is_straight, is_deferred);
    writer->loops--;
    write_close_brace(writer);
}

/* Whether turns are done as many at once as a register has elements: compilers do what is left over in smaller steps, which for bytes would take as long as all of the rest. So would it where a loop is done in parts, which
 * begin and end anywhere; and then each register that is stored would belong to two lines of memory. */
static bool is_in_groups(const Writer *writer, const Sink *sink)
{
    return !writer->is_deferred && (sink->bytes == 1 || (sink->bytes == sizeof(double) && writer->decided.count > 0));
}

/* Such groups: the second begins where a register would be aligned, and the last ends at the end; both may do some turns again. Gives the first turn that is left: there are some only if all of them are less than a group. */
static const char *write_groups(Writer *writer, Supply *supply, Sink *sink, const char *first, const char *end)
{
    const char *rest = write_word(writer, 0), *group = write_word(writer, 0), *from = write_word(writer, 0);
    const char *turns = arena_format(writer->arena, "KERNEL_REGISTER / %u", sink->bytes);
    write_line(writer, "const int64_t %s = %s - %s < %s ? %s : %s;", rest, end, first, turns, first, end);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s = kernel_next_group(%s, %s))", group, first, group, rest, group, group, turns));
    write_line(writer, "const int64_t %s = %s - %s < %s ? %s - %s : %s;", from, end, group, turns, end, turns, group);
    text_add(writer->out, "#pragma GCC unroll 1\n"); /* a loop of few turns may be no loop any more when vectors are looked for */
    write_turns(writer, supply, sink, from, arena_format(writer->arena, "%s + %s", from, turns), false, true, true);
    write_close_brace(writer);
    return rest;
}

void supply_loop(Writer *writer, Supply *supply, Sink *sink, const char *first, const char *end, bool polls)
{
    bool waits = supply->kind == SUPPLY_EACH && forks_waits(sink, supply->statement->blocks[0]);
    const CoreStatement *forked = waits ? NULL : find_forked_call(writer, supply);
    if (forked != NULL)
        write_forked_turns(writer, supply, sink, forked);
    for (uint32_t i = 0; i < supply->few && forked == NULL; i++)
        write_turn_of_few(writer, supply, sink, i);
    if (supply->few > 0)
        return;
    bool straight = supply_is_straight(writer, supply) && sink->is_straight, deferred = straight && supply_may_go_on(writer, supply, sink);
    if (!straight)
        first = abreast_write(writer, supply, sink, first, end);
    bool had_pending = writer->has_pending;
    writer->has_pending = false;
    bool has_strips = polls && straight && !supply->is_of_memory && !writer->is_deferred;
    if (has_strips) {
        const char *strip = write_word(writer, 0), *until = write_word(writer, 0);
        write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s += KERNEL_STRIP)", strip, first, strip, end, strip));
        vectors_fail_if(writer, "kernel_is_over(scalars->call)");
        write_line(writer, "const int64_t %s = %s - %s < KERNEL_STRIP ? %s : %s + KERNEL_STRIP;", until, end, strip, end, strip);
        first = strip;
        end = until;
    }
    bool in_groups = deferred && is_in_groups(writer, sink);
    if (in_groups)
        first = write_groups(writer, supply, sink, first, end);
    write_turns(writer, supply, sink, first, end, in_groups && sink->bytes > 1, straight, deferred || writer->is_deferred);
    if (has_strips)
        write_close_brace(writer);
    bool pends = writer->has_pending;
    writer->has_pending = had_pending || (pends && writer->is_deferred);
    if (pends && !writer->is_deferred)
        write_check(writer);
}

/* All of a supply that steps. */
static void traverse_supply(Writer *writer, Traversal *traversal, void *sink)
{
    supply_traverse(writer, traversal->supply, sink, "0", traversal->supply->length);
}

bool supply_is_shareable(const Supply *supply)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        if (!supply_is_shareable(supply->members[i]))
            return false;
    return supply->kind != SUPPLY_FEW && (supply->kind != SUPPLY_SCAN || !supply_has_scan(supply->members[0]));
}

static void resume_scans(Writer *writer, const Supply *supply, const Share *share)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        resume_scans(writer, supply->members[i], share);
    if (supply->kind == SUPPLY_SCAN)
        reduce_scan_resume(writer, supply->scan, supply->members[0], share);
}

void sequence_resume_scans(Writer *writer, const Traversal *traversal, const Share *share)
{
    resume_scans(writer, traversal->supply, share);
}

bool sequence_is_in_parts(const Traversal *traversal)
{
    return traversal->supply != NULL && traversal->supply->few == 0 && supply_is_shareable(traversal->supply);
}

bool sequence_is_shareable(const Traversal *traversal)
{
    return sequence_is_exact(traversal) && sequence_is_in_parts(traversal);
}

/* A part of a traversal. */
typedef struct TraversedPart {
    Sink *sink;
    const char *first, *end;
} TraversedPart;

static void traverse_part(Writer *writer, Traversal *traversal, void *context)
{
    const TraversedPart *part = context;
    supply_traverse(writer, traversal->supply, part->sink, part->first, part->end);
}

void sequence_traverse_shared(Writer *writer, Traversal *traversal, Sink *sink)
{
    Share share = share_begin(writer, traversal, traversal->supply->length, supply_is_straight(writer, traversal->supply) ? "KERNEL_LINE" : "1");
    if (traversal->filters)
        sequence_traverse_part(writer, traversal, sink, share.first, share.end);
    else
        sequence_write_versions(writer, traversal, traverse_part, &(TraversedPart){sink, share.first, share.end});
    share_end(writer, &share);
}

/* ---- traversals that do not step ---- */

static Traversal *prepare_traversal(Writer *writer, const CoreAtom *atom);

typedef struct Through {
    Sink sink;
    Sink *outer;
    const CoreStatement *statement;
} Through;

static void traverse_atom(Writer *writer, const CoreAtom *atom, Sink *sink)
{
    sequence_traverse(writer, prepare_traversal(writer, atom), sink);
}

static void traverse_guard(Writer *writer, const CoreStatement *statement, Sink *sink)
{
    const char *condition = write_atom(writer, &statement->arguments[0])[0];
    const CoreBlock *block = statement->blocks[0];
    bool is_branchless = sink->take_if != NULL && writer->is_deferred && shape_cannot_fail(writer->texts, block) &&
                         !type_is_sequence(types_of(writer), block->result.type);
    if (is_branchless) {
        sink->take_if(writer, sink, write_body(writer, block), condition);
        return;
    }
    write_open_brace(writer, arena_format(writer->arena, "if (%s)", condition));
    give_body(writer, block, sink);
    write_close_brace(writer);
}

/* The elements of an element. */
static void take_inner(Writer *writer, Sink *sink, Element element)
{
    Sink *outer = ((Through *)(void *)sink)->outer;
    if (element.atom != NULL) {
        const CoreStatement *statement = definition_of(writer, element.atom);
        outer->index = statement->kind == CORE_GUARD ? sink->index : outer->index;
        if (statement->kind == CORE_GUARD)
            traverse_guard(writer, statement, outer);
        else
            traverse_atom(writer, element.atom, outer);
        return;
    }
    supply_loop(writer, supply_of_words(writer, element.type, element.words), outer, "0", element.words[VECTOR_LENGTH], true);
}

/* Elements go through the body of a comprehension. */
static void take_each(Writer *writer, Sink *sink, Element element)
{
    Through *through = (Through *)(void *)sink;
    const CoreBlock *block = through->statement->blocks[0];
    supply_bind(writer, block->parameters[0], element);
    through->outer->index = NULL;
    give_body(writer, block, through->outer);
}

/* Whether the inner sequences of a concatenation have one element each at most, and take no loop. */
static bool has_guards(const Writer *writer, const CoreAtom *outer)
{
    const CoreStatement *statement = is_delayed(writer, outer) ? definition_of(writer, outer) : NULL;
    if (statement == NULL || statement->kind != CORE_EACH)
        return false;
    const VariableShape *inner = &writer->texts->shapes[statement->blocks[0]->result.variable];
    return inner->is_delayed && inner->definition->kind == CORE_GUARD;
}

static Traversal *prepare_traversal(Writer *writer, const CoreAtom *atom)
{
    Traversal *traversal = ARENA_NEW(writer->arena, Traversal);
    *traversal = (Traversal){.atom = atom, .type = write_element_type(writer, atom->type)};
    if (!is_delayed(writer, atom) || shape_steps(writer->texts, atom)) {
        traversal->supply = prepare(writer, atom);
        traversal->most = traversal->supply->length;
        return traversal;
    }
    const CoreStatement *statement = definition_of(writer, atom);
    bool is_op = statement->kind == CORE_OP;
    if (is_op && (statement->op == OP_SEQ || statement->op == OP_TAB))
        return prepare_traversal(writer, &statement->arguments[0]);
    if (is_op && (statement->op == OP_CONCAT || statement->op == OP_FLATTEN) && has_guards(writer, &statement->arguments[0])) {
        Traversal *outer = prepare_traversal(writer, &statement->arguments[0]);
        traversal->supply = outer->supply;
        traversal->most = outer->most;
        traversal->filters = outer->supply != NULL;
    }
    if (statement->kind == CORE_EACH && statement->argument_count > 1) {
        traversal->supply = supply_of_each(writer, statement);
        traversal->most = traversal->supply->length;
    }
    return traversal;
}

Traversal *sequence_prepare(Writer *writer, const CoreAtom *atom)
{
    return prepare_traversal(writer, atom);
}

static void through_filter(Through *through)
{
    through->sink.take = take_inner;
    through->sink.is_straight = through->outer->is_straight;
    through->sink.applied = through->outer->applied;
}

void sequence_traverse(Writer *writer, Traversal *traversal, Sink *sink)
{
    if (traversal->supply != NULL && !traversal->filters) {
        sequence_write_versions(writer, traversal, traverse_supply, sink);
        return;
    }
    const CoreStatement *statement = definition_of(writer, traversal->atom);
    Through through = {.outer = sink, .statement = statement, .sink = {.region = sink->region, .later = sink->later}};
    if (traversal->filters) {
        through_filter(&through);
        supply_loop(writer, traversal->supply, &through.sink, "0", traversal->supply->length, true);
    } else if (statement->kind == CORE_GUARD) {
        traverse_guard(writer, statement, sink);
    } else if (statement->kind == CORE_EACH) {
        through.sink.take = take_each;
        vectors_hoist(writer, statement->blocks[0], NULL);
        traverse_atom(writer, &statement->arguments[0], &through.sink);
    } else if (statement->op == OP_CONCAT || statement->op == OP_FLATTEN) {
        through.sink.take = take_inner;
        traverse_atom(writer, &statement->arguments[0], &through.sink);
    } else if (statement->op == OP_APPEND) {
        traverse_atom(writer, &statement->arguments[0], sink);
        traverse_atom(writer, &statement->arguments[1], sink);
    } else {
        vectors_refuse(writer);
    }
}

void sequence_poll(Writer *writer, const Traversal *traversal)
{
    if (!traversal->supply->is_of_memory)
        vectors_fail_if(writer, "kernel_is_over(scalars->call)");
}

void sequence_traverse_few(Writer *writer, Traversal *traversal, Sink *sink, const char *first, const char *end)
{
    supply_loop(writer, traversal->supply, sink, first, end, false);
}

void sequence_traverse_part(Writer *writer, Traversal *traversal, Sink *sink, const char *first, const char *end)
{
    sequence_poll(writer, traversal);
    Through through = {.outer = sink, .sink = {.region = sink->region}};
    through_filter(&through);
    supply_loop(writer, traversal->supply, traversal->filters ? &through.sink : sink, first, end, false);
}

void sequence_traverse_filters(Writer *writer, Traversal *const *traversals, Sink *const *sinks, uint32_t count, const char *first, const char *end)
{
    const char *index = write_word(writer, 0);
    bool had_pending = writer->has_pending;
    writer->has_pending = false;
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = %s; %s < %s; %s++)", index, first, index, end, index));
    writer->has_unshared |= writer->loops == 0;
    writer->loops++;
    Around around = supply_open_turn(writer, true, true, &(Sink){.is_straight = true});
    for (uint32_t i = 0; i < count; i++) {
        Through through = {.outer = sinks[i], .sink = {.index = index}};
        through_filter(&through);
        through.sink.take(writer, &through.sink, supply_step(writer, traversals[i]->supply, index));
    }
    supply_close_turn(writer, around);
    writer->loops--;
    write_close_brace(writer);
    bool pends = writer->has_pending;
    writer->has_pending = had_pending;
    if (pends)
        write_check(writer);
}

/* What a filter keeps. */
static const CoreBlock *kept_block(const Writer *writer, const Traversal *traversal)
{
    return definition_of(writer, &traversal->supply->statement->blocks[0]->result)->blocks[0];
}

const char **sequence_kept_cells(const Writer *writer, const Traversal *traversal)
{
    const CoreBlock *body = traversal->supply->statement->blocks[0], *kept = kept_block(writer, traversal);
    for (uint32_t i = 0; i < body->parameter_count && kept->statement_count == 0 && !kept->result.is_constant; i++) {
        const Supply *member = traversal->supply->members[i];
        bool is_next_to_each_other = member->kind == SUPPLY_CELLS && member->place == NULL && kept->result.variable == body->parameters[i];
        for (uint32_t leaf = 0; is_next_to_each_other && leaf < write_layout(writer, member->type)->count; leaf++)
            is_next_to_each_other = member->strides[leaf] == NULL;
        if (is_next_to_each_other)
            return member->words;
    }
    return NULL;
}

bool sequence_is_light_filter(const Writer *writer, const Traversal *traversal)
{
    const Supply *each = traversal->supply;
    CoreBlock condition = *each->statement->blocks[0]; /* which the guard comes after */
    condition.statement_count--;
    for (uint32_t i = 0; i < each->member_count; i++)
        if (!is_light(writer, each->members[i]))
            return false;
    return sequence_kept_cells(writer, traversal) != NULL && shape_is_light(writer->texts, &condition);
}

bool sequence_is_filter(const Writer *writer, const Traversal *traversal)
{
    if (!traversal->filters || writer->is_deferred || traversal->supply->few > 0 || !supply_is_straight(writer, traversal->supply))
        return false;
    const CoreBlock *kept = kept_block(writer, traversal);
    return supply_may_go_on(writer, traversal->supply, &(Sink){0}) && shape_cannot_fail(writer->texts, kept) && !type_is_sequence(types_of(writer), kept->result.type);
}

bool supply_has_scan(const Supply *supply)
{
    for (uint32_t i = 0; i < supply->member_count; i++)
        if (supply_has_scan(supply->members[i]))
            return true;
    return supply->kind == SUPPLY_SCAN;
}

bool sequence_is_repeatable(const Traversal *traversal)
{
    return traversal->supply != NULL && !supply_has_scan(traversal->supply);
}

const char *sequence_most(const Traversal *traversal)
{
    return traversal->most;
}

bool sequence_is_exact(const Traversal *traversal)
{
    return traversal->supply != NULL && !traversal->filters;
}

bool sequence_is_straight(const Writer *writer, const Traversal *traversal)
{
    return traversal->supply != NULL && traversal->supply->few == 0 && supply_is_straight(writer, traversal->supply);
}

bool sequence_is_light(const Writer *writer, const Traversal *traversal)
{
    return sequence_is_exact(traversal) && traversal->supply->few == 0 && is_light(writer, traversal->supply);
}

Traversal *sequence_join(Writer *writer, Traversal *const *traversals, uint32_t count)
{
    Traversal *joined = ARENA_NEW(writer->arena, Traversal);
    Supply *supply = new_supply(writer, SUPPLY_ZIP, TYPE_UNIT);
    supply->members = ARENA_ARRAY(writer->arena, Supply *, count);
    supply->member_count = count;
    for (uint32_t i = 0; i < count; i++) {
        supply->members[i] = traversals[i]->supply;
        supply->is_of_memory |= supply->members[i]->is_of_memory;
    }
    supply->length = supply->members[0]->length;
    *joined = (Traversal){.type = supply->type, .supply = supply, .most = supply->length};
    return joined;
}

uint32_t sequence_few(const Traversal *traversal)
{
    return traversal->supply == NULL || traversal->filters ? 0 : traversal->supply->few;
}
