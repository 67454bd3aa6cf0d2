/* Making, cutting and joining containers. */
#include "math/scalar_range.h"
#include "ref/ref_private.h"

/* ---- help ---- */

static Object *container(const OpCall *call, uint32_t argument)
{
    return call->arguments[argument].object;
}

static int64_t integer(const OpCall *call, uint32_t argument)
{
    return call->arguments[argument].scalar.integer;
}

static TypeId element_type(const OpCall *call, TypeId type)
{
    return type_element(call->machine->types, type_underlying(call->machine->types, type));
}

/* Appends an argument, shared, to a container that has room. */
static void add_one(OpCall *call, Object *to, uint32_t argument)
{
    to->items[to->count++] =
        value_share(call->machine->types, ref_argument_type(call, argument), call->arguments[argument]);
}

/* Appends shared elements [start, end) of a container to one of the same type that has room. */
static void add_slice_of(OpCall *call, Object *to, TypeId container_type, const Object *from, size_t start, size_t end)
{
    TypeId type = element_type(call, container_type);
    for (size_t i = start; i < end; i++)
        to->items[to->count++] =
            from->object_items != 0 ? value_share(call->machine->types, type, from->items[i]) : from->items[i];
}

/* The same for containers of the first argument's type. */
static void add_slice(OpCall *call, Object *to, const Object *from, size_t start, size_t end)
{
    add_slice_of(call, to, ref_argument_type(call, 0), from, start, end);
}

static Object *build(OpCall *call, size_t capacity)
{
    return ref_build(call->machine, ref_result_type(call), capacity);
}

static bool finish(OpCall *call)
{
    call->result.object = ref_built(call->machine);
    return true;
}

static bool give_slice(OpCall *call, size_t start, size_t end)
{
    Object *result = build(call, end - start);
    add_slice(call, result, container(call, 0), start, end);
    return finish(call);
}

static size_t count_true(const Object *flags)
{
    size_t count = 0;
    for (size_t i = 0; i < flags->count; i++)
        count += flags->items[i].scalar.bits != 0;
    return count;
}

bool ref_fail_lengths(Interpreter *machine, const CoreStatement *statement, size_t a, size_t b)
{
    Failure *failure = ref_failure(machine, statement->span);
    return statement->kind == CORE_OP ? failure_lengths(failure, statement->op, a, b)
                                      : failure_comprehension_lengths(failure, a, b);
}

/* ---- ranges ---- */

/* What is made in a run that is stopped is never seen: long loops end where they are. */
static bool is_stopped(const OpCall *call)
{
    return stop_reason(call->machine->options.stop) != STOP_NOT;
}

bool ref_op_iota(OpCall *call)
{
    int64_t count = integer(call, 0);
    if (count < 0)
        return failure_negative_count(ref_op_failure(call), count);
    Object *result = build(call, (size_t)count);
    while (result->count < (size_t)count && !is_stopped(call)) {
        result->items[result->count].scalar.bits = result->count;
        result->count++;
    }
    return finish(call);
}

/* Elements first, first + step, ..., in the wrapping arithmetic of all integer types. */
static bool integer_range(OpCall *call, ScalarType type, uint64_t first, uint64_t step, uint64_t count)
{
    Object *result = build(call, count);
    for (uint64_t i = 0; i < count && !is_stopped(call); i++)
        result->items[result->count++].scalar.integer = scalar_wrap(type, (int64_t)(first + i * step));
    return finish(call);
}

static bool float_range(OpCall *call, ScalarType type, Scalar first, Scalar step, uint64_t count)
{
    Object *result = build(call, count);
    for (uint64_t i = 0; i < count && !is_stopped(call); i++) {
        Scalar element = {0};
        if (type == SCALAR_F64)
            element.f64 = range_element_f64(first.f64, step.f64, i);
        else
            element.f32 = range_element_f32(first.f32, step.f32, i);
        result->items[result->count++].scalar = element;
    }
    return finish(call);
}

bool ref_op_range(OpCall *call)
{
    ScalarType type = type_scalar(call->machine->types, ref_argument_type(call, 0));
    Scalar first = call->arguments[0].scalar, end = call->arguments[1].scalar, step = call->arguments[2].scalar;
    if (range_step_is_zero(type, step))
        return failure_range_step(ref_op_failure(call));
    uint64_t count = range_count(type, first, end, step);
    if (type == SCALAR_F64 || type == SCALAR_F32)
        return float_range(call, type, first, step, count);
    return integer_range(call, type, first.bits, step.bits, count);
}

bool ref_op_range_inclusive(OpCall *call)
{
    ScalarType type = type_scalar(call->machine->types, ref_argument_type(call, 0));
    Scalar first = call->arguments[0].scalar, last = call->arguments[1].scalar;
    return integer_range(call, type, first.bits, 1, range_count_inclusive(type, first, last));
}

bool ref_op_nesl_range(OpCall *call)
{
    int64_t first = integer(call, 0), end = integer(call, 1), step = integer(call, 2);
    if (end < first || step <= 0)
        return failure_nesl_range(ref_op_failure(call), first, end, step);
    uint64_t count = range_count_signed(first, end, step);
    return integer_range(call, SCALAR_I64, (uint64_t)first, (uint64_t)step, count);
}

/* ---- joining ---- */

/* Chains of ++ grow their left operand, so that they cost no more than their result. */
static bool append_in_place(OpCall *call)
{
    Interpreter *machine = call->machine;
    TypeId type = ref_result_type(call), element = element_type(call, type);
    const Object *b = container(call, 1);
    machine->building = call->arguments[0].object;
    machine->building_type = type;
    for (size_t i = 0; i < b->count; i++)
        machine->building = value_append(&machine->heap, machine->building,
                                         value_share(machine->types, element, b->items[i]));
    return finish(call);
}

bool ref_op_append(OpCall *call)
{
    if (call->owns_first)
        return append_in_place(call);
    const Object *a = container(call, 0), *b = container(call, 1);
    Object *result = build(call, a->count + b->count);
    add_slice(call, result, a, 0, a->count);
    add_slice(call, result, b, 0, b->count);
    return finish(call);
}

bool ref_op_concat(OpCall *call)
{
    const Object *outer = container(call, 0);
    TypeId type = element_type(call, ref_result_type(call));
    size_t count = 0;
    for (size_t i = 0; i < outer->count; i++)
        count += outer->items[i].object->count;
    Object *result = build(call, count);
    for (size_t i = 0; i < outer->count; i++) {
        const Object *inner = outer->items[i].object;
        for (size_t j = 0; j < inner->count; j++)
            result->items[result->count++] = value_share(call->machine->types, type, inner->items[j]);
    }
    return finish(call);
}

bool ref_op_cons(OpCall *call)
{
    const Object *elements = container(call, 1);
    Object *result = build(call, elements->count + 1);
    add_one(call, result, 0);
    add_slice_of(call, result, ref_argument_type(call, 1), elements, 0, elements->count);
    return finish(call);
}

bool ref_op_snoc(OpCall *call)
{
    const Object *elements = container(call, 0);
    Object *result = build(call, elements->count + 1);
    add_slice(call, result, elements, 0, elements->count);
    add_one(call, result, 1);
    return finish(call);
}

bool ref_op_flag_merge(OpCall *call)
{
    const Object *flags = container(call, 0), *xs = container(call, 1), *ys = container(call, 2);
    size_t from_ys = count_true(flags), from_xs = flags->count - from_ys;
    if (from_xs != xs->count || from_ys != ys->count)
        return failure_flag_merge(ref_op_failure(call), from_xs, from_ys, xs->count, ys->count);
    Object *result = build(call, flags->count);
    size_t x = 0, y = 0;
    for (size_t i = 0; i < flags->count; i++) {
        bool is_ys = flags->items[i].scalar.bits != 0;
        size_t at = is_ys ? y++ : x++;
        add_slice_of(call, result, ref_argument_type(call, 1), is_ys ? ys : xs, at, at + 1);
    }
    return finish(call);
}

bool ref_op_zip(OpCall *call)
{
    Types *types = call->machine->types;
    const Object *a = container(call, 0), *b = container(call, 1);
    if (a->count != b->count)
        return ref_fail_lengths(call->machine, call->statement, a->count, b->count);
    TypeId pair = element_type(call, ref_result_type(call));
    TypeId first = type_first(types, pair), rest = type_rest(types, pair);
    Object *result = build(call, a->count);
    for (size_t i = 0; i < a->count; i++) {
        result->items[i] = value_pair(&call->machine->heap, types, pair, a->items[i], b->items[i]);
        value_share(types, first, a->items[i]);
        value_share(types, rest, b->items[i]);
        result->count++;
    }
    return finish(call);
}

/* ---- cutting ---- */

/* Appends elements [start, end) of the first argument as one part. */
static void add_part(OpCall *call, Object *parts, size_t start, size_t end)
{
    Interpreter *machine = call->machine;
    Object *part = value_container(&machine->heap, machine->types, element_type(call, ref_result_type(call)),
                                   end - start);
    parts->items[parts->count++].object = part;
    add_slice(call, part, container(call, 0), start, end);
}

bool ref_op_part(OpCall *call)
{
    const Object *elements = container(call, 0), *flags = container(call, 1);
    size_t parts = count_true(flags);
    if (flags->count > 0 && flags->items[flags->count - 1].scalar.bits == 0)
        return failure_part_end(ref_op_failure(call));
    if (flags->count - parts != elements->count)
        return failure_part(ref_op_failure(call), flags->count - parts, elements->count);
    Object *result = build(call, parts);
    size_t start = 0, end = 0;
    for (size_t i = 0; i < flags->count; i++) {
        if (flags->items[i].scalar.bits == 0) {
            end++;
            continue;
        }
        add_part(call, result, start, end);
        start = end;
    }
    return finish(call);
}

bool ref_op_flag_partition(OpCall *call)
{
    const Object *elements = container(call, 0), *flags = container(call, 1);
    if (elements->count != flags->count)
        return ref_fail_lengths(call->machine, call->statement, elements->count, flags->count);
    Object *result = build(call, count_true(flags) + 1);
    size_t start = 0;
    for (size_t i = 1; i < flags->count; i++)
        if (flags->items[i].scalar.bits != 0) {
            add_part(call, result, start, i);
            start = i;
        }
    if (flags->count > 0)
        add_part(call, result, start, flags->count);
    return finish(call);
}

static bool is_blank(const Object *text, size_t i)
{
    char c = (char)text->items[i].scalar.integer;
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool ref_op_words(OpCall *call)
{
    const Object *text = container(call, 0);
    size_t words = 0;
    for (size_t i = 0; i < text->count; i++)
        words += !is_blank(text, i) && (i == 0 || is_blank(text, i - 1));
    Object *result = build(call, words);
    size_t start = 0;
    for (size_t i = 0; i <= text->count; i++)
        if (i == text->count || is_blank(text, i)) {
            if (i > start)
                add_part(call, result, start, i);
            start = i + 1;
        }
    return finish(call);
}

static bool check_counts(OpCall *call, const Object *elements, const Object *counts)
{
    uint64_t total = 0;
    for (size_t i = 0; i < counts->count; i++) {
        int64_t count = counts->items[i].scalar.integer;
        if (count < 0)
            return failure_part_length(ref_op_failure(call), i, count);
        total = (uint64_t)count > UINT64_MAX - total ? UINT64_MAX : total + (uint64_t)count;
    }
    if (total != elements->count)
        return failure_partition(ref_op_failure(call), total, elements->count);
    return true;
}

bool ref_op_partition(OpCall *call)
{
    const Object *elements = container(call, 0), *counts = container(call, 1);
    if (!check_counts(call, elements, counts))
        return false;
    Object *result = build(call, counts->count);
    size_t start = 0;
    for (size_t i = 0; i < counts->count; i++) {
        size_t end = start + counts->items[i].scalar.bits;
        add_part(call, result, start, end);
        start = end;
    }
    return finish(call);
}

bool ref_op_the(OpCall *call)
{
    const Object *elements = container(call, 0);
    if (elements->count != 1)
        return failure_the(ref_op_failure(call), elements->count);
    call->result = value_share(call->machine->types, ref_result_type(call), elements->items[0]);
    return true;
}

bool ref_op_element(OpCall *call)
{
    int64_t index = integer(call, 1);
    if (!ref_check_index(call->machine, call->statement, index, container(call, 0)->count))
        return false;
    call->result = value_share(call->machine->types, ref_result_type(call), container(call, 0)->items[index]);
    return true;
}

/* What the compiler knows to be inside is looked at all the same: an oracle takes nobody's word. */
bool ref_op_inside(OpCall *call)
{
    int64_t index = integer(call, 1);
    if (index < 0 || (uint64_t)index >= container(call, 0)->count)
        bug("ref", "index %lld is not inside a vector of length %zu", (long long)index, container(call, 0)->count);
    return ref_op_element(call);
}

bool ref_op_slice(OpCall *call)
{
    int64_t start = integer(call, 1), count = integer(call, 2);
    size_t length = container(call, 0)->count;
    if (start < 0 || count < 0 || (uint64_t)start > length || (uint64_t)count > length - (size_t)start)
        bug("ref", "%lld elements from %lld on are not inside a vector of length %zu", (long long)count,
            (long long)start, length);
    return give_slice(call, (size_t)start, (size_t)(start + count));
}

bool ref_op_checked_index(OpCall *call)
{
    int64_t index = integer(call, 0), length = integer(call, 1);
    if (index < 0 || index >= length)
        return failure_index(ref_op_failure(call), OP_ELEMENT, index, (uint64_t)length);
    return ref_give_integer(call, index);
}

bool ref_op_common_length(OpCall *call)
{
    int64_t a = integer(call, 0), b = integer(call, 1);
    if (a != b)
        return failure_comprehension_lengths(ref_op_failure(call), (uint64_t)a, (uint64_t)b);
    return ref_give_integer(call, a);
}

static bool check_subseq(OpCall *call, size_t length)
{
    int64_t start = integer(call, 1), end = integer(call, 2);
    return (start >= 0 && end >= start && (uint64_t)end <= length) ||
           failure_subseq(ref_op_failure(call), start, end, length);
}

bool ref_op_subseq(OpCall *call)
{
    return check_subseq(call, container(call, 0)->count) &&
           give_slice(call, (size_t)integer(call, 1), (size_t)integer(call, 2));
}

bool ref_op_subseq_length(OpCall *call)
{
    return check_subseq(call, (size_t)integer(call, 0)) && ref_give_integer(call, integer(call, 2) - integer(call, 1));
}

/* How many elements stand before the cut that take and drop make: from the front, or from the end of a vector. */
static bool find_cut(OpCall *call, Op op, size_t length, size_t *cut)
{
    int64_t count = integer(call, 1);
    uint64_t magnitude = count < 0 ? UINT64_C(0) - (uint64_t)count : (uint64_t)count;
    if (count < 0 && type_is_sequence(call->machine->types, ref_argument_type(call, 0)))
        return failure_cut_sequence(ref_op_failure(call), op, count);
    if (magnitude > length)
        return failure_cut(ref_op_failure(call), op, count, length);
    *cut = count < 0 ? length - (size_t)magnitude : (size_t)magnitude;
    return true;
}

bool ref_op_take(OpCall *call)
{
    size_t cut;
    return find_cut(call, OP_TAKE, container(call, 0)->count, &cut) && give_slice(call, 0, cut);
}

bool ref_op_drop(OpCall *call)
{
    size_t cut, length = container(call, 0)->count;
    return find_cut(call, OP_DROP, length, &cut) && give_slice(call, cut, length);
}

bool ref_op_cut(OpCall *call, Op op)
{
    size_t cut;
    return find_cut(call, op, (size_t)integer(call, 0), &cut) && ref_give_integer(call, (int64_t)cut);
}

bool ref_op_previous(OpCall *call)
{
    const Object *elements = container(call, 0);
    Object *result = build(call, elements->count);
    if (elements->count > 0) {
        add_one(call, result, 1);
        add_slice(call, result, elements, 0, elements->count - 1);
    }
    return finish(call);
}

bool ref_op_next(OpCall *call)
{
    const Object *elements = container(call, 0);
    Object *result = build(call, elements->count);
    if (elements->count > 0) {
        add_slice(call, result, elements, 1, elements->count);
        add_one(call, result, 1);
    }
    return finish(call);
}

bool ref_op_interleave(OpCall *call)
{
    const Object *a = container(call, 0), *b = container(call, 1);
    if (a->count > b->count + 1 || b->count > a->count + 1)
        return failure_interleave(ref_op_failure(call), a->count, b->count);
    Object *result = build(call, a->count + b->count);
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        if (i < a->count)
            add_slice(call, result, a, i, i + 1);
        if (i < b->count)
            add_slice(call, result, b, i, i + 1);
    }
    return finish(call);
}

/* The common length of the rows. */
static bool find_width(OpCall *call, const Object *rows, size_t *width)
{
    *width = rows->count == 0 ? 0 : rows->items[0].object->count;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].object->count != *width)
            return failure_transpose(ref_op_failure(call), i, rows->items[i].object->count, *width);
    return true;
}

bool ref_op_width(OpCall *call)
{
    size_t width;
    return find_width(call, container(call, 0), &width) && ref_give_integer(call, (int64_t)width);
}

bool ref_op_transpose(OpCall *call)
{
    Interpreter *machine = call->machine;
    const Object *rows = container(call, 0);
    TypeId row_type = element_type(call, ref_result_type(call));
    TypeId type = element_type(call, row_type);
    size_t width;
    if (!find_width(call, rows, &width))
        return false;
    build(call, width);
    for (size_t j = 0; j < width; j++) {
        Object *column = value_container(&machine->heap, machine->types, row_type, rows->count);
        for (size_t i = 0; i < rows->count; i++)
            column->items[column->count++] = value_share(machine->types, type, rows->items[i].object->items[j]);
        machine->building = value_append(&machine->heap, machine->building, (Value){.object = column});
    }
    return finish(call);
}
