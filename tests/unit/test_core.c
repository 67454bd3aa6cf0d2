/* Core: building, printing, and the checker, which must accept what is right and name what is wrong. */
#include "core/core.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Types types;
    CoreProgram program;
    Text text;
    TypeId floats, ints, stream; /* [float], [int], {float} */
} Fixture;

static const Span nowhere = {0, 0};

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    types_init(&f->types, &f->arena, &f->names);
    core_program_init(&f->program, &f->arena, &f->types, &f->names);
    text_init(&f->text, &f->memory);
    f->floats = type_vector(&f->types, TYPE_FLOAT);
    f->ints = type_vector(&f->types, TYPE_INT);
    f->stream = type_sequence(&f->types, TYPE_FLOAT);
}

static void tear_down(Fixture *f)
{
    text_free(&f->text);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
}

/* ---- building ---- */

static CoreBuilder builder_of(Fixture *f)
{
    return (CoreBuilder){.program = &f->program};
}

static CoreVar new_variable(Fixture *f, TypeId type, const char *name)
{
    return core_variable(&f->program, type, name == NULL ? 0 : names_of(&f->names, name));
}

static CoreAtom atom(Fixture *f, CoreVar v)
{
    return core_atom(&f->program, v);
}

static CoreAtom emit(CoreBuilder *builder, CoreKind kind, TypeId type, const CoreAtom *arguments, uint32_t count)
{
    CoreStatement *statement = core_emit(builder, kind, type, nowhere, arguments, count);
    return core_target(builder, statement);
}

static CoreAtom emit_op(CoreBuilder *builder, Op op, TypeId type, const CoreAtom *arguments, uint32_t count)
{
    CoreStatement *statement = core_emit(builder, CORE_OP, type, nowhere, arguments, count);
    statement->op = op;
    return core_target(builder, statement);
}

static CoreAtom emit_block(CoreBuilder *builder, CoreKind kind, TypeId type, const CoreAtom *arguments, uint32_t count,
                           CoreBlock *first, CoreBlock *second)
{
    CoreStatement *statement = core_emit(builder, kind, type, nowhere, arguments, count);
    statement->blocks[0] = first;
    statement->blocks[1] = second;
    return core_target(builder, statement);
}

static CoreFunctionId finish_function(Fixture *f, const char *name, CoreBuilder *builder, const CoreVar *parameters,
                                      uint32_t count, CoreAtom result)
{
    CoreFunctionId id = core_function(&f->program, names_of(&f->names, name), nowhere);
    f->program.functions.items[id]->body = core_block(builder, parameters, count, result);
    f->program.functions.items[id]->result_type = result.type;
    return id;
}

static CoreFunctionId make_dotp(Fixture *f)
{
    CoreBuilder builder = builder_of(f), inner = builder_of(f);
    CoreVar parameters[2] = {new_variable(f, f->floats, "xs"), new_variable(f, f->floats, "ys")};
    CoreVar items[2] = {new_variable(f, TYPE_FLOAT, "x"), new_variable(f, TYPE_FLOAT, "y")};
    CoreAtom vectors[2] = {atom(f, parameters[0]), atom(f, parameters[1])};
    CoreAtom streams[2];
    streams[0] = emit_op(&builder, OP_SEQ, f->stream, &vectors[0], 1);
    streams[1] = emit_op(&builder, OP_SEQ, f->stream, &vectors[1], 1);
    CoreAtom factors[2] = {atom(f, items[0]), atom(f, items[1])};
    CoreAtom product = emit_op(&inner, OP_MULTIPLY, TYPE_FLOAT, factors, 2);
    CoreBlock *body = core_block(&inner, items, 2, product);
    CoreAtom products = emit_block(&builder, CORE_EACH, f->stream, streams, 2, body, NULL);
    CoreAtom sum = emit_op(&builder, OP_SUM, TYPE_FLOAT, &products, 1);
    return finish_function(f, "dotp", &builder, parameters, 2, sum);
}

/* function plus(x, y) = x + y on a type, with a value captured before the operands where `captures` says so */
static CoreFunctionId make_plus(Fixture *f, TypeId type, bool captures)
{
    CoreBuilder builder = builder_of(f);
    CoreVar parameters[3] = {new_variable(f, TYPE_CHAR, "k"), new_variable(f, type, "x"), new_variable(f, type, "x")};
    CoreAtom operands[2] = {atom(f, parameters[1]), atom(f, parameters[2])};
    CoreAtom sum = emit_op(&builder, OP_ADD, type, operands, 2);
    return finish_function(f, "plus", &builder, parameters + !captures, captures ? 3 : 2, sum);
}

/* ---- printing ---- */

static const char *print_function(Fixture *f, CoreFunctionId id)
{
    text_clear(&f->text);
    core_print_function(&f->program, id, &f->text);
    return text_string(&f->text);
}

static void test_print(Fixture *f)
{
    core_variable(&f->program, TYPE_INT, 0); /* ids must not matter */
    CoreFunctionId dotp = make_dotp(f);
    CHECK_TEXT(print_function(f, dotp),
               "function dotp(xs : [float], ys : [float]) : float =\n"
               "  t1 : {float} = seq(xs)\n"
               "  t2 : {float} = seq(ys)\n"
               "  t3 : {float} = each x in t1; y in t2 {\n"
               "    t4 : float = x * y\n"
               "    t4\n"
               "  }\n"
               "  t5 : float = sum(t3)\n"
               "  t5\n");
    make_plus(f, TYPE_INT, false);
    CHECK_TEXT(print_function(f, make_plus(f, TYPE_FLOAT, true)),
               "function plus#2(k : char, x.1 : float, x.2 : float) : float =\n"
               "  t1 : float = x.1 + x.2\n"
               "  t1\n");
    CHECK(core_check(&f->program, 0, 0) == NULL);
}

/* An item with one of each kind of statement. */
static void make_everything(Fixture *f, CoreFunctionId plus)
{
    CoreBuilder builder = builder_of(f), yes = builder_of(f), no = builder_of(f), guard = builder_of(f);
    TypeId u8 = TYPE_OF_SCALAR(SCALAR_U8);
    TypeId pair = type_pair(&f->types, TYPE_INT, TYPE_FLOAT);
    CoreAtom two[2] = {core_int(-3), core_constant(TYPE_FLOAT, (Scalar){.f64 = 2.5})};
    CoreAtom tuple = emit(&builder, CORE_PAIR, pair, two, 2);
    CoreStatement *project = core_emit(&builder, CORE_PROJECT, TYPE_FLOAT, nowhere, &tuple, 1);
    project->component = 1;
    TypeId closure = type_closure(&f->types, 1, TYPE_INT);
    CoreAtom wrapped = emit(&builder, CORE_WRAP, closure, two, 1);
    emit(&builder, CORE_UNWRAP, TYPE_INT, &wrapped, 1);
    emit(&builder, CORE_UNIT, TYPE_UNIT_ID, NULL, 0);
    CoreAtom byte = core_constant(u8, (Scalar){.integer = 7});
    emit(&builder, CORE_COPY, u8, &byte, 1);
    CoreStatement *text = core_emit(&builder, CORE_TEXT, type_vector(&f->types, TYPE_CHAR), nowhere, NULL, 0);
    text->text = "a\n\"b";
    text->text_length = 4;
    CoreAtom made = emit(&builder, CORE_MAKE, f->floats, &two[1], 1);
    emit(&builder, CORE_MAKE, f->stream, NULL, 0);
    CoreAtom reduce_arguments[2] = {two[1], made};
    CoreStatement *reduce = core_emit(&builder, CORE_OP, TYPE_FLOAT, nowhere, reduce_arguments, 2);
    reduce->op = OP_REDUCE;
    reduce->function = plus;
    reduce->captured = ARENA_NEW(&f->arena, CoreAtom);
    reduce->captured[0] = core_constant(TYPE_CHAR, (Scalar){.integer = '\''});
    reduce->captured_count = 1;
    CoreAtom call_arguments[3] = {reduce->captured[0], two[1], two[1]};
    CoreStatement *call = core_emit(&builder, CORE_CALL, TYPE_FLOAT, nowhere, call_arguments, 3);
    call->function = plus;
    CoreAtom condition = core_bool(true);
    CoreAtom choice = emit_block(&builder, CORE_IF, TYPE_INT, &condition, 1, core_block(&yes, NULL, 0, core_int(1)),
                                 core_block(&no, NULL, 0, core_int(2)));
    emit_block(&builder, CORE_GUARD, type_sequence(&f->types, TYPE_INT), &condition, 1,
               core_block(&guard, NULL, 0, choice), NULL);
    CoreVar global = new_variable(f, TYPE_INT, "answer");
    f->program.variables.items[global].is_global = true;
    *vec_push(&f->arena, &f->program.items) = (CoreItem){
        .kind = CORE_ITEM_BINDING, .block = core_block(&builder, NULL, 0, choice), .global = global, .label = "answer"};
}

/* show group k in keys; v in values { (k, sum(v)) } */
static void make_group(Fixture *f)
{
    CoreBuilder builder = builder_of(f), inner = builder_of(f);
    TypeId ints = type_sequence(&f->types, TYPE_INT);
    CoreAtom streams[2];
    streams[0] = emit(&builder, CORE_MAKE, ints, NULL, 0);
    streams[1] = emit(&builder, CORE_MAKE, f->stream, NULL, 0);
    CoreVar parameters[2] = {new_variable(f, TYPE_INT, "k"), new_variable(f, f->stream, "v")};
    CoreAtom values = atom(f, parameters[1]);
    CoreAtom parts[2] = {atom(f, parameters[0]), emit_op(&inner, OP_SUM, TYPE_FLOAT, &values, 1)};
    TypeId pair = type_pair(&f->types, TYPE_INT, TYPE_FLOAT);
    CoreAtom tuple = emit(&inner, CORE_PAIR, pair, parts, 2);
    CoreAtom groups = emit_block(&builder, CORE_GROUP, type_vector(&f->types, pair), streams, 2,
                                 core_block(&inner, parameters, 2, tuple), NULL);
    *vec_push(&f->arena, &f->program.items) =
        (CoreItem){.kind = CORE_ITEM_EXPRESSION, .block = core_block(&builder, NULL, 0, groups), .label = "it"};
}

static void test_everything(Fixture *f)
{
    CoreFunctionId plus = make_plus(f, TYPE_FLOAT, true);
    make_everything(f, plus);
    make_group(f);
    const char *message = core_check(&f->program, 0, 0);
    CHECK_TEXT(message == NULL ? "" : message, "");
    text_clear(&f->text);
    core_print(&f->program, &f->text);
    CHECK_TEXT(text_string(&f->text),
               "function plus(k : char, x.1 : float, x.2 : float) : float =\n"
               "  t1 : float = x.1 + x.2\n"
               "  t1\n"
               "\n"
               "let $answer : int =\n"
               "  t1 : (int, float) = (-3, 2.5)\n"
               "  t2 : float = rest(t1)\n"
               "  t3 : function#1(int) = wrap(-3)\n"
               "  t4 : int = unwrap(t3)\n"
               "  t5 : () = ()\n"
               "  t6 : u8 = 7u8\n"
               "  t7 : [char] = \"a\\n\\\"b\"\n"
               "  t8 : [float] = [2.5]\n"
               "  t9 : {float} = {}\n"
               "  t10 : float = reduce[plus('\\'')](2.5, t8)\n"
               "  t11 : float = plus('\\'', 2.5, 2.5)\n"
               "  t12 : int = if true {\n"
               "    1\n"
               "  } else {\n"
               "    2\n"
               "  }\n"
               "  t13 : {int} = guard true {\n"
               "    t12\n"
               "  }\n"
               "  t12\n"
               "\n"
               "show\n"
               "  t1 : {int} = {}\n"
               "  t2 : {float} = {}\n"
               "  t3 : [(int, float)] = group k in t1; v in t2 {\n"
               "    t4 : float = sum(v)\n"
               "    t5 : (int, float) = (k, t4)\n"
               "    t5\n"
               "  }\n"
               "  t3\n"
               "\n");
}

/* ---- the checker: every operation of the table is accepted at an instance of its type ---- */

typedef struct Instance {
    Fixture *f;
    const char *at;
    TypeId letter; /* what type variables stand for */
    TypeId mark;   /* what container variables stand for */
} Instance;

static TypeId instance_type(Instance *s);

static bool eat(Instance *s, char c)
{
    while (*s->at == ' ')
        s->at++;
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

static TypeId instance_name(Instance *s)
{
    char name[16] = {0};
    for (size_t i = 0; (*s->at >= 'a' && *s->at <= 'z') || (*s->at >= '0' && *s->at <= '9'); s->at++)
        name[i++] = *s->at;
    if (eat(s, '[')) {
        TypeId element = instance_type(s);
        eat(s, ']');
        return type_container(&s->f->types, s->mark, element);
    }
    if (name[1] == '\0')
        return s->letter;
    for (uint32_t scalar = 0; scalar < SCALAR_COUNT; scalar++)
        if (strcmp(scalar_name((ScalarType)scalar), name) == 0)
            return TYPE_OF_SCALAR(scalar);
    fprintf(stderr, "unknown type %s\n", name);
    abort();
}

/* The items of a tuple up to its parenthesis; a function among them is left out and noted. */
static uint32_t instance_items(Instance *s, TypeId *items, bool *has_function)
{
    uint32_t count = 0;
    while (!eat(s, ')')) {
        TypeId type = instance_type(s);
        if (eat(s, '-')) {
            eat(s, '>');
            instance_type(s);
            *has_function = true;
        } else {
            items[count++] = type;
        }
        eat(s, ',');
    }
    return count;
}

static TypeId instance_type(Instance *s)
{
    TypeId items[8];
    bool has_function = false;
    if (eat(s, '(')) {
        uint32_t count = instance_items(s, items, &has_function);
        return type_tuple(&s->f->types, items, count);
    }
    bool is_vector = eat(s, '[');
    if (is_vector || eat(s, '{')) {
        TypeId element = instance_type(s);
        s->at++;
        return is_vector ? type_vector(&s->f->types, element) : type_sequence(&s->f->types, element);
    }
    return instance_name(s);
}

static TypeId letter_for(const char *scheme)
{
    return strstr(scheme, "in floating") != NULL ? TYPE_FLOAT : TYPE_INT;
}

static void check_op_instance(Fixture *f, Op op, TypeId mark, bool is_good)
{
    const char *scheme = op_table[op].type;
    Instance s = {f, scheme, letter_for(scheme), mark};
    TypeId items[8];
    uint32_t count = 0;
    bool has_function = false;
    CoreBuilder builder = builder_of(f);
    CoreVar parameters[8];
    CoreAtom arguments[8];
    if (strstr(scheme, "->") != NULL) {
        if (eat(&s, '('))
            count = instance_items(&s, items, &has_function);
        else
            items[count++] = instance_type(&s);
        s.at += strspn(s.at, " ->");
    }
    TypeId result = instance_type(&s);
    for (uint32_t i = 0; i < count; i++) {
        parameters[i] = new_variable(f, items[i], NULL);
        arguments[i] = atom(f, parameters[i]);
    }
    CoreFunctionId plus = has_function ? make_plus(f, s.letter, false) : 0;
    TypeId shown = is_good ? result : type_pair(&f->types, TYPE_CHAR, result);
    CoreStatement *statement = core_emit(&builder, CORE_OP, shown, nowhere, arguments, count);
    statement->op = op;
    statement->function = plus;
    CoreFunctionId id = finish_function(f, "test", &builder, parameters, count, core_target(&builder, statement));
    const char *message = core_check(&f->program, id, 0);
    bool any_result = op == OP_FAIL || op == OP_NOT_PROVIDED || op == OP_RAISE;
    if ((message == NULL) != (is_good || any_result)) {
        failures++;
        fprintf(stderr, "%s : %s: %s\n", op_table[op].id, scheme, message == NULL ? "accepted" : message);
    }
}

static void test_ops(Fixture *f)
{
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        check_op_instance(f, (Op)op, TYPE_MARK_VECTOR, true);
        check_op_instance(f, (Op)op, TYPE_MARK_SEQUENCE, true);
        check_op_instance(f, (Op)op, TYPE_MARK_VECTOR, false);
    }
}

static const char *check_one_op(Fixture *f, Op op, TypeId result, TypeId a, TypeId b)
{
    CoreBuilder builder = builder_of(f);
    CoreVar parameters[2] = {new_variable(f, a, "a"), 0};
    uint32_t count = b == 0 ? 1 : 2;
    if (b != 0)
        parameters[1] = new_variable(f, b, "b");
    CoreAtom arguments[2] = {atom(f, parameters[0]), atom(f, parameters[b == 0 ? 0 : 1])};
    CoreAtom target = emit_op(&builder, op, result, arguments, count);
    CoreFunctionId id = finish_function(f, "f", &builder, parameters, count, target);
    const char *message = core_check(&f->program, id, 0);
    return message == NULL ? "" : message;
}

static void test_op_types(Fixture *f)
{
    TypeId stream = type_sequence(&f->types, TYPE_INT);
    TypeId pair = type_pair(&f->types, TYPE_INT, TYPE_FLOAT);
    TypeId triple = type_pair(&f->types, TYPE_INT, pair);
    CHECK(*check_one_op(f, OP_ZIP, type_vector(&f->types, pair), f->ints, f->floats) == '\0');
    CHECK(*check_one_op(f, OP_ZIP, type_vector(&f->types, triple), f->ints, type_vector(&f->types, pair)) == '\0');
    CHECK(*check_one_op(f, OP_READ, stream, f->ints, stream) == '\0');
    CHECK(*check_one_op(f, OP_EQUAL, TYPE_BOOL, pair, pair) == '\0');
    CHECK(*check_one_op(f, OP_CONCAT, stream, type_sequence(&f->types, f->ints), 0) == '\0');
    CHECK(*check_one_op(f, OP_ZIP, type_vector(&f->types, pair), f->ints, f->stream) != '\0');
    CHECK(*check_one_op(f, OP_ADD, TYPE_INT, TYPE_INT, TYPE_FLOAT) != '\0');
    CHECK(*check_one_op(f, OP_ADD, TYPE_INT, TYPE_INT, 0) != '\0');
    CHECK(*check_one_op(f, OP_SAME, TYPE_BOOL, stream, stream) != '\0');
    CHECK(*check_one_op(f, OP_REDUCE, TYPE_INT, TYPE_INT, f->ints) != '\0'); /* its operator is missing */
    CHECK_TEXT(check_one_op(f, OP_ADD, TYPE_BOOL, TYPE_BOOL, TYPE_BOOL),
               "function f (11): t1 = op +: (bool, bool) -> bool does not match (a, a) -> a :: (a in number)");
}

/* ---- the checker: what is wrong is named ---- */

static void expect_message(Fixture *f, const char *part, int line)
{
    const char *message = core_check(&f->program, 0, 0);
    if (message != NULL && strstr(message, part) != NULL)
        return;
    failures++;
    fprintf(stderr, "%s:%d: expected \"%s\" in: %s\n", __FILE__, line, part, message == NULL ? "(no message)" : message);
}

/* Builds dotp, lets `spoil` break it, and looks at what the checker says. */
static void check_spoiled(void (*spoil)(Fixture *, CoreBlock *), const char *part, int line)
{
    Fixture f;
    set_up(&f);
    CoreFunctionId dotp = make_dotp(&f);
    spoil(&f, f.program.functions.items[dotp]->body);
    expect_message(&f, part, line);
    tear_down(&f);
}

static void spoil_nothing_bound(Fixture *f, CoreBlock *body)
{
    body->statements[0].arguments[0].variable = new_variable(f, f->floats, "zs");
}

static void spoil_order(Fixture *f, CoreBlock *body)
{
    (void)f;
    CoreStatement first = body->statements[2];
    body->statements[2] = body->statements[3];
    body->statements[3] = first;
}

static void spoil_binding(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->statements[1].target = body->statements[0].target;
}

static void spoil_scope(Fixture *f, CoreBlock *body)
{
    CoreBlock *inner = body->statements[2].blocks[0];
    body->result = atom(f, inner->statements[0].target);
}

static void spoil_atom_type(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->statements[3].arguments[0].type = TYPE_INT;
}

static void spoil_loop(Fixture *f, CoreBlock *body)
{
    CoreBlock *inner = body->statements[2].blocks[0];
    CoreStatement *statement = &inner->statements[0];
    CoreAtom *outer = ARENA_NEW(&f->arena, CoreAtom);
    *outer = atom(f, body->statements[0].target);
    *statement = (CoreStatement){
        .kind = CORE_OP, .op = OP_SUM, .target = statement->target, .arguments = outer, .argument_count = 1};
}

static void spoil_zip(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->statements[2].argument_count = 1;
}

static void spoil_each_type(Fixture *f, CoreBlock *body)
{
    f->program.variables.items[body->statements[2].target].type = f->floats;
    body->statements[3].arguments[0].type = f->floats;
}

static void spoil_result(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->result = core_int(1);
}

static void spoil_constant(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->result = core_constant(TYPE_OF_SCALAR(SCALAR_U8), (Scalar){.integer = 256});
}

static void spoil_type(Fixture *f, CoreBlock *body)
{
    TypeId function = type_function(&f->types, TYPE_INT, TYPE_INT);
    f->program.variables.items[body->parameters[0]].type = function;
}

static void spoil_vector(Fixture *f, CoreBlock *body)
{
    f->program.variables.items[body->parameters[0]].type = type_vector(&f->types, f->stream);
}

static void spoil_blocks(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->statements[2].blocks[0] = NULL;
}

static void spoil_target(Fixture *f, CoreBlock *body)
{
    (void)f;
    body->statements[0].target = 1000000;
}

static void spoil_global(Fixture *f, CoreBlock *body)
{
    CoreVar global = new_variable(f, TYPE_FLOAT, "g");
    f->program.variables.items[global].is_global = true;
    CoreBuilder first = builder_of(f), second = builder_of(f);
    /* functions may use a global before its item, items may not */
    body->result = atom(f, global);
    *vec_push(&f->arena, &f->program.items) =
        (CoreItem){.kind = CORE_ITEM_EXPRESSION, .block = core_block(&first, NULL, 0, atom(f, global))};
    CoreAtom one = core_constant(TYPE_FLOAT, (Scalar){.f64 = 1});
    *vec_push(&f->arena, &f->program.items) =
        (CoreItem){.kind = CORE_ITEM_BINDING, .block = core_block(&second, NULL, 0, one), .global = global};
}

static void spoil_call(Fixture *f, CoreBlock *body)
{
    CoreStatement *statement = &body->statements[3];
    statement->kind = CORE_CALL;
    statement->function = make_plus(f, TYPE_FLOAT, false);
}

static void test_spoiled(void)
{
    static const struct {
        void (*spoil)(Fixture *, CoreBlock *);
        const char *part;
    } rows[] = {
        {spoil_nothing_bound, "t1 = op seq: zs (variable 10) is used without a binding before"},
        {spoil_order, "is used without a binding before"},
        {spoil_binding, "is bound twice"},
        {spoil_scope, "is used outside its block"},
        {spoil_atom_type, "the use of a variable has type int, expected {float}"},
        {spoil_loop, "of type {float}, is used in the body of a loop"},
        {spoil_zip, "t3 = each: 2 parameters of the body, expected 1"},
        {spoil_each_type, "the target has type [float], expected a sequence of float"},
        {spoil_result, "function dotp (1): the body has type int, expected float"},
        {spoil_constant, "the constant 256 is not in the range of u8"},
        {spoil_type, "the type int -> int does not belong in Core"},
        {spoil_vector, "the type [{float}] does not belong in Core"},
        {spoil_blocks, "0 blocks, expected 1"},
        {spoil_target, "there is no variable 1000000 to bind"},
        {spoil_global, "item 0: the global g is used before its binding"},
        {spoil_call, "t5 = call: 1 arguments, expected 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_spoiled(rows[i].spoil, rows[i].part, __LINE__);
}

/* Many statements, and blocks as deep as the parser lets them be. */
static void test_large(Fixture *f)
{
    CoreBuilder builder = builder_of(f);
    CoreAtom pair[2] = {core_int(1), core_int(2)};
    for (int i = 0; i < 200000; i++)
        pair[0] = emit_op(&builder, OP_ADD, TYPE_INT, pair, 2);
    CoreAtom condition = core_bool(true);
    for (int i = 0; i < 2000; i++) {
        CoreBuilder no = builder_of(f), outer = builder_of(f);
        CoreBlock *yes = core_block(&builder, NULL, 0, pair[0]);
        pair[0] = emit_block(&outer, CORE_IF, TYPE_INT, &condition, 1, yes, core_block(&no, NULL, 0, core_int(0)));
        builder = outer;
    }
    CoreFunctionId id = finish_function(f, "deep", &builder, NULL, 0, pair[0]);
    const char *message = core_check(&f->program, id, 0);
    CHECK_TEXT(message == NULL ? "" : message, "");
}

static void run(void (*test)(Fixture *))
{
    Fixture f;
    set_up(&f);
    test(&f);
    tear_down(&f);
}

int main(void)
{
    run(test_print);
    run(test_everything);
    run(test_ops);
    run(test_op_types);
    run(test_large);
    test_spoiled();
    return failures == 0 ? 0 : 1;
}
