/* The format of object files: a value as a list of flat vectors, as NESL's back end keeps it.
 *
 * A value is written as a list of one value, and a list of values of a type
 *   of scalars      is one line  ( v1 v2 ... ), bools as T and F; of chars it is a line with their number and then the bytes,
 *                   followed by the end of a line;
 *   of tuples       is the list of the first components, then that of the rest;
 *   of containers   is one line  [ n1 n2 ... ]  of their lengths, then the list of all their elements;
 *   of ()           is nothing.
 * Reading takes any blanks for one. The lists are vectors on the heap, which finds them when an allocation fails. */
#include "ref/ref_private.h"

#include <inttypes.h>
#include <string.h>

static TypeId list_type(Interpreter *machine, TypeId type)
{
    return type_vector(machine->types, type);
}

static Object *new_list(Interpreter *machine, TypeId type, size_t capacity)
{
    return value_container(&machine->heap, machine->types, list_type(machine, type), capacity);
}

static void free_list(Interpreter *machine, TypeId type, Object *list)
{
    if (list != NULL)
        value_release(&machine->heap, machine->types, list_type(machine, type), (Value){.object = list});
}

/* ---- writing ---- */

static void add_list(Interpreter *machine, TypeId type, const Object *list, Text *out);

static void add_scalar(ScalarType type, Scalar value, Text *out)
{
    switch (scalar_kind(type)) {
    case KIND_FLOATING:
        if (type == SCALAR_F32)
            value_print_f32(value.f32, out);
        else
            value_print_f64(value.f64, out);
        break;
    case KIND_TRUTH:
        text_add_char(out, value.integer != 0 ? 'T' : 'F');
        break;
    case KIND_UNSIGNED:
        text_addf(out, "%" PRIu64, value.bits);
        break;
    case KIND_SIGNED:
    case KIND_CHARACTER:
        text_addf(out, "%" PRId64, value.integer);
        break;
    }
}

static void add_scalars(ScalarType type, const Object *list, Text *out)
{
    text_add(out, "( ");
    for (size_t i = 0; i < list->count; i++) {
        add_scalar(type, list->items[i].scalar, out);
        text_add_char(out, ' ');
    }
    text_add(out, ")\n");
}

static void add_chars(const Object *list, Text *out)
{
    text_addf(out, "%zu\n", list->count);
    for (size_t i = 0; i < list->count; i++)
        text_add_char(out, (char)list->items[i].scalar.integer);
    text_add_char(out, '\n');
}

static void add_components(Interpreter *machine, TypeId type, const Object *list, size_t component, Text *out)
{
    Object *components = new_list(machine, type, list->count);
    for (size_t i = 0; i < list->count; i++)
        components->items[components->count++] =
            value_share(machine->types, type, list->items[i].object->items[component]);
    add_list(machine, type, components, out);
    free_list(machine, type, components);
}

static void add_containers(Interpreter *machine, TypeId element, const Object *list, Text *out)
{
    size_t total = 0;
    text_add(out, "[ ");
    for (size_t i = 0; i < list->count; i++) {
        text_addf(out, "%zu ", list->items[i].object->count);
        total += list->items[i].object->count;
    }
    text_add(out, "]\n");
    Object *elements = new_list(machine, element, total);
    for (size_t i = 0; i < list->count; i++) {
        const Object *inner = list->items[i].object;
        for (size_t j = 0; j < inner->count; j++)
            elements->items[elements->count++] = value_share(machine->types, element, inner->items[j]);
    }
    add_list(machine, element, elements, out);
    free_list(machine, element, elements);
}

static void add_list(Interpreter *machine, TypeId type, const Object *list, Text *out)
{
    Types *types = machine->types;
    type = type_underlying(types, type);
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        if (type == TYPE_CHAR)
            add_chars(list, out);
        else
            add_scalars(type_scalar(types, type), list, out);
        break;
    case TYPE_PAIR:
        add_components(machine, type_first(types, type), list, 0, out);
        add_components(machine, type_rest(types, type), list, 1, out);
        break;
    case TYPE_CONTAINER:
        add_containers(machine, type_element(types, type), list, out);
        break;
    case TYPE_UNIT:
        break;
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_DATA:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        bug("ref_object", "a type that has no values");
    }
}

/* A list of one, sharing the value. */
static Object *list_of(Interpreter *machine, TypeId type, Value value)
{
    Object *list = new_list(machine, type, 1);
    list->items[list->count++] = value_share(machine->types, type, value);
    return list;
}

bool ref_op_write_value(OpCall *call)
{
    Interpreter *machine = call->machine;
    TypeId type = ref_argument_type(call, 0);
    Object *list = list_of(machine, type, call->arguments[0]);
    text_clear(&machine->text);
    add_list(machine, type, list, &machine->text);
    free_list(machine, type, list);
    const char *reason = ref_stream_write(machine, call->arguments[1].scalar.integer, &machine->text);
    call->result.object = ref_chars(machine, reason, reason == NULL ? 0 : strlen(reason));
    return true;
}

/* ---- reading ---- */

typedef struct ObjectReader {
    Interpreter *machine;
    FILE *file;
    const char *reason; /* why it failed, or null */
} ObjectReader;

static Object *read_list(ObjectReader *reader, TypeId type, size_t count);

static bool fail(ObjectReader *reader, const char *reason)
{
    if (reader->reason == NULL)
        reader->reason = reason;
    return false;
}

static bool is_blank(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The next word, in machine->contents: a bracket alone, or everything up to a blank or a bracket. */
static bool read_word(ObjectReader *reader)
{
    Text *word = &reader->machine->contents;
    text_clear(word);
    int byte = getc(reader->file);
    while (is_blank(byte))
        byte = getc(reader->file);
    for (; byte != EOF && !is_blank(byte); byte = getc(reader->file)) {
        bool is_bracket = memchr("()[]", byte, 4) != NULL;
        if (is_bracket && word->length > 0)
            break;
        text_add_char(word, (char)byte);
        if (is_bracket)
            return true;
    }
    if (byte != EOF)
        ungetc(byte, reader->file);
    return word->length > 0 || fail(reader, "the file ends inside an object");
}

static bool is_word(const ObjectReader *reader, const char *text)
{
    return strcmp(text_string(&reader->machine->contents), text) == 0;
}

static bool expect_word(ObjectReader *reader, const char *text)
{
    return read_word(reader) && (is_word(reader, text) || fail(reader, "the object is not of the type expected"));
}

static bool parse_word(ObjectReader *reader, ScalarType type, Scalar *value)
{
    const Text *word = &reader->machine->contents;
    if (type == SCALAR_BOOL) {
        value->integer = is_word(reader, "T");
        return value->integer || is_word(reader, "F") || fail(reader, "neither T nor F");
    }
    return value_read_number(reader->machine->memory, type, text_string(word), word->length, value) ||
           fail(reader, "not a number of the type expected");
}

/* Numbers between brackets. Null after a failure. */
static Object *read_scalars(ObjectReader *reader, const char *brackets[2], ScalarType type)
{
    Interpreter *machine = reader->machine;
    TypeId element = TYPE_OF_SCALAR(type);
    Object *list = new_list(machine, element, 0);
    bool is_right = expect_word(reader, brackets[0]);
    while (is_right && (is_right = read_word(reader)) && !is_word(reader, brackets[1])) {
        Value value = {0};
        is_right = parse_word(reader, type, &value.scalar);
        if (is_right)
            list = value_append(&machine->heap, list, value);
    }
    if (is_right)
        return list;
    free_list(machine, element, list);
    return NULL;
}

static Object *read_chars(ObjectReader *reader, size_t count)
{
    Interpreter *machine = reader->machine;
    Scalar length = {0};
    bool is_right = read_word(reader) && parse_word(reader, SCALAR_I64, &length);
    if (is_right)
        is_right = getc(reader->file) == '\n' || fail(reader, "no line end after the number of characters");
    if (is_right && length.bits != count)
        is_right = fail(reader, "the lengths do not agree");
    Object *list = new_list(machine, TYPE_CHAR, 0);
    for (size_t i = 0; i < count && is_right; i++) {
        int byte = getc(reader->file);
        is_right = byte != EOF || fail(reader, "the file ends inside an object");
        if (is_right)
            list = value_append(&machine->heap, list, (Value){.scalar.integer = byte});
    }
    if (is_right)
        return list;
    free_list(machine, TYPE_CHAR, list);
    return NULL;
}

static Object *read_data(ObjectReader *reader, ScalarType type, size_t count)
{
    static const char *parentheses[2] = {"(", ")"};
    if (type == SCALAR_CHAR)
        return read_chars(reader, count);
    Object *list = read_scalars(reader, parentheses, type);
    if (list == NULL || list->count == count)
        return list;
    fail(reader, "the lengths do not agree");
    free_list(reader->machine, TYPE_OF_SCALAR(type), list);
    return NULL;
}

static Object *read_pairs(ObjectReader *reader, TypeId type, size_t count)
{
    Interpreter *machine = reader->machine;
    TypeId first = type_first(machine->types, type), rest = type_rest(machine->types, type);
    Object *firsts = read_list(reader, first, count);
    Object *rests = firsts == NULL ? NULL : read_list(reader, rest, count);
    Object *pairs = rests == NULL ? NULL : new_list(machine, type, count);
    for (size_t i = 0; pairs != NULL && i < count; i++) {
        pairs->items[pairs->count++] =
            value_pair(&machine->heap, machine->types, type, firsts->items[i], rests->items[i]);
        value_share(machine->types, first, firsts->items[i]);
        value_share(machine->types, rest, rests->items[i]);
    }
    free_list(machine, first, firsts);
    free_list(machine, rest, rests);
    return pairs;
}

static bool add_lengths(ObjectReader *reader, const Object *lengths, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < lengths->count; i++) {
        uint64_t length = lengths->items[i].scalar.bits; /* a negative one is too large */
        if (length > INT64_MAX - *total)
            return fail(reader, "a length is out of range");
        *total += length;
    }
    return true;
}

/* Cuts a list of elements into containers. */
static Object *cut(Interpreter *machine, TypeId type, const Object *lengths, const Object *elements)
{
    TypeId element = type_element(machine->types, type);
    Object *list = new_list(machine, type, lengths->count);
    size_t next = 0;
    for (size_t i = 0; i < lengths->count; i++) {
        size_t length = lengths->items[i].scalar.bits;
        Object *inner = value_container(&machine->heap, machine->types, type, length);
        for (size_t j = 0; j < length; j++)
            inner->items[inner->count++] = value_share(machine->types, element, elements->items[next++]);
        list->items[list->count++].object = inner;
    }
    return list;
}

static Object *read_containers(ObjectReader *reader, TypeId type, size_t count)
{
    static const char *brackets[2] = {"[", "]"};
    Interpreter *machine = reader->machine;
    TypeId element = type_element(machine->types, type);
    Object *lengths = read_scalars(reader, brackets, SCALAR_I64);
    if (lengths == NULL)
        return NULL;
    Object *elements = NULL;
    size_t total;
    if (lengths->count != count)
        fail(reader, "the lengths do not agree");
    else if (add_lengths(reader, lengths, &total))
        elements = read_list(reader, element, total);
    Object *list = elements == NULL ? NULL : cut(machine, type, lengths, elements);
    free_list(machine, TYPE_INT, lengths);
    free_list(machine, element, elements);
    return list;
}

static Object *read_units(Interpreter *machine, TypeId type, size_t count)
{
    Object *list = new_list(machine, type, count);
    list->count = count; /* of zeros */
    return list;
}

/* `count` values of a type as a vector, or null after a failure. */
static Object *read_list(ObjectReader *reader, TypeId type, size_t count)
{
    Types *types = reader->machine->types;
    type = type_underlying(types, type);
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        return read_data(reader, type_scalar(types, type), count);
    case TYPE_PAIR:
        return read_pairs(reader, type, count);
    case TYPE_CONTAINER:
        return read_containers(reader, type, count);
    case TYPE_UNIT:
        return read_units(reader->machine, type, count);
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_DATA:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    bug("ref_object", "a type that has no values");
}

bool ref_op_read_value(OpCall *call)
{
    Interpreter *machine = call->machine;
    TypeId type = ref_argument_type(call, 0);
    ObjectReader reader = {.machine = machine, .file = ref_stream(machine, call->arguments[1].scalar.integer)};
    Object *list = NULL;
    if (reader.file != NULL)
        list = read_list(&reader, type, 1);
    else
        fail(&reader, "the stream is not open");
    Value value = list == NULL ? value_identity(&machine->heap, machine->types, type) : value_share(machine->types, type, list->items[0]);
    free_list(machine, type, list);
    size_t length = reader.reason == NULL ? 0 : strlen(reader.reason);
    Value reason = {.object = ref_chars(machine, reader.reason, length)};
    call->result = value_pair(&machine->heap, machine->types, ref_result_type(call), value, reason);
    text_free(&machine->contents);
    return true;
}
