/* The invariants of Core (core.h), checked after every pass.
 *
 * What is reported here is a bug of a pass, never the user's error. The first thing found ends the check. Types of
 * operations are checked against the very text of the op table: `match` walks a scheme such as
 *
 *     (c[a], c[b]) -> c[(a, b)] :: (a in number)
 *
 * in step with ground types and binds its letters as it meets them. */
#include "core/core.h"

#include <string.h>

enum {
    LEVEL_UNBOUND = 0,            /* no binding was met yet */
    LEVEL_GONE = INT32_MAX,       /* bound in a block that has ended */
    LEVEL_GLOBAL = INT32_MAX - 1, /* bound by an earlier item */
};

typedef struct Checker {
    const CoreProgram *program;
    Types *types;
    uint32_t *levels;   /* of each variable: one of the above, or 1 + how many loops surround its binding */
    bool *sound_types;  /* of each type: found to be one of Core's */
    uint32_t type_count;
    uint32_t level;     /* how many loops surround what is being checked */
    bool is_item;       /* in an item rather than a function */
    const char *place;  /* the function or item */
    const CoreBlock *unit;
    const CoreStatement *statement; /* being checked; null between statements */
    const char *message;
} Checker;

static bool check_block(Checker *checker, const CoreBlock *block);

/* ---- reporting ---- */

static bool is_variable(const Checker *checker, CoreVar v)
{
    return v != 0 && v < checker->program->variables.count;
}

static void add_statement(const Checker *checker, Text *out)
{
    static const char *const kinds[] = {
        [CORE_COPY] = "copy", [CORE_UNIT] = "unit",   [CORE_PAIR] = "pair", [CORE_PROJECT] = "project",
        [CORE_WRAP] = "wrap", [CORE_UNWRAP] = "unwrap", [CORE_MAKE] = "make", [CORE_TEXT] = "text",
        [CORE_OP] = "op",     [CORE_CALL] = "call",   [CORE_IF] = "if",     [CORE_EACH] = "each",
        [CORE_GUARD] = "guard", [CORE_GROUP] = "group",
    };
    const CoreStatement *statement = checker->statement;
    text_add(out, ": ");
    if (is_variable(checker, statement->target))
        core_print_variable(checker->program, checker->unit, statement->target, out);
    text_addf(out, " = %s", kinds[statement->kind]);
    if (statement->kind == CORE_OP && statement->op < OP_COUNT)
        text_addf(out, " %s", op_name(statement->op));
}

__attribute__((format(printf, 2, 3))) static bool fail(Checker *checker, const char *format, ...)
{
    Text text;
    text_init(&text, checker->program->arena->memory);
    text_add(&text, checker->place);
    if (checker->statement != NULL)
        add_statement(checker, &text);
    text_add(&text, ": ");
    va_list arguments;
    va_start(arguments, format);
    text_add_list(&text, format, arguments);
    va_end(arguments);
    checker->message = arena_text(checker->program->arena, text_string(&text), text.length);
    text_free(&text);
    return false;
}

static const char *name_of(const Checker *checker, CoreVar v)
{
    Name name = checker->program->variables.items[v].name;
    return name == 0 ? "a temporary" : names_text(checker->program->names, name);
}

static bool expect_type(Checker *checker, const char *what, TypeId found, TypeId expected)
{
    if (found == expected)
        return true;
    return fail(checker, "%s has type %s, expected %s", what, type_text(checker->types, found),
                type_text(checker->types, expected));
}

static bool expect_count(Checker *checker, const char *what, uint32_t found, uint32_t expected)
{
    return found == expected || fail(checker, "%u %s, expected %u", found, what, expected);
}

/* ---- types ---- */

static bool is_sound(Checker *checker, TypeId type)
{
    if (type == 0 || type >= checker->type_count)
        return false;
    if (checker->sound_types[type])
        return true;
    const TypeNode node = *type_node(checker->types, type);
    bool sound = node.is_ground;
    switch (node.kind) {
    case TYPE_SCALAR:
    case TYPE_UNIT:
        break;
    case TYPE_PAIR:
        sound = sound && is_sound(checker, node.a) && is_sound(checker, node.b);
        break;
    case TYPE_CONTAINER: /* the elements of a vector are concrete */
        sound = sound && is_sound(checker, node.b) &&
                (node.a == TYPE_MARK_SEQUENCE || type_is_concrete(checker->types, node.b));
        break;
    case TYPE_DATA:
    case TYPE_CLOSURE:
        sound = sound && is_sound(checker, node.b);
        break;
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        sound = false;
        break;
    }
    checker->sound_types[type] = sound;
    return sound;
}

static bool check_type(Checker *checker, TypeId type)
{
    if (is_sound(checker, type))
        return true;
    return fail(checker, "the type %s does not belong in Core",
                type < checker->type_count ? type_text(checker->types, type) : "(none)");
}

static bool is_made_of(const Checker *checker, TypeId type)
{
    TypeKind kind = type_kind(checker->types, type);
    return kind == TYPE_DATA || kind == TYPE_CLOSURE;
}

/* ---- variables and atoms ---- */

static bool bind(Checker *checker, CoreVar v)
{
    if (!is_variable(checker, v))
        return fail(checker, "there is no variable %u to bind", v);
    if (checker->program->variables.items[v].is_global)
        return fail(checker, "a global, %s, is bound inside a block", name_of(checker, v));
    if (checker->levels[v] != LEVEL_UNBOUND)
        return fail(checker, "%s (variable %u) is bound twice", name_of(checker, v), v);
    checker->levels[v] = checker->level + 1;
    return check_type(checker, checker->program->variables.items[v].type);
}

static bool check_use(Checker *checker, CoreVar v)
{
    if (!is_variable(checker, v))
        return fail(checker, "there is no variable %u", v);
    const CoreVariable *variable = &checker->program->variables.items[v];
    uint32_t level = checker->levels[v];
    if (variable->is_global)
        return level == LEVEL_GLOBAL || !checker->is_item ||
               fail(checker, "the global %s is used before its binding", name_of(checker, v));
    if (level == LEVEL_UNBOUND || level == LEVEL_GONE)
        return fail(checker, "%s (variable %u) is used %s", name_of(checker, v), v,
                    level == LEVEL_GONE ? "outside its block" : "without a binding before");
    if (level < checker->level + 1 && !type_is_concrete(checker->types, variable->type))
        return fail(checker, "%s, of type %s, is used in the body of a loop, where free variables are concrete",
                    name_of(checker, v), type_text(checker->types, variable->type));
    return true;
}

static bool is_canonical(ScalarType type, Scalar value)
{
    switch (scalar_kind(type)) {
    case KIND_TRUTH:
        return value.bits <= 1;
    case KIND_CHARACTER:
        return value.bits <= 255;
    case KIND_SIGNED:
    case KIND_UNSIGNED:
        return scalar_wrap(type, value.integer) == value.integer;
    case KIND_FLOATING:
        return true;
    }
    return false;
}

static bool check_constant(Checker *checker, const CoreAtom *atom)
{
    if (!check_type(checker, atom->type))
        return false;
    if (!type_is_scalar(checker->types, atom->type))
        return fail(checker, "a constant of type %s", type_text(checker->types, atom->type));
    return is_canonical(type_scalar(checker->types, atom->type), atom->constant) ||
           fail(checker, "the constant %lld is not in the range of %s", (long long)atom->constant.integer,
                type_text(checker->types, atom->type));
}

static bool check_atom(Checker *checker, const CoreAtom *atom)
{
    if (atom->is_constant)
        return check_constant(checker, atom);
    return check_use(checker, atom->variable) &&
           expect_type(checker, "the use of a variable", atom->type,
                       checker->program->variables.items[atom->variable].type);
}

static bool check_atoms(Checker *checker, const CoreAtom *atoms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!check_atom(checker, &atoms[i]))
            return false;
    return true;
}

/* ---- the types of operations ---- */

typedef struct Match {
    const Types *types;
    const char *at;       /* in the text of the scheme */
    TypeId letters[26];   /* what the letters stand for: types, and marks of containers; 0 while unknown */
} Match;

static bool match_type(Match *match, TypeId type);

static bool take_text(Match *match, const char *text)
{
    size_t length = strlen(text);
    while (*match->at == ' ')
        match->at++;
    if (strncmp(match->at, text, length) != 0)
        return false;
    match->at += length;
    return true;
}

/* The arrow of the function type that starts here, null when it is another type. */
static const char *find_arrow(const char *at)
{
    uint32_t depth = 0;
    for (; *at != '\0'; at++) {
        if (strchr("([{", *at) != NULL)
            depth++;
        else if (strchr(")]}", *at) != NULL && depth-- == 0)
            return NULL;
        else if (depth == 0 && *at == ',')
            return NULL;
        else if (depth == 0 && at[0] == '-' && at[1] == '>')
            return at;
        else if (depth == 0 && at[0] == ':')
            return NULL;
    }
    return NULL;
}

static bool bind_letter(Match *match, char letter, TypeId type)
{
    TypeId *bound = &match->letters[letter - 'a'];
    if (*bound == 0)
        *bound = type;
    return *bound == type;
}

static bool match_element(Match *match, TypeId type, const char *close)
{
    return match_type(match, type_element(match->types, type)) && take_text(match, close);
}

/* A name: a letter, the letter of a container, or a scalar type. */
static bool match_name(Match *match, TypeId type)
{
    const char *start = match->at;
    while ((*match->at >= 'a' && *match->at <= 'z') || (*match->at >= '0' && *match->at <= '9'))
        match->at++;
    size_t length = (size_t)(match->at - start);
    if (length == 1 && *match->at == '[') {
        match->at++;
        return type_kind(match->types, type) == TYPE_CONTAINER &&
               bind_letter(match, *start, type_node(match->types, type)->a) && match_element(match, type, "]");
    }
    if (length == 1)
        return bind_letter(match, *start, type);
    if (!type_is_scalar(match->types, type))
        return false;
    const char *name = scalar_name(type_scalar(match->types, type));
    return strlen(name) == length && strncmp(name, start, length) == 0;
}

/* The components of a tuple after its parenthesis; the last one takes what is left of the type. */
static bool match_tuple(Match *match, TypeId type)
{
    if (take_text(match, ")"))
        return type == TYPE_UNIT_ID;
    for (;;) {
        const char *start = match->at;
        Match probe = *match;
        bool is_pair = type_kind(match->types, type) == TYPE_PAIR;
        if (is_pair && match_type(&probe, type_first(match->types, type)) && take_text(&probe, ",")) {
            *match = probe;
            type = type_rest(match->types, type);
            continue;
        }
        match->at = start;
        return match_type(match, type) && take_text(match, ")");
    }
}

static bool match_type(Match *match, TypeId type)
{
    if (take_text(match, "["))
        return type_is_vector(match->types, type) && match_element(match, type, "]");
    if (take_text(match, "{"))
        return type_is_sequence(match->types, type) && match_element(match, type, "}");
    if (take_text(match, "("))
        return match_tuple(match, type);
    return match_name(match, type);
}

static ClassSet class_of(const Types *types, TypeId type)
{
    if (type_is_scalar(types, type))
        return (ClassSet)1 << type_scalar(types, type);
    return type_is_concrete(types, type) ? CLASS_BIT_STRUCTURED : CLASS_BIT_SEQUENCES;
}

/* ` :: (a in number; b in ordinal)` at the end of a scheme, or nothing. */
static bool match_context(Match *match)
{
    if (!take_text(match, "::"))
        return true;
    if (!take_text(match, "("))
        return false;
    do {
        char name[16] = {0};
        char letter = *match->at == ' ' ? match->at[1] : match->at[0];
        char letter_text[2] = {letter, '\0'};
        if (!take_text(match, letter_text) || !take_text(match, "in "))
            return false;
        size_t length = strcspn(match->at, ";)");
        memcpy(name, match->at, length < sizeof name ? length : sizeof name - 1);
        match->at += length;
        TypeId type = match->letters[letter - 'a'];
        if (type != 0 && (class_of(match->types, type) & class_named(name)) == 0)
            return false;
    } while (take_text(match, ";"));
    return take_text(match, ")");
}

/* No type when the parameter is not there: the callee may not have been checked yet. */
static TypeId parameter_type(const Checker *checker, const CoreBlock *body, uint32_t i)
{
    if (i >= body->parameter_count || !is_variable(checker, body->parameters[i]))
        return 0;
    return checker->program->variables.items[body->parameters[i]].type;
}

/* The operator of an operation: its captured values, then the operands as the scheme has them, then the result. */
static bool match_operator(Match *match, const Checker *checker, const CoreStatement *statement)
{
    const CoreFunction *function = checker->program->functions.items[statement->function];
    const CoreBlock *body = function->body;
    uint32_t i = 0;
    for (; i < statement->captured_count; i++)
        if (parameter_type(checker, body, i) != statement->captured[i].type)
            return false;
    bool is_tuple = take_text(match, "(");
    do {
        TypeId type = parameter_type(checker, body, i++);
        if (type == 0 || !match_type(match, type))
            return false;
    } while (is_tuple && take_text(match, ","));
    return i == body->parameter_count && (!is_tuple || take_text(match, ")")) && take_text(match, "->") &&
           match_type(match, function->result_type);
}

static bool match_arguments(Match *match, const Checker *checker, const CoreStatement *statement)
{
    uint32_t next = 0;
    bool has_operator = false;
    bool is_tuple = take_text(match, "(");
    if (is_tuple && take_text(match, ")")) /* unit: passed or not */
        return statement->argument_count == 0 ||
               (statement->argument_count == 1 && statement->arguments[0].type == TYPE_UNIT_ID);
    do {
        if (is_tuple && find_arrow(match->at) != NULL) {
            has_operator = true;
            if (statement->function == 0 || !match_operator(match, checker, statement))
                return false;
        } else if (next >= statement->argument_count || !match_type(match, statement->arguments[next++].type)) {
            return false;
        }
    } while (is_tuple && take_text(match, ","));
    return next == statement->argument_count && has_operator == (statement->function != 0) &&
           (!is_tuple || take_text(match, ")"));
}

static bool match_op(Checker *checker, const CoreStatement *statement, TypeId target)
{
    const char *scheme = op_table[statement->op].type;
    Match match = {.types = checker->types, .at = scheme};
    if (find_arrow(scheme) == NULL) {
        if (statement->argument_count != 0 || statement->function != 0)
            return false;
    } else if (!match_arguments(&match, checker, statement) || !take_text(&match, "->")) {
        return false;
    }
    return match_type(&match, target) && match_context(&match) && *match.at == '\0';
}

static bool is_function(const Checker *checker, CoreFunctionId f)
{
    if (f == 0 || f >= checker->program->functions.count)
        return false;
    const CoreFunction *function = checker->program->functions.items[f];
    return function != NULL && function->body != NULL;
}

static void add_types(const Checker *checker, const CoreAtom *atoms, uint32_t count, Text *out)
{
    for (uint32_t i = 0; i < count; i++)
        text_addf(out, "%s%s", i == 0 ? "" : ", ", type_text(checker->types, atoms[i].type));
}

static bool fail_op(Checker *checker, const CoreStatement *statement, TypeId target)
{
    Arena *arena = checker->program->arena;
    Text text;
    text_init(&text, arena->memory);
    add_types(checker, statement->arguments, statement->argument_count, &text);
    const char *arguments = arena_text(arena, text_string(&text), text.length);
    text_free(&text);
    return fail(checker, "(%s) -> %s%s does not match %s", arguments, type_text(checker->types, target),
                statement->function != 0 ? " with this operator" : "", op_table[statement->op].type);
}

static bool check_op(Checker *checker, const CoreStatement *statement, TypeId target)
{
    if (statement->op >= OP_COUNT)
        return fail(checker, "there is no such operation");
    if (statement->function != 0 && !is_function(checker, statement->function))
        return fail(checker, "the operator is no function");
    return match_op(checker, statement, target) || fail_op(checker, statement, target);
}

/* ---- statements ---- */

static TypeId type_of(const Checker *checker, CoreVar v)
{
    return checker->program->variables.items[v].type;
}

static bool check_pair(Checker *checker, const CoreStatement *statement, TypeId target)
{
    if (type_kind(checker->types, target) != TYPE_PAIR)
        return fail(checker, "the target has type %s, expected a pair", type_text(checker->types, target));
    return expect_type(checker, "the first component", statement->arguments[0].type,
                       type_first(checker->types, target)) &&
           expect_type(checker, "the second component", statement->arguments[1].type, type_rest(checker->types, target));
}

static bool check_project(Checker *checker, const CoreStatement *statement, TypeId target)
{
    TypeId pair = statement->arguments[0].type;
    if (type_kind(checker->types, pair) != TYPE_PAIR || statement->component > 1)
        return fail(checker, "component %u of a value of type %s", statement->component,
                    type_text(checker->types, pair));
    TypeId component = statement->component == 0 ? type_first(checker->types, pair) : type_rest(checker->types, pair);
    return expect_type(checker, "the target", target, component);
}

/* Wrapping and unwrapping: `outer` is a DATA or CLOSURE type made of `inner`. */
static bool check_representation(Checker *checker, TypeId outer, TypeId inner)
{
    if (!is_made_of(checker, outer))
        return fail(checker, "%s is neither a datatype nor a function", type_text(checker->types, outer));
    return expect_type(checker, "what it is made of", inner, type_representation(checker->types, outer));
}

static bool check_make(Checker *checker, const CoreStatement *statement, TypeId target)
{
    if (type_kind(checker->types, target) != TYPE_CONTAINER)
        return fail(checker, "the target has type %s, expected a container", type_text(checker->types, target));
    TypeId element = type_element(checker->types, target);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        if (!expect_type(checker, "an element", statement->arguments[i].type, element))
            return false;
    return true;
}

static bool check_text(Checker *checker, const CoreStatement *statement, TypeId target)
{
    if (statement->text == NULL && statement->text_length > 0)
        return fail(checker, "the text is missing");
    return (type_is_vector(checker->types, target) && type_element(checker->types, target) == TYPE_CHAR) ||
           fail(checker, "the target has type %s, expected [char]", type_text(checker->types, target));
}

static bool check_call(Checker *checker, const CoreStatement *statement, TypeId target)
{
    if (!is_function(checker, statement->function))
        return fail(checker, "there is no function %u with a body", statement->function);
    const CoreFunction *callee = checker->program->functions.items[statement->function];
    const CoreBlock *body = callee->body;
    if (!expect_count(checker, "arguments", statement->argument_count, body->parameter_count))
        return false;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        if (!expect_type(checker, "an argument", statement->arguments[i].type, parameter_type(checker, body, i)))
            return false;
    return expect_type(checker, "the target", target, callee->result_type);
}

static bool check_if(Checker *checker, const CoreStatement *statement, TypeId target)
{
    return expect_type(checker, "the condition", statement->arguments[0].type, TYPE_BOOL) &&
           expect_count(checker, "parameters of a branch", statement->blocks[0]->parameter_count, 0) &&
           expect_count(checker, "parameters of a branch", statement->blocks[1]->parameter_count, 0) &&
           check_block(checker, statement->blocks[0]) && check_block(checker, statement->blocks[1]) &&
           expect_type(checker, "the first branch", statement->blocks[0]->result.type, target) &&
           expect_type(checker, "the second branch", statement->blocks[1]->result.type, target);
}

static bool check_loop_body(Checker *checker, const CoreBlock *body)
{
    checker->level++;
    bool is_good = check_block(checker, body);
    checker->level--;
    return is_good;
}

/* The parameters of EACH and GROUP bodies: elements, but for GROUP's values, which come as sequences. */
static bool check_loop_parameters(Checker *checker, const CoreStatement *statement)
{
    const CoreBlock *body = statement->blocks[0];
    if (statement->argument_count == 0)
        return fail(checker, "nothing to go through");
    if (!expect_count(checker, "parameters of the body", body->parameter_count, statement->argument_count))
        return false;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        TypeId type = statement->arguments[i].type;
        if (!type_is_sequence(checker->types, type))
            return fail(checker, "an argument has type %s, expected a sequence", type_text(checker->types, type));
        bool is_values = statement->kind == CORE_GROUP && i > 0;
        if (!expect_type(checker, "a parameter of the body", parameter_type(checker, body, i),
                         is_values ? type : type_element(checker->types, type)))
            return false;
    }
    return true;
}

static bool expect_sequence_of(Checker *checker, TypeId target, TypeId element)
{
    return (type_is_sequence(checker->types, target) && type_element(checker->types, target) == element) ||
           fail(checker, "the target has type %s, expected a sequence of %s", type_text(checker->types, target),
                type_text(checker->types, element));
}

static bool check_each(Checker *checker, const CoreStatement *statement, TypeId target)
{
    return check_loop_parameters(checker, statement) && check_loop_body(checker, statement->blocks[0]) &&
           expect_sequence_of(checker, target, statement->blocks[0]->result.type);
}

static bool check_guard(Checker *checker, const CoreStatement *statement, TypeId target)
{
    return expect_type(checker, "the condition", statement->arguments[0].type, TYPE_BOOL) &&
           expect_count(checker, "parameters of a guard", statement->blocks[0]->parameter_count, 0) &&
           check_block(checker, statement->blocks[0]) &&
           expect_sequence_of(checker, target, statement->blocks[0]->result.type);
}

static bool check_group(Checker *checker, const CoreStatement *statement, TypeId target)
{
    if (!check_loop_parameters(checker, statement))
        return false;
    TypeId key = type_element(checker->types, statement->arguments[0].type);
    if (!type_is_concrete(checker->types, key))
        return fail(checker, "keys of type %s, which is not concrete", type_text(checker->types, key));
    if (!check_loop_body(checker, statement->blocks[0]))
        return false;
    TypeId element = statement->blocks[0]->result.type;
    return (type_is_vector(checker->types, target) && type_element(checker->types, target) == element) ||
           fail(checker, "the target has type %s, expected a vector of %s", type_text(checker->types, target),
                type_text(checker->types, element));
}

/* How many arguments and blocks each kind has; ANY_COUNT where its own check counts. */
enum { ANY_COUNT = 99 };
static const struct {
    uint8_t arguments, blocks;
} shapes[] = {
    [CORE_COPY] = {1, 0},         [CORE_UNIT] = {0, 0},         [CORE_PAIR] = {2, 0},         [CORE_PROJECT] = {1, 0},
    [CORE_WRAP] = {1, 0},         [CORE_UNWRAP] = {1, 0},       [CORE_MAKE] = {ANY_COUNT, 0}, [CORE_TEXT] = {0, 0},
    [CORE_OP] = {ANY_COUNT, 0},   [CORE_CALL] = {ANY_COUNT, 0}, [CORE_IF] = {1, 2},           [CORE_EACH] = {ANY_COUNT, 1},
    [CORE_GUARD] = {1, 1},        [CORE_GROUP] = {ANY_COUNT, 1},
};

static bool check_shape(Checker *checker, const CoreStatement *statement)
{
    uint32_t arguments = shapes[statement->kind].arguments;
    uint32_t blocks = (statement->blocks[0] != NULL) + (uint32_t)(statement->blocks[1] != NULL);
    if (arguments != ANY_COUNT && !expect_count(checker, "arguments", statement->argument_count, arguments))
        return false;
    if (!expect_count(checker, "blocks", blocks, shapes[statement->kind].blocks))
        return false;
    if (blocks == 1 && statement->blocks[0] == NULL)
        return fail(checker, "its block is in the wrong place");
    return statement->captured_count == 0 || statement->kind == CORE_OP ||
           fail(checker, "captured values without an operator");
}

static bool check_kind(Checker *checker, const CoreStatement *statement, TypeId target)
{
    switch (statement->kind) {
    case CORE_COPY:
        return expect_type(checker, "the target", target, statement->arguments[0].type);
    case CORE_UNIT:
        return expect_type(checker, "the target", target, TYPE_UNIT_ID);
    case CORE_PAIR:
        return check_pair(checker, statement, target);
    case CORE_PROJECT:
        return check_project(checker, statement, target);
    case CORE_WRAP:
        return check_representation(checker, target, statement->arguments[0].type);
    case CORE_UNWRAP:
        return check_representation(checker, statement->arguments[0].type, target);
    case CORE_MAKE:
        return check_make(checker, statement, target);
    case CORE_TEXT:
        return check_text(checker, statement, target);
    case CORE_OP:
        return check_op(checker, statement, target);
    case CORE_CALL:
        return check_call(checker, statement, target);
    case CORE_IF:
        return check_if(checker, statement, target);
    case CORE_EACH:
        return check_each(checker, statement, target);
    case CORE_GUARD:
        return check_guard(checker, statement, target);
    case CORE_GROUP:
        return check_group(checker, statement, target);
    }
    return fail(checker, "there is no such statement");
}

/* The target is bound last: it is not visible in the statement's own blocks. */
static bool check_statement(Checker *checker, const CoreStatement *statement)
{
    if (!is_variable(checker, statement->target))
        return fail(checker, "there is no variable %u to bind", statement->target);
    TypeId target = type_of(checker, statement->target);
    return check_type(checker, target) && check_shape(checker, statement) &&
           check_atoms(checker, statement->arguments, statement->argument_count) &&
           check_atoms(checker, statement->captured, statement->captured_count) &&
           check_kind(checker, statement, target) && bind(checker, statement->target);
}

/* ---- blocks, functions, items ---- */

static bool check_statements(Checker *checker, const CoreBlock *block)
{
    const CoreStatement *outer = checker->statement;
    for (uint32_t i = 0; i < block->statement_count; i++) {
        checker->statement = &block->statements[i];
        if (!check_statement(checker, checker->statement))
            return false;
    }
    checker->statement = outer;
    return true;
}

static void leave_block(Checker *checker, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        checker->levels[block->parameters[i]] = LEVEL_GONE;
    for (uint32_t i = 0; i < block->statement_count; i++)
        checker->levels[block->statements[i].target] = LEVEL_GONE;
}

static bool check_block(Checker *checker, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->parameter_count; i++)
        if (!bind(checker, block->parameters[i]))
            return false;
    if (!check_statements(checker, block) || !check_atom(checker, &block->result))
        return false;
    leave_block(checker, block);
    return true;
}

static bool check_function(Checker *checker, CoreFunctionId f)
{
    const CoreFunction *function = checker->program->functions.items[f];
    checker->place =
        arena_format(checker->program->arena, "function %s (%u)", names_text(checker->program->names, function->name), f);
    checker->is_item = false;
    checker->unit = function->body;
    if (function->body == NULL)
        return fail(checker, "it has no body");
    if (!check_block(checker, function->body) || !expect_type(checker, "the body", function->body->result.type, function->result_type))
        return false;
    checker->unit = function->alone;
    return function->alone == NULL || (check_block(checker, function->alone) &&
                                       expect_type(checker, "the body alone", function->alone->result.type, function->result_type));
}

static bool check_binding(Checker *checker, const CoreItem *item)
{
    CoreVar v = item->global;
    if (!is_variable(checker, v) || !checker->program->variables.items[v].is_global)
        return fail(checker, "its variable %u is no global", v);
    if (checker->levels[v] == LEVEL_GLOBAL)
        return fail(checker, "the global %s is bound twice", name_of(checker, v));
    checker->levels[v] = LEVEL_GLOBAL;
    TypeId type = type_of(checker, v);
    if (!type_is_concrete(checker->types, type))
        return fail(checker, "the global %s has type %s, which is not concrete", name_of(checker, v),
                    type_text(checker->types, type));
    return expect_type(checker, "its value", item->block->result.type, type);
}

static bool check_item(Checker *checker, uint32_t index)
{
    const CoreItem *item = &checker->program->items.items[index];
    checker->place = arena_format(checker->program->arena, "item %u", index);
    checker->is_item = true;
    checker->unit = item->block;
    return expect_count(checker, "parameters", item->block->parameter_count, 0) && check_block(checker, item->block) &&
           (item->kind != CORE_ITEM_BINDING || check_binding(checker, item));
}

/* Globals are there before the first item that is checked, unless an item still to come binds them. */
static void mark_globals(Checker *checker, uint32_t first_item)
{
    const CoreProgram *program = checker->program;
    for (CoreVar v = 1; v < program->variables.count; v++)
        if (program->variables.items[v].is_global)
            checker->levels[v] = LEVEL_GLOBAL;
    for (uint32_t i = first_item; i < program->items.count; i++) {
        const CoreItem *item = &program->items.items[i];
        if (item->kind == CORE_ITEM_BINDING && is_variable(checker, item->global))
            checker->levels[item->global] = LEVEL_UNBOUND;
    }
}

const char *core_check(const CoreProgram *program, uint32_t first_function, uint32_t first_item)
{
    Types *types = program->types;
    Checker checker = {
        .program = program,
        .types = types,
        .levels = ARENA_ARRAY(program->arena, uint32_t, program->variables.count),
        .sound_types = ARENA_ARRAY(program->arena, bool, types->nodes.count),
        .type_count = types->nodes.count,
    };
    mark_globals(&checker, first_item);
    for (CoreFunctionId f = first_function == 0 ? 1 : first_function; f < program->functions.count; f++)
        if (program->functions.items[f] != NULL && !check_function(&checker, f))
            return checker.message;
    for (uint32_t i = first_item; i < program->items.count; i++)
        if (!check_item(&checker, i))
            return checker.message;
    return NULL;
}
