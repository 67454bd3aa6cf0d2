/* The inside of reading values from text: what whole texts (value_read.c) and sources of elements (value_source.c) share.
 *
 * A reader sees a window of its text. More of the text is appended to the window when a byte beyond it is asked for, so positions in the
 * window stay what they are while a value is read; between values the owner of the window may drop what was read. */
#ifndef RUNNEL_IO_VALUE_READER_H
#define RUNNEL_IO_VALUE_READER_H

#include "io/value.h"

enum { VALUE_PROBLEM_SIZE = 512 };

typedef struct ValueReader ValueReader;
struct ValueReader {
    Memory *memory;
    Heap *heap; /* null where only numbers are read */
    Types *types;
    const char *text; /* the window */
    size_t length;
    size_t at;
    uint64_t base;                 /* bytes of the text before the window */
    bool (*more)(void *context);   /* appends at least a byte to the window; false at the end. Null if there never is more */
    void *context;
    const char *what;              /* is read, for messages; null: failures are not worded */
    char problem[VALUE_PROBLEM_SIZE]; /* what is wrong, after a failure */
};

/* A value of the type; false after a failure. */
bool reader_value(ValueReader *reader, TypeId type, Value *value);
/* Nothing but white space is left; false after a failure. */
bool reader_end(ValueReader *reader);

/* ---- the elements of a container, one at a time ---- */
typedef enum ElementsPhase { ELEMENTS_FIRST, ELEMENTS_NEXT, ELEMENTS_TEXT, ELEMENTS_RANGE, ELEMENTS_DONE } ElementsPhase;

typedef struct ElementsReader {
    TypeId element;
    ElementsPhase phase; /* what comes next */
    int close;           /* the bracket that ends them */
    uint64_t next, step; /* RANGE: the next number, */
    uint64_t left;       /* ... and how many there are from it on */
    size_t parens;       /* around the container, still open */
} ElementsReader;

typedef enum ElementStatus { ELEMENT_READ, ELEMENT_NONE, ELEMENT_FAILED } ElementStatus;

/* Reads the opening bracket or quote. */
bool elements_open(ValueReader *reader, ElementsReader *elements, TypeId container);
ElementStatus elements_next(ValueReader *reader, ElementsReader *elements, Value *value);

#endif
