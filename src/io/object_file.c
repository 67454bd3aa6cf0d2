/* Object files. The lists are vectors on the heap, which finds them when an allocation fails. */
#include "io/object_file.h"

#include <string.h>

/* What lists are made of. */
typedef struct Lists {
    Heap *heap;
    Types *types;
} Lists;

static TypeId list_type(const Lists *lists, TypeId type)
{
    return type_vector(lists->types, type);
}

static Object *new_list(const Lists *lists, TypeId type, size_t capacity)
{
    return value_container(lists->heap, lists->types, list_type(lists, type), capacity);
}

static void free_list(const Lists *lists, TypeId type, Object *list)
{
    if (list != NULL)
        value_release(lists->heap, lists->types, list_type(lists, type), (Value){.object = list});
}

/* ---- writing ---- */

static void add_list(const Lists *lists, TypeId type, const Object *list, Text *out);

static void add_scalars(ScalarType type, const Object *list, Text *out)
{
    text_add(out, "( ");
    for (size_t i = 0; i < list->count; i++) {
        value_print_scalar(type, list->items[i].scalar, VALUE_STYLE_NESL, out);
        text_add_char(out, ' ');
    }
    text_add(out, ")\n");
}

static void add_chars(const Object *list, Text *out)
{
    text_addf(out, "%zu\n", list->count);
    value_add_chars(list, out);
    text_add_char(out, '\n');
}

static void add_components(const Lists *lists, TypeId type, const Object *list, size_t component, Text *out)
{
    Object *components = new_list(lists, type, list->count);
    for (size_t i = 0; i < list->count; i++)
        components->items[components->count++] =
            value_share(lists->types, type, list->items[i].object->items[component]);
    add_list(lists, type, components, out);
    free_list(lists, type, components);
}

static void add_containers(const Lists *lists, TypeId element, const Object *list, Text *out)
{
    size_t total = 0;
    text_add(out, "[ ");
    for (size_t i = 0; i < list->count; i++) {
        text_addf(out, "%zu ", list->items[i].object->count);
        total += list->items[i].object->count;
    }
    text_add(out, "]\n");
    Object *elements = new_list(lists, element, total);
    for (size_t i = 0; i < list->count; i++) {
        const Object *inner = list->items[i].object;
        for (size_t j = 0; j < inner->count; j++)
            elements->items[elements->count++] = value_share(lists->types, element, inner->items[j]);
    }
    add_list(lists, element, elements, out);
    free_list(lists, element, elements);
}

static void add_list(const Lists *lists, TypeId type, const Object *list, Text *out)
{
    Types *types = lists->types;
    type = type_underlying(types, type);
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        if (type == TYPE_CHAR)
            add_chars(list, out);
        else
            add_scalars(type_scalar(types, type), list, out);
        break;
    case TYPE_PAIR:
        add_components(lists, type_first(types, type), list, 0, out);
        add_components(lists, type_rest(types, type), list, 1, out);
        break;
    case TYPE_CONTAINER:
        add_containers(lists, type_element(types, type), list, out);
        break;
    case TYPE_UNIT:
        break;
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_DATA:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        bug("object_file", "a type that has no values");
    }
}

/* A list of one, sharing the value. */
static Object *list_of(const Lists *lists, TypeId type, Value value)
{
    Object *list = new_list(lists, type, 1);
    list->items[list->count++] = value_share(lists->types, type, value);
    return list;
}

const char *object_file_write(World *world, int64_t descriptor, Heap *heap, Types *types, TypeId type, Value value)
{
    Lists lists = {heap, types};
    Text *text = &world->scratch;
    Object *list = list_of(&lists, type, value);
    text_clear(text);
    add_list(&lists, type, list, text);
    free_list(&lists, type, list);
    return world_write(world, descriptor, text_string(text), text->length);
}

/* ---- reading ---- */

typedef struct ObjectReader {
    Lists lists;
    const World *world;
    FILE *file;
    Text *word;         /* the one read last */
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

/* The next word: a bracket alone, or everything up to a blank or a bracket. */
static bool read_word(ObjectReader *reader)
{
    Text *word = reader->word;
    text_clear(word);
    int byte = world_get_byte(reader->world, reader->file);
    while (is_blank(byte))
        byte = world_get_byte(reader->world, reader->file);
    for (; byte != EOF && !is_blank(byte); byte = world_get_byte(reader->world, reader->file)) {
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
    return strcmp(text_string(reader->word), text) == 0;
}

static bool expect_word(ObjectReader *reader, const char *text)
{
    return read_word(reader) && (is_word(reader, text) || fail(reader, "the object is not of the type expected"));
}

static bool parse_word(ObjectReader *reader, ScalarType type, Scalar *value)
{
    const Text *word = reader->word;
    if (type == SCALAR_BOOL) {
        value->integer = is_word(reader, "T");
        return value->integer || is_word(reader, "F") || fail(reader, "neither T nor F");
    }
    return value_read_number(reader->lists.heap->memory, type, text_string(word), word->length, value) ||
           fail(reader, "not a number of the type expected");
}

/* Numbers between brackets. Null after a failure. */
static Object *read_scalars(ObjectReader *reader, const char *brackets[2], ScalarType type)
{
    const Lists *lists = &reader->lists;
    TypeId element = TYPE_OF_SCALAR(type);
    Object *list = new_list(lists, element, 0);
    bool is_right = expect_word(reader, brackets[0]);
    while (is_right && (is_right = read_word(reader)) && !is_word(reader, brackets[1])) {
        Value value = {0};
        is_right = parse_word(reader, type, &value.scalar);
        if (is_right)
            list = value_append(lists->heap, list, value);
    }
    if (is_right)
        return list;
    free_list(lists, element, list);
    return NULL;
}

static Object *read_chars(ObjectReader *reader, size_t count)
{
    const Lists *lists = &reader->lists;
    Scalar length = {0};
    bool is_right = read_word(reader) && parse_word(reader, SCALAR_I64, &length);
    if (is_right)
        is_right = world_get_byte(reader->world, reader->file) == '\n' || fail(reader, "no line end after the number of characters");
    if (is_right && length.bits != count)
        is_right = fail(reader, "the lengths do not agree");
    Object *list = new_list(lists, TYPE_CHAR, 0);
    for (size_t i = 0; i < count && is_right; i++) {
        int byte = world_get_byte(reader->world, reader->file);
        is_right = byte != EOF || fail(reader, "the file ends inside an object");
        if (is_right)
            list = value_append(lists->heap, list, (Value){.scalar.integer = byte});
    }
    if (is_right)
        return list;
    free_list(lists, TYPE_CHAR, list);
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
    free_list(&reader->lists, TYPE_OF_SCALAR(type), list);
    return NULL;
}

static Object *read_pairs(ObjectReader *reader, TypeId type, size_t count)
{
    const Lists *lists = &reader->lists;
    TypeId first = type_first(lists->types, type), rest = type_rest(lists->types, type);
    Object *firsts = read_list(reader, first, count);
    Object *rests = firsts == NULL ? NULL : read_list(reader, rest, count);
    Object *pairs = rests == NULL ? NULL : new_list(lists, type, count);
    for (size_t i = 0; pairs != NULL && i < count; i++) {
        pairs->items[pairs->count++] =
            value_pair(lists->heap, lists->types, type, firsts->items[i], rests->items[i]);
        value_share(lists->types, first, firsts->items[i]);
        value_share(lists->types, rest, rests->items[i]);
    }
    free_list(lists, first, firsts);
    free_list(lists, rest, rests);
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
static Object *cut(const Lists *lists, TypeId type, const Object *lengths, const Object *elements)
{
    TypeId element = type_element(lists->types, type);
    Object *list = new_list(lists, type, lengths->count);
    size_t next = 0;
    for (size_t i = 0; i < lengths->count; i++) {
        size_t length = lengths->items[i].scalar.bits;
        Object *inner = value_container(lists->heap, lists->types, type, length);
        for (size_t j = 0; j < length; j++)
            inner->items[inner->count++] = value_share(lists->types, element, elements->items[next++]);
        list->items[list->count++].object = inner;
    }
    return list;
}

static Object *read_containers(ObjectReader *reader, TypeId type, size_t count)
{
    static const char *brackets[2] = {"[", "]"};
    const Lists *lists = &reader->lists;
    TypeId element = type_element(lists->types, type);
    Object *lengths = read_scalars(reader, brackets, SCALAR_I64);
    if (lengths == NULL)
        return NULL;
    Object *elements = NULL;
    size_t total;
    if (lengths->count != count)
        fail(reader, "the lengths do not agree");
    else if (add_lengths(reader, lengths, &total))
        elements = read_list(reader, element, total);
    Object *list = elements == NULL ? NULL : cut(lists, type, lengths, elements);
    free_list(lists, TYPE_INT, lengths);
    free_list(lists, element, elements);
    return list;
}

static Object *read_units(const Lists *lists, TypeId type, size_t count)
{
    Object *list = new_list(lists, type, count);
    list->count = count; /* of zeros */
    return list;
}

/* `count` values of a type as a vector, or null after a failure. */
static Object *read_list(ObjectReader *reader, TypeId type, size_t count)
{
    Types *types = reader->lists.types;
    type = type_underlying(types, type);
    switch (type_kind(types, type)) {
    case TYPE_SCALAR:
        return read_data(reader, type_scalar(types, type), count);
    case TYPE_PAIR:
        return read_pairs(reader, type, count);
    case TYPE_CONTAINER:
        return read_containers(reader, type, count);
    case TYPE_UNIT:
        return read_units(&reader->lists, type, count);
    case TYPE_NONE:
    case TYPE_FUNCTION:
    case TYPE_DATA:
    case TYPE_CLOSURE:
    case TYPE_MARK:
    case TYPE_VARIABLE:
        break;
    }
    bug("object_file", "a type that has no values");
}

const char *object_file_read(World *world, int64_t descriptor, Heap *heap, Types *types, TypeId type, Value *value)
{
    ObjectReader reader = {.lists = {heap, types}, .world = world, .word = &world->scratch};
    reader.file = world_file(world, descriptor, &reader.reason);
    Object *list = reader.file == NULL ? NULL : read_list(&reader, type, 1);
    *value = list == NULL ? value_identity(heap, types, type) : value_share(types, type, list->items[0]);
    free_list(&reader.lists, type, list);
    return reader.reason;
}
