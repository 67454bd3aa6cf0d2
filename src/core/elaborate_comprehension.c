/* Comprehensions: generators, filters, grouping and sorting become EACH, GUARD, GROUP and operations on sequences.
 *
 * Vectors are streamed in and the result is tabulated, so that one set of rules serves both containers. */
#include "core/elaborate_internal.h"

CoreAtom elaborate_seq(Elaborator *e, CoreAtom container, Span span)
{
    if (e->has_errors || type_is_sequence(e->types, container.type))
        return container;
    return elaborate_op(e, OP_SEQ, &container, 1, NULL, span);
}

CoreAtom elaborate_tab(Elaborator *e, CoreAtom sequence, Span span)
{
    if (e->has_errors || type_is_vector(e->types, sequence.type))
        return sequence;
    return elaborate_op(e, OP_TAB, &sequence, 1, NULL, span);
}

/* {block : parameters in sources} */
static CoreAtom emit_each(Elaborator *e, const CoreAtom *sources, uint32_t count, CoreBlock *block, Span span)
{
    TypeId type = type_sequence(e->types, block->result.type);
    CoreStatement *statement = core_emit(e->builder, CORE_EACH, type, span, sources, count);
    statement->blocks[0] = block;
    return core_target(e->builder, statement);
}

/* {p.component : p in pairs}, along the right spine of a tuple of `count` components. */
static CoreAtom each_component(Elaborator *e, CoreAtom sequence, uint32_t component, uint32_t count, Span span)
{
    OpenBlock block;
    elaborate_open(e, &block);
    CoreVar point = core_variable(e->program, type_element(e->types, sequence.type), 0);
    CoreAtom *components = ARENA_ARRAY(e->arena, CoreAtom, count);
    CoreAtom rest = core_atom(e->program, point);
    for (uint32_t i = 0; i < component; i++)
        rest = elaborate_project(e, rest, 1, span);
    components[0] = component + 1 < count ? elaborate_project(e, rest, 0, span) : rest;
    CoreBlock *closed = elaborate_close(e, &block, &point, 1, components[0]);
    return emit_each(e, &sequence, 1, closed, span);
}

/* ---- what a comprehension collects at each point ---- */

static CoreAtom body_with_order(Elaborator *e, Comprehension *c)
{
    if (c->order_key == NULL)
        return elaborate_expr(e, c->body);
    CoreAtom pair[2] = {elaborate_expr(e, c->order_key)};
    pair[1] = elaborate_expr(e, c->body);
    return e->has_errors ? pair[0] : elaborate_tuple(e, pair, 2, c->body->span);
}

static uint32_t grouped_count(const Comprehension *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->bound_count; i++)
        count += c->grouped_locals[i] != UINT32_MAX;
    return count;
}

/* The key and the values of the variables that will be collections. */
static CoreAtom point_to_group(Elaborator *e, Comprehension *c)
{
    CoreAtom *parts = ARENA_ARRAY(e->arena, CoreAtom, c->bound_count + 1);
    uint32_t count = 0;
    parts[count++] = elaborate_expr(e, c->group_value);
    for (uint32_t i = 0; i < c->bound_count; i++)
        if (c->grouped_locals[i] != UINT32_MAX)
            parts[count++] = *elaborate_local(e, c->bound_locals[i]);
    return e->has_errors ? parts[0] : elaborate_tuple(e, parts, count, c->group_key->span);
}

static CoreAtom elaborate_point(Elaborator *e, Comprehension *c)
{
    return c->group_key != NULL ? point_to_group(e, c) : body_with_order(e, c);
}

/* ---- qualifiers ---- */

static CoreAtom elaborate_qualifiers(Elaborator *e, Comprehension *c, uint32_t first, Span span);

/* What stands inside qualifier `index`: the point, or the sequence of the qualifiers after it. */
static CoreAtom inside_qualifier(Elaborator *e, Comprehension *c, uint32_t index, Span span)
{
    bool is_last = index + 1 == c->qualifier_count;
    return is_last ? elaborate_point(e, c) : elaborate_qualifiers(e, c, index + 1, span);
}

static CoreAtom emit_guard(Elaborator *e, CoreAtom condition, CoreBlock *block, Span span)
{
    CoreStatement *statement =
        core_emit(e->builder, CORE_GUARD, type_sequence(e->types, block->result.type), span, &condition, 1);
    statement->blocks[0] = block;
    return core_target(e->builder, statement);
}

static CoreAtom elaborate_filter(Elaborator *e, Comprehension *c, uint32_t index, Span span)
{
    CoreAtom condition = elaborate_expr(e, c->qualifiers[index].filter);
    OpenBlock block;
    elaborate_open(e, &block);
    CoreAtom result = inside_qualifier(e, c, index, span);
    CoreBlock *closed = elaborate_close(e, &block, NULL, 0, result);
    return e->has_errors ? condition : emit_guard(e, condition, closed, c->qualifiers[index].filter->span);
}

static CoreAtom elaborate_generators(Elaborator *e, Comprehension *c, uint32_t index, Span span)
{
    const Qualifier *qualifier = &c->qualifiers[index];
    uint32_t count = qualifier->generator_count;
    CoreAtom *sources = ARENA_ARRAY(e->arena, CoreAtom, count);
    CoreVar *parameters = ARENA_ARRAY(e->arena, CoreVar, count);
    for (uint32_t i = 0; i < count && !e->has_errors; i++) {
        Expr *source = qualifier->generators[i].source;
        sources[i] = elaborate_seq(e, elaborate_expr(e, source), source->span);
    }
    if (e->has_errors)
        return core_int(0);
    for (uint32_t i = 0; i < count; i++)
        parameters[i] = core_variable(e->program, type_element(e->types, sources[i].type), 0);
    OpenBlock block;
    elaborate_open(e, &block);
    for (uint32_t i = 0; i < count; i++)
        elaborate_pattern(e, qualifier->generators[i].pattern, core_atom(e->program, parameters[i]));
    CoreAtom result = inside_qualifier(e, c, index, span);
    CoreBlock *closed = elaborate_close(e, &block, parameters, count, result);
    return e->has_errors ? core_int(0) : emit_each(e, sources, count, closed, span);
}

/* The sequence that the qualifiers from `first` on make; inner sequences are concatenated. */
static CoreAtom elaborate_qualifiers(Elaborator *e, Comprehension *c, uint32_t first, Span span)
{
    bool is_filter = c->qualifiers[first].generator_count == 0;
    CoreAtom sequence =
        is_filter ? elaborate_filter(e, c, first, span) : elaborate_generators(e, c, first, span);
    bool is_last = first + 1 == c->qualifier_count;
    return is_last || e->has_errors ? sequence : elaborate_op(e, OP_CONCAT, &sequence, 1, NULL, span);
}

/* ---- group by, order by ---- */

/* In the body of a group, a collection is a vector if the first generator drew from a vector. */
static void bind_collections(Elaborator *e, Comprehension *c, const CoreVar *collections, bool is_vector, Span span)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->bound_count; i++) {
        if (c->grouped_locals[i] == UINT32_MAX)
            continue;
        CoreAtom collection = core_atom(e->program, collections[next++]);
        if (is_vector)
            collection = elaborate_tab(e, collection, span);
        *elaborate_local(e, c->grouped_locals[i]) = collection;
    }
}

static CoreAtom elaborate_group(Elaborator *e, Comprehension *c, CoreAtom points, bool is_vector, Span span)
{
    uint32_t count = grouped_count(c) + 1;
    CoreAtom *arguments = ARENA_ARRAY(e->arena, CoreAtom, count);
    CoreVar *parameters = ARENA_ARRAY(e->arena, CoreVar, count);
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = each_component(e, points, i, count, span);
        TypeId type = i == 0 ? type_element(e->types, arguments[0].type) : arguments[i].type;
        parameters[i] = core_variable(e->program, type, 0);
    }
    OpenBlock block;
    elaborate_open(e, &block);
    bind_collections(e, c, parameters + 1, is_vector, span);
    elaborate_pattern(e, c->group_key, core_atom(e->program, parameters[0]));
    CoreAtom result = body_with_order(e, c);
    CoreBlock *closed = elaborate_close(e, &block, parameters, count, result);
    if (e->has_errors)
        return core_int(0);
    CoreStatement *statement =
        core_emit(e->builder, CORE_GROUP, type_vector(e->types, result.type), span, arguments, count);
    statement->blocks[0] = closed;
    return core_target(e->builder, statement);
}

/* From a vector of (key, value): the values in the order of their keys. */
static CoreAtom elaborate_order(Elaborator *e, const Comprehension *c, CoreAtom pairs, Span span)
{
    CoreAtom parts[2];
    for (uint32_t i = 0; i < 2; i++)
        parts[i] = elaborate_tab(e, each_component(e, elaborate_seq(e, pairs, span), i, 2, span), span);
    CoreAtom order = elaborate_op(e, c->is_descending ? OP_GRADE_DOWN : OP_GRADE, &parts[0], 1, NULL, span);
    CoreAtom arguments[2] = {parts[1], order};
    return elaborate_op(e, OP_READ, arguments, 2, NULL, span);
}

/* ---- the whole ---- */

/* Function values may hide sequences they captured; their types show it only now. */
static void check_free_locals(Elaborator *e, const Comprehension *c)
{
    for (uint32_t i = 0; i < c->free_count; i++) {
        TypeId type = elaborate_local(e, c->free_locals[i])->type;
        if (type_is_concrete(e->types, type))
            continue;
        infer_report_free_local(e->environment, &e->scope->definition->locals.items[c->free_locals[i]], type,
                                c->free_spans[i]);
        elaborate_failed(e);
    }
}

static bool first_is_vector(Elaborator *e, const Comprehension *c)
{
    const Qualifier *first = &c->qualifiers[0];
    return first->generator_count > 0 &&
           type_is_vector(e->types, elaborate_ground(e, first->generators[0].source->type));
}

CoreAtom elaborate_comprehension(Elaborator *e, Expr *expr)
{
    Comprehension *c = expr->comprehension;
    check_free_locals(e, c);
    bool is_vector = first_is_vector(e, c);
    CoreAtom result = elaborate_qualifiers(e, c, 0, expr->span);
    if (e->has_errors)
        return result;
    if (c->group_key != NULL)
        result = elaborate_group(e, c, result, is_vector, expr->span);
    if (c->order_key != NULL && !e->has_errors)
        result = elaborate_order(e, c, elaborate_tab(e, result, expr->span), expr->span);
    bool is_tabulated = c->brackets == BRACKETS_SQUARE || is_vector;
    return is_tabulated ? elaborate_tab(e, result, expr->span) : result;
}
