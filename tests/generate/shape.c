#include "shape.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- making ---- */

static const Shape scalars[SCALAR_COUNT] = {
#define SCALAR(ID, text, c_type, sort) {.kind = SHAPE_SCALAR, .scalar = SCALAR_##ID},
#include "ops/scalars.def"
#undef SCALAR
};

const Shape *shape_scalar(ScalarType scalar)
{
    return &scalars[scalar];
}

const Shape *shape_unit(void)
{
    static const Shape unit = {.kind = SHAPE_UNIT};
    return &unit;
}

const Shape *shape_new(Arena *arena, ShapeKind kind, const Shape *a, const Shape *b)
{
    Shape *shape = ARENA_NEW(arena, Shape);
    *shape = (Shape){.kind = kind, .a = a, .b = b};
    return shape;
}

/* ---- reading ---- */

typedef struct Reader {
    Arena *arena;
    const char *text;
    Variables *variables;
} Reader;

static void skip_blanks(Reader *reader)
{
    while (isspace((unsigned char)*reader->text))
        reader->text++;
}

static bool accept(Reader *reader, const char *sign)
{
    skip_blanks(reader);
    if (strncmp(reader->text, sign, strlen(sign)) != 0)
        return false;
    reader->text += strlen(sign);
    return true;
}

/* The index of a letter in a list that it is added to; SCHEME_VARIABLES when the list is full. */
static uint32_t index_of(char letter, char *letters, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++)
        if (letters[i] == letter)
            return i;
    if (*count < SCHEME_VARIABLES)
        letters[(*count)++] = letter;
    return letters[*count - 1] == letter ? *count - 1 : SCHEME_VARIABLES;
}

static uint32_t type_variable(Variables *variables, char letter)
{
    uint32_t count = variables->type_count;
    uint32_t index = index_of(letter, variables->types, &variables->type_count);
    if (index < SCHEME_VARIABLES && variables->type_count > count)
        variables->classes[index] = CLASS_ANY;
    return index;
}

static const Shape *read_type(Reader *reader);

static const Shape *read_between(Reader *reader, ShapeKind kind, const char *end)
{
    const Shape *element = read_type(reader);
    return element != NULL && accept(reader, end) ? shape_new(reader->arena, kind, element, NULL) : NULL;
}

/* After `(`: a tuple, or a type in parentheses. */
static const Shape *read_tuple(Reader *reader)
{
    if (accept(reader, ")"))
        return shape_unit();
    const Shape *first = read_type(reader);
    if (first == NULL || accept(reader, ")"))
        return first;
    if (!accept(reader, ","))
        return NULL;
    const Shape *rest = read_tuple(reader);
    return rest == NULL ? NULL : shape_new(reader->arena, SHAPE_PAIR, first, rest);
}

static const Shape *read_variable(Reader *reader, char letter)
{
    bool is_container = *reader->text == '[';
    Variables *variables = reader->variables;
    Shape *shape = ARENA_NEW(reader->arena, Shape);
    if (variables == NULL)
        return NULL;
    shape->kind = is_container ? SHAPE_CONTAINER : SHAPE_VARIABLE;
    shape->index = is_container ? index_of(letter, variables->containers, &variables->container_count)
                                : type_variable(variables, letter);
    if (shape->index == SCHEME_VARIABLES)
        return NULL;
    if (is_container) {
        reader->text++;
        const Shape *inner = read_between(reader, SHAPE_VECTOR, "]");
        if (inner == NULL)
            return NULL;
        shape->a = inner->a;
    }
    return shape;
}

static const Shape *read_data(Reader *reader, const char *name)
{
    Shape *shape = ARENA_NEW(reader->arena, Shape);
    *shape = (Shape){.kind = SHAPE_DATA, .name = name};
    if (*reader->text != '(')
        return shape;
    reader->text++;
    shape->a = read_type(reader);
    return shape->a != NULL && accept(reader, ")") ? shape : NULL;
}

static const Shape *read_name(Reader *reader)
{
    const char *start = reader->text;
    while (isalnum((unsigned char)*reader->text) || *reader->text == '_')
        reader->text++;
    size_t length = (size_t)(reader->text - start);
    const char *name = arena_text(reader->arena, start, length);
    for (uint32_t i = 0; i < SCALAR_COUNT; i++)
        if (strcmp(name, scalar_name((ScalarType)i)) == 0)
            return shape_scalar((ScalarType)i);
    if (length == 1)
        return read_variable(reader, name[0]);
    return length == 0 ? NULL : read_data(reader, name);
}

static const Shape *read_simple(Reader *reader)
{
    if (accept(reader, "("))
        return read_tuple(reader);
    if (accept(reader, "["))
        return read_between(reader, SHAPE_VECTOR, "]");
    if (accept(reader, "{"))
        return read_between(reader, SHAPE_SEQUENCE, "}");
    return read_name(reader);
}

static const Shape *read_type(Reader *reader)
{
    const Shape *left = read_simple(reader);
    if (left == NULL || !accept(reader, "->"))
        return left;
    const Shape *right = read_type(reader);
    return right == NULL ? NULL : shape_new(reader->arena, SHAPE_FUNCTION, left, right);
}

const Shape *shape_read(Arena *arena, const char **text, Variables *variables)
{
    Reader reader = {.arena = arena, .text = *text, .variables = variables};
    const Shape *shape = read_type(&reader);
    *text = reader.text;
    return shape;
}

static bool read_class(Reader *reader)
{
    skip_blanks(reader);
    char letter = *reader->text;
    char name[32] = "";
    int length = 0;
    if (letter == '\0' || sscanf(reader->text + 1, " in %31[a-z]%n", name, &length) != 1)
        return false;
    reader->text += 1 + length;
    if (strcmp(name, "container") == 0)
        return true;
    uint32_t index = type_variable(reader->variables, letter);
    if (index == SCHEME_VARIABLES || class_named(name) == 0)
        return false;
    reader->variables->classes[index] &= class_named(name);
    return true;
}

bool shape_read_context(const char **text, Variables *variables)
{
    Reader reader = {.text = *text, .variables = variables};
    if (!accept(&reader, "::"))
        return true;
    if (!accept(&reader, "("))
        return false;
    do {
        if (!read_class(&reader))
            return false;
    } while (accept(&reader, ";") || accept(&reader, ","));
    bool is_right = accept(&reader, ")");
    *text = reader.text;
    return is_right;
}

/* ---- looking ---- */

bool shape_equal(const Shape *a, const Shape *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind || a->scalar != b->scalar || a->index != b->index)
        return false;
    if (a->kind == SHAPE_DATA && strcmp(a->name, b->name) != 0)
        return false;
    return shape_equal(a->a, b->a) && shape_equal(a->b, b->b);
}

bool shape_is_concrete(const Shape *shape)
{
    return shape == NULL ||
           (shape->kind != SHAPE_SEQUENCE && shape_is_concrete(shape->a) && shape_is_concrete(shape->b));
}

bool shape_is_valid(const Shape *shape)
{
    if (shape == NULL)
        return true;
    if ((shape->kind == SHAPE_VECTOR || shape->kind == SHAPE_DATA) && !shape_is_concrete(shape->a))
        return false;
    return shape_is_valid(shape->a) && shape_is_valid(shape->b);
}

ClassSet shape_class(const Shape *shape)
{
    if (shape->kind == SHAPE_SCALAR)
        return (ClassSet)1 << shape->scalar;
    return shape_is_concrete(shape) ? CLASS_BIT_STRUCTURED : CLASS_BIT_SEQUENCES;
}

uint32_t shape_size(const Shape *shape)
{
    return shape == NULL ? 0 : 1 + shape_size(shape->a) + shape_size(shape->b);
}

/* ---- schemes ---- */

bool shape_match(const Shape *pattern, const Shape *shape, const Variables *variables, Bindings *bindings)
{
    if (pattern == NULL || shape == NULL)
        return pattern == shape;
    if (pattern->kind == SHAPE_VARIABLE) {
        const Shape **bound = &bindings->types[pattern->index];
        if (*bound != NULL)
            return shape_equal(*bound, shape);
        *bound = shape;
        return (variables->classes[pattern->index] & shape_class(shape)) != 0;
    }
    if (pattern->kind == SHAPE_CONTAINER) {
        ShapeKind *bound = &bindings->containers[pattern->index];
        if ((shape->kind != SHAPE_VECTOR && shape->kind != SHAPE_SEQUENCE) || (*bound != 0 && *bound != shape->kind))
            return false;
        *bound = shape->kind;
        return shape_match(pattern->a, shape->a, variables, bindings);
    }
    if (pattern->kind != shape->kind || pattern->scalar != shape->scalar)
        return false;
    if (pattern->kind == SHAPE_DATA && strcmp(pattern->name, shape->name) != 0)
        return false;
    return shape_match(pattern->a, shape->a, variables, bindings) &&
           shape_match(pattern->b, shape->b, variables, bindings);
}

const Shape *shape_apply(Arena *arena, const Shape *pattern, const Bindings *bindings)
{
    if (pattern == NULL)
        return NULL;
    if (pattern->kind == SHAPE_VARIABLE)
        return bindings->types[pattern->index];
    const Shape *a = shape_apply(arena, pattern->a, bindings);
    const Shape *b = shape_apply(arena, pattern->b, bindings);
    if (pattern->kind == SHAPE_CONTAINER)
        return shape_new(arena, bindings->containers[pattern->index], a, NULL);
    if (a == pattern->a && b == pattern->b)
        return pattern;
    Shape *shape = ARENA_NEW(arena, Shape);
    *shape = *pattern;
    shape->a = a;
    shape->b = b;
    return shape;
}

/* ---- printing ---- */

static void print_pair(const Shape *shape, Text *out)
{
    shape_print(shape->a, out);
    text_add(out, ", ");
    if (shape->b->kind == SHAPE_PAIR)
        print_pair(shape->b, out);
    else
        shape_print(shape->b, out);
}

static void print_enclosed(const char *open, const Shape *shape, const char *close, Text *out)
{
    text_add(out, open);
    shape_print(shape, out);
    text_add(out, close);
}

void shape_print(const Shape *shape, Text *out)
{
    switch (shape->kind) {
    case SHAPE_SCALAR:
        text_add(out, scalar_name(shape->scalar));
        break;
    case SHAPE_UNIT:
        text_add(out, "()");
        break;
    case SHAPE_PAIR:
        text_add(out, "(");
        print_pair(shape, out);
        text_add(out, ")");
        break;
    case SHAPE_VECTOR:
        print_enclosed("[", shape->a, "]", out);
        break;
    case SHAPE_SEQUENCE:
        print_enclosed("{", shape->a, "}", out);
        break;
    case SHAPE_DATA:
        text_add(out, shape->name);
        if (shape->a != NULL)
            print_enclosed("(", shape->a, ")", out);
        break;
    case SHAPE_FUNCTION:
        print_enclosed("(", shape->a, " -> ", out);
        print_enclosed("", shape->b, ")", out);
        break;
    case SHAPE_VARIABLE:
    case SHAPE_CONTAINER:
    case SHAPE_KINDS:
        text_add(out, "?"); /* only in schemes, which are not printed */
        break;
    }
}
