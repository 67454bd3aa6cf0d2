/* Vectors that are appended to each other: chains of `++` cost no more than their result, and literals in them become one literal. */
#include "flow/flatten_internal.h"

#include <string.h>

const FlowValue *flatten_rope_value(Flattener *f, const Rope *rope, TypeId element_type)
{
    FlowValue *value = ARENA_NEW(f->arena, FlowValue);
    value->kind = VALUE_VECTOR;
    value->rope = rope;
    value->element_type = element_type;
    return value;
}

static const Rope *new_rope(Flattener *f, Rope rope)
{
    Rope *made = ARENA_NEW(f->arena, Rope);
    *made = rope;
    return made;
}

const Rope *flatten_rope(Flattener *f, const FlowValue *vector)
{
    return vector->rope != NULL ? vector->rope : new_rope(f, (Rope){.vector = vector});
}

const Rope *flatten_rope_append(Flattener *f, const Rope *left, const Rope *right)
{
    return new_rope(f, (Rope){.left = left, .right = right});
}

const Rope *flatten_rope_literal(Flattener *f, const FlowValue **elements, uint32_t count)
{
    return new_rope(f, (Rope){.elements = elements, .count = count});
}

/* ---- the pieces of a rope, from left to right ---- */

typedef struct Piece {
    const FlowValue *vector; /* null: a literal */
    VEC(const FlowValue *) elements;
} Piece;

typedef struct Pieces {
    Piece *items;
    uint32_t count;
    uint32_t capacity;
} Pieces;

static void add_leaf(Flattener *f, Pieces *pieces, const Rope *leaf)
{
    if (leaf->vector != NULL) {
        *vec_push(f->arena, pieces) = (Piece){.vector = leaf->vector};
        return;
    }
    if (pieces->count == 0 || vec_last(pieces).vector != NULL)
        *vec_push(f->arena, pieces) = (Piece){0};
    for (uint32_t i = 0; i < leaf->count; i++)
        *vec_push(f->arena, &vec_last(pieces).elements) = leaf->elements[i];
}

/* Chains may be long on either side: no recursion. */
static Pieces find_pieces(Flattener *f, const Rope *rope)
{
    Pieces pieces = {0};
    VEC(const Rope *) stack = {0};
    *vec_push(f->arena, &stack) = rope;
    while (stack.count > 0) {
        const Rope *top = vec_pop(&stack);
        if (top->left == NULL) {
            add_leaf(f, &pieces, top);
            continue;
        }
        *vec_push(f->arena, &stack) = top->right;
        *vec_push(f->arena, &stack) = top->left;
    }
    return pieces;
}

/* ---- literals ---- */

static bool is_constant_literal(Flattener *f, const Piece *piece, const Layout *layout)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->leaves[i].type == LEAF_ARRAY)
            return false;
    for (uint32_t i = 0; i < piece->elements.count; i++) {
        Leaves leaves = flatten_leaves(f, piece->elements.items[i]);
        for (uint32_t leaf = 0; leaf < leaves.count; leaf++)
            if (!leaves.items[leaf].is_constant)
                return false;
    }
    return true;
}

static void set_cell(LeafType type, void *column, size_t i, Scalar value)
{
    size_t size = leaf_size(type);
    char *out = (char *)column + i * size;
    if (type == SCALAR_F32)
        memcpy(out, &value.f32, size);
    else if (size == 8)
        memcpy(out, &value.bits, size);
    else if (size == 4)
        memcpy(out, &(uint32_t){(uint32_t)value.bits}, size);
    else if (size == 2)
        memcpy(out, &(uint16_t){(uint16_t)value.bits}, size);
    else
        memcpy(out, &(uint8_t){(uint8_t)value.bits}, size);
}

/* A literal without variables is data. */
static const FlowValue *constant_vector(Flattener *f, const Piece *piece, const Layout *layout, TypeId element_type)
{
    uint32_t count = piece->elements.count;
    void **columns = ARENA_ARRAY(f->arena, void *, layout->count);
    for (uint32_t leaf = 0; leaf < layout->count; leaf++)
        columns[leaf] = arena_array(f->arena, count, leaf_size(layout->leaves[leaf].type));
    for (uint32_t i = 0; i < count; i++) {
        Leaves leaves = flatten_leaves(f, piece->elements.items[i]);
        for (uint32_t leaf = 0; leaf < layout->count; leaf++)
            set_cell(layout->leaves[leaf].type, columns[leaf], i, leaves.items[leaf].constant);
    }
    FlowNode *node = flatten_node(f, FLOW_CONSTANTS, FLOW_UNIT, NULL, 0);
    node->layout = layout;
    node->columns = columns;
    node->index = count;
    FlowOperand array = flatten_stream(f, flatten_output(f, LEAF_ARRAY, FLOW_UNIT));
    return flatten_value_vector(f, array, flatten_int(0), flatten_int(count), element_type);
}

static const FlowValue *piece_vector(Flattener *f, const Piece *piece, TypeId element_type)
{
    const Layout *layout = flatten_layout(f, element_type);
    if (piece->vector != NULL)
        return piece->vector;
    if (is_constant_literal(f, piece, layout))
        return constant_vector(f, piece, layout, element_type);
    return flatten_collect(f, flatten_literal(f, piece->elements.items, piece->elements.count, element_type));
}

/* ---- making the vector ---- */

static const FlowValue *piece_sequence(Flattener *f, const Piece *piece, TypeId element_type)
{
    if (piece->vector != NULL)
        return flatten_as_sequence(f, piece->vector, f->context->space);
    return flatten_literal(f, piece->elements.items, piece->elements.count, element_type);
}

static const FlowValue *join_pieces(Flattener *f, const Pieces *pieces, TypeId element_type)
{
    const FlowValue **operands = ARENA_ARRAY(f->arena, const FlowValue *, pieces->count);
    for (uint32_t i = 0; i < pieces->count; i++)
        operands[i] = piece_sequence(f, &pieces->items[i], element_type);
    return flatten_join(f, OP_APPEND, operands, pieces->count);
}

const FlowValue *flatten_force(Flattener *f, const FlowValue *value)
{
    if (value->rope == NULL)
        return value;
    Pieces pieces = find_pieces(f, value->rope);
    if (pieces.count == 1)
        return piece_vector(f, &pieces.items[0], value->element_type);
    return flatten_collect(f, join_pieces(f, &pieces, value->element_type));
}

const FlowValue *flatten_rope_sequence(Flattener *f, const FlowValue *value)
{
    TypeId element_type = value->element_type;
    Pieces pieces = find_pieces(f, value->rope);
    if (pieces.count > 1)
        return join_pieces(f, &pieces, element_type);
    const Piece *piece = &pieces.items[0];
    bool is_data = piece->vector == NULL && is_constant_literal(f, piece, flatten_layout(f, element_type));
    if (is_data)
        return flatten_as_sequence(f, piece_vector(f, piece, element_type), f->context->space);
    return piece_sequence(f, piece, element_type);
}
