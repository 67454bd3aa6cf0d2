#include "program.h"

#include "runnel.h"

#include <stdio.h>
#include <string.h>

/* ---- printing ---- */

static void print_children(const Node *node, FormDialect dialect, bool is_value, Text *out);

static void print_list(const Node *node, FormDialect dialect, bool is_value, Text *out)
{
    bool is_vector = node->shape->kind == SHAPE_VECTOR;
    if (node->child_count == 0 && !is_value) {
        text_add(out, is_vector ? "([]" : "({}");
        text_add(out, dialect == FORM_NESL ? " " : " : ");
        shape_print(dialect == FORM_NESL ? node->shape->a : node->shape, out);
        text_add(out, ")");
        return;
    }
    text_add(out, is_vector ? "[" : "{");
    print_children(node, dialect, is_value, out);
    text_add(out, is_vector ? "]" : "}");
}

static void print_form(const Node *node, FormDialect dialect, bool is_value, Text *out);

static void print_node(const Node *node, FormDialect dialect, bool is_value, Text *out)
{
    switch (node->kind) {
    case NODE_LEAF:
        text_add(out, is_value && node->value_text != NULL ? node->value_text : node->text);
        break;
    case NODE_LIST:
        print_list(node, dialect, is_value, out);
        break;
    case NODE_TUPLE:
        text_addf(out, "%s(", node->text == NULL ? "" : node->text);
        print_children(node, dialect, is_value, out);
        text_add(out, ")");
        break;
    case NODE_FORM:
        print_form(node, dialect, is_value, out);
        break;
    }
}

static void print_children(const Node *node, FormDialect dialect, bool is_value, Text *out)
{
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (i > 0)
            text_add(out, ", ");
        print_node(node->children[i], dialect, is_value, out);
    }
}

static void print_form(const Node *node, FormDialect dialect, bool is_value, Text *out)
{
    uint32_t hole = 0;
    for (uint32_t i = 0; i < node->form->piece_count; i++) {
        const Piece *piece = &node->form->pieces[i];
        if (piece->kind == PIECE_TEXT)
            text_add(out, piece->text);
        else if (piece->kind == PIECE_NAME)
            text_addf(out, "x%u", node->first_name + piece->number);
        else
            print_node(node->children[hole++], dialect, is_value, out);
    }
}

void node_print(const Node *node, FormDialect dialect, Text *out)
{
    print_node(node, dialect, false, out);
}

static void print_type(const char *before, const Shape *shape, Text *out)
{
    text_add(out, before);
    shape_print(shape, out);
}

/* Whether literals have the types in a shape without being told: those of a function's result are int or float. */
static bool has_default_numbers(const Shape *shape)
{
    if (shape == NULL)
        return true;
    if (shape->kind == SHAPE_SCALAR)
        return shape->scalar == SCALAR_I64 || shape->scalar == SCALAR_F64 || (shape_class(shape) & CLASS_NUMBER) == 0;
    return has_default_numbers(shape->a) && has_default_numbers(shape->b);
}

/* `f(x : int) : int` in .rnl, `f(x) : int -> int` in .nesl. */
static void print_function(const Function *function, FormDialect dialect, Text *out)
{
    bool has_types = function->is_annotated && dialect == FORM_RNL;
    text_addf(out, "function %s(", function->name);
    for (uint32_t i = 0; i < function->parameters.count; i++) {
        const Parameter *parameter = &function->parameters.items[i];
        text_addf(out, "%s%s", i > 0 ? ", " : "", parameter->name);
        if (has_types)
            print_type(" : ", parameter->shape, out);
    }
    text_add(out, ")");
    for (uint32_t i = 0; i < function->parameters.count && dialect == FORM_NESL; i++)
        print_type(i > 0 ? ", " : " : (", function->parameters.items[i].shape, out);
    if (function->is_annotated || !has_default_numbers(function->result))
        print_type(dialect == FORM_NESL ? ") -> " : " : ", function->result, out);
    text_add(out, " =\n  ");
    node_print(function->body, dialect, out);
    text_add(out, ";\n");
}

/* Bindings state their types: a literal would decide them otherwise. */
static void print_binding(const Binding *binding, FormDialect dialect, Text *out)
{
    if (binding->name != NULL) {
        text_add(out, binding->name);
        if (dialect == FORM_RNL)
            print_type(" : ", binding->value->shape, out);
        text_add(out, " = ");
    }
    node_print(binding->value, dialect, out);
    text_add(out, ";\n");
}

static void print_definitions(const Program *program, Text *out)
{
    for (uint32_t i = 0; i < program->datatypes.count; i++)
        text_addf(out, "datatype %s;\n", program->datatypes.items[i]);
    for (uint32_t i = 0; i < program->globals.count; i++)
        print_binding(&program->globals.items[i], program->dialect, out);
    for (uint32_t i = 0; i < program->functions.count; i++)
        print_function(&program->functions.items[i], program->dialect, out);
}

void program_print(const Program *program, Text *out)
{
    print_definitions(program, out);
    for (uint32_t i = 0; i < program->items.count; i++)
        print_binding(&program->items.items[i], program->dialect, out);
}

const char **program_arguments(const Program *program, Arena *arena)
{
    const char **texts = ARENA_ARRAY(arena, const char *, program->arguments.count);
    Text text;
    text_init(&text, arena->memory);
    for (uint32_t i = 0; i < program->arguments.count; i++) {
        text_clear(&text);
        print_node(program->arguments.items[i], program->dialect, true, &text);
        texts[i] = arena_text(arena, text_string(&text), text.length);
    }
    text_free(&text);
    return texts;
}

/* ---- looking ---- */

static void visit_node(const Node *node, void (*visit)(const Form *form, void *context), void *context)
{
    if (node->form != NULL)
        visit(node->form, context);
    for (uint32_t i = 0; i < node->child_count; i++)
        visit_node(node->children[i], visit, context);
}

void program_visit_forms(const Program *program, void (*visit)(const Form *form, void *context), void *context)
{
    for (uint32_t i = 0; i < program->globals.count; i++)
        visit_node(program->globals.items[i].value, visit, context);
    for (uint32_t i = 0; i < program->functions.count; i++)
        visit_node(program->functions.items[i].body, visit, context);
    for (uint32_t i = 0; i < program->items.count; i++)
        visit_node(program->items.items[i].value, visit, context);
}

static const char *simplest_scalar(FormDialect dialect, ScalarType scalar)
{
    switch (scalar_kind(scalar)) {
    case KIND_TRUTH:
        return dialect == FORM_NESL ? "f" : "false";
    case KIND_CHARACTER:
        return dialect == FORM_NESL ? "`a" : "'a'";
    case KIND_SIGNED:
    case KIND_UNSIGNED:
        return "0";
    case KIND_FLOATING:
        return "0.0";
    }
    return NULL;
}

Node *node_simplest(Arena *arena, FormDialect dialect, const Shape *shape)
{
    Node *node = ARENA_NEW(arena, Node);
    *node = (Node){.kind = NODE_LEAF, .shape = shape};
    if (shape == NULL)
        return NULL;
    if (shape->kind == SHAPE_SCALAR) {
        node->text = simplest_scalar(dialect, shape->scalar);
        if (dialect == FORM_RNL && shape->scalar != SCALAR_I64 && shape->scalar != SCALAR_F64 && node->text[0] == '0') {
            node->value_text = node->text;
            node->text = arena_format(arena, "(%s : %s)", node->text, scalar_name(shape->scalar));
        }
        return node;
    }
    if (shape->kind == SHAPE_UNIT) {
        node->text = "()";
        return node;
    }
    if (shape->kind == SHAPE_VECTOR || shape->kind == SHAPE_SEQUENCE) {
        node->kind = NODE_LIST;
        return node;
    }
    if (shape->kind != SHAPE_PAIR)
        return NULL;
    node->kind = NODE_TUPLE;
    node->child_count = 2;
    node->children = ARENA_ARRAY(arena, Node *, 2);
    node->children[0] = node_simplest(arena, dialect, shape->a);
    node->children[1] = node_simplest(arena, dialect, shape->b);
    return node->children[0] == NULL || node->children[1] == NULL ? NULL : node;
}

/* ---- making ---- */

typedef struct Maker {
    Generator g;
    Forms forms; /* of the program's own functions and datatypes */
    Program *program;
} Maker;

static const char *shape_text(Maker *m, const Shape *shape)
{
    Text text;
    text_init(&text, m->g.arena->memory);
    shape_print(shape, &text);
    const char *copy = arena_text(m->g.arena, text_string(&text), text.length);
    text_free(&text);
    return copy;
}

enum { CALL_WEIGHT = 600, DATA_WEIGHT = 150 };

/* A datatype of one or two fields, perhaps with a type parameter, which is its last field. */
static void make_datatype(Maker *m, uint32_t number)
{
    Arena *arena = m->g.arena;
    bool is_generic = random_chance(&m->g.random, 40);
    const char *field = shape_text(m, generate_shape(&m->g, CLASS_CONCRETE, 2));
    const char *second = is_generic ? "a" : shape_text(m, generate_shape(&m->g, CLASS_CONCRETE, 1));
    bool is_single = !is_generic && field[0] != '(' && random_chance(&m->g.random, 30);
    const char *name = arena_format(arena, "data%u", number);
    const char *type = is_generic ? arena_format(arena, "%s(a)", name) : name;
    const char *contents = is_single ? arena_format(arena, "(%s)", field) : arena_format(arena, "(%s, %s)", field, second);
    *vec_push(arena, &m->program->datatypes) = arena_format(arena, "%s %s", name, contents);
    forms_add(&m->forms, FORM_BOTH, name, 2 * DATA_WEIGHT, type,
              is_single ? arena_format(arena, "%s(<%s>)", name, field)
                        : arena_format(arena, "%s(<%s>, <%s>)", name, field, second));
    forms_add(&m->forms, FORM_BOTH, "", DATA_WEIGHT, "b",
              is_single ? arena_format(arena, "(let %s($x) = <%s> in <b; x : %s>)", name, type, field)
                        : arena_format(arena, "(let %s($x, $y) = <%s> in <b; x : %s, y : %s>)", name, type, field, second));
    forms_add(&m->forms, FORM_BOTH, "", DATA_WEIGHT / 3, type,
              arena_format(arena, "(let $x = [<%s>] ++ <[%s]> in $x[mod(<int>, #$x)])", type, type));
    const char *at = type;
    Variables variables = {0};
    *vec_push(arena, &m->g.datatypes) = shape_read(arena, &at, &variables);
}

static void make_globals(Maker *m)
{
    uint32_t count = random_below(&m->g.random, 3);
    for (uint32_t i = 0; i < count; i++) {
        const Shape *shape = generate_shape(&m->g, CLASS_CONCRETE, 3);
        const char *name = arena_format(m->g.arena, "g%u", i + 1);
        *vec_push(m->g.arena, &m->program->globals) =
            (Binding){.name = name, .value = generate_expression(&m->g, shape, random_below(&m->g.random, 4))};
        push_variable(&m->g, name, shape);
    }
}

static void add_parameter(Maker *m, Function *function, const Shape *shape)
{
    const char *name = arena_format(m->g.arena, "x%u", m->g.next_name++);
    *vec_push(m->g.arena, &function->parameters) = (Parameter){.name = name, .shape = shape};
    push_variable(&m->g, name, shape);
}

static const Shape *parameter_shape(Maker *m, bool is_recursive)
{
    if (!is_recursive && m->g.dialect == FORM_RNL && random_chance(&m->g.random, 12)) {
        const Shape *argument = generate_shape(&m->g, CLASS_CONCRETE, 2);
        return shape_new(m->g.arena, SHAPE_FUNCTION, argument, generate_shape(&m->g, CLASS_CONCRETE, 2));
    }
    return generate_shape(&m->g, is_recursive ? CLASS_CONCRETE : CLASS_ANY, 3);
}

/* The forms that call a function: `first` stands before the holes for its parameters from `from` on. */
static const char *call_template(Maker *m, const Function *function, const char *first, uint32_t from)
{
    Text text;
    text_init(&text, m->g.arena->memory);
    text_addf(&text, "%s(%s", function->name, first);
    for (uint32_t i = from; i < function->parameters.count; i++)
        text_addf(&text, "%s<%s>", i > 0 ? ", " : "", shape_text(m, function->parameters.items[i].shape));
    text_add(&text, ")");
    const char *copy = arena_text(m->g.arena, text_string(&text), text.length);
    text_free(&text);
    return copy;
}

/* Recursion counts its first parameter down. */
static void make_recursive_body(Maker *m, Function *function)
{
    Generator *g = &m->g;
    const char *result = shape_text(m, function->result);
    const char *counter = function->parameters.items[0].name;
    const Form *branch = forms_add(&m->forms, FORM_BOTH, "", 0, result,
                                   arena_format(g->arena, "(if (%s <= 0) then <%s> else <%s>)", counter, result, result));
    Node *body = ARENA_NEW(g->arena, Node);
    *body = (Node){.kind = NODE_FORM, .shape = function->result, .form = branch, .child_count = 2};
    body->children = ARENA_ARRAY(g->arena, Node *, 2);
    body->children[0] = generate_expression(g, function->result, 3 + random_below(&g->random, 6));
    g->self = forms_add(&m->forms, FORM_BOTH, function->name, 0, result,
                        call_template(m, function, arena_format(g->arena, "%s - 1", counter), 1));
    g->self_calls = 1 + random_below(&g->random, 2);
    body->children[1] = generate_expression(g, function->result, 6 + random_below(&g->random, 15));
    g->self = NULL;
    function->body = body;
    forms_add(&m->forms, FORM_BOTH, function->name, CALL_WEIGHT, result, call_template(m, function, "<#3>", 1));
}

static void make_function(Maker *m, uint32_t number)
{
    Generator *g = &m->g;
    uint32_t variable_count = g->variables.count;
    bool is_recursive = random_chance(&g->random, 40);
    Function function = {.name = arena_format(g->arena, "f%u", number)};
    function.is_annotated = g->dialect == FORM_NESL || is_recursive || random_chance(&g->random, 50);
    if (is_recursive)
        add_parameter(m, &function, shape_scalar(SCALAR_I64));
    uint32_t count = 1 + random_below(&g->random, 3);
    for (uint32_t i = 0; i < count; i++)
        add_parameter(m, &function, parameter_shape(m, is_recursive));
    function.result = generate_shape(g, is_recursive ? CLASS_CONCRETE : CLASS_ANY, 3);
    g->has_small_literals = !function.is_annotated;
    if (is_recursive) {
        make_recursive_body(m, &function);
    } else {
        function.body = generate_expression(g, function.result, 4 + random_below(&g->random, 20));
        forms_add(&m->forms, FORM_BOTH, function.name, CALL_WEIGHT, shape_text(m, function.result), call_template(m, &function, "", 0));
    }
    g->has_small_literals = false;
    g->variables.count = variable_count;
    *vec_push(g->arena, &m->program->functions) = function;
}

/* ---- polymorphism: what the compiler infers for functions without annotations ---- */

enum { PROGRAMS_PER_SESSION = 50 };

/* A session that is asked for types, of one program after the other: opening one takes longer than that. */
typedef struct Oracle {
    RunnelSession *session;
    uint32_t program_count;
    size_t known; /* bytes of the types of earlier programs, which come first */
    Memory memory;
    Text output;
} Oracle;

static void keep_output(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
}

static void oracle_open(Oracle *oracle)
{
    if (oracle->program_count++ % PROGRAMS_PER_SESSION != 0)
        return;
    runnel_close(oracle->session);
    oracle->known = 0;
    if (oracle->output.memory == NULL)
        text_init(&oracle->output, &oracle->memory);
    oracle->session = runnel_open(&(RunnelOptions){.write = keep_output, .write_context = &oracle->output});
}

/* Lines `name : type` for the definitions in a text; null if they are wrong. To be used before the next call. */
static char *oracle_types(const Text *definitions)
{
    static Oracle oracle;
    oracle_open(&oracle);
    text_clear(&oracle.output);
    if (oracle.session == NULL ||
        runnel_load_text(oracle.session, "functions.rnl", definitions->bytes, definitions->length, RUNNEL_DIALECT_RNL) != RUNNEL_OK)
        return NULL;
    runnel_write_types(oracle.session);
    char *lines = oracle.output.bytes == NULL ? NULL : oracle.output.bytes + oracle.known;
    oracle.known = oracle.output.length;
    return lines;
}

static bool is_unannotated(const Program *program, const char *name)
{
    for (uint32_t i = 0; i < program->functions.count; i++) {
        const Function *function = &program->functions.items[i];
        if (strcmp(function->name, name) == 0)
            return !function->is_annotated;
    }
    return false;
}

static void add_inferred(Maker *m, char *lines)
{
    for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char name[16];
        int length = 0;
        if (sscanf(line, "%15[a-z0-9] : %n", name, &length) != 1 || length == 0 || !is_unannotated(m->program, name))
            continue;
        if (strpbrk(line + length, "acdbe") != NULL)
            forms_add_call(&m->forms, FORM_RNL, name, CALL_WEIGHT / 2, line + length, CLASS_CONCRETE);
    }
}

/* Calls of the program's functions at other types than those they were made for; for concrete ones, as an argument that is captured by a
 * function may have to be concrete though its type does not say so (containers may be sequences still). If the definitions are wrong, running the
 * program will tell. */
static void infer_functions(Maker *m)
{
    Text text;
    text_init(&text, m->g.arena->memory);
    print_definitions(m->program, &text);
    char *lines = oracle_types(&text);
    if (lines != NULL)
        add_inferred(m, arena_text(m->g.arena, lines, strlen(lines)));
    text_free(&text);
}

static bool has_unannotated(const Program *program)
{
    for (uint32_t i = 0; i < program->functions.count; i++)
        if (!program->functions.items[i].is_annotated)
            return true;
    return false;
}

/* ---- the whole ---- */

static void make_main(Maker *m)
{
    Generator *g = &m->g;
    Function function = {.name = "main", .is_annotated = true};
    uint32_t count = 1 + random_below(&g->random, 3);
    for (uint32_t i = 0; i < count; i++) {
        const Shape *shape = generate_shape(g, CLASS_ANY, 3);
        uint32_t variable_count = g->variables.count;
        g->variables.count = 0; /* arguments are values */
        *vec_push(g->arena, &m->program->arguments) = generate_literal(g, shape, 0);
        g->variables.count = variable_count;
        add_parameter(m, &function, shape);
    }
    function.result = generate_shape(g, CLASS_ANY, 4);
    function.body = generate_expression(g, function.result, 10 + random_below(&g->random, 30));
    *vec_push(g->arena, &m->program->functions) = function;
}

/* A last draw shows whether all draws before it took place. */
static void show_random_state(Maker *m)
{
    Node *draw = ARENA_NEW(m->g.arena, Node);
    *draw = (Node){.kind = NODE_LEAF, .shape = shape_scalar(SCALAR_I64), .text = "rand(1000000)"};
    *vec_push(m->g.arena, &m->program->items) = (Binding){.value = draw};
}

static void make_items(Maker *m)
{
    Generator *g = &m->g;
    uint32_t count = 1 + random_below(&g->random, 4);
    for (uint32_t i = 0; i < count; i++) {
        bool is_binding = i + 1 < count && random_chance(&g->random, 30);
        const Shape *shape = generate_shape(g, is_binding ? CLASS_CONCRETE : CLASS_ANY, 4);
        const char *name = is_binding ? arena_format(g->arena, "h%u", i + 1) : NULL;
        *vec_push(g->arena, &m->program->items) =
            (Binding){.name = name, .value = generate_expression(g, shape, 6 + random_below(&g->random, 30))};
        if (is_binding)
            push_variable(g, name, shape);
    }
    if (g->has_drawn)
        show_random_state(m);
}

Program *program_generate(Arena *arena, const Forms *rnl, const Forms *nesl, uint64_t seed, uint64_t index)
{
    Maker m = {.g = {.arena = arena, .random = random_of(seed, index), .next_name = 1}};
    bool is_nesl = random_chance(&m.g.random, 8);
    m.program = ARENA_NEW(arena, Program);
    m.program->dialect = m.g.dialect = is_nesl ? FORM_NESL : FORM_RNL;
    forms_init(&m.forms, arena, m.g.dialect);
    m.g.tables[0] = is_nesl ? nesl : rnl;
    m.g.tables[1] = &m.forms;
    uint32_t datatype_count = random_below(&m.g.random, 5) / 2;
    for (uint32_t i = 0; i < datatype_count; i++)
        make_datatype(&m, i + 1);
    make_globals(&m);
    uint32_t function_count = random_below(&m.g.random, 4);
    for (uint32_t i = 0; i < function_count; i++)
        make_function(&m, i + 1);
    if (!is_nesl && has_unannotated(m.program) && random_chance(&m.g.random, 60))
        infer_functions(&m);
    if (!is_nesl && random_chance(&m.g.random, 15))
        make_main(&m);
    else
        make_items(&m);
    return m.program;
}
