/* Operations of sequential versions that move elements, cut vectors into parts, or compare them. */
#include "kernel/function_vectors.h"

#include "kernel/op_text.h"
#include "math/scalar.h"

/* ---- reading elements of vectors that are there ---- */

typedef struct Reader {
    const Layout *elements;
    const char **cells, **strides;
    const char *start, *length;
} Reader;

static Reader reader_of(Writer *writer, const char **vector, const Layout *elements)
{
    Reader reader = {.elements = elements, .start = vector[VECTOR_START], .length = vector[VECTOR_LENGTH]};
    reader.cells = ARENA_ARRAY(writer->arena, const char *, elements->count);
    reader.strides = ARENA_ARRAY(writer->arena, const char *, elements->count);
    for (uint32_t i = 0; i < elements->count; i++)
        reader.cells[i] = vectors_cells(writer, vector[VECTOR_ARRAY], i, elements->leaves[i].type, &reader.strides[i]);
    return reader;
}

static Reader read_argument(Writer *writer, const CoreStatement *statement, uint32_t argument)
{
    const CoreAtom *atom = &statement->arguments[argument];
    return reader_of(writer, vectors_make(writer, atom), write_layout(writer, write_element_type(writer, atom->type)));
}

static const char **read_element(Writer *writer, const Reader *reader, const char *index)
{
    const char **words = ARENA_ARRAY(writer->arena, const char *, reader->elements->count);
    for (uint32_t i = 0; i < reader->elements->count; i++) {
        words[i] = write_word(writer, 0);
        const char *type = write_leaf_type(reader->elements->leaves[i].type);
        if (reader->strides[i] == NULL)
            write_line(writer, "const %s %s = %s[%s + %s];", type, words[i], reader->cells[i], reader->start, index);
        else
            write_line(writer, "const %s %s = %s[(%s + %s) * %s];", type, words[i], reader->cells[i], reader->start, index, reader->strides[i]);
    }
    return words;
}

static const char *open_loop(Writer *writer, const char *count)
{
    const char *index = write_word(writer, 0);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s; %s++)", index, index, count, index));
    return index;
}

/* ---- elements replaced ---- */

/* A vector that is being changed. */
typedef struct Target {
    Sink sink;
    const Layout *elements;
    const char **cells;
    const char *array, *start, *length;
    const CoreStatement *statement; /* whose operator combines; null if elements are replaced */
} Target;

static void copy_cells(Writer *writer, const Target *target, const char **vector)
{
    for (uint32_t i = 0; i < target->elements->count; i++)
        write_line(writer, "kernel_copy(%s->columns[%u].data, %s, %u, sizeof(%s), %s, %s);", target->array, i, vector[VECTOR_ARRAY], i,
                   write_leaf_type(target->elements->leaves[i].type), vector[VECTOR_START], target->length);
}

static Target target_of(Writer *writer, const CoreAtom *atom, const char *length)
{
    Target target = {.elements = write_layout(writer, write_element_type(writer, atom->type)), .length = length, .start = "0"};
    target.cells = ARENA_ARRAY(writer->arena, const char *, target.elements->count);
    target.sink.is_straight = true;
    return target;
}

/* A copy of a vector, or the vector itself if nobody else has it. */
static Target copy_of(Writer *writer, const CoreStatement *statement, uint32_t argument)
{
    const CoreAtom *atom = &statement->arguments[argument];
    const char **vector = vectors_make(writer, atom), *owned = turns_ownership(writer, statement, argument);
    const char *region = vectors_region(writer, statement->target);
    Target target = target_of(writer, atom, vector[VECTOR_LENGTH]);
    if (owned == NULL) {
        target.array = vectors_new_array(writer, region, target.elements, target.length, target.cells);
        copy_cells(writer, &target, vector);
        return target;
    }
    const char *start = write_word(writer, 0);
    target.array = write_word(writer, 0);
    write_line(writer, "KernelArray *%s = (KernelArray *)%s;", target.array, vector[VECTOR_ARRAY]);
    write_line(writer, "int64_t %s = %s;", start, vector[VECTOR_START]);
    write_open_brace(writer, arena_format(writer->arena, "if (!%s)", owned));
    write_line(writer, "%s = kernel_array(%s, %s, %s);", target.array, region, target.length, vectors_sizes(writer, target.elements));
    vectors_fail_if(writer, "%s == NULL", target.array);
    write_line(writer, "%s = 0;", start);
    copy_cells(writer, &target, vector);
    write_close_brace(writer);
    target.start = start;
    *vec_push(writer->arena, &writer->made) = (MadeArray){.array = target.array, .region = region};
    for (uint32_t i = 0; i < target.elements->count; i++) {
        target.cells[i] = write_word(writer, 0);
        write_line(writer, "%s *const %s = %s->columns[%u].data;", write_leaf_type(target.elements->leaves[i].type), target.cells[i], target.array, i);
    }
    return target;
}

/* The same where threads may change it together. */
static Target shared_copy_of(Writer *writer, const CoreStatement *statement, uint32_t argument)
{
    const CoreAtom *atom = &statement->arguments[argument];
    const char **vector = vectors_make(writer, atom), *region = vectors_region(writer, statement->target);
    bool is_here = turns_ownership(writer, statement, argument) != NULL && write_is_shared(writer, vector[VECTOR_ARRAY]);
    if (!writer->may_share || is_here)
        return copy_of(writer, statement, argument);
    Target target = target_of(writer, atom, vector[VECTOR_LENGTH]);
    target.array = vectors_shared_array(writer, region, target.elements, target.length, vector, target.cells);
    return target;
}

static void finish(Writer *writer, const CoreStatement *statement, const Target *target)
{
    writer->texts->values[statement->target] = vectors_words(writer, target->array, target->start, target->length);
}

static const char *checked_place(Writer *writer, const Target *target, const char *index)
{
    const char *place = write_word(writer, 0);
    write_line(writer, "const int64_t %s = kernel_index(%s, %s, %s, &failed);", place, index, target->start, target->length);
    write_check(writer);
    return place;
}

static void put_at(Writer *writer, const Target *target, const char *index, const char **words)
{
    const char *place = checked_place(writer, target, index);
    if (target->statement != NULL) {
        const char **old = ARENA_ARRAY(writer->arena, const char *, target->elements->count);
        for (uint32_t i = 0; i < target->elements->count; i++) {
            old[i] = write_word(writer, 0);
            write_line(writer, "const %s %s = %s[%s];", write_leaf_type(target->elements->leaves[i].type), old[i], target->cells[i], place);
        }
        words = reduce_apply(writer, target->statement, old, words);
    }
    for (uint32_t i = 0; i < target->elements->count; i++)
        write_line(writer, "%s[%s] = %s;", target->cells[i], place, vectors_canonical(writer, target->elements->leaves[i].type, words[i]));
}

static void take_pair(Writer *writer, Sink *sink, Element element)
{
    const Target *target = (const Target *)(const void *)sink;
    put_at(writer, target, element.words[0], element.words + 1);
}

static void write_replace(Writer *writer, const CoreStatement *statement)
{
    const char **value = write_atom(writer, &statement->arguments[1]), *index = write_atom(writer, &statement->arguments[2])[0];
    Target target = copy_of(writer, statement, 0);
    put_at(writer, &target, index, value);
    finish(writer, statement, &target);
}

static void write_pairs(Writer *writer, const CoreStatement *statement)
{
    bool combines = statement->op == OP_PUT_WITH, had_unshared = writer->has_unshared;
    Traversal *pairs = sequence_prepare(writer, &statement->arguments[1]);
    Sink sink = {.take = take_pair, .is_straight = !combines || reduce_is_straight(writer, statement), .applied = combines ? reduce_operator(writer, statement) : NULL};
    Grouping *grouping = combines ? groups_find(writer, pairs, statement, &sink) : NULL;
    Target target = grouping == NULL ? copy_of(writer, statement, 0) : shared_copy_of(writer, statement, 0);
    target.statement = combines ? statement : NULL;
    target.sink = sink;
    if (grouping != NULL)
        groups_write(writer, grouping, target.elements, target.cells, target.start, target.length);
    sequence_traverse(writer, pairs, &target.sink);
    if (grouping != NULL) {
        write_close_brace(writer);
        writer->has_unshared = had_unshared;
    }
    finish(writer, statement, &target);
}

static void write_put(Writer *writer, const CoreStatement *statement)
{
    Reader values = read_argument(writer, statement, 0), indices = read_argument(writer, statement, 1);
    vectors_fail_if(writer, "%s != %s", values.length, indices.length);
    Target target = copy_of(writer, statement, 2);
    const char *index = open_loop(writer, values.length);
    put_at(writer, &target, read_element(writer, &indices, index)[0], read_element(writer, &values, index));
    write_close_brace(writer);
    finish(writer, statement, &target);
}

static void write_permute(Writer *writer, const CoreStatement *statement)
{
    Reader values = read_argument(writer, statement, 0), indices = read_argument(writer, statement, 1);
    Target target = {.elements = values.elements, .length = values.length, .start = "0"};
    target.cells = ARENA_ARRAY(writer->arena, const char *, values.elements->count);
    vectors_fail_if(writer, "%s != %s", values.length, indices.length);
    const char *seen = write_word(writer, 0);
    target.array = vectors_new_array(writer, vectors_region(writer, statement->target), target.elements, target.length, target.cells);
    write_line(writer, "uint8_t *const %s = kernel_take(%s, (size_t)%s + 1);", seen, writer->aside, values.length);
    vectors_fail_if(writer, "%s == NULL", seen);
    write_line(writer, "__builtin_memset(%s, 0, (size_t)%s + 1);", seen, values.length);
    const char *index = open_loop(writer, values.length), *wanted = read_element(writer, &indices, index)[0];
    const char **words = read_element(writer, &values, index), *place = checked_place(writer, &target, wanted);
    write_line(writer, "failed |= %s[%s];", seen, place);
    write_check(writer);
    write_line(writer, "%s[%s] = 1;", seen, place);
    for (uint32_t i = 0; i < target.elements->count; i++)
        write_line(writer, "%s[%s] = %s;", target.cells[i], place, words[i]);
    write_close_brace(writer);
    finish(writer, statement, &target);
}

/* ---- joined ---- */

static void write_concat(Writer *writer, const CoreStatement *statement)
{
    const char **rows = vectors_make(writer, &statement->arguments[0]), *array = write_word(writer, 0), *length = write_word(writer, 0);
    const Layout *elements = write_layout(writer, write_element_type(writer, write_type(writer, statement->target)));
    write_line(writer, "int64_t %s = 0;", length);
    write_line(writer, "KernelArray *const %s = kernel_concat(%s, %s, %s, %s, %s, &%s);", array, vectors_region(writer, statement->target), rows[VECTOR_ARRAY],
               rows[VECTOR_START], rows[VECTOR_LENGTH], vectors_sizes(writer, elements), length);
    vectors_give(writer, statement, array, length);
}

static void write_interleave(Writer *writer, const CoreStatement *statement)
{
    Reader a = read_argument(writer, statement, 0), b = read_argument(writer, statement, 1);
    const char **cells = ARENA_ARRAY(writer->arena, const char *, a.elements->count), *length = write_word(writer, 0);
    vectors_fail_if(writer, "%s > %s + 1 || %s > %s + 1", a.length, b.length, b.length, a.length);
    write_line(writer, "const int64_t %s = %s + %s;", length, a.length, b.length);
    const char *array = vectors_new_array(writer, vectors_region(writer, statement->target), a.elements, length, cells);
    for (uint32_t side = 0; side < 2; side++) {
        const Reader *reader = side == 0 ? &a : &b;
        const char *index = open_loop(writer, reader->length), **words = read_element(writer, reader, index);
        for (uint32_t i = 0; i < a.elements->count; i++)
            if (side == 0)
                write_line(writer, "%s[2 * %s] = %s;", cells[i], index, words[i]);
            else
                write_line(writer, "%s[2 * %s + (%s < %s)] = %s;", cells[i], index, index, a.length, words[i]);
        write_close_brace(writer);
    }
    writer->texts->values[statement->target] = vectors_words(writer, array, "0", length);
}

static void write_flag_merge(Writer *writer, const CoreStatement *statement)
{
    Reader flags = read_argument(writer, statement, 0), readers[2] = {read_argument(writer, statement, 1), read_argument(writer, statement, 2)};
    const Layout *elements = readers[0].elements;
    const char **cells = ARENA_ARRAY(writer->arena, const char *, elements->count), *count = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", count);
    const char *index = open_loop(writer, flags.length);
    write_line(writer, "%s += %s;", count, read_element(writer, &flags, index)[0]);
    write_close_brace(writer);
    vectors_fail_if(writer, "%s != %s || %s - %s != %s", count, readers[1].length, flags.length, count, readers[0].length);
    const char *array = vectors_new_array(writer, vectors_region(writer, statement->target), elements, flags.length, cells);
    const char *next[2] = {write_word(writer, 0), write_word(writer, 0)};
    write_line(writer, "int64_t %s = 0, %s = 0;", next[0], next[1]);
    index = open_loop(writer, flags.length);
    const char *flag = read_element(writer, &flags, index)[0];
    for (uint32_t side = 0; side < 2; side++) {
        write_open_brace(writer, arena_format(writer->arena, "if (%s%s)", side == 0 ? "!" : "", flag));
        const char **words = read_element(writer, &readers[side], next[side]);
        write_line(writer, "%s++;", next[side]);
        for (uint32_t i = 0; i < elements->count; i++)
            write_line(writer, "%s[%s] = %s;", cells[i], index, words[i]);
        write_close_brace(writer);
    }
    write_close_brace(writer);
    writer->texts->values[statement->target] = vectors_words(writer, array, "0", flags.length);
}

/* ---- parts ---- */

/* A function of the preamble makes the vector of parts, or of columns. */
static void write_parts(Writer *writer, const CoreStatement *statement, const char *function)
{
    const char **vector = vectors_make(writer, &statement->arguments[0]), *array = write_word(writer, 0), *length = write_word(writer, 0);
    const char **by = vectors_make(writer, &statement->arguments[1]);
    write_line(writer, "int64_t %s = 0;", length);
    write_line(writer, "KernelArray *const %s = %s(%s, %s, %s, %s, %s, %s, %s, &%s);", array, function, vectors_region(writer, statement->target),
               vector[VECTOR_ARRAY], vector[VECTOR_START], vector[VECTOR_LENGTH], by[VECTOR_ARRAY], by[VECTOR_START], by[VECTOR_LENGTH], length);
    vectors_give(writer, statement, array, length);
}

static void write_words(Writer *writer, const CoreStatement *statement)
{
    const char **text = vectors_make(writer, &statement->arguments[0]), *array = write_word(writer, 0), *length = write_word(writer, 0);
    write_line(writer, "int64_t %s = 0;", length);
    write_line(writer, "KernelArray *const %s = kernel_words(%s, %s, %s, %s, &%s);", array, vectors_region(writer, statement->target),
               text[VECTOR_ARRAY], text[VECTOR_START], text[VECTOR_LENGTH], length);
    vectors_give(writer, statement, array, length);
}

static void write_transpose(Writer *writer, const CoreStatement *statement)
{
    const char **rows = vectors_make(writer, &statement->arguments[0]), *array = write_word(writer, 0), *length = write_word(writer, 0);
    TypeId row = write_element_type(writer, write_type(writer, statement->target));
    const Layout *elements = write_layout(writer, write_element_type(writer, row));
    write_line(writer, "int64_t %s = 0;", length);
    write_line(writer, "KernelArray *const %s = kernel_transpose(%s, %s, %s, %s, %s, &%s);", array, vectors_region(writer, statement->target), rows[VECTOR_ARRAY],
               rows[VECTOR_START], rows[VECTOR_LENGTH], vectors_sizes(writer, elements), length);
    vectors_give(writer, statement, array, length);
}

static void write_width(Writer *writer, const CoreStatement *statement)
{
    const char **rows = vectors_make(writer, &statement->arguments[0]);
    const char *target = write_new_words(writer, statement->target)[0];
    writer->has_flag = true;
    write_line(writer, "const int64_t %s = kernel_width(%s, %s, %s, &failed);", target, rows[VECTOR_ARRAY], rows[VECTOR_START], rows[VECTOR_LENGTH]);
    write_check(writer);
}

/* ---- comparison ---- */

static void write_order(Writer *writer, const Layout *layout, const char **a, const char **b, const char *order, const char *leaf_order);

/* Two vectors: the first elements that differ decide, then the lengths. */
static void write_vector_order(Writer *writer, const Layout *elements, const char **a, const char **b, const char *order, const char *leaf_order)
{
    write_open_brace(writer, arena_format(writer->arena, "if (%s == KERNEL_EQUAL)", order));
    Reader left = reader_of(writer, a, elements), right = reader_of(writer, b, elements);
    const char *index = write_word(writer, 0);
    write_open_brace(writer, arena_format(writer->arena, "for (int64_t %s = 0; %s < %s && %s < %s && %s == KERNEL_EQUAL; %s++)", index, index, left.length,
                                          index, right.length, order, index));
    write_order(writer, elements, read_element(writer, &left, index), read_element(writer, &right, index), order, leaf_order);
    write_close_brace(writer);
    write_line(writer, "if (%s == KERNEL_EQUAL)", order);
    write_line(writer, "    %s = kernel_order(%s, %s);", order, left.length, right.length);
    write_close_brace(writer);
}

static void write_order(Writer *writer, const Layout *layout, const char **a, const char **b, const char *order, const char *leaf_order)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        if (layout->leaves[i].type == LEAF_ARRAY) {
            write_vector_order(writer, layout->leaves[i].elements, a + i, b + i, order, leaf_order);
            i += VECTOR_LEAVES - 1;
            continue;
        }
        write_line(writer, "if (%s == KERNEL_EQUAL)", order);
        write_line(writer, "    %s = %s(%s, %s);", order, leaf_order, a[i], b[i]);
    }
}

static int accepted_orders(Op op)
{
    switch ((int)op) {
#define SCALAR_COMPARISON(OP, orders) \
    case OP_##OP: return (int)(orders);
#include "math/scalar_ops.def"
    case OP_SAME: return ORDER_EQUAL;
    default: return 0;
    }
}

static bool write_comparison(Writer *writer, const CoreStatement *statement)
{
    int accepted = accepted_orders(statement->op);
    TypeId type = statement->arguments[0].type;
    if (accepted == 0 || (type_is_scalar(writer->program->types, type) && statement->op != OP_SAME))
        return false;
    const char **a = write_atom(writer, &statement->arguments[0]), **b = write_atom(writer, &statement->arguments[1]);
    const char *order = write_word(writer, 0), *target = write_new_words(writer, statement->target)[0];
    write_line(writer, "unsigned %s = KERNEL_EQUAL;", order);
    write_order(writer, write_layout(writer, type), a, b, order, statement->op == OP_SAME ? "kernel_sameness" : "kernel_order");
    write_line(writer, "const uint8_t %s = (%s & %du) != 0;", target, order, accepted);
    return true;
}

/* ---- counts and values that are known ---- */

static void write_identity(Writer *writer, const CoreStatement *statement)
{
    const Layout *leaves = write_layout(writer, write_type(writer, statement->target));
    const char **words = ARENA_ARRAY(writer->arena, const char *, leaves->count);
    for (uint32_t i = 0; i < leaves->count; i++) {
        LeafType type = leaves->leaves[i].type;
        words[i] = type == LEAF_ARRAY ? "(KernelArrayRef)NULL" : arena_format(writer->arena, "(%s)%d", c_type((ScalarType)type), type == (LeafType)SCALAR_CHAR ? ' ' : 0);
    }
    writer->texts->values[statement->target] = words;
}

static void write_count(Writer *writer, const CoreStatement *statement)
{
    const char *a = write_atom(writer, &statement->arguments[0])[0], *b = write_atom(writer, &statement->arguments[1])[0];
    const char *target = write_new_words(writer, statement->target)[0];
    if (statement->op == OP_COMMON_LENGTH) {
        write_line(writer, "const int64_t %s = %s;", target, a);
        write_line(writer, "failed |= %s != %s;", a, b);
    } else if (statement->op == OP_SUBSEQ_LENGTH) {
        const char *end = write_atom(writer, &statement->arguments[2])[0];
        write_line(writer, "kernel_check_slice(%s, %s, %s, &failed);", b, end, a);
        write_line(writer, "const int64_t %s = op_SUBTRACT_I64(%s, %s);", target, end, b);
    } else
        write_line(writer, "const int64_t %s = kernel_cut(%s, %s, &failed);", target, b, a);
    write_note_type(writer, TYPE_INT);
    write_check(writer);
}

/* What takes no loop. */
static bool write_known(Writer *writer, const CoreStatement *statement)
{
    switch ((int)statement->op) {
    case OP_WIDTH: write_width(writer, statement); return true;
    case OP_IDENTITY:
    case OP_ELEMENT_IDENTITY: write_identity(writer, statement); return true;
    case OP_COMMON_LENGTH:
    case OP_SUBSEQ_LENGTH:
    case OP_TAKEN:
    case OP_DROPPED: write_count(writer, statement); return true;
    default: return false;
    }
}

static bool write_moves(Writer *writer, const CoreStatement *statement)
{
    switch ((int)statement->op) {
    case OP_REPLACE: write_replace(writer, statement); return true;
    case OP_WRITE:
    case OP_PUT_WITH: write_pairs(writer, statement); return true;
    case OP_PUT: write_put(writer, statement); return true;
    case OP_PERMUTE: write_permute(writer, statement); return true;
    case OP_CONCAT:
    case OP_FLATTEN: write_concat(writer, statement); return true;
    case OP_INTERLEAVE: write_interleave(writer, statement); return true;
    case OP_FLAG_MERGE: write_flag_merge(writer, statement); return true;
    case OP_PART: write_parts(writer, statement, "kernel_parts"); return true;
    case OP_FLAG_PARTITION: write_parts(writer, statement, "kernel_flag_parts"); return true;
    case OP_PARTITION: write_parts(writer, statement, "kernel_counted_parts"); return true;
    case OP_WORDS: write_words(writer, statement); return true;
    case OP_TRANSPOSE: write_transpose(writer, statement); return true;
    default: return write_comparison(writer, statement);
    }
}

bool moves_write(Writer *writer, const CoreStatement *statement)
{
    if (write_known(writer, statement))
        return true;
    uint32_t groups = writer->group_count;
    bool is_written = write_moves(writer, statement);
    writer->has_unshared |= is_written && writer->loops == 0 && writer->group_count == groups;
    return is_written;
}
