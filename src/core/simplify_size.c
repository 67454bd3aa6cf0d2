/* How many elements containers have, and which integers are known to be their indices.
 *
 * The size of a vector is an expression of what it is made from: `#tab(each x in seq(v) {...})` is `#v`, so that nobody needs the vector itself
 * for it. An index below the size of a vector needs no check there. */
#include "core/simplify_internal.h"

static const Fact *op_fact(const Simplifier *s, const CoreAtom *atom)
{
    if (atom->is_constant || s->facts.items[atom->variable].kind != CORE_OP)
        return NULL;
    return &s->facts.items[atom->variable];
}

static bool is_int(const CoreAtom *atom, int64_t value)
{
    return atom->is_constant && atom->type == TYPE_INT && atom->constant.integer == value;
}

/* ---- sizes ---- */

static CoreAtom length_of(Simplifier *s, const CoreAtom *container, Span span)
{
    return simplify_emit_op(s, OP_LENGTH, TYPE_INT, span, container, 1);
}

/* The length of a range, which is made again for that: only ranges that cannot fail, or where they stand, as what fails is looked for wherever
 * a range is. */
static bool size_of_range(Simplifier *s, const Fact *range, Span span, CoreAtom *size)
{
    bool is_total = range->op == OP_RANGE_INCLUSIVE || (range->op == OP_RANGE && range->arguments[2].is_constant);
    if (!is_total && range->nesting != s->nesting)
        return false;
    TypeId type = type_sequence(s->types, range->arguments[0].type);
    CoreAtom again = simplify_emit_op(s, range->op, type, range->span, range->arguments, range->count);
    *size = length_of(s, &again, span);
    return true;
}

static bool size_of(Simplifier *s, const CoreAtom *container, Span span, CoreAtom *size);

/* Sequences in lock step: known to be of one length, or their lengths are compared. */
static bool size_of_each(Simplifier *s, const Fact *each, Span span, CoreAtom *size)
{
    for (uint32_t i = 0; i < each->count; i++) {
        CoreAtom lengths[2] = {i == 0 ? core_int(0) : *size};
        if (!size_of(s, &each->arguments[i], span, &lengths[1]))
            return false;
        bool is_compared = i > 0 && !simplify_is_same(&lengths[0], &lengths[1]);
        if (is_compared && each->nesting != s->nesting)
            return false;
        *size = is_compared ? simplify_emit_op(s, OP_COMMON_LENGTH, TYPE_INT, each->span, lengths, 2) : lengths[1];
    }
    return true;
}

/* The argument that has as many elements as the result, or -1. */
static int same_size_argument(Op op)
{
    switch ((int)op) {
    case OP_TAB:
    case OP_SEQ:
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##scan:                                                                                                    \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_SCAN_INCLUSIVE:
    case OP_PREVIOUS:
    case OP_NEXT:
    case OP_GRADE:
    case OP_GRADE_DOWN:
    case OP_RANK:
    case OP_RANK_DOWN:
    case OP_SORTED:
    case OP_SORTED_DOWN:
        return 0;
    case OP_SCAN:
    case OP_READ:
        return 1;
    }
    return -1;
}

/* The length of a part of a vector that is made somewhere; parts of others are there anyhow. What fails is looked for wherever a part is. */
static bool size_of_part(Simplifier *s, const Fact *part, CoreAtom *size)
{
    const Fact *whole = op_fact(s, &part->arguments[0]);
    if (whole == NULL || whole->op != OP_TAB || part->nesting != s->nesting)
        return false;
    CoreAtom all = length_of(s, &part->arguments[0], part->span);
    CoreAtom arguments[] = {all, part->arguments[1], part->arguments[part->count - 1]};
    Op op = part->op == OP_TAKE ? OP_TAKEN : part->op == OP_DROP ? OP_DROPPED : OP_SUBSEQ_LENGTH;
    *size = simplify_emit_op(s, op, TYPE_INT, part->span, arguments, part->count);
    if (part->op == OP_DROP) {
        CoreAtom operands[] = {all, *size};
        *size = simplify_emit_op(s, OP_SUBTRACT, TYPE_INT, part->span, operands, 2);
    }
    return true;
}

static bool size_of_transposed(Simplifier *s, const Fact *transposed, CoreAtom *size)
{
    if (transposed->nesting != s->nesting)
        return false;
    *size = simplify_emit_op(s, OP_WIDTH, TYPE_INT, transposed->span, transposed->arguments, 1);
    return true;
}

/* Elsewhere the vector is there anyhow. */
static bool size_of_join(Simplifier *s, const Fact *join, Span span, CoreAtom *size)
{
    CoreAtom lengths[2];
    for (uint32_t i = 0; i < 2; i++) {
        bool is_element = join->op == (i == 0 ? OP_CONS : OP_SNOC);
        lengths[i] = is_element ? core_int(1) : length_of(s, &join->arguments[i], span);
    }
    *size = simplify_emit_op(s, OP_ADD, TYPE_INT, span, lengths, 2);
    return true;
}

static bool size_of_op(Simplifier *s, const Fact *fact, Span span, CoreAtom *size)
{
    switch ((int)fact->op) {
    case OP_TAKE:
    case OP_DROP:
    case OP_SUBSEQ:
        return type_is_vector(s->types, fact->arguments[0].type) && size_of_part(s, fact, size);
    case OP_TRANSPOSE:
        return size_of_transposed(s, fact, size);
    case OP_APPEND:
    case OP_CONS:
    case OP_SNOC:
        return s->is_alone && size_of_join(s, fact, span, size);
    case OP_INDICES:
        *size = fact->arguments[0];
        return true;
    case OP_SLICE:
        *size = fact->arguments[2];
        return true;
    case OP_IOTA:
    case OP_RANGE:
    case OP_RANGE_INCLUSIVE:
    case OP_NESL_RANGE:
        return size_of_range(s, fact, span, size);
    }
    int argument = same_size_argument(fact->op);
    return argument >= 0 && size_of(s, &fact->arguments[argument], span, size);
}

/* Sequences are sized only if they are made from ranges and vectors: the length of others is a traversal. */
static bool size_of(Simplifier *s, const CoreAtom *container, Span span, CoreAtom *size)
{
    Fact fact = s->facts.items[container->variable]; /* what is emitted moves the array */
    bool is_known = false;
    if (s->size_depth < SIZE_DEPTH_MAX) {
        s->size_depth++;
        is_known = fact.kind == CORE_EACH  ? size_of_each(s, &fact, span, size)
                   : fact.kind == CORE_OP ? size_of_op(s, &fact, span, size)
                                          : false;
        s->size_depth--;
    }
    if (!is_known && type_is_vector(s->types, container->type)) {
        *size = length_of(s, container, span);
        return true;
    }
    return is_known;
}

bool simplify_size(Simplifier *s, const CoreStatement *statement, CoreAtom *size)
{
    const CoreAtom *container = &statement->arguments[0];
    if (statement->kind != CORE_OP || statement->op != OP_LENGTH || !type_is_vector(s->types, container->type))
        return false;
    const Fact *known = op_fact(s, container);
    if (known == NULL)
        return false;
    Fact fact = *known;
    return size_of_op(s, &fact, statement->span, size);
}

/* ---- positions ---- */

/* {1 : _ in xs} */
static bool is_all_ones(const Simplifier *s, const CoreAtom *container)
{
    const Fact *tab = op_fact(s, container);
    const CoreAtom *sequence = tab != NULL && tab->op == OP_TAB ? &tab->arguments[0] : container;
    const Fact *each = sequence->is_constant ? NULL : &s->facts.items[sequence->variable];
    return each != NULL && each->kind == CORE_EACH && each->body->statement_count == 0 && is_int(&each->body->result, 1);
}

bool simplify_positions(Simplifier *s, const CoreStatement *statement, TypeId type, CoreAtom *value)
{
    CoreAtom size;
    if (statement->kind != CORE_OP || statement->op != OP_PLUS_SCAN || !is_all_ones(s, &statement->arguments[0]) ||
        !size_of(s, &statement->arguments[0], statement->span, &size))
        return false;
    *value = simplify_emit_op(s, OP_INDICES, type_sequence(s->types, TYPE_INT), statement->span, &size, 1);
    if (type_is_vector(s->types, type))
        *value = simplify_emit_op(s, OP_TAB, type, statement->span, value, 1);
    return true;
}

/* ---- bounds ---- */

static bool is_count(const Simplifier *s, const CoreAtom *atom)
{
    if (atom->is_constant)
        return atom->constant.integer >= 0;
    const Fact *fact = &s->facts.items[atom->variable];
    if (fact->bound.type != 0 || fact->kind != CORE_OP)
        return fact->bound.type != 0;
    return fact->op == OP_LENGTH || fact->op == OP_TAKEN || fact->op == OP_DROPPED || fact->op == OP_SUBSEQ_LENGTH ||
           fact->op == OP_WIDTH || fact->op == OP_COMMON_LENGTH;
}

static bool is_not_negative(const Simplifier *s, const CoreAtom *atom)
{
    const Fact *fact = op_fact(s, atom);
    if (fact != NULL && fact->op == OP_MAXIMUM)
        return is_count(s, &fact->arguments[0]) || is_count(s, &fact->arguments[1]);
    return is_count(s, atom);
}

/* Whether 0 <= index < size: an element of the indices, or one that counts from the other end, even if there and back. */
static bool is_index(const Simplifier *s, const CoreAtom *index, const CoreAtom *size)
{
    for (;;) {
        if (index->is_constant)
            return size->is_constant && index->constant.integer >= 0 && index->constant.integer < size->constant.integer;
        const Fact *fact = &s->facts.items[index->variable];
        if (fact->bound.type != 0 && simplify_is_same(&fact->bound, size))
            return true;
        const Fact *last =
            fact->kind != CORE_OP || fact->op != OP_SUBTRACT ? NULL : op_fact(s, &fact->arguments[0]);
        if (last == NULL || last->op != OP_SUBTRACT || !simplify_is_same(&last->arguments[0], size) ||
            !is_int(&last->arguments[1], 1))
            return false;
        index = &fact->arguments[1];
    }
}

/* Whether it is worth while to ask for a size to compare with. */
static bool may_be_index(const Simplifier *s, const CoreAtom *index)
{
    if (index->is_constant)
        return false;
    const Fact *fact = &s->facts.items[index->variable];
    return fact->bound.type != 0 || (fact->kind == CORE_OP && fact->op == OP_SUBTRACT);
}

bool simplify_is_checked(const Simplifier *s, const CoreStatement *statement)
{
    return statement->kind == CORE_OP && statement->op == OP_CHECKED_INDEX &&
           is_index(s, &statement->arguments[0], &statement->arguments[1]);
}

/* v[_checked_index(i, #v)], in one block, is v[i]. */
static bool is_checked_for(Simplifier *s, const CoreStatement *inside, CoreAtom *index)
{
    const Fact *checked = op_fact(s, &inside->arguments[1]);
    if (checked == NULL || checked->op != OP_CHECKED_INDEX || checked->nesting != s->nesting)
        return false;
    CoreAtom size = checked->arguments[1];
    *index = checked->arguments[0];
    const Fact *length = op_fact(s, &size);
    return length != NULL && length->op == OP_LENGTH && length->arguments[0].type == inside->arguments[0].type &&
           simplify_is_same(&length->arguments[0], &inside->arguments[0]);
}

static void set_index(Simplifier *s, CoreStatement *statement, Op op, CoreAtom index)
{
    CoreAtom *arguments = ARENA_ARRAY(s->arena, CoreAtom, 2);
    arguments[0] = statement->arguments[0];
    arguments[1] = index;
    statement->op = op;
    statement->arguments = arguments;
}

CoreVar simplify_checks(Simplifier *s, CoreStatement *statement)
{
    if (statement->kind != CORE_OP)
        return 0;
    CoreAtom index;
    if (statement->op == OP_IOTA && is_not_negative(s, &statement->arguments[0])) {
        statement->op = OP_INDICES;
    } else if (statement->op == OP_INSIDE && is_checked_for(s, statement, &index)) {
        CoreVar check = statement->arguments[1].variable;
        set_index(s, statement, OP_ELEMENT, index);
        return check;
    } else if (statement->op == OP_ELEMENT && may_be_index(s, &statement->arguments[1])) {
        CoreAtom size = length_of(s, &statement->arguments[0], statement->span);
        if (is_index(s, &statement->arguments[1], &size))
            statement->op = OP_INSIDE;
    }
    return 0;
}

/* What is known of the parameter that takes the elements of a sequence. */
void simplify_bound_parameter(Simplifier *s, CoreVar parameter, const CoreAtom *sequence)
{
    const Fact *source = op_fact(s, sequence);
    if (source != NULL && (source->op == OP_IOTA || source->op == OP_INDICES))
        s->facts.items[parameter].bound = source->arguments[0];
}
