/* Expressions, made top-down from the type that is wanted: forms are picked until one fits, its open type variables get random types, its
 * holes are filled the same way. `fuel` bounds the number of forms. Where it is used up stand variables and literals. */
#include "program.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes ---- */

static const Shape *random_scalar(Generator *g, ClassSet class_set)
{
    static const ScalarType common[] = {SCALAR_I64, SCALAR_I64, SCALAR_I64, SCALAR_F64, SCALAR_F64, SCALAR_BOOL, SCALAR_CHAR};
    for (uint32_t tries = 0; tries < 8; tries++) {
        ScalarType scalar = common[random_below(&g->random, sizeof common / sizeof *common)];
        if (g->dialect == FORM_RNL && random_chance(&g->random, 30))
            scalar = (ScalarType)random_below(&g->random, SCALAR_COUNT);
        if ((class_set >> scalar & 1) != 0)
            return shape_scalar(scalar);
    }
    for (uint32_t tries = 0; tries < 1000; tries++) {
        ScalarType scalar = common[random_below(&g->random, sizeof common / sizeof *common)];
        if ((class_set >> scalar & 1) != 0)
            return shape_scalar(scalar);
    }
    return shape_scalar(SCALAR_I64);
}

static bool is_visible(const Generator *g, uint32_t index)
{
    return index >= g->barrier || shape_is_concrete(g->variables.items[index].shape);
}

/* The shape of a variable at hand, or of its elements: so that variables get used. */
static const Shape *familiar_shape(Generator *g)
{
    if (g->variables.count == 0)
        return NULL;
    uint32_t index = g->variables.count - 1 - random_below(&g->random, random_below(&g->random, g->variables.count) + 1);
    const Shape *shape = g->variables.items[index].shape;
    if (!is_visible(g, index))
        return NULL;
    bool is_container = shape->kind == SHAPE_VECTOR || shape->kind == SHAPE_SEQUENCE;
    return is_container && random_chance(&g->random, 40) ? shape->a : shape;
}

static const Shape *random_compound(Generator *g, ClassSet class_set, uint32_t fuel)
{
    bool may_stream = (class_set & CLASS_BIT_SEQUENCES) != 0 && g->dialect == FORM_RNL;
    uint32_t choice = random_below(&g->random, may_stream ? 14 : 10);
    if (choice < 4)
        return shape_new(g->arena, SHAPE_PAIR, generate_shape(g, class_set, fuel / 2), generate_shape(g, class_set, fuel / 2));
    if (choice == 4 && g->datatypes.count > 0) {
        Shape *data = ARENA_NEW(g->arena, Shape);
        *data = *g->datatypes.items[random_below(&g->random, g->datatypes.count)];
        if (data->a != NULL)
            data->a = generate_shape(g, CLASS_CONCRETE, fuel / 2);
        return data;
    }
    if (choice == 5 && random_chance(&g->random, 10))
        return shape_unit();
    ShapeKind kind = choice < 10 ? SHAPE_VECTOR : SHAPE_SEQUENCE;
    ClassSet inner = kind == SHAPE_VECTOR ? class_set & CLASS_CONCRETE : class_set;
    return shape_new(g->arena, kind, generate_shape(g, inner, fuel - 1), NULL);
}

const Shape *generate_shape(Generator *g, ClassSet class_set, uint32_t fuel)
{
    if (random_chance(&g->random, 50)) {
        const Shape *shape = familiar_shape(g);
        if (shape != NULL && (shape_class(shape) & class_set) != 0 && shape->kind != SHAPE_FUNCTION && shape_size(shape) <= fuel + 2)
            return shape;
    }
    bool may_nest = (class_set & CLASS_BIT_STRUCTURED) != 0 && fuel > 0;
    if (may_nest && random_chance(&g->random, 45))
        return random_compound(g, class_set, fuel);
    return random_scalar(g, class_set);
}

/* ---- literals ---- */

static Node *new_node(Arena *arena, NodeKind kind, const Shape *shape, uint32_t child_count)
{
    Node *node = ARENA_NEW(arena, Node);
    *node = (Node){.kind = kind, .shape = shape, .child_count = child_count};
    node->children = ARENA_ARRAY(arena, Node *, child_count);
    return node;
}

static Node *leaf(Generator *g, const Shape *shape, const char *text)
{
    Node *node = new_node(g->arena, NODE_LEAF, shape, 0);
    node->text = text;
    return node;
}

static const char *integer_text(Generator *g, ScalarType scalar)
{
    Random *random = &g->random;
    uint32_t bits = scalar_bits(scalar);
    bool is_signed = scalar_kind(scalar) == KIND_SIGNED;
    uint32_t choice = g->has_small_literals ? 4 : random_below(random, 20);
    if (choice < 4)
        return choice < 2 ? "0" : "1";
    if (choice < 14)
        return arena_format(g->arena, "%u", random_below(random, 10));
    if (choice < 17 && is_signed)
        return arena_format(g->arena, "-%u", random_below(random, 10));
    if (choice < 18)
        return arena_format(g->arena, "%u", random_below(random, 128));
    uint64_t greatest = (is_signed ? (uint64_t)1 << (bits - 1) : bits == 64 ? 0 : (uint64_t)1 << bits) - 1;
    if (choice < 19 || !is_signed)
        return arena_format(g->arena, "%llu", (unsigned long long)greatest);
    return arena_format(g->arena, "-%llu", (unsigned long long)(greatest + 1));
}

static const char *float_text(Generator *g)
{
    static const char *const special[] = {"1.0e30", "-1.0e-30", "0.1", "1.5", "-2.5", "1.0e-40", "3.0e7"};
    uint32_t choice = random_below(&g->random, 12);
    if (choice < 3)
        return choice == 0 ? "-0.0" : choice == 1 ? "0.0" : "1.0";
    if (choice < 8)
        return arena_format(g->arena, "%u.%u", random_below(&g->random, 10), random_below(&g->random, 4) * 25);
    if (choice < 9)
        return arena_format(g->arena, "-%u.5", random_below(&g->random, 10));
    return special[random_below(&g->random, sizeof special / sizeof *special)];
}

static const char *char_text(Generator *g)
{
    static const char *const chars[] = {"'a'", "'b'", "'c'", "' '", "'\\n'", "'\\0'", "'Z'", "'9'", "'\\xff'", "'\\''"};
    if (g->dialect == FORM_NESL)
        return arena_format(g->arena, "`%c", (int)('a' + random_below(&g->random, 26)));
    return chars[random_below(&g->random, sizeof chars / sizeof *chars)];
}

/* A literal has the type that its surroundings want; some state it, and those that no int could hold must. */
static void annotate(Generator *g, Node *node)
{
    ScalarType scalar = node->shape->scalar;
    bool is_common = scalar == SCALAR_I64 || scalar == SCALAR_F64;
    bool is_huge = scalar == SCALAR_U64 && strlen(node->text) > 18;
    if (!is_huge && (is_common || g->has_small_literals || random_chance(&g->random, 50)))
        return;
    node->value_text = node->text;
    node->text = arena_format(g->arena, "(%s : %s)", node->text, scalar_name(scalar));
}

static Node *float_literal(Generator *g, const Shape *shape)
{
    static const char *const names[] = {"nan", "inf", "-inf"};
    if (!g->has_small_literals && random_chance(&g->random, 10)) {
        uint32_t which = random_below(&g->random, 3);
        Node *node = leaf(g, shape, which == 2 ? "negate(inf)" : names[which]);
        node->value_text = names[which];
        if (shape->scalar == SCALAR_F32)
            node->text = arena_format(g->arena, "f32(%s)", node->text);
        return node;
    }
    Node *node = leaf(g, shape, float_text(g));
    annotate(g, node);
    return node;
}

static Node *scalar_literal(Generator *g, const Shape *shape)
{
    bool is_nesl = g->dialect == FORM_NESL;
    switch (scalar_kind(shape->scalar)) {
    case KIND_TRUTH: {
        static const char *const texts[2][2] = {{"false", "true"}, {"f", "t"}};
        return leaf(g, shape, texts[is_nesl][random_below(&g->random, 2)]);
    }
    case KIND_CHARACTER:
        return leaf(g, shape, char_text(g));
    case KIND_SIGNED:
    case KIND_UNSIGNED: {
        Node *node = leaf(g, shape, integer_text(g, shape->scalar));
        annotate(g, node);
        return node;
    }
    case KIND_FLOATING:
        return float_literal(g, shape);
    }
    return NULL;
}

static Node *text_literal(Generator *g, const Shape *shape)
{
    static const char *const texts[] = {"\"\"", "\"a\"", "\"ab ba\"", "\"Hello, World\"", "\"x1\""};
    return leaf(g, shape, texts[random_below(&g->random, sizeof texts / sizeof *texts)]);
}

/* Mostly a few elements, now and then more. */
static uint32_t random_length(Generator *g)
{
    uint32_t choice = random_below(&g->random, 20);
    return choice < 3 ? 0 : choice < 16 ? random_below(&g->random, 5) : choice < 19 ? random_below(&g->random, 9) : random_below(&g->random, 21);
}

static Node *list_literal(Generator *g, const Shape *shape, uint32_t length)
{
    Node *node = new_node(g->arena, NODE_LIST, shape, length);
    for (uint32_t i = 0; i < length; i++)
        node->children[i] = generate_literal(g, shape->a, length > 4 ? 2 : 3);
    return node;
}

static Node *function_literal(Generator *g, const Shape *shape)
{
    const Form *form = forms_pick(g->tables, 1, &g->random, shape);
    for (uint32_t tries = 0; tries < 50; tries++, form = forms_pick(g->tables, 1, &g->random, shape)) {
        Node *node = form == NULL ? NULL : generate_form(g, form, shape, 2);
        if (node != NULL)
            return node;
    }
    return leaf(g, shape, "(x => x)"); /* not reached: some form fits every function */
}

static Node *data_literal(Generator *g, const Shape *shape)
{
    const Forms *forms = g->tables[1];
    for (uint32_t i = 0; i < forms->items.count; i++)
        if (strcmp(forms->items.items[i]->name, shape->name) == 0)
            return generate_form(g, forms->items.items[i], shape, 0);
    return NULL; /* not reached: a datatype has a constructor */
}

/* `length` bounds the length of lists inside; 0 stands for no bound. */
Node *generate_literal(Generator *g, const Shape *shape, uint32_t length)
{
    switch (shape->kind) {
    case SHAPE_SCALAR:
        return scalar_literal(g, shape);
    case SHAPE_UNIT:
        return leaf(g, shape, "()");
    case SHAPE_PAIR: {
        Node *node = new_node(g->arena, NODE_TUPLE, shape, 2);
        node->children[0] = generate_literal(g, shape->a, length);
        node->children[1] = generate_literal(g, shape->b, length);
        return node;
    }
    case SHAPE_VECTOR:
    case SHAPE_SEQUENCE: {
        bool is_text = shape->kind == SHAPE_VECTOR && shape_equal(shape->a, shape_scalar(SCALAR_CHAR));
        if (is_text && random_chance(&g->random, 60))
            return text_literal(g, shape);
        uint32_t wanted = random_length(g);
        return list_literal(g, shape, length > 0 && wanted > length ? random_below(&g->random, length + 1) : wanted);
    }
    case SHAPE_FUNCTION:
        return function_literal(g, shape);
    case SHAPE_DATA:
        return data_literal(g, shape);
    case SHAPE_VARIABLE:
    case SHAPE_CONTAINER:
    case SHAPE_KINDS:
        break;
    }
    return NULL;
}

/* ---- variables ---- */

void push_variable(Generator *g, const char *name, const Shape *shape)
{
    *vec_push(g->arena, &g->variables) = (Variable){.name = name, .shape = shape};
}

/* A sequence is traversed once, with few exceptions: they may still be streamable. */
static bool is_at_hand(Generator *g, uint32_t index)
{
    const Variable *variable = &g->variables.items[index];
    return is_visible(g, index) && (!variable->is_used || random_chance(&g->random, 15));
}

static Node *use_variable(Generator *g, const Shape *shape)
{
    uint32_t candidates[16];
    uint32_t count = 0;
    for (uint32_t i = g->variables.count; i > 0 && count < 16; i--)
        if (shape_equal(g->variables.items[i - 1].shape, shape) && is_at_hand(g, i - 1))
            candidates[count++] = i - 1;
    if (count == 0)
        return NULL;
    Variable *variable = &g->variables.items[candidates[random_below(&g->random, count)]];
    variable->is_used = !shape_is_concrete(variable->shape);
    return leaf(g, shape, variable->name);
}

/* A call of a function that was passed as a parameter. */
static Node *call_variable(Generator *g, const Shape *shape, uint32_t fuel)
{
    for (uint32_t i = g->variables.count; i > 0; i--) {
        const Variable *variable = &g->variables.items[i - 1];
        const Shape *function = variable->shape;
        if (function->kind != SHAPE_FUNCTION || !shape_equal(function->b, shape) || !is_visible(g, i - 1))
            continue;
        Node *node = new_node(g->arena, NODE_TUPLE, shape, 1);
        node->text = variable->name;
        node->children[0] = generate_expression(g, function->a, fuel / 2);
        return node;
    }
    return NULL;
}

/* ---- forms ---- */

enum { SHAPE_SIZE_MAX = 12 };

/* Whether a form that makes something of type `whole` may have a hole for `shape`. Types do not grow without bound. */
static bool is_fitting(const Generator *g, const Shape *shape, const Shape *whole)
{
    bool is_small = shape_size(shape) <= SHAPE_SIZE_MAX || whole->kind == SHAPE_DATA;
    return is_small && shape_is_valid(shape) && (g->dialect == FORM_RNL || shape_is_concrete(shape));
}

static bool complete_bindings(Generator *g, const Form *form, const Shape *whole, Bindings *bindings)
{
    for (uint32_t i = 0; i < form->variables.container_count; i++)
        if (bindings->containers[i] == 0) {
            bool is_sequence = g->dialect == FORM_RNL && random_chance(&g->random, 45);
            bindings->containers[i] = is_sequence ? SHAPE_SEQUENCE : SHAPE_VECTOR;
        }
    for (uint32_t i = 0; i < form->variables.type_count; i++)
        if (bindings->types[i] == NULL)
            bindings->types[i] = generate_shape(g, form->variables.classes[i], 3);
    for (uint32_t i = 0; i < form->piece_count; i++) {
        const Piece *piece = &form->pieces[i];
        if (piece->shape != NULL && !is_fitting(g, shape_apply(g->arena, piece->shape, bindings), whole))
            return false;
        for (uint32_t b = 0; b < piece->binder_count; b++)
            if (!is_fitting(g, shape_apply(g->arena, piece->binder_shapes[b], bindings), whole))
                return false;
    }
    return true;
}

static const char *name_text(Arena *arena, uint32_t number)
{
    return arena_format(arena, "x%u", number);
}

static Node *fill_hole(Generator *g, const Piece *piece, const Bindings *bindings, uint32_t first_name, uint32_t fuel)
{
    uint32_t count = g->variables.count, barrier = g->barrier;
    bool has_no_effects = g->has_no_effects;
    if (piece->scope != HOLE_PLAIN)
        g->barrier = count;
    if (piece->scope == HOLE_FUNCTION)
        g->has_no_effects = true;
    for (uint32_t i = 0; i < piece->binder_count; i++)
        push_variable(g, name_text(g->arena, first_name + piece->binders[i]), shape_apply(g->arena, piece->binder_shapes[i], bindings));
    Node *node = generate_expression(g, shape_apply(g->arena, piece->shape, bindings), fuel);
    g->variables.count = count;
    g->barrier = barrier;
    g->has_no_effects = has_no_effects;
    return node;
}

static Node *type_leaf(Generator *g, const Shape *shape)
{
    Text text;
    text_init(&text, g->arena->memory);
    shape_print(shape, &text);
    Node *node = leaf(g, NULL, arena_text(g->arena, text_string(&text), text.length));
    text_free(&text);
    return node;
}

static Node *fill_piece(Generator *g, const Piece *piece, const Bindings *bindings, uint32_t first_name, uint32_t fuel)
{
    if (piece->kind == PIECE_TYPE)
        return type_leaf(g, shape_apply(g->arena, piece->shape, bindings));
    if (piece->kind == PIECE_NUMBER)
        return leaf(g, shape_scalar(SCALAR_I64), arena_format(g->arena, "%u", random_below(&g->random, piece->number + 1)));
    return fill_hole(g, piece, bindings, first_name, fuel);
}

/* Null when the form does not fit. */
Node *generate_form(Generator *g, const Form *form, const Shape *shape, uint32_t fuel)
{
    Bindings bindings = {0};
    if ((form->has_effect && g->has_no_effects) || !shape_match(form->result, shape, &form->variables, &bindings) ||
        !complete_bindings(g, form, shape, &bindings))
        return NULL;
    Node *node = new_node(g->arena, NODE_FORM, shape, form->hole_count);
    node->form = form;
    g->has_drawn |= form->draws;
    node->first_name = g->next_name;
    g->next_name += form->variable_count;
    uint32_t hole = 0, rest = fuel > 0 ? fuel - 1 : 0;
    for (uint32_t i = 0; i < form->piece_count; i++) {
        const Piece *piece = &form->pieces[i];
        if (piece->kind == PIECE_TEXT || piece->kind == PIECE_NAME)
            continue;
        uint32_t open = form->hole_count - hole;
        uint32_t share = open == 1 ? rest : random_below(&g->random, 2 * rest / open + 1);
        rest -= share < rest ? share : rest;
        node->children[hole++] = fill_piece(g, piece, &bindings, node->first_name, share);
    }
    return node;
}

static bool takes_count(const Shape *argument)
{
    for (; argument->kind == SHAPE_PAIR; argument = argument->b)
        if (shape_equal(argument->a, shape_scalar(SCALAR_I64)))
            return true;
    return shape_equal(argument, shape_scalar(SCALAR_I64));
}

/* A function by its name. One that makes a container as long as a number says is better not called with just any number. */
static Node *name_function(Generator *g, const Shape *shape)
{
    for (uint32_t tries = 0; tries < 60; tries++) {
        const Forms *table = g->tables[random_below(&g->random, 2)];
        if (table->functions.count == 0)
            continue;
        const Form *form = table->functions.items[random_below(&g->random, table->functions.count)];
        Bindings bindings = {0};
        bool fits = form->weight > 0 && !form->has_effect && shape_match(form->argument, shape->a, &form->variables, &bindings) &&
                    shape_match(form->result, shape->b, &form->variables, &bindings);
        bool is_sized = takes_count(shape->a) && shape->b->kind != SHAPE_SCALAR;
        if (fits && !is_sized)
            return leaf(g, shape, form->name);
    }
    return NULL;
}

static Node *pick_form(Generator *g, const Shape *shape, uint32_t fuel)
{
    bool may_recur = g->self != NULL && g->self_calls > 0 && shape_equal(g->self->result, shape);
    if (may_recur && random_chance(&g->random, 40)) {
        g->self_calls--;
        return generate_form(g, g->self, shape, fuel);
    }
    for (uint32_t tries = 0; tries < 30; tries++) {
        const Form *form = forms_pick(g->tables, 2, &g->random, shape);
        Node *node = form == NULL ? NULL : generate_form(g, form, shape, fuel);
        if (node != NULL)
            return node;
    }
    return NULL;
}

Node *generate_expression(Generator *g, const Shape *shape, uint32_t fuel)
{
    Node *node = NULL;
    if (shape->kind == SHAPE_FUNCTION && random_chance(&g->random, 50))
        node = name_function(g, shape);
    if (node == NULL && fuel > 0 && random_chance(&g->random, 10))
        node = call_variable(g, shape, fuel);
    if (node == NULL && random_chance(&g->random, fuel > 0 ? 15 : 85))
        node = use_variable(g, shape);
    if (node == NULL && fuel > 0 && random_chance(&g->random, 90))
        node = pick_form(g, shape, fuel);
    return node != NULL ? node : generate_literal(g, shape, 0);
}
