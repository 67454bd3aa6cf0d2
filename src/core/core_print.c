/* Core as text, for people and golden tests.
 *
 *     function dotp(xs : [float], ys : [float]) : float =
 *       t1 : {float} = seq(xs)
 *       t2 : {float} = seq(ys)
 *       t3 : {float} = each x in t1; y in t2 {
 *         t4 : float = x * y
 *         t4
 *       }
 *       t5 : float = sum(t3)
 *       t5
 *
 * Names do not depend on ids, so that a change elsewhere in the program leaves the text of a function as it is:
 * temporaries are t1, t2, ... in the order of their bindings in the function; a name bound more than once in a function is
 * x.1, x.2, ...; globals have a `$` in front; functions of the same name are f#1, f#2, ... */
#include "core/core.h"
#include "io/value.h"

typedef struct CorePrinter {
    const CoreProgram *program;
    Text *out;
    uint32_t *numbers;          /* of each variable: among its name's bindings, or among the temporaries */
    uint32_t *function_numbers; /* of each function, among those of its name */
    uint32_t *name_counts;      /* of each name: bindings in the function being printed */
    uint32_t *global_counts;    /* of each name: globals */
    uint32_t *function_counts;  /* of each name: functions */
    uint32_t temporary_count;   /* in the function being printed */
    size_t indent;
} CorePrinter;

/* ---- numbering ---- */

static void number_globals(CorePrinter *printer)
{
    const CoreProgram *program = printer->program;
    for (CoreVar v = 1; v < program->variables.count; v++) {
        const CoreVariable *variable = &program->variables.items[v];
        if (variable->is_global)
            printer->numbers[v] = ++printer->global_counts[variable->name];
    }
}

static void number_functions(CorePrinter *printer)
{
    const CoreProgram *program = printer->program;
    for (CoreFunctionId f = 1; f < program->functions.count; f++)
        if (program->functions.items[f] != NULL)
            printer->function_numbers[f] = ++printer->function_counts[program->functions.items[f]->name];
}

static void printer_init(CorePrinter *printer, const CoreProgram *program, Text *out)
{
    Arena *arena = program->arena;
    uint32_t name_count = program->names->entries.count;
    *printer = (CorePrinter){.program = program, .out = out};
    printer->numbers = ARENA_ARRAY(arena, uint32_t, program->variables.count);
    printer->function_numbers = ARENA_ARRAY(arena, uint32_t, program->functions.count);
    printer->name_counts = ARENA_ARRAY(arena, uint32_t, name_count);
    printer->global_counts = ARENA_ARRAY(arena, uint32_t, name_count);
    printer->function_counts = ARENA_ARRAY(arena, uint32_t, name_count);
    number_globals(printer);
    number_functions(printer);
}

static void number_variable(CorePrinter *printer, CoreVar v)
{
    if (v >= printer->program->variables.count)
        return; /* the checker may be about to say so */
    const CoreVariable *variable = &printer->program->variables.items[v];
    if (variable->is_global)
        return;
    printer->numbers[v] =
        variable->name == 0 ? ++printer->temporary_count : ++printer->name_counts[variable->name];
}

static void forget_variable(CorePrinter *printer, CoreVar v)
{
    printer->name_counts[printer->program->variables.items[v].name] = 0;
}

static void for_each_binding(CorePrinter *printer, const CoreBlock *block, void (*visit)(CorePrinter *, CoreVar))
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        visit(printer, block->parameters[i]);
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        visit(printer, statement->target); /* first, as in the text */
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                for_each_binding(printer, statement->blocks[b], visit);
    }
}

static void number_block(CorePrinter *printer, const CoreBlock *block)
{
    printer->temporary_count = 0;
    for_each_binding(printer, block, number_variable);
}

/* ---- names ---- */

/* Whether a name of the source could be taken for a temporary. */
static bool looks_temporary(const char *name)
{
    if (*name++ != 't' || *name == '\0')
        return false;
    while (*name >= '0' && *name <= '9')
        name++;
    return *name == '\0';
}

static void print_variable(CorePrinter *printer, CoreVar v)
{
    const CoreVariable *variable = &printer->program->variables.items[v];
    const char *name = names_text(printer->program->names, variable->name);
    uint32_t *counts = variable->is_global ? printer->global_counts : printer->name_counts;
    if (variable->is_global)
        text_add_char(printer->out, '$');
    if (variable->name == 0)
        text_addf(printer->out, "t%u", printer->numbers[v]);
    else if (counts[variable->name] > 1 || (!variable->is_global && looks_temporary(name)))
        text_addf(printer->out, "%s.%u", name, printer->numbers[v]);
    else
        text_add(printer->out, name);
}

static void print_function_name(CorePrinter *printer, CoreFunctionId f)
{
    Name name = printer->program->functions.items[f]->name;
    text_add(printer->out, name == 0 ? "function" : names_text(printer->program->names, name));
    if (name == 0 || printer->function_counts[name] > 1)
        text_addf(printer->out, "#%u", printer->function_numbers[f]);
}

static void print_type(CorePrinter *printer, TypeId type)
{
    type_print(printer->program->types, type, TYPE_STYLE_RUNNEL, printer->out);
}

static void print_typed_variable(CorePrinter *printer, CoreVar v)
{
    print_variable(printer, v);
    text_add(printer->out, " : ");
    print_type(printer, printer->program->variables.items[v].type);
}

/* ---- atoms ---- */

/* Types that a literal has by itself need no suffix. */
static bool is_default_type(TypeId type)
{
    return type == TYPE_INT || type == TYPE_FLOAT || type == TYPE_BOOL || type == TYPE_CHAR;
}

static void print_atom(CorePrinter *printer, const CoreAtom *atom)
{
    if (!atom->is_constant) {
        print_variable(printer, atom->variable);
        return;
    }
    value_print(printer->program->types, atom->type, (Value){.scalar = atom->constant}, (ValueFormat){0},
                printer->out);
    if (!is_default_type(atom->type))
        print_type(printer, atom->type);
}

static void print_atoms(CorePrinter *printer, const CoreAtom *atoms, uint32_t count, const char *brackets)
{
    text_add_char(printer->out, brackets[0]);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            text_add(printer->out, ", ");
        print_atom(printer, &atoms[i]);
    }
    text_add_char(printer->out, brackets[1]);
}

static void print_arguments(CorePrinter *printer, const CoreStatement *statement)
{
    print_atoms(printer, statement->arguments, statement->argument_count, "()");
}

static void print_applied(CorePrinter *printer, const char *name, const CoreStatement *statement)
{
    text_add(printer->out, name);
    print_arguments(printer, statement);
}

/* ---- statements ---- */

static void print_block(CorePrinter *printer, const CoreBlock *block);

static void print_indent(CorePrinter *printer)
{
    text_add_repeated(printer->out, ' ', printer->indent);
}

static void print_braced(CorePrinter *printer, const CoreBlock *block)
{
    text_add(printer->out, "{\n");
    print_block(printer, block);
    print_indent(printer);
    text_add_char(printer->out, '}');
}

static bool is_symbol(const char *name)
{
    char c = name[0];
    return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

static void print_op(CorePrinter *printer, const CoreStatement *statement)
{
    const char *name = op_name(statement->op);
    if (is_symbol(name) && statement->argument_count == 2) {
        print_atom(printer, &statement->arguments[0]);
        text_addf(printer->out, " %s ", name);
        print_atom(printer, &statement->arguments[1]);
        return;
    }
    text_add(printer->out, name);
    if (statement->function != 0) {
        text_add_char(printer->out, '[');
        print_function_name(printer, statement->function);
        if (statement->captured_count > 0)
            print_atoms(printer, statement->captured, statement->captured_count, "()");
        text_add_char(printer->out, ']');
    }
    print_arguments(printer, statement);
}

static void print_if(CorePrinter *printer, const CoreStatement *statement)
{
    text_add(printer->out, "if ");
    print_atom(printer, &statement->arguments[0]);
    text_add_char(printer->out, ' ');
    print_braced(printer, statement->blocks[0]);
    text_add(printer->out, " else ");
    print_braced(printer, statement->blocks[1]);
}

/* `each x in xs; y in ys { ... }`, and `group` likewise. */
static void print_loop(CorePrinter *printer, const char *word, const CoreStatement *statement)
{
    const CoreBlock *body = statement->blocks[0];
    text_add(printer->out, word);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        text_add(printer->out, i == 0 ? " " : "; ");
        if (i < body->parameter_count)
            print_variable(printer, body->parameters[i]);
        text_add(printer->out, " in ");
        print_atom(printer, &statement->arguments[i]);
    }
    text_add_char(printer->out, ' ');
    print_braced(printer, body);
}

static void print_guard(CorePrinter *printer, const CoreStatement *statement)
{
    text_add(printer->out, "guard ");
    print_atom(printer, &statement->arguments[0]);
    text_add_char(printer->out, ' ');
    print_braced(printer, statement->blocks[0]);
}

static void print_make(CorePrinter *printer, const CoreStatement *statement)
{
    TypeId type = printer->program->variables.items[statement->target].type;
    bool is_sequence = type_is_sequence(printer->program->types, type);
    print_atoms(printer, statement->arguments, statement->argument_count, is_sequence ? "{}" : "[]");
}

static void print_right_side(CorePrinter *printer, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
        print_atom(printer, &statement->arguments[0]);
        return;
    case CORE_UNIT:
        text_add(printer->out, "()");
        return;
    case CORE_PAIR:
        print_arguments(printer, statement);
        return;
    case CORE_PROJECT:
        print_applied(printer, statement->component == 0 ? "first" : "rest", statement);
        return;
    case CORE_WRAP:
        print_applied(printer, "wrap", statement);
        return;
    case CORE_UNWRAP:
        print_applied(printer, "unwrap", statement);
        return;
    case CORE_MAKE:
        print_make(printer, statement);
        return;
    case CORE_TEXT:
        value_print_text(statement->text, statement->text_length, printer->out);
        return;
    case CORE_OP:
        print_op(printer, statement);
        return;
    case CORE_CALL:
        print_function_name(printer, statement->function);
        print_arguments(printer, statement);
        return;
    case CORE_IF:
        print_if(printer, statement);
        return;
    case CORE_EACH:
        print_loop(printer, "each", statement);
        return;
    case CORE_GUARD:
        print_guard(printer, statement);
        return;
    case CORE_GROUP:
        print_loop(printer, "group", statement);
        return;
    }
}

/* The statements and the result, one step further in. */
static void print_block(CorePrinter *printer, const CoreBlock *block)
{
    printer->indent += 2;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        print_indent(printer);
        print_typed_variable(printer, block->statements[i].target);
        text_add(printer->out, " = ");
        print_right_side(printer, &block->statements[i]);
        text_add_char(printer->out, '\n');
    }
    print_indent(printer);
    print_atom(printer, &block->result);
    text_add_char(printer->out, '\n');
    printer->indent -= 2;
}

/* ---- functions and items ---- */

static void print_parameters(CorePrinter *printer, const CoreBlock *block)
{
    text_add_char(printer->out, '(');
    for (uint32_t i = 0; i < block->parameter_count; i++) {
        if (i > 0)
            text_add(printer->out, ", ");
        print_typed_variable(printer, block->parameters[i]);
    }
    text_add_char(printer->out, ')');
}

static void print_remarks(CorePrinter *printer, const CoreFunction *function)
{
    static const char *const effects[] = {
        [EFFECT_PURE] = "", [EFFECT_IO] = " -- io", [EFFECT_RANDOM] = " -- random"};
    if (function->is_recursive)
        text_add(printer->out, " -- recursive");
    text_add(printer->out, effects[function->effect]);
    text_add_char(printer->out, '\n');
}

/* One of the bodies of a function. */
static void print_body(CorePrinter *printer, const CoreFunction *function, const CoreBlock *body)
{
    number_block(printer, body);
    print_parameters(printer, body);
    text_add(printer->out, " : ");
    print_type(printer, function->result_type);
    text_add(printer->out, body == function->alone ? " = -- alone" : " =");
    print_remarks(printer, function);
    print_block(printer, body);
    for_each_binding(printer, body, forget_variable);
}

static void print_function(CorePrinter *printer, CoreFunctionId f)
{
    const CoreFunction *function = printer->program->functions.items[f];
    const CoreBlock *bodies[] = {function->body, function->alone};
    for (uint32_t i = 0; i < 2 && (i == 0 || bodies[i] != NULL); i++) {
        text_add(printer->out, i == 0 ? "function " : "\nfunction ");
        print_function_name(printer, f);
        if (bodies[i] == NULL)
            text_add(printer->out, " -- no body\n");
        else
            print_body(printer, function, bodies[i]);
    }
}

static void print_item(CorePrinter *printer, const CoreItem *item)
{
    number_block(printer, item->block);
    if (item->kind == CORE_ITEM_BINDING) {
        text_add(printer->out, "let ");
        print_typed_variable(printer, item->global);
        text_add(printer->out, " =\n");
    } else {
        text_add(printer->out, "show\n");
    }
    print_block(printer, item->block);
    for_each_binding(printer, item->block, forget_variable);
}

void core_print_function(const CoreProgram *program, CoreFunctionId function, Text *out)
{
    CorePrinter printer;
    printer_init(&printer, program, out);
    print_function(&printer, function);
}

void core_print_variable(const CoreProgram *program, const CoreBlock *unit, CoreVar variable, Text *out)
{
    CorePrinter printer;
    printer_init(&printer, program, out);
    number_block(&printer, unit);
    print_variable(&printer, variable);
}

void core_print(const CoreProgram *program, Text *out)
{
    CorePrinter printer;
    printer_init(&printer, program, out);
    for (CoreFunctionId f = 1; f < program->functions.count; f++) {
        if (program->functions.items[f] == NULL)
            continue;
        print_function(&printer, f);
        text_add_char(out, '\n');
    }
    for (uint32_t i = 0; i < program->items.count; i++) {
        print_item(&printer, &program->items.items[i]);
        text_add_char(out, '\n');
    }
}
