/* Moving elements by index. Indices are checked first, in order, so that a result is never left half made. */
#include "ref/ref_private.h"

bool ref_check_index(Interpreter *machine, const CoreStatement *statement, int64_t index, size_t length)
{
    return (index >= 0 && (uint64_t)index < length) ||
           failure_index(ref_failure(machine, statement->span), statement->op, index, length);
}

static bool check_indices(OpCall *call, const Object *indices, size_t length)
{
    for (size_t i = 0; i < indices->count; i++)
        if (!ref_check_index(call->machine, call->statement, indices->items[i].scalar.integer, length))
            return false;
    return true;
}

static TypeId result_element(const OpCall *call)
{
    Types *types = call->machine->types;
    return type_element(types, type_underlying(types, ref_result_type(call)));
}

/* A copy of a container that shares its elements, as the result under construction. */
static Object *build_copy(OpCall *call, const Object *from)
{
    TypeId type = result_element(call);
    Object *copy = ref_build(call->machine, ref_result_type(call), from->count);
    for (size_t i = 0; i < from->count; i++)
        copy->items[copy->count++] = value_share(call->machine->types, type, from->items[i]);
    return copy;
}

static void replace(OpCall *call, Object *container, size_t index, Value element)
{
    Interpreter *machine = call->machine;
    TypeId type = result_element(call);
    Value old = container->items[index];
    container->items[index] = value_share(machine->types, type, element);
    value_release(&machine->heap, machine->types, type, old);
}

static bool finish(OpCall *call)
{
    call->result.object = ref_built(call->machine);
    return true;
}

bool ref_op_read(OpCall *call)
{
    const Object *from = call->arguments[0].object, *indices = call->arguments[1].object;
    if (!check_indices(call, indices, from->count))
        return false;
    TypeId type = result_element(call);
    Object *result = ref_build(call->machine, ref_result_type(call), indices->count);
    for (size_t i = 0; i < indices->count; i++)
        result->items[result->count++] =
            value_share(call->machine->types, type, from->items[indices->items[i].scalar.integer]);
    return finish(call);
}

bool ref_op_write(OpCall *call)
{
    const Object *from = call->arguments[0].object, *pairs = call->arguments[1].object;
    for (size_t i = 0; i < pairs->count; i++) {
        int64_t index = pairs->items[i].object->items[0].scalar.integer;
        if (!ref_check_index(call->machine, call->statement, index, from->count))
            return false;
    }
    Object *result = build_copy(call, from);
    for (size_t i = 0; i < pairs->count; i++) {
        const Object *pair = pairs->items[i].object;
        replace(call, result, (size_t)pair->items[0].scalar.bits, pair->items[1]);
    }
    return finish(call);
}

bool ref_op_put(OpCall *call)
{
    const Object *values = call->arguments[0].object, *indices = call->arguments[1].object;
    const Object *destination = call->arguments[2].object;
    if (values->count != indices->count)
        return ref_fail_lengths(call->machine, call->statement, values->count, indices->count);
    if (!check_indices(call, indices, destination->count))
        return false;
    Object *result = build_copy(call, destination);
    for (size_t i = 0; i < values->count; i++)
        replace(call, result, (size_t)indices->items[i].scalar.bits, values->items[i]);
    return finish(call);
}

/* Checks the indices and gives the inverse: which position goes to each index. Null after an error. */
static size_t *invert(OpCall *call, const Object *indices)
{
    Interpreter *machine = call->machine;
    size_t length = indices->count;
    size_t *sources = ref_new_positions(machine, length);
    for (size_t i = 0; i < length; i++) {
        size_t *source = &sources[indices->items[i].scalar.bits];
        if (*source != 0) { /* position + 1 */
            failure_repeated(ref_op_failure(call), indices->items[i].scalar.integer, *source - 1, i);
            return NULL;
        }
        *source = i + 1;
    }
    return sources;
}

bool ref_op_permute(OpCall *call)
{
    Interpreter *machine = call->machine;
    const Object *from = call->arguments[0].object, *indices = call->arguments[1].object;
    if (from->count != indices->count)
        return ref_fail_lengths(machine, call->statement, from->count, indices->count);
    if (!check_indices(call, indices, from->count))
        return false;
    size_t *sources = invert(call, indices);
    if (sources == NULL)
        return false;
    TypeId type = result_element(call);
    Object *result = ref_build(machine, ref_result_type(call), from->count);
    for (size_t i = 0; i < from->count; i++)
        result->items[result->count++] = value_share(machine->types, type, from->items[sources[i] - 1]);
    ref_free_positions(machine, &machine->positions);
    return finish(call);
}

bool ref_op_sorted(OpCall *call, bool is_descending)
{
    Interpreter *machine = call->machine;
    const Object *elements = call->arguments[0].object;
    ref_grade(machine, result_element(call), elements, is_descending);
    Object *result = ref_build(machine, ref_result_type(call), elements->count);
    for (size_t i = 0; i < elements->count; i++)
        result->items[result->count++] = elements->items[machine->positions.items[i]];
    ref_free_positions(machine, &machine->positions);
    return finish(call);
}

bool ref_op_replace(OpCall *call)
{
    int64_t index = call->arguments[2].scalar.integer;
    const Object *from = call->arguments[0].object;
    if (!ref_check_index(call->machine, call->statement, index, from->count))
        return false;
    Object *result = build_copy(call, from);
    replace(call, result, (size_t)index, call->arguments[1]);
    return finish(call);
}

/* The argument's elements; their positions are in order then. */
static const Object *grade_argument(OpCall *call, bool is_descending)
{
    Interpreter *machine = call->machine;
    const Object *elements = call->arguments[0].object;
    TypeId type = type_element(machine->types, type_underlying(machine->types, ref_argument_type(call, 0)));
    ref_grade(machine, type, elements, is_descending);
    return elements;
}

bool ref_op_rank(OpCall *call, bool is_descending)
{
    Interpreter *machine = call->machine;
    const Object *elements = grade_argument(call, is_descending);
    Object *result = ref_build(machine, ref_result_type(call), elements->count);
    for (size_t i = 0; i < elements->count; i++)
        result->items[machine->positions.items[i]].scalar.bits = i;
    result->count = elements->count;
    ref_free_positions(machine, &machine->positions);
    return finish(call);
}

bool ref_op_grade(OpCall *call, bool is_descending)
{
    Interpreter *machine = call->machine;
    const Object *elements = grade_argument(call, is_descending);
    Object *result = ref_build(machine, ref_result_type(call), elements->count);
    for (size_t i = 0; i < elements->count; i++)
        result->items[result->count++].scalar.bits = machine->positions.items[i];
    ref_free_positions(machine, &machine->positions);
    return finish(call);
}
