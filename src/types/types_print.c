/* Types as text: the notation that annotations accept. */
#include "types/types.h"

enum { NAMED_VARIABLES_MAX = 256 };

typedef struct TypePrinter {
    const Types *types;
    TypeStyle style;
    Text *out;
    TypeId variables[NAMED_VARIABLES_MAX]; /* in order of appearance */
    bool is_implied[NAMED_VARIABLES_MAX];  /* stands inside a vector, so that it is concrete anyway */
    uint32_t variable_count;
    uint32_t vector_depth;
    bool shows_defaults; /* in messages: a literal's type is int or float */
    size_t start;
} TypePrinter;

/* ---- names of variables: a, b, e ... for types, c, d for containers ---- */

static bool is_container_variable(const TypePrinter *printer, TypeId variable)
{
    return type_variable_of(printer->types, variable)->is_container;
}

static void print_variable_name(TypePrinter *printer, uint32_t position)
{
    bool is_container = is_container_variable(printer, printer->variables[position]);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < position; i++)
        rank += is_container_variable(printer, printer->variables[i]) == is_container;
    const char *letters = is_container ? "cd" : printer->style == TYPE_STYLE_NESL ? "abcde" : "abefghijklm";
    uint32_t letter_count = 0;
    while (letters[letter_count] != '\0')
        letter_count++;
    if (rank < letter_count)
        text_add_char(printer->out, letters[rank]);
    else /* NESL goes on with a0, a1, so do we */
        text_addf(printer->out, "%c%u", letters[0], rank - letter_count);
}

static void print_variable(TypePrinter *printer, TypeId variable)
{
    const TypeVariable *info = type_variable_of(printer->types, variable);
    if (printer->shows_defaults && info->is_literal) {
        text_add(printer->out, info->is_float_literal ? "float" : "int");
        return;
    }
    uint32_t position = 0;
    while (position < printer->variable_count && printer->variables[position] != variable)
        position++;
    if (position == NAMED_VARIABLES_MAX) {
        text_add(printer->out, "_");
        return;
    }
    if (position == printer->variable_count)
        printer->variables[printer->variable_count++] = variable;
    printer->is_implied[position] |= printer->vector_depth > 0;
    print_variable_name(printer, position);
}

/* ---- types ---- */

static void print_type(TypePrinter *printer, TypeId type);

static void print_tuple_items(TypePrinter *printer, TypeId type)
{
    for (;;) {
        type = type_resolve(printer->types, type);
        if (type_kind(printer->types, type) != TYPE_PAIR)
            break;
        print_type(printer, type_first(printer->types, type));
        text_add(printer->out, ", ");
        type = type_rest(printer->types, type);
    }
    print_type(printer, type);
}

static void print_container(TypePrinter *printer, TypeId type)
{
    TypeId mark = type_resolve(printer->types, type_node(printer->types, type)->a);
    bool is_sequence = mark == TYPE_MARK_SEQUENCE;
    if (type_kind(printer->types, mark) == TYPE_VARIABLE && printer->style != TYPE_STYLE_NESL)
        print_variable(printer, mark); /* in NESL's types a container is a vector unless it must be a sequence */
    text_add_char(printer->out, is_sequence ? '{' : '[');
    bool is_vector = mark == TYPE_MARK_VECTOR;
    printer->vector_depth += is_vector;
    print_type(printer, type_element(printer->types, type));
    printer->vector_depth -= is_vector;
    text_add_char(printer->out, is_sequence ? '}' : ']');
}

static void print_function(TypePrinter *printer, TypeId type)
{
    const TypeNode *node = type_node(printer->types, type);
    TypeId argument = type_resolve(printer->types, node->a);
    bool is_nested = type_kind(printer->types, argument) == TYPE_FUNCTION;
    if (is_nested)
        text_add_char(printer->out, '(');
    print_type(printer, argument);
    text_add(printer->out, is_nested ? ") -> " : " -> ");
    print_type(printer, node->b);
}

static void print_closure(TypePrinter *printer, uint32_t label, TypeId captured)
{
    text_add(printer->out, "function");
    if (printer->style == TYPE_STYLE_NESL)
        return;
    text_addf(printer->out, "#%u", label);
    if (captured == TYPE_UNIT_ID)
        return;
    text_add_char(printer->out, '(');
    print_tuple_items(printer, captured);
    text_add_char(printer->out, ')');
}

/* Hidden parameters are not shown. */
static void print_data(TypePrinter *printer, const Datatype *datatype, TypeId arguments)
{
    text_add(printer->out, names_text(printer->types->names, datatype->name));
    for (uint32_t i = 0; i < datatype->visible_count; i++) {
        text_add(printer->out, i == 0 ? "(" : ", ");
        bool is_last = i + 1 == datatype->parameter_count;
        print_type(printer, is_last ? arguments : type_first(printer->types, arguments));
        if (!is_last)
            arguments = type_rest(printer->types, arguments);
    }
    if (datatype->visible_count > 0)
        text_add_char(printer->out, ')');
}

static void print_type(TypePrinter *printer, TypeId type)
{
    if (printer->out->length - printer->start > TYPE_PRINT_MAX) {
        text_add(printer->out, "...");
        return;
    }
    const Types *types = printer->types;
    type = type_resolve(types, type);
    const TypeNode *node = type_node(types, type);
    switch (node->kind) {
    case TYPE_SCALAR:
        text_add(printer->out, scalar_name((ScalarType)node->a));
        break;
    case TYPE_UNIT:
        text_add(printer->out, "()");
        break;
    case TYPE_PAIR:
        text_add_char(printer->out, '(');
        print_tuple_items(printer, type);
        text_add_char(printer->out, ')');
        break;
    case TYPE_CONTAINER:
        print_container(printer, type);
        break;
    case TYPE_FUNCTION:
        print_function(printer, type);
        break;
    case TYPE_DATA: {
        const Datatype *datatype = &types->datatypes.items[node->a];
        print_data(printer, datatype, node->b);
        break;
    }
    case TYPE_CLOSURE:
        print_closure(printer, node->a, node->b);
        break;
    case TYPE_VARIABLE:
        print_variable(printer, type);
        break;
    case TYPE_NONE:
    case TYPE_MARK:
        text_add(printer->out, "?");
        break;
    }
}

static void print_context(TypePrinter *printer)
{
    const char *separator = " :: (";
    for (uint32_t i = 0; i < printer->variable_count; i++) {
        const TypeVariable *variable = type_variable_of(printer->types, printer->variables[i]);
        bool is_free = variable->is_container || variable->class_set == CLASS_ANY ||
                       (variable->class_set == CLASS_CONCRETE && printer->is_implied[i]);
        if (is_free && printer->style != TYPE_STYLE_NESL)
            continue;
        const char *name = class_name(variable->class_set);
        /* NESL knows no sequences, so there `concrete` says nothing */
        if (printer->style == TYPE_STYLE_NESL && variable->class_set == CLASS_CONCRETE)
            name = "any";
        text_add(printer->out, separator);
        print_variable_name(printer, i);
        text_addf(printer->out, " in %s", name == NULL ? "scalar" : name);
        separator = "; ";
    }
    if (separator[0] == ';')
        text_add_char(printer->out, ')');
}

void type_print(const Types *types, TypeId type, TypeStyle style, Text *out)
{
    TypePrinter printer = {.types = types, .style = style, .out = out, .start = out->length};
    type = type_resolve(types, type);
    if (style == TYPE_STYLE_NESL && type_kind(types, type) == TYPE_PAIR)
        print_tuple_items(&printer, type);
    else
        print_type(&printer, type);
    print_context(&printer);
}

const char *type_text(const Types *types, TypeId type)
{
    return type_text_in(types, type, TYPE_STYLE_RUNNEL);
}

const char *type_text_in(const Types *types, TypeId type, TypeStyle style)
{
    Text text;
    text_init(&text, types->arena->memory);
    TypePrinter printer = {.types = types, .style = style, .out = &text, .shows_defaults = true};
    print_type(&printer, type);
    const char *copy = arena_text(types->arena, text_string(&text), text.length);
    text_free(&text);
    return copy;
}
