#include "types/types.h"

#include <stdio.h>
#include <string.h>

/* ---- nodes ---- */

static TypeId add_node(Types *types, TypeNode node)
{
    TypeId type = types->nodes.count;
    *vec_push(types->arena, &types->nodes) = node;
    return type;
}

static uint32_t hash_node(TypeKind kind, uint32_t a, uint32_t b)
{
    uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)kind * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(hash >> 29);
}

static void grow_table(Types *types)
{
    uint32_t size = types->table_size * 2;
    TypeId *table = ARENA_ARRAY(types->arena, TypeId, size);
    for (uint32_t i = 0; i < types->table_size; i++) {
        TypeId type = types->table[i];
        if (type == 0)
            continue;
        const TypeNode *node = type_node(types, type);
        uint32_t slot = hash_node(node->kind, node->a, node->b) & (size - 1);
        while (table[slot] != 0)
            slot = (slot + 1) & (size - 1);
        table[slot] = type;
    }
    types->table = table;
    types->table_size = size;
}

/* The shared node with these contents; `a_is_type` and `b_is_type` say which of the two are types. */
static TypeId share(Types *types, TypeKind kind, uint32_t a, uint32_t b, bool a_is_type, bool b_is_type)
{
    if (types->shared_count * 2 >= types->table_size)
        grow_table(types);
    uint32_t slot = hash_node(kind, a, b) & (types->table_size - 1);
    for (; types->table[slot] != 0; slot = (slot + 1) & (types->table_size - 1)) {
        const TypeNode *node = type_node(types, types->table[slot]);
        if (node->kind == kind && node->a == a && node->b == b)
            return types->table[slot];
    }
    TypeNode node = {.kind = kind, .a = a, .b = b, .is_ground = true, .depth = 1};
    node.has_sequence = kind == TYPE_CONTAINER && a == TYPE_MARK_SEQUENCE;
    node.has_function = kind == TYPE_FUNCTION;
    uint32_t children[2] = {a_is_type ? a : 0, b_is_type ? b : 0};
    for (uint32_t i = 0; i < 2; i++) {
        if (children[i] == 0)
            continue;
        const TypeNode *child = type_node(types, children[i]);
        node.is_ground &= child->is_ground;
        node.has_sequence |= child->has_sequence;
        node.has_function |= child->has_function;
        if (child->closure_depth > node.closure_depth)
            node.closure_depth = child->closure_depth;
        if (child->depth >= node.depth)
            node.depth = child->depth + 1;
    }
    node.closure_depth += kind == TYPE_CLOSURE;
    if (node.depth > TYPE_DEPTH_MAX) {
        types->is_too_deep = true;
        return TYPE_UNIT_ID;
    }
    types->shared_count++;
    return types->table[slot] = add_node(types, node);
}

void types_init(Types *types, Arena *arena, Names *names)
{
    *types = (Types){.arena = arena, .names = names, .table_size = 1024};
    types->table = ARENA_ARRAY(arena, TypeId, types->table_size);
    add_node(types, (TypeNode){.kind = TYPE_NONE});
    for (uint32_t scalar = 0; scalar < SCALAR_COUNT; scalar++)
        share(types, TYPE_SCALAR, scalar, 0, false, false);
    share(types, TYPE_UNIT, 0, 0, false, false);
    share(types, TYPE_MARK, 0, 0, false, false);
    share(types, TYPE_MARK, 1, 0, false, false);
}

TypeId type_pair(Types *types, TypeId first, TypeId rest)
{
    return share(types, TYPE_PAIR, first, rest, true, true);
}

TypeId type_tuple(Types *types, const TypeId *items, uint32_t count)
{
    if (count == 0)
        return TYPE_UNIT_ID;
    TypeId tuple = items[count - 1];
    for (uint32_t i = count - 1; i > 0; i--)
        tuple = type_pair(types, items[i - 1], tuple);
    return tuple;
}

TypeId type_container(Types *types, TypeId mark, TypeId element)
{
    return share(types, TYPE_CONTAINER, mark, element, true, true);
}

TypeId type_vector(Types *types, TypeId element)
{
    return type_container(types, TYPE_MARK_VECTOR, element);
}

TypeId type_sequence(Types *types, TypeId element)
{
    return type_container(types, TYPE_MARK_SEQUENCE, element);
}

TypeId type_function(Types *types, TypeId argument, TypeId result)
{
    return share(types, TYPE_FUNCTION, argument, result, true, true);
}

TypeId type_data(Types *types, uint32_t datatype, TypeId arguments)
{
    return share(types, TYPE_DATA, datatype, arguments, false, true);
}

TypeId type_closure(Types *types, uint32_t label, TypeId captured)
{
    return share(types, TYPE_CLOSURE, label, captured, false, true);
}

static TypeId add_variable(Types *types, TypeVariable variable)
{
    uint32_t index = types->variables.count;
    *vec_push(types->arena, &types->variables) = variable;
    return add_node(types, (TypeNode){.kind = TYPE_VARIABLE, .a = index, .depth = 1});
}

TypeId type_variable(Types *types, ClassSet class_set)
{
    return add_variable(types, (TypeVariable){.class_set = class_set});
}

TypeId type_container_variable(Types *types)
{
    return add_variable(types, (TypeVariable){.class_set = CLASS_ANY, .is_container = true});
}

/* ---- scalars by name ---- */

static const struct {
    const char *name;
    TypeId type;
} scalar_aliases[] = {
    {"i64", TYPE_INT},
    {"f64", TYPE_FLOAT},
    {"real", TYPE_FLOAT},
};

TypeId type_scalar_named(const char *name)
{
    for (uint32_t scalar = 0; scalar < SCALAR_COUNT; scalar++)
        if (strcmp(scalar_name((ScalarType)scalar), name) == 0)
            return TYPE_OF_SCALAR(scalar);
    for (uint32_t i = 0; i < sizeof scalar_aliases / sizeof scalar_aliases[0]; i++)
        if (strcmp(scalar_aliases[i].name, name) == 0)
            return scalar_aliases[i].type;
    return 0;
}

/* ---- asking ---- */

TypeVariable *type_variable_of(const Types *types, TypeId variable)
{
    return &types->variables.items[type_node(types, variable)->a];
}

TypeId type_resolve(const Types *types, TypeId type)
{
    if (type_kind(types, type) != TYPE_VARIABLE)
        return type;
    TypeId end = type;
    for (TypeId link; type_kind(types, end) == TYPE_VARIABLE && (link = type_variable_of(types, end)->link) != 0;)
        end = link;
    /* Chains of variables are shortened, so that walking them again is quick. */
    while (type != end) {
        TypeVariable *variable = type_variable_of(types, type);
        type = variable->link;
        variable->link = end;
    }
    return end;
}

static bool has_mark(const Types *types, TypeId type, TypeId mark)
{
    const TypeNode *node = type_node(types, type);
    return node->kind == TYPE_CONTAINER && type_resolve(types, node->a) == mark;
}

bool type_is_vector(const Types *types, TypeId type)
{
    return has_mark(types, type, TYPE_MARK_VECTOR);
}

bool type_is_sequence(const Types *types, TypeId type)
{
    return has_mark(types, type, TYPE_MARK_SEQUENCE);
}

bool type_is_concrete(const Types *types, TypeId type)
{
    return !type_node(types, type)->has_sequence;
}

TypeId type_representation(Types *types, TypeId type)
{
    const TypeNode *node = type_node(types, type);
    if (node->kind == TYPE_CLOSURE)
        return node->b;
    if (node->kind != TYPE_DATA)
        return type;
    if (node->representation != 0)
        return node->representation;
    const Datatype *datatype = &types->datatypes.items[node->a];
    uint32_t count = datatype->parameter_count;
    TypeId contents = datatype->contents;
    TypeId *arguments = ARENA_ARRAY(types->arena, TypeId, count);
    TypeId rest = node->b;
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = i + 1 < count ? type_first(types, rest) : rest;
        if (i + 1 < count)
            rest = type_rest(types, rest);
    }
    TypeId representation = type_substitute(types, contents, arguments, count);
    types->nodes.items[type].representation = representation;
    return representation;
}

TypeId type_underlying(Types *types, TypeId type)
{
    TypeKind kind = type_kind(types, type);
    while (kind == TYPE_DATA || kind == TYPE_CLOSURE) {
        type = type_representation(types, type);
        kind = type_kind(types, type);
    }
    return type;
}

/* ---- substitution ---- */

void type_memo_start(Types *types)
{
    types->memo_epoch++;
}

TypeId *type_memo(Types *types, TypeId type)
{
    while (types->memo.count <= type)
        *vec_push(types->arena, &types->memo) = (struct TypeMemo){0};
    struct TypeMemo *entry = &types->memo.items[type];
    if (entry->epoch != types->memo_epoch)
        *entry = (struct TypeMemo){.epoch = types->memo_epoch};
    return &entry->result;
}

static TypeId default_of(const TypeVariable *variable)
{
    if (variable->is_container)
        return TYPE_MARK_VECTOR;
    if ((variable->class_set & 1u << SCALAR_I64) != 0 && !variable->is_float_literal)
        return TYPE_INT;
    if ((variable->class_set & 1u << SCALAR_F64) != 0)
        return TYPE_FLOAT;
    for (uint32_t scalar = 0; scalar < SCALAR_COUNT; scalar++)
        if ((variable->class_set & 1u << scalar) != 0)
            return TYPE_OF_SCALAR(scalar);
    return TYPE_INT;
}

/* Links of variables do not count towards the depth of nodes, so walks over types with variables count for themselves. */
static bool is_within_depth(Types *types, uint32_t depth)
{
    types->is_too_deep |= depth > TYPE_DEPTH_MAX;
    return depth <= TYPE_DEPTH_MAX;
}

typedef struct Substitution {
    Types *types;
    const TypeId *values;
    uint32_t count;
} Substitution;

static TypeId substitute(const Substitution *s, TypeId type, uint32_t depth);

static TypeId substitute_node(const Substitution *s, TypeId type, uint32_t depth)
{
    Types *types = s->types;
    TypeNode node = *type_node(types, type); /* a copy: the table may move */
    switch (node.kind) {
    case TYPE_VARIABLE: {
        const TypeVariable *variable = type_variable_of(types, type);
        uint32_t index = variable->scheme_index;
        return index > 0 && index <= s->count ? s->values[index - 1] : default_of(variable);
    }
    case TYPE_PAIR:
    case TYPE_CONTAINER:
    case TYPE_FUNCTION: {
        TypeId a = substitute(s, node.a, depth + 1);
        TypeId b = substitute(s, node.b, depth + 1);
        return share(types, node.kind, a, b, true, true);
    }
    case TYPE_DATA:
    case TYPE_CLOSURE:
        return share(types, node.kind, node.a, substitute(s, node.b, depth + 1), false, true);
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_MARK:
        break;
    }
    return type;
}

static TypeId substitute(const Substitution *s, TypeId type, uint32_t depth)
{
    type = type_resolve(s->types, type);
    if (type_node(s->types, type)->is_ground)
        return type;
    if (!is_within_depth(s->types, depth))
        return TYPE_UNIT_ID;
    TypeId known = *type_memo(s->types, type);
    if (known != 0)
        return known;
    TypeId result = substitute_node(s, type, depth);
    *type_memo(s->types, type) = result;
    return result;
}

TypeId type_substitute(Types *types, TypeId type, const TypeId *values, uint32_t count)
{
    type_memo_start(types);
    return substitute(&(Substitution){types, values, count}, type, 1);
}

/* ---- variables ---- */

typedef struct VariableWalk {
    Types *types;
    void (*visit)(void *context, TypeId variable);
    void *context;
} VariableWalk;

static void walk_variables(const VariableWalk *walk, TypeId type, uint32_t depth)
{
    type = type_resolve(walk->types, type);
    TypeNode node = *type_node(walk->types, type);
    if (node.is_ground || *type_memo(walk->types, type) != 0 || !is_within_depth(walk->types, depth))
        return;
    *type_memo(walk->types, type) = type;
    switch (node.kind) {
    case TYPE_VARIABLE:
        walk->visit(walk->context, type);
        break;
    case TYPE_PAIR:
    case TYPE_CONTAINER:
    case TYPE_FUNCTION:
        walk_variables(walk, node.a, depth + 1);
        walk_variables(walk, node.b, depth + 1);
        break;
    case TYPE_DATA:
    case TYPE_CLOSURE:
        walk_variables(walk, node.b, depth + 1);
        break;
    case TYPE_NONE:
    case TYPE_SCALAR:
    case TYPE_UNIT:
    case TYPE_MARK:
        break;
    }
}

void type_each_variable(Types *types, TypeId type, void (*visit)(void *context, TypeId variable), void *context)
{
    type_memo_start(types);
    walk_variables(&(VariableWalk){types, visit, context}, type, 1);
}
