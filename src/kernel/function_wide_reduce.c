/* Reductions and scans of wide versions. */
#include "kernel/function_wide.h"

#include "kernel/op_text.h"
#include "source/diagnostics.h"

static const char *total_type(Op operator, ScalarType type)
{
    return reduce_is_ordered(operator, type) ? c_type(type) : reduce_total_type(operator, type);
}

/* A running value: a variable, or an array of them. */
static void declare_total(Wide *wide, const char *total, Op operator, ScalarType type, bool is_varying)
{
    wide_line(wide, is_varying ? "%s %s[KERNEL_WIDE] KERNEL_WIDE_ALIGNED;" : "%s %s;", total_type(operator, type), total);
}

static void clear_total(Wide *wide, const char *total, Op operator, ScalarType type, bool is_varying, const char *initial)
{
    const char *c = total_type(operator, type);
    if (is_varying)
        wide_lane_line(wide, "%s[lane] = (%s)%s;", total, c, initial);
    else
        wide_line(wide, "%s = (%s)%s;", total, c, initial);
    wide_end_lanes(wide);
}

static void start_total(Wide *wide, const char *total, Op operator, ScalarType type, bool is_varying, const char *initial)
{
    declare_total(wide, total, operator, type, is_varying);
    clear_total(wide, total, operator, type, is_varying, initial);
}

static const char *total_place(Wide *wide, const char *total, bool is_varying)
{
    return is_varying ? arena_format(wide->writer.arena, "%s[lane]", total) : total;
}

/* `total` is where the running value is. */
static void write_step(Wide *wide, Op operator, ScalarType type, bool is_varying, const char *total, const char *x)
{
    Text *out = wide->writer.out;
    if (reduce_is_ordered(operator, type)) {
        char sign = operator == OP_SUM ? '+' : '*';
        if (is_varying)
            wide_lane_line(wide, "%s = %s %c %s;", total, total, sign, x);
        else
            wide_line(wide, "%s = %s %c %s;", total, total, sign, x);
        return;
    }
    if (!is_varying) {
        wide_end_lanes(wide);
        reduce_write_step(&wide->writer, operator, type, total, x);
        return;
    }
    wide->writer.out = &wide->lanes;
    wide->writer.depth++;
    reduce_write_step(&wide->writer, operator, type, total, x);
    wide->writer.depth--;
    wide->writer.out = out;
}

static void give_total(Wide *wide, const CoreStatement *statement, ScalarType result, bool is_varying, const char *total)
{
    wide_give_part(wide, statement, wide_read_scalar(wide, (LeafType)result, is_varying, is_varying ? "(%s)%s[lane]" : "(%s)%s", c_type(result), total));
}

/* The element of a loop that is counted, or the neutral one where it is not. */
static WidePart counted(Wide *wide, const WideVector *source, const WideValue *value, const char *index, Op operator, ScalarType type)
{
    if (source->kind != WIDE_FILTER)
        return wide_element(wide, value, index)->parts[0];
    const WideVector *guard = wide_vector_of(wide, wide_element(wide, source->members[0], index));
    if (guard->kind != WIDE_GUARD)
        wide_refuse(wide);
    wide_write_statements(wide, guard->statement->blocks[0]);
    const WidePart *element = &wide_atom(wide, &guard->statement->blocks[0]->result)->parts[0], *condition = &guard->condition->parts[0];
    bool in_lanes = element->lane != NULL || condition->lane != NULL;
    const char *test = wide_scalar(wide, condition);
    WidePart part = wide_read_scalar(wide, (LeafType)type, in_lanes, "%s ? %s : %s", test, wide_scalar(wide, element), reduce_neutral(&wide->writer, operator, type));
    if (in_lanes)
        wide_note_choice(condition, element, part.lane);
    return part;
}

/* A reduction whose order does not matter. */
typedef struct Exact {
    const WideValue *value;
    const char *length, *total;
    bool is_in_loop; /* the total is a variable in the loop over lanes */
    Op operator;
    ScalarType type;
} Exact;

static ScalarType exact_result(const Exact *exact)
{
    return exact->operator == OP_COUNT_TRUE ? SCALAR_I64 : exact->type;
}

static WidePart write_exact_step(Wide *wide, const Exact *exact, const char *index)
{
    WidePart part = counted(wide, wide_vector_of(wide, exact->value), exact->value, index, exact->operator, exact->type);
    bool is_varying = part.lane != NULL;
    write_step(wide, exact->operator, exact->type, is_varying, total_place(wide, exact->total, is_varying && !exact->is_in_loop), wide_scalar(wide, &part));
    return part;
}

/* The same for several elements at a time, so that the total is not read and written for each; the rest is left. */
static void write_exact_steps(Wide *wide, const Exact *exact, const char *index)
{
    enum { STEPS = 4 };
    wide_open(wide, "for (; %s + %d < %s; %s += %d) {", index, STEPS - 1, exact->length, index, STEPS);
    for (int i = 0; i < STEPS; i++)
        write_exact_step(wide, exact, i == 0 ? index : wide_same_int(wide, "%s + %s", index, arena_format(wide->writer.arena, "%d", i)));
    wide_close(wide);
}

/* Of a few elements, which differ from point to point: one after the other, in the loop over lanes that there is. Gives the total's word there. */
static const char *write_exact_few(Wide *wide, Exact exact, uint32_t count)
{
    const char *c = reduce_total_type(exact.operator, exact.type), *initial = reduce_neutral(&wide->writer, exact.operator, exact_result(&exact));
    exact.is_in_loop = true;
    exact.total = wide_word(wide);
    wide_lane_line(wide, "%s %s = (%s)%s;", c, exact.total, c, initial);
    for (uint32_t i = 0; i < count; i++)
        write_exact_step(wide, &exact, wide_known_int(wide, i));
    return exact.total;
}

/* The same where it is found out how many there are, up to the `else` for any other number. */
static void write_exact_cases(Wide *wide, const Exact *exact)
{
    for (uint32_t count = 2; count <= SHAPE_FEW; count++) {
        wide_open(wide, "%sif (%s == %u) {", count == 2 ? "" : "else ", exact->length, count);
        const char *total = write_exact_few(wide, *exact, count);
        wide_lane_line(wide, "%s[lane] = %s;", exact->total, total);
        wide_close(wide);
    }
    wide_open(wide, "else {");
}

/* Its loop, apart. */
typedef struct ExactLoop {
    Text *text;
    WidePart part;        /* of an element */
    uint32_t first_lane;
    bool is_light;        /* it is done in one loop over lanes, and short */
} ExactLoop;

static ExactLoop write_exact_loop(Wide *wide, const Exact *exact, const char *index)
{
    enum { SHORT = 1600 }; /* text */
    Text *outer = wide_begin_apart(wide);
    ExactLoop loop = {.text = wide->writer.out, .first_lane = wide->all.count};
    wide_open(wide, "for (; %s < %s; %s++) {", index, exact->length, index);
    uint32_t number = wide->loop;
    loop.part = write_exact_step(wide, exact, index);
    wide_close(wide);
    loop.is_light = loop.part.lane != NULL && wide->loop == number + 1 && loop.text->length < SHORT;
    wide->writer.out = outer;
    return loop;
}

static void write_exact_total(Wide *wide, const Exact *exact, const ExactLoop *loop, const char *index)
{
    ScalarType result = exact_result(exact);
    clear_total(wide, exact->total, exact->operator, exact->type, loop->part.lane != NULL, reduce_neutral(&wide->writer, exact->operator, result));
    wide_line(wide, "int64_t %s = 0;", index);
    if (loop->is_light)
        write_exact_steps(wide, exact, index);
    wide_add_apart(wide, wide->writer.out, loop->text);
}

/* One that is linear in a parameter, where that allows to do it at the points of a basis only. */
static void write_linear_total(Wide *wide, const Exact *exact, const char *index, Lane *parameter)
{
    wide_begin_basis(wide, parameter);
    ExactLoop loop = write_exact_loop(wide, exact, index);
    write_exact_total(wide, exact, &loop, index);
    wide_end_basis(wide, parameter, exact->total);
}

/* Whether it differs from point to point, and how, is known when the loop was written. */
static void write_exact(Wide *wide, const CoreStatement *statement, Op operator, ScalarType type)
{
    enum { FEW = 8 }; /* elements */
    const WideValue *value = wide_atom(wide, &statement->arguments[0]);
    const WideVector *source = wide_vector_of(wide, value);
    Exact exact = {.value = value, .length = wide_length_of(wide, source->kind == WIDE_FILTER ? source->members[0] : value), .operator = operator, .type = type};
    const char *index = wide_word(wide);
    exact.total = wide_word(wide);
    ExactLoop loop = write_exact_loop(wide, &exact, index);
    bool is_varying = loop.part.lane != NULL;
    ScalarType result = exact_result(&exact);
    if (loop.is_light && source->known_length > 0 && source->known_length <= FEW) {
        const char *total = write_exact_few(wide, exact, source->known_length);
        wide_give_part(wide, statement, wide_read_scalar(wide, (LeafType)result, true, "(%s)%s", c_type(result), total));
        return;
    }
    Lane *linear_in = operator == OP_PARITY ? wide_linear_in(wide, loop.first_lane, &loop.part) : NULL;
    declare_total(wide, exact.total, operator, type, is_varying);
    bool is_found_out = linear_in == NULL && loop.is_light;
    if (linear_in != NULL)
        write_linear_total(wide, &exact, index, linear_in);
    else if (is_found_out)
        write_exact_cases(wide, &exact);
    write_exact_total(wide, &exact, &loop, index);
    if (linear_in != NULL || is_found_out)
        wide_close(wide);
    give_total(wide, statement, result, is_varying, exact.total);
}

/* Sums and products of floats, as math/combine.h orders them; what is absent is the exact identity. */
typedef struct Ordered {
    const WideValue *value;
    const char *length, *total, *identity;
    char sign;
    Op operator;
    ScalarType type;
} Ordered;

/* Of a few elements, one after the other in the loop over lanes: then that is their order. */
static const char *write_ordered_few(Wide *wide, const Ordered *ordered, uint32_t count)
{
    const char *c = c_type(ordered->type), *sum = wide_word(wide);
    wide_lane_line(wide, "%s %s = %s;", c, sum, ordered->identity);
    for (uint32_t i = 0; i < count; i++) {
        const WideValue *element = wide_element(wide, ordered->value, wide_known_int(wide, i));
        wide_lane_line(wide, "%s = %s %c %s;", sum, sum, ordered->sign, wide_scalar(wide, &element->parts[0]));
    }
    return sum;
}

/* Of any number. Gives whether an element takes little. */
static bool write_ordered_loop(Wide *wide, const Ordered *ordered)
{
    enum { SHORT = 2000 }; /* text */
    const char *c = c_type(ordered->type), *total = ordered->total, *length = ordered->length, *lanes = wide_word(wide), *whole = wide_word(wide), *to = wide_word(wide);
    size_t before = wide->writer.out->length;
    wide_lane_line(wide, "%s[lane] = %s;", total, ordered->identity);
    wide_end_lanes(wide);
    wide_give_up_if(wide, "%s > COMBINE_BLOCK", length);
    wide_line(wide, "const int64_t %s = %s & ~(int64_t)(COMBINE_LANES - 1);", whole, length);
    wide_line(wide, "%s %s[COMBINE_LANES][KERNEL_WIDE] KERNEL_WIDE_ALIGNED;", c, lanes);
    const char *index = wide_open_loop(wide, length);
    wide_line(wide, "if (%s == %s && %s > 0)", index, whole, whole);
    wide_line(wide, "    KERNEL_WIDE_HALVE(%s, %s, %c);", total, lanes, ordered->sign);
    wide_line(wide, "%s *const %s = %s < %s ? %s[%s & (COMBINE_LANES - 1)] : %s;", c, to, index, whole, lanes, index, total);
    wide_open(wide, "if (%s < %s && %s < COMBINE_LANES) {", index, whole, index);
    wide_lane_line(wide, "%s[lane] = %s;", to, ordered->identity);
    wide_close(wide);
    uint32_t number = wide->loop;
    const WideValue *element = wide_element(wide, ordered->value, index);
    wide_lane_line(wide, "%s[lane] = %s[lane] %c %s;", to, to, ordered->sign, wide_scalar(wide, &element->parts[0]));
    wide_close(wide);
    bool is_light = wide->loop == number + 1 && wide->writer.out->length - before < SHORT;
    wide_line(wide, "if (%s == %s && %s > 0)", length, whole, whole);
    wide_line(wide, "    KERNEL_WIDE_HALVE(%s, %s, %c);", total, lanes, ordered->sign);
    wide_open(wide, "if (%s == 0) {", length);
    wide_lane_line(wide, "%s[lane] = %s;", total, reduce_neutral(&wide->writer, ordered->operator, ordered->type));
    wide_close(wide);
    return is_light;
}

/* Where few elements take little, they are one loop over lanes: the total is not read and written for each. */
static void write_ordered(Wide *wide, const CoreStatement *statement, Op operator, ScalarType type)
{
    const WideValue *value = wide_atom(wide, &statement->arguments[0]);
    Ordered ordered = {value, wide_length_of(wide, value), wide_word(wide), operator == OP_SUM ? "-0.0" : "1.0", operator == OP_SUM ? '+' : '*', operator, type};
    Text *outer = wide_begin_apart(wide), *loop = wide->writer.out;
    bool is_light = write_ordered_loop(wide, &ordered);
    wide->writer.out = outer;
    uint32_t known = wide_vector_of(wide, value)->known_length;
    if (is_light && known > 0 && known <= SHAPE_FEW) {
        const char *sum = write_ordered_few(wide, &ordered, known);
        wide_give_part(wide, statement, wide_read_scalar(wide, (LeafType)type, true, "%s", sum));
        return;
    }
    declare_total(wide, ordered.total, operator, type, true);
    for (uint32_t count = 2; count <= SHAPE_FEW && is_light; count++) {
        wide_open(wide, "%sif (%s == %u) {", count == 2 ? "" : "else ", ordered.length, count);
        const char *sum = write_ordered_few(wide, &ordered, count);
        wide_lane_line(wide, "%s[lane] = %s;", ordered.total, sum);
        wide_close(wide);
    }
    if (is_light)
        wide_open(wide, "else {");
    wide_add_apart(wide, wide->writer.out, loop);
    if (is_light)
        wide_close(wide);
    give_total(wide, statement, type, true, ordered.total);
}

/* A scan makes its vector. */
static void write_scan(Wide *wide, const CoreStatement *statement, const Fold *fold, ScalarType type)
{
    const WideValue *value = wide_atom(wide, &statement->arguments[0]);
    bool is_ordered = reduce_is_ordered(fold->operator, type);
    const char *length = wide_length_of(wide, value), *neutral = reduce_neutral(&wide->writer, fold->operator, type);
    const char *initial = !is_ordered ? neutral : fold->operator == OP_SUM ? "-0.0" : "1.0";
    const char *total = wide_word(wide);
    WideVector made = wide_new_made(wide, write_element_type(&wide->writer, write_type(&wide->writer, statement->target)), length);
    if (is_ordered)
        wide_give_up_if(wide, "%s > COMBINE_BLOCK", length);
    Text *outer = wide_begin_apart(wide), *text = wide->writer.out;
    const char *index = wide_open_loop(wide, length);
    WidePart part = wide_element(wide, value, index)->parts[0];
    bool is_varying = made.are_varying[0] = part.lane != NULL;
    const char *x = wide_scalar(wide, &part), *given = arena_format(wide->writer.arena, is_varying ? "(%s)%s[lane]" : "(%s)%s", c_type(type), total);
    if (fold->is_inclusive)
        write_step(wide, fold->operator, type, is_varying, total_place(wide, total, is_varying), x);
    if (is_ordered && !fold->is_inclusive)
        given = arena_format(wide->writer.arena, "%s == 0 ? %s : %s", index, neutral, given);
    WidePart output = wide_read_scalar(wide, (LeafType)type, is_varying, "%s", given);
    wide_store_part(wide, &output, is_varying, made.columns[0], index);
    if (!fold->is_inclusive)
        write_step(wide, fold->operator, type, is_varying, total_place(wide, total, is_varying), x);
    wide_close(wide);
    wide->writer.out = outer;
    wide_take_made(wide, &made, length);
    start_total(wide, total, fold->operator, type, is_varying, initial);
    wide_add_apart(wide, outer, text);
    wide_give(wide, statement, wide_vector(wide, made));
}

bool wide_write_fold(Wide *wide, const CoreStatement *statement)
{
    Fold fold;
    if (!reduce_find_fold(statement->op, &fold))
        return false;
    TypeId element = write_element_type(&wide->writer, statement->arguments[0].type);
    ScalarType type = type_scalar(wide->writer.program->types, element);
    write_note_type(&wide->writer, element);
    if (wide->branches > 0)
        wide_refuse(wide);
    if (fold.is_scan)
        write_scan(wide, statement, &fold, type);
    else if (reduce_is_ordered(fold.operator, type))
        write_ordered(wide, statement, fold.operator, type);
    else
        write_exact(wide, statement, fold.operator, type);
    return true;
}
