/* Values at run time, as the reference interpreter and the readers and printers of values have them: slow and simple.
 *
 * A value is 64 bits; its type says what they are. Scalars are stored directly (ops/scalars.h). Tuples, vectors and
 * sequences are objects with a reference count; unit has no object (0). DATA and CLOSURE values are the values of their
 * representation. */
#ifndef RUNNEL_IO_VALUE_H
#define RUNNEL_IO_VALUE_H

#include "base/memory.h"
#include "base/text.h"
#include "math/scalar.h"
#include "source/diagnostics.h"
#include "types/types.h"

typedef struct Object Object;

typedef union Value {
    Scalar scalar;
    Object *object;
} Value;

/* An amount of space in the cost model: what a sequential run needs, and what a fully parallel one needs. */
typedef struct Footprint {
    uint64_t sequential, parallel;
} Footprint;

/* A pair (count 2), or the elements of a vector or sequence. */
struct Object {
    Object *next, *previous; /* all objects of a heap, so that an aborted run leaks nothing */
    uint32_t references;
    uint8_t object_items; /* pairs: bit i says that item i is an object; containers: 1 if the elements are */
    bool is_pair;
    bool is_measured; /* `measure` is known and still right */
    size_t count;
    size_t capacity;
    Footprint measure; /* of its contents, in the cost model (ref_cost_size.c) */
    Value items[];
};

typedef struct Heap {
    Memory *memory;
    Object *objects; /* a ring's head is not needed: a doubly linked list */
} Heap;

void heap_init(Heap *heap, Memory *memory);
/* Frees every object, referenced or not. */
void heap_free(Heap *heap);

/* Whether values of a type are objects (tuples other than unit, containers; by representation). */
bool value_is_object(Types *types, TypeId type);

/* New references: the caller owns them. Arguments that are objects are taken over. */
Value value_pair(Heap *heap, Types *types, TypeId type, Value first, Value rest);
/* An empty container of this type with room for `capacity` elements. */
Object *value_container(Heap *heap, Types *types, TypeId type, size_t capacity);
/* Appends, taking the element over; may move the object, which must not be shared. */
Object *value_append(Heap *heap, Object *container, Value element);

/* The bytes of a text as a container of this type, and back. */
Object *value_chars(Heap *heap, Types *types, TypeId type, const char *bytes, size_t length);
void value_add_chars(const Object *chars, Text *out);
/* The zero value of a concrete type: zeros, blanks, empty containers. */
Value value_identity(Heap *heap, Types *types, TypeId type);

/* Sharing and letting go; `type` says whether there is anything to count. */
Value value_share(Types *types, TypeId type, Value value);
void value_release(Heap *heap, Types *types, TypeId type, Value value);

/* ---- comparing ---- */
/* The order of sorting and grouping: -0 equals +0, nan is last and equal to itself; vectors and tuples lexicographic. */
int value_compare(Types *types, TypeId type, Value a, Value b);
/* How `<` and `==` see two values: IEEE at the leaves, lexicographic above; nan has no order to anything. */
Order value_order(Types *types, TypeId type, Value a, Value b);
/* The same for values that value_compare calls equal: left to right over the leaves, each mixed into the seed by
 * value_hash_scalar, containers with their lengths in front. */
uint64_t value_hash(Types *types, TypeId type, Value value, uint64_t seed);
uint64_t value_hash_scalar(ScalarType type, Scalar value, uint64_t seed);
uint64_t value_hash_length(uint64_t length, uint64_t seed);
int value_compare_scalars(ScalarType type, Scalar a, Scalar b); /* value_compare at a leaf */

/* ---- as text ---- */
typedef enum ValueStyle {
    VALUE_STYLE_RUNNEL, /* [1, 2], (1, 2.5), "text", true, 'a' */
    VALUE_STYLE_NESL,   /* T and F, `a, back-quoted chars */
    VALUE_STYLE_STRING, /* what `@` gives: t and f, 8 significant digits */
} ValueStyle;

typedef struct ValueFormat {
    ValueStyle style;
    uint64_t print_length; /* elements of each container shown; 0 for all */
} ValueFormat;

void value_print(Types *types, TypeId type, Value value, ValueFormat format, Text *out);

/* Who takes a text while it is made, whenever it has become long, and empties it. False: no more is wanted. */
typedef struct ValueOutlet {
    bool (*take)(void *context, Text *text);
    void *context;
} ValueOutlet;

/* The same, so that the text of a large value is never there as a whole. False if it was given up; what is in `out` when it ends was not taken yet. */
bool value_print_in_pieces(Types *types, TypeId type, Value value, ValueFormat format, Text *out, ValueOutlet outlet);
void value_print_scalar(ScalarType type, Scalar value, ValueStyle style, Text *out);

/* The shortest digits that read back to the same bits. */
void value_print_f64(double value, Text *out);
void value_print_f32(float value, Text *out);

/* `digits` significant digits, from 1 to 17 (more are not shown), and an exponent: 1.25e+2. */
void value_print_exponent(double value, int64_t digits, Text *out);

/* Bytes as a quoted text of Runnel, with escapes. */
void value_print_text(const char *bytes, size_t length, Text *out);

/* Reads a whole text as a value of the given type, in Runnel's notation or NESL's (both are accepted). False after an
 * error was reported (ERROR_BAD_VALUE) naming `what` ("argument 1") and the byte. Numbers outside the range of their type are errors. */
bool value_read(Heap *heap, Types *types, TypeId type, const char *text, size_t length, const char *what,
                Diagnostics *diagnostics, Value *value);

/* Reads a whole text as one decimal number of a type: digits with or without a sign, for floats also a point, an exponent, nan
 * and inf. False, with nothing reported and the value 0, if it is anything else or out of range. */
bool value_read_number(Memory *memory, ScalarType type, const char *text, size_t length, Scalar *value);

#endif
