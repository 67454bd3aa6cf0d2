#define _XOPEN_SOURCE 700
#include "shrink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ATTEMPTS_MAX = 4000, DESCENDANTS_MAX = 24 };
static const double seconds_per_attempt = 10;
static const double seconds_for_all = 120;

typedef struct Shrinker {
    Arena *arena;
    Program *program;
    const Verdict *verdict;
    uint32_t attempts;
    double deadline;
    bool has_changed;
} Shrinker;

static Given given_of(const Program *program, Arena *arena)
{
    Text text;
    text_init(&text, arena->memory);
    program_print(program, &text);
    Given given = {.text = arena_text(arena, text_string(&text), text.length),
                   .dialect = program->dialect == FORM_NESL ? RUNNEL_DIALECT_NESL : RUNNEL_DIALECT_RNL,
                   .arguments = program_arguments(program, arena),
                   .argument_count = program->arguments.count};
    text_free(&text);
    return given;
}

/* ---- trying ---- */

static bool is_exhausted(const Shrinker *s)
{
    return s->attempts >= ATTEMPTS_MAX || now() > s->deadline;
}

/* Whether the program, as it is now, still goes wrong in the same way. */
static bool is_still_wrong(Shrinker *s)
{
    if (is_exhausted(s))
        return false;
    s->attempts++;
    Given given = given_of(s->program, s->arena);
    Verdict verdict;
    compare_isolated(&given, seconds_per_attempt, &verdict);
    bool is_same = verdict.kind == s->verdict->kind && strcmp(verdict.signature, s->verdict->signature) == 0;
    s->has_changed |= is_same;
    return is_same;
}

static bool try_node(Shrinker *s, Node **slot, Node *node)
{
    Node *old = *slot;
    if (node == NULL || node == old)
        return false;
    *slot = node;
    if (is_still_wrong(s))
        return true;
    *slot = old;
    return false;
}

/* ---- expressions ---- */

/* Expressions of the same shape inside a node, the largest first. */
static void find_descendants(const Node *node, const Shape *shape, Node **found, uint32_t *count)
{
    for (uint32_t i = 0; i < node->child_count && *count < DESCENDANTS_MAX; i++)
        if (node->children[i]->shape != NULL && shape_equal(node->children[i]->shape, shape))
            found[(*count)++] = node->children[i];
    for (uint32_t i = 0; i < node->child_count; i++)
        find_descendants(node->children[i], shape, found, count);
}

static bool is_literal(const Node *node)
{
    if (node->kind == NODE_FORM)
        return false;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!is_literal(node->children[i]))
            return false;
    return true;
}

static bool try_descendants(Shrinker *s, Node **slot)
{
    Node *found[DESCENDANTS_MAX];
    uint32_t count = 0;
    find_descendants(*slot, (*slot)->shape, found, &count);
    for (uint32_t i = 0; i < count; i++)
        if (try_node(s, slot, found[i]))
            return true;
    return false;
}

static bool try_without(Shrinker *s, Node **slot, uint32_t first, uint32_t count)
{
    Node *copy = ARENA_NEW(s->arena, Node);
    *copy = **slot;
    copy->child_count -= count;
    copy->children = ARENA_ARRAY(s->arena, Node *, copy->child_count);
    for (uint32_t i = 0; i < copy->child_count; i++)
        copy->children[i] = (*slot)->children[i < first ? i : i + count];
    return try_node(s, slot, copy);
}

static void shrink_list(Shrinker *s, Node **slot)
{
    for (uint32_t size = (*slot)->child_count / 2; size > 0; size /= 2)
        for (uint32_t first = 0; first + size <= (*slot)->child_count;)
            if (!try_without(s, slot, first, size))
                first += size;
    if ((*slot)->child_count == 1)
        try_without(s, slot, 0, 1);
}

static Node *number_node(Shrinker *s, const Node *node, const char *text)
{
    Node *copy = ARENA_NEW(s->arena, Node);
    *copy = *node;
    copy->text = text;
    copy->value_text = NULL;
    return copy;
}

/* Numbers as small as can be. */
static void shrink_leaf(Shrinker *s, Node **slot)
{
    char *end;
    unsigned long value = strtoul((*slot)->text, &end, 10);
    bool is_number = *end == '\0' && end != (*slot)->text;
    while (is_number && value > 1) {
        value /= 2;
        if (!try_node(s, slot, number_node(s, *slot, arena_format(s->arena, "%lu", value))))
            break;
    }
}

static void shrink_node(Shrinker *s, Node **slot)
{
    const Shape *shape = (*slot)->shape;
    if (shape == NULL || is_exhausted(s))
        return;
    Node *simplest = node_simplest(s->arena, s->program->dialect, shape);
    bool is_leaf = (*slot)->kind == NODE_LEAF;
    bool is_simple = simplest == NULL || (is_leaf && simplest->kind == NODE_LEAF && strcmp((*slot)->text, simplest->text) == 0) ||
                     ((*slot)->kind == NODE_LIST && (*slot)->child_count == 0);
    if (!is_simple && try_node(s, slot, simplest))
        return;
    while (!is_literal(*slot) && try_descendants(s, slot))
        ;
    if ((*slot)->kind == NODE_LIST)
        shrink_list(s, slot);
    if ((*slot)->kind == NODE_LEAF && shape->kind == SHAPE_SCALAR)
        shrink_leaf(s, slot);
    for (uint32_t i = 0; i < (*slot)->child_count; i++)
        shrink_node(s, &(*slot)->children[i]);
}

/* ---- definitions ---- */

/* Tries to do without each item of a VEC, last one first. */
#define TRY_WITHOUT_ITEMS(s, vec, Type)                                                                                  \
    for (uint32_t i_ = (vec)->count; i_ > 0; i_--) {                                                                     \
        Type removed_ = (vec)->items[i_ - 1];                                                                            \
        memmove(&(vec)->items[i_ - 1], &(vec)->items[i_], ((vec)->count - i_) * sizeof removed_);                         \
        (vec)->count--;                                                                                                  \
        if (is_still_wrong(s))                                                                                           \
            continue;                                                                                                    \
        memmove(&(vec)->items[i_], &(vec)->items[i_ - 1], ((vec)->count - (i_ - 1)) * sizeof removed_);                   \
        (vec)->items[i_ - 1] = removed_;                                                                                 \
        (vec)->count++;                                                                                                  \
    }

/* A parameter of main and its argument go together. */
static void try_without_arguments(Shrinker *s)
{
    Program *program = s->program;
    for (uint32_t i = program->arguments.count; i > 0 && program->functions.count > 0; i--) {
        Function *main_function = &vec_last(&program->functions);
        Function saved = *main_function;
        Node *argument = program->arguments.items[i - 1];
        if (saved.parameters.count != program->arguments.count || saved.parameters.count == 0)
            return;
        Parameter *rest = ARENA_ARRAY(s->arena, Parameter, saved.parameters.count);
        for (uint32_t p = 0, n = 0; p < saved.parameters.count; p++)
            if (p != i - 1)
                rest[n++] = saved.parameters.items[p];
        main_function->parameters.items = rest;
        main_function->parameters.count--;
        uint32_t moved = program->arguments.count - i;
        memmove(&program->arguments.items[i - 1], &program->arguments.items[i], moved * sizeof argument);
        program->arguments.count--;
        if (is_still_wrong(s))
            continue;
        *main_function = saved;
        memmove(&program->arguments.items[i], &program->arguments.items[i - 1], moved * sizeof argument);
        program->arguments.items[i - 1] = argument;
        program->arguments.count++;
    }
}

static void shrink_once(Shrinker *s)
{
    Program *program = s->program;
    TRY_WITHOUT_ITEMS(s, &program->items, Binding)
    TRY_WITHOUT_ITEMS(s, &program->functions, Function)
    TRY_WITHOUT_ITEMS(s, &program->globals, Binding)
    TRY_WITHOUT_ITEMS(s, &program->datatypes, const char *)
    try_without_arguments(s);
    for (uint32_t i = 0; i < program->items.count; i++)
        shrink_node(s, &program->items.items[i].value);
    for (uint32_t i = 0; i < program->functions.count; i++)
        shrink_node(s, &program->functions.items[i].body);
    for (uint32_t i = 0; i < program->globals.count; i++)
        shrink_node(s, &program->globals.items[i].value);
    for (uint32_t i = 0; i < program->arguments.count; i++)
        shrink_node(s, &program->arguments.items[i]);
}

void shrink_program(Arena *arena, Program *program, const Verdict *verdict)
{
    Shrinker s = {.arena = arena, .program = program, .verdict = verdict, .deadline = now() + seconds_for_all};
    do {
        s.has_changed = false;
        shrink_once(&s);
    } while (s.has_changed && !is_exhausted(&s));
}

/* ---- saving ---- */

/* A comment that the test runner reads. */
static void print_directive(FILE *file, const Given *given, const char *key, const char *text, size_t length)
{
    if (given->dialect == RUNNEL_DIALECT_NESL)
        fprintf(file, "%% %s %.*s %%\n", key, (int)length, text);
    else
        fprintf(file, "-- %s %.*s\n", key, (int)length, text);
}

static void print_arguments(FILE *file, const Given *given)
{
    Text text;
    Memory memory = {0};
    text_init(&text, &memory);
    for (size_t i = 0; i < given->argument_count; i++) {
        text_add(&text, i > 0 ? " \"" : "\"");
        for (const char *at = given->arguments[i]; *at != '\0'; at++) {
            if (*at == '"' || *at == '\\')
                text_add_char(&text, '\\');
            text_add_char(&text, *at);
        }
        text_add_char(&text, '"');
    }
    if (given->argument_count > 0)
        print_directive(file, given, "args:", text_string(&text), text.length);
    text_free(&text);
}

static void print_expectations(FILE *file, const Given *given)
{
    Outcome outcome;
    outcome_of_reference(given, &outcome);
    for (const char *line = text_string(&outcome.output); *line != '\0'; line += strcspn(line, "\n") + 1)
        print_directive(file, given, "expect:", line, strcspn(line, "\n"));
    char code[64];
    unsigned line = 0, column = 0;
    message_code(text_string(&outcome.messages), code, sizeof code);
    const char *place = strchr(text_string(&outcome.messages), ':');
    if (code[0] != '\0' && place != NULL && sscanf(place, ":%u:%u", &line, &column) == 2) {
        char text[128];
        int length = snprintf(text, sizeof text, "%s %u:%u", code, line, column);
        print_directive(file, given, "error:", text, (size_t)length);
    }
    outcome_free(&outcome);
}

void save_program(Arena *arena, const Program *program, const Verdict *verdict, const char *directory, uint64_t seed,
                  uint64_t index)
{
    Given given = given_of(program, arena);
    bool is_nesl = given.dialect == RUNNEL_DIALECT_NESL;
    const char *path = arena_format(arena, "%s/seed_%" PRIu64 "_%" PRIu64 "%s", directory, seed, index, is_nesl ? ".nesl" : ".rnl");
    mkdir("build", 0777);
    mkdir(directory, 0777);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "generate: %s: %s\n", path, strerror(errno));
        return;
    }
    fputs(given.text, file);
    print_arguments(file, &given);
    if (verdict->kind == VERDICT_DIFFERS)
        print_expectations(file, &given);
    const char *found = arena_format(arena, "%s; %s", verdict_names[verdict->kind], verdict->signature);
    print_directive(file, &given, "Found by a random program:", found, strlen(found));
    fclose(file);
    printf("saved as %s:\n%s", path, given.text);
    for (size_t i = 0; i < given.argument_count; i++)
        printf("  argument %zu: %s\n", i + 1, given.arguments[i]);
    printf("%s\n", verdict->detail);
}
