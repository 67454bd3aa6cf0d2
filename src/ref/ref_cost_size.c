/* Sizes of values and types in the cost model (Madsen & Filinski 2013, sections 2.2 and 2.3).
 *
 * Both kinds of things are graphs, which as trees may be exponentially large: objects remember their size, types are
 * looked up in a table. */
#include "ref/ref_private.h"

/* ---- values ---- */

static Footprint measure_pair(Interpreter *machine, TypeId type, const Object *pair)
{
    return footprint_add(ref_cost_size(machine, type_first(machine->types, type), pair->items[0]),
                     ref_cost_size(machine, type_rest(machine->types, type), pair->items[1]));
}

/* The largest element sequentially, all of them in parallel. A vector and a sequence may share an object, so this is
 * what it remembers. */
static Footprint measure_elements(Interpreter *machine, TypeId element, const Object *container)
{
    uint64_t count = container->count;
    if (type_is_scalar(machine->types, element))
        return (Footprint){count > 0, count};
    Footprint measure = {0, 0};
    for (size_t i = 0; i < count; i++) {
        Footprint size = ref_cost_size(machine, element, container->items[i]);
        measure.sequential = cost_maximum(measure.sequential, size.sequential);
        measure.parallel = cost_add(measure.parallel, size.parallel);
    }
    return measure;
}

static Footprint measure_object(Interpreter *machine, TypeId type, Object *object)
{
    if (!object->is_measured) {
        object->measure = object->is_pair
                              ? measure_pair(machine, type, object)
                              : measure_elements(machine, type_element(machine->types, type), object);
        object->is_measured = true;
    }
    return object->measure;
}

Footprint ref_cost_sequence_size(Interpreter *machine, TypeId type, Object *container)
{
    Footprint elements = measure_object(machine, type, container);
    if (container->count == 0)
        return (Footprint){0, 0};
    return (Footprint){cost_add(elements.sequential, 1), cost_add(elements.parallel, container->count)};
}

Footprint ref_cost_size(Interpreter *machine, TypeId type, Value value)
{
    type = type_underlying(machine->types, type);
    TypeKind kind = type_kind(machine->types, type);
    if (kind == TYPE_SCALAR || kind == TYPE_UNIT)
        return footprint_of(kind == TYPE_SCALAR);
    if (kind == TYPE_PAIR)
        return measure_object(machine, type, value.object);
    if (type_is_sequence(machine->types, type))
        return ref_cost_sequence_size(machine, type, value.object);
    return footprint_of(cost_add(measure_object(machine, type, value.object).parallel, 1)); /* and its length */
}

/* ---- types ---- */

static uint64_t *known_type_size(Interpreter *machine, TypeId type)
{
    while (machine->cost.type_sizes.count <= type)
        *vec_push(&machine->arena, &machine->cost.type_sizes) = 0;
    return &machine->cost.type_sizes.items[type];
}

static uint64_t compute_type_size(Interpreter *machine, TypeId type)
{
    Types *types = machine->types;
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        return 1;
    case TYPE_PAIR:
        return cost_add(ref_cost_type_size(machine, type_first(types, type)),
                        ref_cost_type_size(machine, type_rest(types, type)));
    case TYPE_CONTAINER: /* vectors are passed on as pointers, sequences element by element with their flag */
        if (type_is_vector(types, type))
            return 1;
        return cost_add(ref_cost_type_size(machine, type_element(types, type)), 1);
    case TYPE_DATA:
    case TYPE_CLOSURE:
        return ref_cost_type_size(machine, type_representation(types, type));
    case TYPE_NONE:
    case TYPE_UNIT:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    return 0;
}

uint64_t ref_cost_type_size(Interpreter *machine, TypeId type)
{
    uint64_t known = *known_type_size(machine, type);
    if (known != 0)
        return known - 1;
    uint64_t size = compute_type_size(machine, type);
    *known_type_size(machine, type) = cost_add(size, 1); /* the table may have moved */
    return size;
}
