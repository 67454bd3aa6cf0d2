/* The reference interpreter: every kind of statement, every group of operations, errors with their numbers, the order of
 * combination, random numbers, deep and long recursion, and that nothing leaks. */
#include "math/combine.h"
#include "math/elementary.h"
#include "math/random.h"
#include "math/range.h"
#include "ref/ref.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Memory memory;
    Arena arena;
    Names names;
    Sources sources;
    Diagnostics diagnostics;
    Types types;
    CoreProgram program;
    CoreBuilder builder;
    Interpreter *interpreter;
    Text text, output;
    Span span; /* of the statements emitted: in .rnl or .nesl */
    Span runnel, nesl;
    TypeId ints, floats, chars, bools, int_stream, bool_stream, float_stream;
    StopFlag stop;
} Fixture;

enum { ITERATIONS = 300000, DEPTH = 1000000 };

static void keep_output(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
}

static Span add_source(Fixture *f, const char *path, Dialect dialect)
{
    const Source *source = sources_add(&f->sources, path, "text\n", 5, dialect);
    return (Span){source->base + 1, source->base + 2};
}

static void open_interpreter(Fixture *f, uint64_t max_depth)
{
    InterpreterOptions options = {.max_depth = max_depth,
                                  .output = {.write = keep_output, .context = &f->output},
                                  .stop = &f->stop};
    f->interpreter = ref_new(&f->memory, &f->program, &f->diagnostics, options);
}

static void set_up(Fixture *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &f->memory);
    names_init(&f->names, &f->arena);
    sources_init(&f->sources, &f->arena);
    diagnostics_init(&f->diagnostics, &f->arena, &f->sources);
    types_init(&f->types, &f->arena, &f->names);
    core_program_init(&f->program, &f->arena, &f->types, &f->names);
    f->builder.program = &f->program;
    text_init(&f->text, &f->memory);
    text_init(&f->output, &f->memory);
    f->runnel = add_source(f, "test.rnl", DIALECT_RUNNEL);
    f->nesl = add_source(f, "test.nesl", DIALECT_NESL);
    f->span = f->runnel;
    f->ints = type_vector(&f->types, TYPE_INT);
    f->floats = type_vector(&f->types, TYPE_FLOAT);
    f->chars = type_vector(&f->types, TYPE_CHAR);
    f->bools = type_vector(&f->types, TYPE_BOOL);
    f->int_stream = type_sequence(&f->types, TYPE_INT);
    f->bool_stream = type_sequence(&f->types, TYPE_BOOL);
    f->float_stream = type_sequence(&f->types, TYPE_FLOAT);
    open_interpreter(f, DEPTH + 10);
}

static void tear_down(Fixture *f)
{
    CHECK(ref_heap(f->interpreter)->objects == NULL);
    ref_free(f->interpreter);
    text_free(&f->text);
    text_free(&f->output);
    arena_free(&f->arena);
    CHECK(f->memory.live_bytes == 0);
}

/* ---- building ---- */

static CoreAtom float_atom(double value)
{
    return core_constant(TYPE_FLOAT, (Scalar){.f64 = value});
}

static CoreAtom f32_atom(float value)
{
    Scalar scalar = {0};
    scalar.f32 = value;
    return core_constant(TYPE_OF_SCALAR(SCALAR_F32), scalar);
}

static CoreAtom scalar_atom(ScalarType type, int64_t value)
{
    return core_constant(TYPE_OF_SCALAR(type), (Scalar){.integer = value});
}

/* Emits a statement of up to three arguments; those of type 0 are absent. */
static CoreStatement *emit(Fixture *f, CoreKind kind, TypeId type, CoreAtom a, CoreAtom b, CoreAtom c)
{
    CoreAtom arguments[] = {a, b, c};
    uint32_t count = a.type == 0 ? 0 : b.type == 0 ? 1 : c.type == 0 ? 2 : 3;
    return core_emit(&f->builder, kind, type, f->span, arguments, count);
}

static const CoreAtom none = {0};

static CoreAtom emit_op(Fixture *f, Op op, TypeId type, CoreAtom a, CoreAtom b, CoreAtom c)
{
    CoreStatement *statement = emit(f, CORE_OP, type, a, b, c);
    statement->op = op;
    return core_target(&f->builder, statement);
}

static CoreAtom op1(Fixture *f, Op op, TypeId type, CoreAtom a)
{
    return emit_op(f, op, type, a, none, none);
}

static CoreAtom op2(Fixture *f, Op op, TypeId type, CoreAtom a, CoreAtom b)
{
    return emit_op(f, op, type, a, b, none);
}

static CoreAtom pair_of(Fixture *f, CoreAtom a, CoreAtom b)
{
    return core_target(&f->builder, emit(f, CORE_PAIR, type_pair(&f->types, a.type, b.type), a, b, none));
}

static CoreAtom make(Fixture *f, TypeId type, const CoreAtom *items, uint32_t count)
{
    return core_target(&f->builder, core_emit(&f->builder, CORE_MAKE, type, f->span, items, count));
}

/* A container of ints, bools or chars. */
static CoreAtom items(Fixture *f, TypeId type, const int64_t *values, uint32_t count)
{
    CoreAtom atoms[16];
    for (uint32_t i = 0; i < count; i++)
        atoms[i] = core_constant(type_element(&f->types, type), (Scalar){.integer = values[i]});
    return make(f, type, atoms, count);
}
#define ITEMS(f, type, ...)                                                                                           \
    items((f), (type), (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static CoreAtom text_of(Fixture *f, const char *text)
{
    CoreStatement *statement = emit(f, CORE_TEXT, f->chars, none, none, none);
    statement->text = text;
    statement->text_length = (uint32_t)strlen(text);
    return core_target(&f->builder, statement);
}

/* A block built aside: the statements emitted between begin and end. */
static CoreBuilder begin_block(Fixture *f)
{
    CoreBuilder saved = f->builder;
    memset(&f->builder.statements, 0, sizeof f->builder.statements);
    return saved;
}

static CoreBlock *end_block(Fixture *f, CoreBuilder saved, const CoreVar *parameters, uint32_t count, CoreAtom result)
{
    CoreBlock *block = core_block(&f->builder, parameters, count, result);
    f->builder = saved;
    return block;
}

static CoreAtom parameter(Fixture *f, TypeId type)
{
    return core_atom(&f->program, core_variable(&f->program, type, 0));
}

static CoreFunctionId new_function(Fixture *f, const char *name)
{
    return core_function(&f->program, names_of(&f->names, name), f->span);
}

static void define(Fixture *f, CoreFunctionId id, CoreBlock *body)
{
    CoreFunction *function = f->program.functions.items[id];
    function->body = body;
    function->result_type = body->result.type;
}

/* A function of two parameters that is one operation. */
static CoreFunctionId operator_function(Fixture *f, Op op, TypeId type)
{
    CoreFunctionId id = new_function(f, "operator");
    CoreAtom a = parameter(f, type), b = parameter(f, type);
    CoreBuilder saved = begin_block(f);
    CoreAtom result = op2(f, op, type, a, b);
    define(f, id, end_block(f, saved, (CoreVar[]){a.variable, b.variable}, 2, result));
    return id;
}

static CoreAtom call(Fixture *f, CoreFunctionId id, CoreAtom a, CoreAtom b, TypeId type)
{
    CoreStatement *statement = emit(f, CORE_CALL, type, a, b, none);
    statement->function = id;
    return core_target(&f->builder, statement);
}

/* ---- running ---- */

/* What was emitted as an item, which must be right Core. */
static CoreItem finish_item(Fixture *f, CoreAtom result)
{
    CoreBlock *block = core_block(&f->builder, NULL, 0, result);
    CoreItem item = {.kind = CORE_ITEM_EXPRESSION, .span = f->span, .block = block, .label = "it"};
    *vec_push(&f->arena, &f->program.items) = item;
    const char *wrong = core_check(&f->program, 1, f->program.items.count - 1);
    if (wrong != NULL)
        CHECK_TEXT(wrong, "right Core");
    return item;
}

/* Runs what was emitted; gives the value as text, or the message. */
static const char *evaluate(Fixture *f, CoreAtom result)
{
    CoreItem item = finish_item(f, result);
    text_clear(&f->text);
    diagnostics_clear(&f->diagnostics);
    Value value;
    if (ref_run_item(f->interpreter, 0, &item, &value)) {
        value_print(&f->types, result.type, value, (ValueFormat){.style = VALUE_STYLE_RUNNEL}, &f->text);
        value_release(ref_heap(f->interpreter), &f->types, result.type, value);
    } else {
        const Diagnostic *error = &f->diagnostics.list.items[0];
        text_addf(&f->text, "%s: %s", error_code_text(error->code), error->message);
    }
    return text_string(&f->text);
}
#define EXPECT(f, atom, expected) CHECK_TEXT(evaluate((f), (atom)), (expected))

/* ---- scalars ---- */

static void test_integers(Fixture *f)
{
    static const struct {
        Op op;
        ScalarType type;
        int64_t a, b;
        const char *expected;
    } cases[] = {
        {OP_ADD, SCALAR_I64, INT64_MAX, 1, "-9223372036854775808"},
        {OP_ADD, SCALAR_I8, 127, 1, "-128"},
        {OP_SUBTRACT, SCALAR_U16, 0, 1, "65535"},
        {OP_MULTIPLY, SCALAR_I32, 65536, 65536, "0"},
        {OP_DIVIDE, SCALAR_I64, INT64_MIN, -1, "-9223372036854775808"},
        {OP_DIVIDE, SCALAR_I8, -128, -1, "-128"},
        {OP_DIVIDE, SCALAR_I64, -7, 2, "-3"},
        {OP_DIVIDE, SCALAR_U64, -1, 2, "9223372036854775807"},
        {OP_DIVIDE, SCALAR_I64, 1, 0, "division-by-zero: division by zero"},
        {OP_REMAINDER, SCALAR_I64, INT64_MIN, -1, "0"},
        {OP_REMAINDER, SCALAR_I64, -7, 3, "-1"},
        {OP_REMAINDER, SCALAR_U8, 7, 0, "division-by-zero: division by zero in rem"},
        {OP_MODULO, SCALAR_I64, 5, -3, "-1"},
        {OP_MODULO, SCALAR_I64, -5, 3, "1"},
        {OP_MODULO, SCALAR_I64, -6, 3, "0"},
        {OP_MINIMUM, SCALAR_U64, -1, 1, "1"},
        {OP_MAXIMUM, SCALAR_I64, -1, 1, "1"},
        {OP_AND, SCALAR_U8, 12, 10, "8"},
        {OP_NAND, SCALAR_U8, 12, 10, "247"},
        {OP_NOR, SCALAR_BOOL, 0, 0, "true"},
        {OP_XOR, SCALAR_I8, -1, 1, "-2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        TypeId type = TYPE_OF_SCALAR(cases[i].type);
        CoreAtom a = scalar_atom(cases[i].type, cases[i].a), b = scalar_atom(cases[i].type, cases[i].b);
        EXPECT(f, op2(f, cases[i].op, type, a, b), cases[i].expected);
    }
    EXPECT(f, op1(f, OP_NEGATE, TYPE_INT, core_int(INT64_MIN)), "-9223372036854775808");
    EXPECT(f, op1(f, OP_NEGATE, TYPE_OF_SCALAR(SCALAR_U8), scalar_atom(SCALAR_U8, 1)), "255");
    EXPECT(f, op1(f, OP_ABSOLUTE, TYPE_INT, core_int(-3)), "3");
    EXPECT(f, op1(f, OP_NOT, TYPE_BOOL, core_bool(true)), "false");
    EXPECT(f, op1(f, OP_NOT, TYPE_OF_SCALAR(SCALAR_U16), scalar_atom(SCALAR_U16, 1)), "65534");
}

static void test_shifts_and_powers(Fixture *f)
{
    TypeId i8 = TYPE_OF_SCALAR(SCALAR_I8);
    EXPECT(f, op2(f, OP_SHIFT_LEFT, TYPE_INT, core_int(1), core_int(65)), "2");
    EXPECT(f, op2(f, OP_SHIFT_LEFT, TYPE_INT, core_int(1), core_int(-1)), "-9223372036854775808");
    EXPECT(f, op2(f, OP_SHIFT_RIGHT, TYPE_INT, core_int(-8), core_int(1)), "-4");
    EXPECT(f, op2(f, OP_SHIFT_LEFT, i8, scalar_atom(SCALAR_I8, 65), core_int(9)), "-126");
    EXPECT(f, op2(f, OP_SHIFT_RIGHT, TYPE_OF_SCALAR(SCALAR_U8), scalar_atom(SCALAR_U8, 200), core_int(3)), "25");
    EXPECT(f, op2(f, OP_POWER, TYPE_INT, core_int(3), core_int(4)), "81");
    EXPECT(f, op2(f, OP_POWER, TYPE_INT, core_int(0), core_int(0)), "1");
    EXPECT(f, op2(f, OP_POWER, i8, scalar_atom(SCALAR_I8, 2), core_int(7)), "-128");
    EXPECT(f, op2(f, OP_POWER, TYPE_FLOAT, float_atom(1.5), core_int(3)), "3.375");
    EXPECT(f, op2(f, OP_POWER, TYPE_INT, core_int(2), core_int(-1)),
           "bad-argument: the exponent of ^ must not be negative, it is -1");
}

static void test_floats(Fixture *f)
{
    CoreAtom nan = float_atom((double)NAN);
    EXPECT(f, op2(f, OP_DIVIDE, TYPE_FLOAT, float_atom(1.0), float_atom(0.0)), "inf");
    EXPECT(f, op2(f, OP_MAXIMUM, TYPE_FLOAT, float_atom(-0.0), float_atom(0.0)), "0.0");
    EXPECT(f, op2(f, OP_MAXIMUM, TYPE_FLOAT, float_atom(0.0), float_atom(-0.0)), "0.0");
    EXPECT(f, op2(f, OP_MINIMUM, TYPE_FLOAT, float_atom(0.0), float_atom(-0.0)), "-0.0");
    EXPECT(f, op2(f, OP_MINIMUM, TYPE_FLOAT, float_atom(1.0), nan), "nan");
    EXPECT(f, op2(f, OP_EQUAL, TYPE_BOOL, nan, nan), "false");
    EXPECT(f, op2(f, OP_NOT_EQUAL, TYPE_BOOL, nan, nan), "true");
    EXPECT(f, op2(f, OP_SAME, TYPE_BOOL, nan, nan), "true");
    EXPECT(f, op2(f, OP_EQUAL, TYPE_BOOL, float_atom(0.0), float_atom(-0.0)), "true");
    EXPECT(f, op2(f, OP_LESS_EQUAL, TYPE_BOOL, pair_of(f, nan, nan), pair_of(f, nan, nan)), "false");
    EXPECT(f, op2(f, OP_LESS, TYPE_BOOL, pair_of(f, core_int(1), nan), pair_of(f, core_int(2), nan)), "true");
    EXPECT(f, op1(f, OP_SQRT, TYPE_FLOAT, float_atom(2.25)), "1.5");
    EXPECT(f, op1(f, OP_SQRT, TYPE_OF_SCALAR(SCALAR_F32), f32_atom(2.0f)), "1.4142135");
    EXPECT(f, op2(f, OP_ADD, TYPE_OF_SCALAR(SCALAR_F32), f32_atom(0.1f), f32_atom(0.2f)), "0.3");
    EXPECT(f, op2(f, OP_LOG_BASE, TYPE_FLOAT, float_atom(8.0), float_atom(2.0)), "3.0");
    EXPECT(f, emit_op(f, OP_FMA, TYPE_FLOAT, float_atom(2.0), float_atom(3.0), float_atom(4.0)), "10.0");
    EXPECT(f, emit_op(f, OP_MIN_INT, TYPE_INT, none, none, none), "-9223372036854775808");
}

static void test_conversions(Fixture *f)
{
    TypeId i32 = TYPE_OF_SCALAR(SCALAR_I32), u8 = TYPE_OF_SCALAR(SCALAR_U8), u64 = TYPE_OF_SCALAR(SCALAR_U64);
    EXPECT(f, op1(f, OP_TO_U8, u8, core_int(-1)), "255");
    EXPECT(f, op1(f, OP_TO_F64, TYPE_FLOAT, scalar_atom(SCALAR_U64, -1)), "1.8446744073709552e19");
    EXPECT(f, op1(f, OP_TO_BOOL, TYPE_BOOL, float_atom((double)NAN)), "true");
    EXPECT(f, op1(f, OP_TO_CHAR, TYPE_CHAR, core_int(256 + 'a')), "'a'");
    EXPECT(f, op1(f, OP_TO_I32, i32, float_atom(-2147483648.9)), "-2147483648");
    EXPECT(f, op1(f, OP_TO_U64, u64, float_atom(-0.5)), "0");
    EXPECT(f, op1(f, OP_TO_I32, i32, float_atom(1e300)), "conversion-range: 1.0e300 is outside the range of i32");
    EXPECT(f, op1(f, OP_TO_I64, TYPE_INT, float_atom(0x1p63)),
           "conversion-range: 9.223372036854776e18 is outside the range of int");
    EXPECT(f, op1(f, OP_FLOOR, TYPE_INT, float_atom((double)NAN)), "conversion-range: nan cannot be converted to int");
    EXPECT(f, op1(f, OP_FLOOR, TYPE_INT, float_atom(-1.5)), "-2");
    EXPECT(f, op1(f, OP_CEIL, TYPE_INT, float_atom(-1.5)), "-1");
    EXPECT(f, op1(f, OP_ROUND, TYPE_INT, float_atom(-2.5)), "-3");
    EXPECT(f, op1(f, OP_TRUNC, TYPE_INT, f32_atom(-2.5f)), "-2");
}

/* ---- containers ---- */

static void test_ranges(Fixture *f)
{
    EXPECT(f, op1(f, OP_IOTA, f->int_stream, core_int(3)), "{0, 1, 2}");
    EXPECT(f, op1(f, OP_IOTA, f->int_stream, core_int(-3)),
           "negative-count: a count must not be negative, but this one is -3");
    EXPECT(f, emit_op(f, OP_RANGE, f->int_stream, core_int(1), core_int(8), core_int(3)), "{1, 4, 7}");
    EXPECT(f, emit_op(f, OP_RANGE, f->int_stream, core_int(3), core_int(0), core_int(-2)), "{3, 1}");
    EXPECT(f, emit_op(f, OP_RANGE, f->int_stream, core_int(3), core_int(3), core_int(1)), "{}");
    EXPECT(f, emit_op(f, OP_RANGE, f->int_stream, core_int(INT64_MIN), core_int(INT64_MAX), core_int(INT64_MAX)),
           "{-9223372036854775808, -1, 9223372036854775806}");
    EXPECT(f, emit_op(f, OP_RANGE, f->int_stream, core_int(1), core_int(8), core_int(0)),
           "bad-argument: the step of a range must not be zero");
    EXPECT(f, emit_op(f, OP_RANGE, f->float_stream, float_atom(0.0), float_atom(1.0), float_atom(0.25)),
           "{0.0, 0.25, 0.5, 0.75}");
    EXPECT(f, emit_op(f, OP_RANGE, f->float_stream, float_atom(1.0), float_atom(0.0), float_atom(-0.5)), "{1.0, 0.5}");
    EXPECT(f, emit_op(f, OP_RANGE, f->float_stream, float_atom(0.0), float_atom((double)NAN), float_atom(1.0)), "{}");
    TypeId bytes = type_sequence(&f->types, TYPE_OF_SCALAR(SCALAR_I8));
    EXPECT(f, op2(f, OP_RANGE_INCLUSIVE, bytes, scalar_atom(SCALAR_I8, 126), scalar_atom(SCALAR_I8, 127)),
           "{126, 127}");
    EXPECT(f, emit_op(f, OP_NESL_RANGE, f->int_stream, core_int(0), core_int(5), core_int(2)), "{0, 2, 4}");
    /* 0.1 * 3 is above 0.3, so the range of three tenths has three elements and not four */
    CHECK(range_count_f64(0.0, 0.3, 0.1) == 3);
    CHECK(range_count_f64(0.0, (double)INFINITY, 1.0) == RANGE_COUNT_MAX);
}

static void test_cutting(Fixture *f)
{
    TypeId nested = type_vector(&f->types, f->ints);
    TypeId stream = type_sequence(&f->types, f->int_stream);
    EXPECT(f, op2(f, OP_APPEND, f->ints, ITEMS(f, f->ints, 1, 2), ITEMS(f, f->ints, 3)), "[1, 2, 3]");
    EXPECT(f, op2(f, OP_PART, stream, ITEMS(f, f->int_stream, 1, 2, 3), ITEMS(f, f->bool_stream, 0, 1, 1, 0, 0, 1)),
           "{{1}, {}, {2, 3}}");
    EXPECT(f, op2(f, OP_PART, stream, ITEMS(f, f->int_stream, 1), ITEMS(f, f->bool_stream, 1, 0)),
           "bad-partition: the flags of part must end in true");
    EXPECT(f, op2(f, OP_PART, stream, ITEMS(f, f->int_stream, 1), ITEMS(f, f->bool_stream, 0, 0, 1)),
           "bad-partition: the flags of part have 2 times false for 1 elements");
    EXPECT(f, op2(f, OP_FLAG_PARTITION, nested, ITEMS(f, f->ints, 1, 2, 3), ITEMS(f, f->bools, 0, 0, 1)),
           "[[1, 2], [3]]");
    EXPECT(f, op2(f, OP_PARTITION, nested, ITEMS(f, f->ints, 1, 2, 3), ITEMS(f, f->ints, 2, 0, 1)),
           "[[1, 2], [], [3]]");
    EXPECT(f, op2(f, OP_PARTITION, nested, ITEMS(f, f->ints, 1, 2, 3), ITEMS(f, f->ints, 2, 2)),
           "bad-partition: the lengths of the parts add up to 4, the vector has length 3");
    CoreAtom parts = op2(f, OP_PARTITION, nested, ITEMS(f, f->ints, 1, 2, 3), ITEMS(f, f->ints, 2, 0, 1));
    EXPECT(f, op1(f, OP_CONCAT, f->ints, parts), "[1, 2, 3]");
    CoreAtom letters = text_of(f, "ab");
    TypeId zipped = type_vector(&f->types, type_pair(&f->types, TYPE_INT, TYPE_CHAR));
    EXPECT(f, op2(f, OP_ZIP, zipped, ITEMS(f, f->ints, 1, 2), letters), "[(1, 'a'), (2, 'b')]");
    EXPECT(f, op2(f, OP_ZIP, zipped, ITEMS(f, f->ints, 1, 2, 3), text_of(f, "abcd")),
           "length-mismatch: the lengths differ: 3 and 4");
    EXPECT(f, op1(f, OP_THE, TYPE_INT, ITEMS(f, f->ints, 7)), "7");
    EXPECT(f, op1(f, OP_THE, TYPE_INT, ITEMS(f, f->ints, 7, 8, 9)),
           "not-singleton: the needs exactly one element, there are 3");
    EXPECT(f, emit_op(f, OP_SUBSEQ, f->ints, ITEMS(f, f->ints, 7, 8, 9), core_int(1), core_int(3)), "[8, 9]");
    EXPECT(f, emit_op(f, OP_SUBSEQ, f->ints, ITEMS(f, f->ints, 7, 8, 9), core_int(1), core_int(4)),
           "index-range: the slice [1:4] is outside a vector of length 3");
    EXPECT(f, op2(f, OP_TAKE, f->ints, ITEMS(f, f->ints, 7, 8, 9), core_int(-1)), "[7, 8]");
    EXPECT(f, op2(f, OP_DROP, f->ints, ITEMS(f, f->ints, 7, 8, 9), core_int(-1)), "[9]");
    EXPECT(f, op2(f, OP_TAKE, f->int_stream, ITEMS(f, f->int_stream, 7, 8), core_int(-1)),
           "negative-count: the count of take on a sequence must not be negative, but it is -1");
    EXPECT(f, op2(f, OP_DROP, f->ints, ITEMS(f, f->ints, 7), core_int(INT64_MIN)),
           "index-range: drop of -9223372036854775808 from a container of length 1");
    EXPECT(f, op2(f, OP_PREVIOUS, f->ints, ITEMS(f, f->ints, 7, 8, 9), core_int(0)), "[0, 7, 8]");
}

static void test_moving(Fixture *f)
{
    TypeId pairs = type_vector(&f->types, type_pair(&f->types, TYPE_INT, TYPE_INT));
    CoreAtom moves = op2(f, OP_ZIP, pairs, ITEMS(f, f->ints, 0, 2, 0), ITEMS(f, f->ints, 10, 20, 30));
    EXPECT(f, op2(f, OP_WRITE, f->ints, ITEMS(f, f->ints, 1, 2, 3), moves), "[30, 2, 20]");
    EXPECT(f, op2(f, OP_READ, f->ints, ITEMS(f, f->ints, 5, 6, 7), ITEMS(f, f->ints, 2, 2, 0)), "[7, 7, 5]");
    EXPECT(f, op2(f, OP_READ, f->ints, ITEMS(f, f->ints, 5, 6, 7), ITEMS(f, f->ints, 2, -1)),
           "index-range: index -1 is outside a vector of length 3");
    EXPECT(f, emit_op(f, OP_PUT, f->chars, text_of(f, "xy"), ITEMS(f, f->ints, 2, 0), text_of(f, "abc")), "\"ybx\"");
    EXPECT(f, op2(f, OP_PERMUTE, f->chars, text_of(f, "abc"), ITEMS(f, f->ints, 2, 0, 1)), "\"bca\"");
    EXPECT(f, op2(f, OP_PERMUTE, f->chars, text_of(f, "abc"), ITEMS(f, f->ints, 1, 0, 1)),
           "bad-permutation: index 1 occurs twice, at positions 0 and 2");
    EXPECT(f, emit_op(f, OP_REPLACE, f->ints, ITEMS(f, f->ints, 1, 2), core_int(9), core_int(1)), "[1, 9]");
    EXPECT(f, op1(f, OP_GRADE, f->ints, text_of(f, "hello")), "[1, 0, 2, 3, 4]");
    EXPECT(f, op1(f, OP_GRADE_DOWN, f->ints, text_of(f, "hello")), "[4, 2, 3, 0, 1]");
    EXPECT(f, op1(f, OP_RANK, f->ints, text_of(f, "hello")), "[1, 0, 2, 3, 4]");
    EXPECT(f, op1(f, OP_RANK_DOWN, f->ints, text_of(f, "hello")), "[3, 4, 1, 2, 0]");
    CoreAtom floats[] = {float_atom((double)NAN), float_atom(0.0), float_atom(-0.0), float_atom(-1.0)};
    EXPECT(f, op1(f, OP_GRADE, f->ints, make(f, f->floats, floats, 4)), "[3, 1, 2, 0]");
}

static void test_reductions(Fixture *f)
{
    TypeId bytes = type_vector(&f->types, TYPE_OF_SCALAR(SCALAR_U8));
    EXPECT(f, op1(f, OP_SUM, TYPE_OF_SCALAR(SCALAR_U8), ITEMS(f, bytes, 200, 100)), "44");
    EXPECT(f, op1(f, OP_PRODUCT, TYPE_INT, ITEMS(f, f->ints, 2, 3, 7)), "42");
    EXPECT(f, op1(f, OP_MAX_VAL, TYPE_FLOAT, make(f, f->floats, NULL, 0)), "-inf");
    EXPECT(f, op1(f, OP_MIN_VAL, TYPE_INT, make(f, f->ints, NULL, 0)), "9223372036854775807");
    EXPECT(f, op1(f, OP_SUM, TYPE_FLOAT, make(f, f->floats, NULL, 0)), "0.0");
    EXPECT(f, op1(f, OP_SUM, TYPE_FLOAT, make(f, f->floats, (CoreAtom[]){float_atom(-0.0)}, 1)), "-0.0");
    EXPECT(f, op1(f, OP_ALL, TYPE_INT, ITEMS(f, f->ints, 3, 6, 7)), "2");
    EXPECT(f, op1(f, OP_ALL, TYPE_OF_SCALAR(SCALAR_U8), make(f, bytes, NULL, 0)), "255");
    EXPECT(f, op1(f, OP_ANY, TYPE_BOOL, ITEMS(f, f->bools, 0, 1)), "true");
    EXPECT(f, op1(f, OP_PARITY, TYPE_BOOL, ITEMS(f, f->bools, 1, 1)), "false");
    EXPECT(f, op1(f, OP_COUNT_TRUE, TYPE_INT, ITEMS(f, f->bools, 1, 0, 1)), "2");
    EXPECT(f, op1(f, OP_PLUS_SCAN, f->ints, ITEMS(f, f->ints, 3, 4, 5)), "[0, 3, 7]");
    EXPECT(f, op1(f, OP_MULT_SCAN, f->ints, ITEMS(f, f->ints, 3, 4, 5)), "[1, 3, 12]");
    EXPECT(f, op1(f, OP_MAX_SCAN, f->ints, ITEMS(f, f->ints, 3, 5, 4)), "[-9223372036854775808, 3, 5]");
    EXPECT(f, op1(f, OP_AND_SCAN, f->bools, ITEMS(f, f->bools, 1, 0, 1)), "[true, true, false]");
    EXPECT(f, op1(f, OP_PLUS_SCAN, f->ints, make(f, f->ints, NULL, 0)), "[]");
    EXPECT(f, op1(f, OP_PLUS_SCAN, f->floats, make(f, f->floats, (CoreAtom[]){float_atom(-0.0), float_atom(1.0)}, 2)),
           "[0.0, -0.0]");
}

static void test_any_type(Fixture *f)
{
    CoreAtom tuple = pair_of(f, core_int(3), pair_of(f, text_of(f, "x"), core_constant(TYPE_CHAR, (Scalar){.integer = 'q'})));
    EXPECT(f, op1(f, OP_IDENTITY, tuple.type, tuple), "(0, \"\", ' ')");
    CoreAtom zero = op2(f, OP_HASH, TYPE_INT, float_atom(0.0), core_int(1000000));
    CoreAtom minus = op2(f, OP_HASH, TYPE_INT, float_atom(-0.0), core_int(1000000));
    EXPECT(f, op2(f, OP_EQUAL, TYPE_BOOL, zero, minus), "true");
    EXPECT(f, op2(f, OP_HASH, TYPE_INT, core_int(5), core_int(1)), "0");
    EXPECT(f, op2(f, OP_HASH, TYPE_INT, core_int(5), core_int(0)), "bad-argument: hash needs a positive number, not 0");
    EXPECT(f, op1(f, OP_STRING, f->chars, core_int(-12)), "\"-12\"");
    EXPECT(f, op1(f, OP_PRINT_STRING, TYPE_BOOL, text_of(f, "hi\n")), "true");
    CHECK_TEXT(text_string(&f->output), "hi\n");
    EXPECT(f, op1(f, OP_FAIL, TYPE_INT, text_of(f, "no %s way")), "user-error: no %s way");
    EXPECT(f, op1(f, OP_NOT_PROVIDED, TYPE_INT, text_of(f, "spawn")), "not-provided-here: spawn is not provided by Runnel");
    CoreAtom less = op2(f, OP_LESS, TYPE_BOOL, text_of(f, "ab"), text_of(f, "b"));
    EXPECT(f, less, "true");
}

static void test_lines(Fixture *f)
{
    const char *path = "test_ref.tmp";
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    fputs("one\r\n\nthree", file);
    fclose(file);
    TypeId lines = type_sequence(&f->types, f->chars);
    EXPECT(f, op1(f, OP_LINES, lines, text_of(f, path)), "{\"one\", \"\", \"three\"}");
    remove(path);
    EXPECT(f, op1(f, OP_LINES, lines, text_of(f, path)),
           "io-failure: cannot read test_ref.tmp: No such file or directory");
}

static void test_nesl_wording(Fixture *f)
{
    f->span = f->nesl;
    EXPECT(f, op2(f, OP_DIVIDE, TYPE_INT, core_int(1), core_int(0)), "division-by-zero: Divide by zero.");
    EXPECT(f, op2(f, OP_ELEMENT, TYPE_INT, ITEMS(f, f->ints, 1, 2, 3), core_int(5)),
           "index-range: Sequence reference (a[i]) out of bounds. (index 5, length 3)");
    EXPECT(f, op1(f, OP_RAND, TYPE_INT, core_int(0)), "bad-argument: Rand only works with positive numbers. (0)");
    f->span = f->runnel;
    EXPECT(f, op2(f, OP_ELEMENT, TYPE_INT, ITEMS(f, f->ints, 1, 2, 3), core_int(5)),
           "index-range: index 5 is outside a vector of length 3");
    EXPECT(f, op1(f, OP_RAND, TYPE_FLOAT, float_atom(-1.5)), "bad-argument: rand needs a positive number, not -1.5");
}

/* ---- blocks ---- */

/* {x * x : x in {0 : n}, x > 1}, by each, guard and concat */
static CoreAtom squares_above_one(Fixture *f, CoreAtom numbers)
{
    TypeId inner = f->int_stream, outer = type_sequence(&f->types, f->int_stream);
    CoreAtom x = parameter(f, TYPE_INT);
    CoreBuilder outside = begin_block(f);
    CoreAtom condition = op2(f, OP_GREATER, TYPE_BOOL, x, core_int(1));
    CoreBuilder guarded = begin_block(f);
    CoreAtom square = op2(f, OP_MULTIPLY, TYPE_INT, x, x);
    CoreBlock *body = end_block(f, guarded, NULL, 0, square);
    CoreStatement *guard = emit(f, CORE_GUARD, inner, condition, none, none);
    guard->blocks[0] = body;
    CoreBlock *each_body = end_block(f, outside, &x.variable, 1, core_target(&f->builder, guard));
    CoreStatement *each = emit(f, CORE_EACH, outer, numbers, none, none);
    each->blocks[0] = each_body;
    return op1(f, OP_CONCAT, f->int_stream, core_target(&f->builder, each));
}

static void test_comprehensions(Fixture *f)
{
    EXPECT(f, squares_above_one(f, op1(f, OP_IOTA, f->int_stream, core_int(5))), "{4, 9, 16}");

    CoreAtom a = parameter(f, TYPE_INT), b = parameter(f, f->chars);
    TypeId texts = type_sequence(&f->types, f->chars);
    CoreBuilder saved = begin_block(f);
    CoreAtom both = pair_of(f, b, a);
    CoreBlock *body = end_block(f, saved, (CoreVar[]){a.variable, b.variable}, 2, both);
    CoreAtom names[] = {text_of(f, "x"), text_of(f, "y")};
    CoreAtom strings = make(f, texts, names, 2);
    CoreStatement *each =
        emit(f, CORE_EACH, type_sequence(&f->types, both.type), ITEMS(f, f->int_stream, 1, 2), strings, none);
    each->blocks[0] = body;
    EXPECT(f, core_target(&f->builder, each), "{(\"x\", 1), (\"y\", 2)}");

    strings = make(f, texts, NULL, 0);
    each = emit(f, CORE_EACH, type_sequence(&f->types, both.type), ITEMS(f, f->int_stream, 1, 2), strings, none);
    each->blocks[0] = body;
    EXPECT(f, core_target(&f->builder, each), "length-mismatch: the lengths differ: 2 and 0");
}

static void test_groups(Fixture *f)
{
    CoreAtom key = parameter(f, f->chars), values = parameter(f, f->int_stream);
    CoreBuilder saved = begin_block(f);
    CoreAtom total = op1(f, OP_SUM, TYPE_INT, values);
    CoreAtom result = pair_of(f, key, total);
    CoreBlock *body = end_block(f, saved, (CoreVar[]){key.variable, values.variable}, 2, result);
    CoreAtom names[] = {text_of(f, "b"), text_of(f, "a"), text_of(f, "b")};
    CoreAtom keys = make(f, type_sequence(&f->types, f->chars), names, 3);
    CoreStatement *group =
        emit(f, CORE_GROUP, type_vector(&f->types, result.type), keys, ITEMS(f, f->int_stream, 1, 2, 3), none);
    group->blocks[0] = body;
    EXPECT(f, core_target(&f->builder, group), "[(\"a\", 2), (\"b\", 4)]");
}

/* ---- users' operators, and the order of combination ---- */

static CoreAtom with_operator(Fixture *f, Op op, CoreFunctionId function, TypeId type, CoreAtom a, CoreAtom b)
{
    CoreStatement *statement = emit(f, CORE_OP, type, a, b, none);
    statement->op = op;
    statement->function = function;
    return core_target(&f->builder, statement);
}

static void test_operators(Fixture *f)
{
    CoreFunctionId subtract = operator_function(f, OP_SUBTRACT, TYPE_INT);
    CoreFunctionId append = operator_function(f, OP_APPEND, f->chars);
    EXPECT(f, with_operator(f, OP_REDUCE, subtract, TYPE_INT, core_int(99), ITEMS(f, f->ints, 10, 1, 2)), "7");
    EXPECT(f, with_operator(f, OP_REDUCE, subtract, TYPE_INT, core_int(99), make(f, f->ints, NULL, 0)), "99");
    EXPECT(f, with_operator(f, OP_SCAN, subtract, f->ints, core_int(99), ITEMS(f, f->ints, 10, 1, 2)), "[99, 10, 9]");
    EXPECT(f, with_operator(f, OP_SCAN, subtract, f->ints, core_int(99), make(f, f->ints, NULL, 0)), "[]");
    CoreAtom words[] = {text_of(f, "ab"), text_of(f, "c"), text_of(f, "de")};
    CoreAtom texts = make(f, type_vector(&f->types, f->chars), words, 3);
    EXPECT(f, with_operator(f, OP_REDUCE, append, f->chars, text_of(f, ""), texts), "\"abcde\"");
    words[0] = text_of(f, "ab"), words[1] = text_of(f, "c"), words[2] = text_of(f, "de");
    texts = make(f, type_vector(&f->types, f->chars), words, 3);
    EXPECT(f, with_operator(f, OP_SCAN, append, texts.type, text_of(f, "-"), texts), "[\"-\", \"ab\", \"abc\"]");

    TypeId pairs = type_vector(&f->types, type_pair(&f->types, TYPE_INT, TYPE_INT));
    CoreAtom moves = op2(f, OP_ZIP, pairs, ITEMS(f, f->ints, 0, 1, 0), ITEMS(f, f->ints, 1, 2, 3));
    EXPECT(f, with_operator(f, OP_PUT_WITH, subtract, f->ints, ITEMS(f, f->ints, 10, 20), moves), "[6, 18]");
    moves = op2(f, OP_ZIP, pairs, ITEMS(f, f->ints, 0, 2), ITEMS(f, f->ints, 1, 2));
    EXPECT(f, with_operator(f, OP_PUT_WITH, subtract, f->ints, ITEMS(f, f->ints, 10, 20), moves),
           "index-range: index 2 is outside a vector of length 2");

    /* an operator that fails in the middle, holding objects */
    CoreFunctionId fail = operator_function(f, OP_DIVIDE, TYPE_INT);
    EXPECT(f, with_operator(f, OP_REDUCE, fail, TYPE_INT, core_int(0), ITEMS(f, f->ints, 10, 1, 0)),
           "division-by-zero: division by zero");
}

enum { LONG = 3 * COMBINE_BLOCK + 29 };

/* 1 / (i + 1) for i below LONG, in the program. */
static CoreAtom fractions(Fixture *f)
{
    CoreAtom i = parameter(f, TYPE_INT);
    CoreBuilder saved = begin_block(f);
    CoreAtom next = op2(f, OP_ADD, TYPE_INT, i, core_int(1));
    CoreAtom as_float = op1(f, OP_TO_F64, TYPE_FLOAT, next);
    CoreAtom result = op2(f, OP_DIVIDE, TYPE_FLOAT, float_atom(1.0), as_float);
    CoreBlock *body = end_block(f, saved, &i.variable, 1, result);
    CoreStatement *each =
        emit(f, CORE_EACH, f->float_stream, op1(f, OP_IOTA, f->int_stream, core_int(LONG)), none, none);
    each->blocks[0] = body;
    return core_target(&f->builder, each);
}

/* combine.h once more, as plain as can be. */
static double sum_block(const double *x, int count)
{
    double total = x[0];
    int next = 1;
    if (count >= COMBINE_LANES) {
        double lanes[COMBINE_LANES];
        memcpy(lanes, x, sizeof lanes);
        for (next = COMBINE_LANES; next + COMBINE_LANES <= count; next += COMBINE_LANES)
            for (int j = 0; j < COMBINE_LANES; j++)
                lanes[j] += x[next + j];
        total = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    }
    for (; next < count; next++)
        total += x[next];
    return total;
}

static void expect_float(Fixture *f, CoreAtom atom, double expected, int line)
{
    Text text;
    text_init(&text, &f->memory);
    value_print_f64(expected, &text);
    check_text(evaluate(f, atom), text_string(&text), __FILE__, line);
    text_free(&text);
}

static void test_order(Fixture *f)
{
    double x[LONG], total = 0.0, user_total = 0.0, carry = 0.0, last = 0.0;
    for (int i = 0; i < LONG; i++)
        x[i] = 1.0 / (i + 1);
    for (int start = 0; start < LONG; start += COMBINE_BLOCK) {
        int count = LONG - start < COMBINE_BLOCK ? LONG - start : COMBINE_BLOCK;
        double block = sum_block(x + start, count), left = x[start];
        total = start == 0 ? block : total + block;
        for (int i = 1; i < count; i++) {
            last = start == 0 ? left : carry + left; /* of the scan, before element i */
            left += x[start + i];
        }
        carry = start == 0 ? left : carry + left;
        user_total = carry;
    }
    CoreFunctionId add = operator_function(f, OP_ADD, TYPE_FLOAT);
    expect_float(f, op1(f, OP_SUM, TYPE_FLOAT, fractions(f)), total, __LINE__);
    expect_float(f, with_operator(f, OP_REDUCE, add, TYPE_FLOAT, float_atom(7.0), fractions(f)), user_total, __LINE__);
    CoreAtom scanned = with_operator(f, OP_SCAN, add, f->float_stream, float_atom(7.0), fractions(f));
    CoreAtom vector = op1(f, OP_TAB, f->floats, scanned);
    expect_float(f, op2(f, OP_ELEMENT, TYPE_FLOAT, vector, core_int(LONG - 1)), last, __LINE__);
    vector = op1(f, OP_TAB, f->floats, op1(f, OP_PLUS_SCAN, f->float_stream, fractions(f)));
    expect_float(f, op2(f, OP_ELEMENT, TYPE_FLOAT, vector, core_int(LONG - 1)), last, __LINE__);
    vector = op1(f, OP_TAB, f->floats, op1(f, OP_PLUS_SCAN, f->float_stream, fractions(f)));
    scanned = with_operator(f, OP_SCAN, add, f->float_stream, float_atom(0.0), fractions(f));
    EXPECT(f, op2(f, OP_SAME, TYPE_BOOL, vector, op1(f, OP_TAB, f->floats, scanned)), "true");
}

/* ---- random numbers ---- */

static void test_random(Fixture *f)
{
    CoreFunctionId draw = new_function(f, "draw");
    CoreAtom n = parameter(f, TYPE_INT);
    CoreBuilder saved = begin_block(f);
    CoreAtom drawn = op1(f, OP_RAND, TYPE_INT, n);
    define(f, draw, end_block(f, saved, &n.variable, 1, drawn));

    RandomState state = {.key = 42};
    uint64_t first = random_below(random_draw(&state), 1000), element[2], last;
    uint64_t comprehension = random_draw(&state);
    for (uint64_t i = 0; i < 2; i++) {
        RandomState own = random_element(comprehension, i);
        element[i] = random_below(random_draw(&own), 1000);
    }
    last = random_below(random_draw(&state), 1000);

    CoreAtom x = parameter(f, TYPE_INT);
    op1(f, OP_RAND_SEED, TYPE_BOOL, core_int(42));
    CoreAtom before = op1(f, OP_RAND, TYPE_INT, core_int(1000));
    saved = begin_block(f);
    CoreAtom inside = call(f, draw, core_int(1000), none, TYPE_INT);
    CoreBlock *body = end_block(f, saved, &x.variable, 1, inside);
    CoreStatement *each = emit(f, CORE_EACH, f->int_stream, ITEMS(f, f->int_stream, 5, 6), none, none);
    each->blocks[0] = body;
    CoreAtom elements = op1(f, OP_TAB, f->ints, core_target(&f->builder, each));
    CoreAtom after = op1(f, OP_RAND, TYPE_INT, core_int(1000));
    CoreAtom all = pair_of(f, before, pair_of(f, elements, after));
    char expected[100];
    snprintf(expected, sizeof expected, "(%d, [%d, %d], %d)", (int)first, (int)element[0], (int)element[1], (int)last);
    EXPECT(f, all, expected);

    CHECK(random_below(UINT64_MAX, 10) == 9 && random_below(0, 10) == 0);
    CHECK(random_below(UINT64_C(1) << 63, UINT64_MAX) == UINT64_MAX >> 1);
    double mean = 0.0;
    for (uint64_t i = 0; i < 10000; i++)
        mean += random_unit_f64(random_hash(1, i)) / 10000;
    CHECK(mean > 0.48 && mean < 0.52);
}

/* ---- calls ---- */

/* f(n, acc) = if n == 0 then acc else f(n - 1, acc + n), or 1 + f(n - 1, acc) where it is no tail call */
static CoreFunctionId countdown(Fixture *f, bool is_tail)
{
    CoreFunctionId id = new_function(f, "countdown");
    CoreAtom n = parameter(f, TYPE_INT), sum = parameter(f, TYPE_INT);
    CoreBuilder saved = begin_block(f);
    CoreAtom is_zero = op2(f, OP_EQUAL, TYPE_BOOL, n, core_int(0));
    CoreBuilder inside = begin_block(f);
    CoreBlock *done = end_block(f, inside, NULL, 0, sum);
    inside = begin_block(f);
    CoreAtom less = op2(f, OP_SUBTRACT, TYPE_INT, n, core_int(1));
    CoreAtom more = op2(f, OP_ADD, TYPE_INT, sum, is_tail ? n : core_int(0));
    CoreAtom result = call(f, id, less, more, TYPE_INT);
    if (!is_tail)
        result = op2(f, OP_ADD, TYPE_INT, result, core_int(1));
    CoreBlock *again = end_block(f, inside, NULL, 0, result);
    CoreStatement *choice = emit(f, CORE_IF, TYPE_INT, is_zero, none, none);
    choice->blocks[0] = done;
    choice->blocks[1] = again;
    CoreAtom chosen = core_target(&f->builder, choice);
    define(f, id, end_block(f, saved, (CoreVar[]){n.variable, sum.variable}, 2, chosen));
    return id;
}

static void test_recursion(Fixture *f)
{
    CoreFunctionId loop = countdown(f, true), deep = countdown(f, false);
    char expected[40];
    snprintf(expected, sizeof expected, "%lld", (long long)ITERATIONS * (ITERATIONS + 1) / 2);
    size_t before = f->memory.live_bytes;
    EXPECT(f, call(f, loop, core_int(ITERATIONS), core_int(0), TYPE_INT), expected);
    CHECK(f->memory.peak_bytes < before + 200000);
    EXPECT(f, call(f, deep, core_int(DEPTH), core_int(0), TYPE_INT), "1000000");
    CHECK(f->memory.peak_bytes < before + (size_t)DEPTH * 500);

    ref_free(f->interpreter);
    open_interpreter(f, 100);
    EXPECT(f, call(f, deep, core_int(100), core_int(0), TYPE_INT), "100");
    CoreAtom nested = call(f, deep, core_int(102), core_int(0), TYPE_INT);
    EXPECT(f, op2(f, OP_ADD, TYPE_INT, nested, core_int(1)), "too-deep: more than 100 calls are nested in each other");
    EXPECT(f, call(f, loop, core_int(1000), core_int(0), TYPE_INT), "500500");
}

/* Tail calls must let go of what the caller held and keep what they pass on. */
static void test_tail_objects(Fixture *f)
{
    CoreFunctionId id = new_function(f, "grow");
    CoreAtom n = parameter(f, TYPE_INT), text = parameter(f, f->chars);
    CoreBuilder saved = begin_block(f);
    CoreAtom longer = op2(f, OP_APPEND, f->chars, text, text_of(f, "x"));
    CoreAtom is_zero = op2(f, OP_EQUAL, TYPE_BOOL, n, core_int(0));
    CoreBuilder inside = begin_block(f);
    CoreBlock *done = end_block(f, inside, NULL, 0, text);
    inside = begin_block(f);
    CoreAtom less = op2(f, OP_SUBTRACT, TYPE_INT, n, core_int(1));
    CoreBlock *again = end_block(f, inside, NULL, 0, call(f, id, less, longer, f->chars));
    CoreStatement *choice = emit(f, CORE_IF, f->chars, is_zero, none, none);
    choice->blocks[0] = done;
    choice->blocks[1] = again;
    define(f, id, end_block(f, saved, (CoreVar[]){n.variable, text.variable}, 2, core_target(&f->builder, choice)));
    EXPECT(f, call(f, id, core_int(4), text_of(f, "-"), f->chars), "\"-xxxx\"");

    Value arguments[2], result;
    arguments[0].scalar.integer = 2;
    arguments[1].object = value_container(ref_heap(f->interpreter), &f->types, f->chars, 0);
    CHECK(ref_call(f->interpreter, id, arguments, 2, f->span, &result));
    CHECK(result.object->count == 2);
    value_release(ref_heap(f->interpreter), &f->types, f->chars, result);
}

static void test_interrupt(Fixture *f)
{
    CoreFunctionId loop = countdown(f, true);
    stop_set(&f->stop, STOP_INTERRUPTED);
    EXPECT(f, call(f, loop, core_int(INT64_MAX), core_int(0), TYPE_INT), "interrupted: interrupted");
    stop_clear(&f->stop);
}

static void test_globals(Fixture *f)
{
    CoreVar global = core_variable(&f->program, f->ints, names_of(&f->names, "numbers"));
    f->program.variables.items[global].is_global = true;
    EXPECT(f, op1(f, OP_SUM, TYPE_INT, core_atom(&f->program, global)),
           "bad-argument: numbers has no value, for its definition failed");
    CoreItem item = finish_item(f, ITEMS(f, f->ints, 1, 2, 3));
    item.kind = CORE_ITEM_BINDING;
    item.global = global;
    Value value;
    CHECK(ref_run_item(f->interpreter, 0, &item, &value));
    value_release(ref_heap(f->interpreter), &f->types, f->ints, value);
    EXPECT(f, op2(f, OP_ELEMENT, TYPE_INT, core_atom(&f->program, global), core_int(3)),
           "index-range: index 3 is outside a vector of length 3");
    EXPECT(f, op1(f, OP_SUM, TYPE_INT, core_atom(&f->program, global)), "6");
    EXPECT(f, core_atom(&f->program, global), "[1, 2, 3]");
    ref_free(f->interpreter); /* the global still lives on its heap */
    open_interpreter(f, 100);
}

/* ---- running out of memory ---- */

/* Whether the program ran although its nth allocation was to fail. */
static bool run_with_failure(Fixture *f, const CoreItem *item, TypeId type, uint64_t nth)
{
    jmp_buf recovery;
    Value value;
    f->memory.on_failure = &recovery;
    if (setjmp(recovery) != 0) {
        f->memory.fail_after = 0;
        return false;
    }
    f->memory.fail_after = nth;
    CHECK(ref_run_item(f->interpreter, 0, item, &value));
    f->memory.fail_after = 0;
    value_release(ref_heap(f->interpreter), &f->types, type, value);
    return true;
}

static void test_no_memory(Fixture *f)
{
    CoreFunctionId append = operator_function(f, OP_APPEND, f->ints);
    CoreAtom squares = squares_above_one(f, op1(f, OP_IOTA, f->int_stream, core_int(5)));
    CoreAtom order = op1(f, OP_GRADE_DOWN, f->ints, op1(f, OP_TAB, f->ints, squares));
    CoreAtom parts = op2(f, OP_PARTITION, type_vector(&f->types, f->ints), order, ITEMS(f, f->ints, 1, 2));
    CoreAtom joined = with_operator(f, OP_REDUCE, append, f->ints, order, parts);
    CoreAtom result = op1(f, OP_STRING, f->chars, joined);
    CoreItem item = finish_item(f, result);
    uint64_t nth = 1;
    for (; !run_with_failure(f, &item, result.type, nth); nth++) {
        ref_free(f->interpreter);
        open_interpreter(f, 100);
    }
    CHECK(nth > 10);
    /* and the same interpreter goes on after a failure */
    CHECK(!run_with_failure(f, &item, result.type, nth / 2));
    CHECK(run_with_failure(f, &item, result.type, 0));
    ref_free(f->interpreter); /* what the failed run held outside its frames goes now */
    open_interpreter(f, 100);
    f->memory.on_failure = NULL;
}

int main(void)
{
    static void (*const tests[])(Fixture *) = {
        test_integers, test_shifts_and_powers, test_floats,      test_conversions,    test_ranges,    test_cutting,
        test_moving,   test_reductions,        test_any_type,    test_lines,          test_operators, test_order,
        test_groups,   test_comprehensions,    test_nesl_wording, test_random,        test_recursion, test_tail_objects,
        test_globals,  test_interrupt,         test_no_memory,
    };
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        Fixture fixture;
        set_up(&fixture);
        tests[i](&fixture);
        tear_down(&fixture);
        }
    return failures == 0 ? 0 : 1;
}
