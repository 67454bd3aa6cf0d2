#include "forms.h"

#include "front/library.h"
#include "ops/ops.h"
#include "runnel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the collection ---- */

void forms_init(Forms *forms, Arena *arena, FormDialect dialect)
{
    *forms = (Forms){.arena = arena, .dialect = dialect};
}

static uint32_t group_of(const Shape *shape)
{
    return shape->kind == SHAPE_SCALAR ? SHAPE_KINDS + shape->scalar : shape->kind;
}

static void collect(Forms *forms, Form *form)
{
    form->id = forms->items.count;
    *vec_push(forms->arena, &forms->items) = form;
    if ((form->dialects & forms->dialect) == 0)
        return;
    FormGroup *group = &forms->groups[group_of(form->result)];
    *vec_push(forms->arena, &group->items) = form;
    group->weight += form->weight;
    if (form->argument != NULL)
        *vec_push(forms->arena, &forms->functions) = form;
}

static const Form *pick_in(const FormGroup *group, uint32_t weight)
{
    for (uint32_t i = 0; i < group->items.count; i++) {
        if (weight < group->items.items[i]->weight)
            return group->items.items[i];
        weight -= group->items.items[i]->weight;
    }
    return NULL;
}

const Form *forms_pick(const Forms *const *tables, uint32_t table_count, Random *random, const Shape *shape)
{
    bool is_container = shape->kind == SHAPE_VECTOR || shape->kind == SHAPE_SEQUENCE;
    uint32_t groups[3] = {group_of(shape), SHAPE_VARIABLE, SHAPE_CONTAINER};
    /* A function is written where it is used: `if` could not choose between two. */
    uint32_t group_count = shape->kind == SHAPE_FUNCTION ? 1 : is_container ? 3 : 2;
    uint32_t total = 0;
    for (uint32_t t = 0; t < table_count; t++)
        for (uint32_t g = 0; g < group_count; g++)
            total += tables[t]->groups[groups[g]].weight;
    uint32_t weight = random_below(random, total);
    for (uint32_t t = 0; t < table_count; t++)
        for (uint32_t g = 0; g < group_count; g++) {
            const FormGroup *group = &tables[t]->groups[groups[g]];
            if (weight < group->weight)
                return pick_in(group, weight);
            weight -= group->weight;
        }
    return NULL;
}

static bool is_known(const Forms *forms, const char *name)
{
    for (uint32_t i = 0; i < forms->items.count; i++)
        if (strcmp(forms->items.items[i]->name, name) == 0)
            return true;
    return false;
}

/* ---- templates ---- */

typedef struct Template {
    Forms *forms;
    Form *form;
    VEC(Piece) pieces;
    VEC(const char *) names;
    const char *at;
} Template;

static _Noreturn void wrong_template(const Template *t, const char *what)
{
    fprintf(stderr, "generate: wrong form (%s) at: %s\n", what, t->at);
    exit(3);
}

/* Vectors and datatypes hold what is concrete. */
static void restrict_classes(Variables *variables, const Shape *shape, bool is_concrete)
{
    if (shape == NULL)
        return;
    if (shape->kind == SHAPE_VARIABLE && is_concrete)
        variables->classes[shape->index] &= CLASS_CONCRETE;
    bool is_inner = is_concrete || shape->kind == SHAPE_VECTOR || shape->kind == SHAPE_DATA;
    restrict_classes(variables, shape->a, is_inner);
    restrict_classes(variables, shape->b, is_inner);
}

static const Shape *read_shape(Template *t)
{
    const Shape *shape = shape_read(t->forms->arena, &t->at, &t->form->variables);
    if (shape == NULL)
        wrong_template(t, "no type");
    restrict_classes(&t->form->variables, shape, false);
    return shape;
}

static uint32_t read_name(Template *t)
{
    const char *start = t->at;
    while (isalnum((unsigned char)*t->at))
        t->at++;
    const char *name = arena_text(t->forms->arena, start, (size_t)(t->at - start));
    for (uint32_t i = 0; i < t->names.count; i++)
        if (strcmp(t->names.items[i], name) == 0)
            return i;
    *vec_push(t->forms->arena, &t->names) = name;
    return t->names.count - 1;
}

static void skip(Template *t, const char *signs)
{
    t->at += strspn(t->at, signs);
}

static void read_binders(Template *t, Piece *piece)
{
    while (*t->at != '>') {
        if (piece->binder_count == PIECE_BINDERS || *t->at == '\0')
            wrong_template(t, "variables");
        skip(t, " ,");
        piece->binders[piece->binder_count] = read_name(t);
        skip(t, " :");
        piece->binder_shapes[piece->binder_count++] = read_shape(t);
        skip(t, " ");
    }
}

/* After `<`. */
static void read_hole(Template *t)
{
    Piece piece = {.kind = PIECE_HOLE};
    if (*t->at == '#') {
        char *end;
        piece = (Piece){.kind = PIECE_NUMBER, .number = (uint32_t)strtoul(t->at + 1, &end, 10)};
        t->at = end;
    } else if (*t->at == ':') {
        t->at++;
        piece = (Piece){.kind = PIECE_TYPE, .shape = read_shape(t)};
    } else {
        piece.shape = read_shape(t);
        char scope = *t->at;
        piece.scope = scope == '!' ? HOLE_COMPREHENSION : scope == '~' ? HOLE_FUNCTION : HOLE_PLAIN;
        if (scope != '>') {
            t->at++;
            read_binders(t, &piece);
        }
    }
    if (*t->at++ != '>')
        wrong_template(t, "end of a hole");
    t->form->hole_count++;
    *vec_push(t->forms->arena, &t->pieces) = piece;
}

static void add_text(Template *t, const char *start, size_t length)
{
    if (length > 0)
        *vec_push(t->forms->arena, &t->pieces) =
            (Piece){.kind = PIECE_TEXT, .text = arena_text(t->forms->arena, start, length)};
}

static bool is_hole(const char *at)
{
    return at[0] == '<' && at[1] != '\0' && strchr(" -=.", at[1]) == NULL;
}

static void read_template(Template *t)
{
    while (*t->at != '\0') {
        const char *start = t->at;
        while (*t->at != '\0' && *t->at != '$' && !is_hole(t->at))
            t->at++;
        add_text(t, start, (size_t)(t->at - start));
        if (*t->at == '$') {
            t->at++;
            uint32_t name = read_name(t);
            *vec_push(t->forms->arena, &t->pieces) = (Piece){.kind = PIECE_NAME, .number = name};
        } else if (*t->at != '\0') {
            t->at++;
            read_hole(t);
        }
    }
}

static const OpInfo *op_called(const char *name)
{
    for (uint32_t i = 0; i < OP_COUNT; i++)
        if (op_table[i].rnl_name != NULL && strcmp(op_table[i].rnl_name, name) == 0)
            return &op_table[i];
    return NULL;
}

static void finish(Template *t)
{
    const OpInfo *op = op_called(t->form->name);
    t->form->has_effect = op != NULL && op->effect != EFFECT_PURE;
    t->form->draws = op != NULL && op->effect == EFFECT_RANDOM;
    t->form->pieces = t->pieces.items;
    t->form->piece_count = t->pieces.count;
    t->form->variable_count = t->names.count;
    collect(t->forms, t->form);
}

const Form *forms_add(Forms *forms, FormDialect dialects, const char *name, uint32_t weight, const char *type,
                      const char *text)
{
    Form *form = ARENA_NEW(forms->arena, Form);
    *form = (Form){.name = name, .weight = weight, .dialects = dialects};
    Template t = {.forms = forms, .form = form, .at = type};
    form->result = read_shape(&t);
    skip(&t, " ");
    if (!shape_read_context(&t.at, &form->variables) || *t.at != '\0')
        wrong_template(&t, "type");
    t.at = text;
    read_template(&t);
    finish(&t);
    return form;
}

/* ---- calls by type ---- */

static bool has_container(const Shape *shape)
{
    if (shape == NULL)
        return false;
    return shape->kind == SHAPE_VECTOR || shape->kind == SHAPE_SEQUENCE || shape->kind == SHAPE_CONTAINER ||
           has_container(shape->a) || has_container(shape->b);
}

static bool is_infix(const char *name)
{
    static const char *const words[] = {"and", "or", "xor", "nand", "nor"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return !isalpha((unsigned char)name[0]);
}

/* A count or an index stays small: lengths of containers follow from it. */
static void add_argument(Template *t, const Shape *shape, bool is_small)
{
    bool is_count = is_small && shape_equal(shape, shape_scalar(SCALAR_I64));
    if (is_count)
        add_text(t, "mod(", 4);
    *vec_push(t->forms->arena, &t->pieces) = (Piece){.kind = PIECE_HOLE, .shape = shape};
    t->form->hole_count++;
    if (is_count)
        add_text(t, ", 8)", 4);
}

static void add_arguments(Template *t, const Shape *argument, const char *separator, bool is_small)
{
    if (argument->kind == SHAPE_UNIT)
        return;
    for (; argument->kind == SHAPE_PAIR; argument = argument->b) {
        add_argument(t, argument->a, is_small);
        add_text(t, separator, strlen(separator));
    }
    add_argument(t, argument, is_small);
}

static void add_call(Template *t, const Shape *argument, bool is_small)
{
    const char *name = t->form->name;
    if (is_infix(name) && argument->kind == SHAPE_PAIR) {
        add_text(t, "(", 1);
        add_arguments(t, argument, arena_format(t->forms->arena, " %s ", name), is_small);
    } else {
        add_text(t, name, strlen(name));
        add_text(t, "(", 1);
        add_arguments(t, argument, ", ", is_small);
    }
    add_text(t, ")", 1);
}

/* Tuples are seldom wanted by themselves: a call that makes one is also bound to a variable of any expression. */
static void add_bound_call(Forms *forms, const Form *call)
{
    Form *form = ARENA_NEW(forms->arena, Form);
    *form = (Form){.name = call->name, .weight = call->weight / 3, .dialects = call->dialects, .variables = call->variables};
    Template t = {.forms = forms, .form = form, .at = "z"};
    form->result = read_shape(&t);
    t.at = "(let $x = ";
    read_template(&t);
    for (uint32_t i = 0; i < call->piece_count; i++)
        *vec_push(forms->arena, &t.pieces) = call->pieces[i];
    t.at = " in ";
    read_template(&t);
    *vec_push(forms->arena, &t.pieces) =
        (Piece){.kind = PIECE_HOLE, .shape = form->result, .binder_count = 1, .binders = {0}, .binder_shapes = {call->result}};
    add_text(&t, ")", 1);
    form->hole_count = call->hole_count + 1;
    finish(&t);
}

const Form *forms_add_call(Forms *forms, FormDialect dialects, const char *name, uint32_t weight, const char *type,
                           ClassSet class_set)
{
    Form *form = ARENA_NEW(forms->arena, Form);
    *form = (Form){.name = arena_text(forms->arena, name, strlen(name)), .weight = weight, .dialects = dialects};
    Template t = {.forms = forms, .form = form};
    const Shape *shape = shape_read(forms->arena, &type, &form->variables);
    if (shape == NULL || !shape_read_context(&type, &form->variables))
        return NULL;
    restrict_classes(&form->variables, shape, false);
    for (uint32_t i = 0; i < form->variables.type_count; i++)
        form->variables.classes[i] &= class_set;
    if (shape->kind != SHAPE_FUNCTION) {
        form->result = shape;
        add_text(&t, name, strlen(name));
    } else {
        form->argument = shape->a;
        form->result = shape->b;
        add_call(&t, shape->a, has_container(shape));
    }
    if (form->result->kind == SHAPE_FUNCTION)
        return NULL;
    finish(&t);
    if (form->result->kind == SHAPE_PAIR)
        add_bound_call(forms, form);
    return form;
}

/* ---- operations and the library ---- */

/* In tenths of what forms.def counts in. */
enum { WEIGHT_UNIT = 10, OPERATION_WEIGHT = 30, LIBRARY_WEIGHT = 10, FAILING_WEIGHT = 3 };

/* What makes a type that few expressions ask for is taken more often there. */
static uint32_t operation_weight(const OpInfo *op)
{
    const char *result = strstr(op->type, "-> ");
    static const char *const common[] = {"int", "float", "bool"};
    bool is_scalar = result != NULL && isalpha((unsigned char)result[3]) && isalnum((unsigned char)result[4]);
    for (size_t i = 0; i < sizeof common / sizeof *common && is_scalar; i++)
        is_scalar = strncmp(result + 3, common[i], strlen(common[i])) != 0;
    return is_scalar ? 6 * OPERATION_WEIGHT : OPERATION_WEIGHT;
}

static void add_operations(Forms *forms)
{
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        const OpInfo *op = &op_table[i];
        bool is_reachable = op->rnl_name != NULL && op->rnl_name[0] != '_' && op->effect != EFFECT_IO;
        if (!is_reachable || is_known(forms, op->rnl_name))
            continue;
        bool is_shared = op->nesl_name != NULL && op->nesl_type == NULL;
        const Form *form =
            forms_add_call(forms, is_shared ? FORM_BOTH : FORM_RNL, op->rnl_name, operation_weight(op), op->type, CLASS_ANY);
        if (form == NULL) {
            fprintf(stderr, "generate: cannot read the type of %s: %s\n", op->rnl_name, op->type);
            exit(3);
        }
        if (op->nesl_name != NULL && op->nesl_type != NULL)
            forms_add_call(forms, FORM_NESL, op->nesl_name, OPERATION_WEIGHT, op->nesl_type, CLASS_ANY);
    }
}

typedef struct Output {
    Arena *arena;
    VEC(char) bytes;
} Output;

static void keep_output(void *context, const char *bytes, size_t length)
{
    Output *output = context;
    for (size_t i = 0; i < length; i++)
        *vec_push(output->arena, &output->bytes) = bytes[i];
}

/* Definitions that return each function of the library, so that `check` tells its type. A name with `_` before it is the library's own. */
static void write_probes(const LibraryFile *file, Text *out)
{
    for (const char *line = file->text; line != NULL && *line != '\0';) {
        char name[64];
        if (sscanf(line, "function %63[a-z0-9_](", name) == 1 && name[0] != '_')
            text_addf(out, "function probe_%s() = %s\n", name, name);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

/* Lines `probe_NAME : () -> TYPE`. */
static void add_probed(Forms *forms, FormDialect dialects, char *lines)
{
    for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char name[64];
        int length = 0;
        if (sscanf(line, "probe_%63[a-z0-9_] : () -> %n", name, &length) != 1 || length == 0 || is_known(forms, name))
            continue;
        forms_add_call(forms, dialects, name, LIBRARY_WEIGHT, line + length, CLASS_ANY);
    }
}

static void add_library_file(Forms *forms, const LibraryFile *file)
{
    Text text;
    Output output = {.arena = forms->arena};
    text_init(&text, forms->arena->memory);
    write_probes(file, &text);
    RunnelSession *session = runnel_open(&(RunnelOptions){.write = keep_output, .write_context = &output});
    if (session == NULL || runnel_load_text(session, "probes.rnl", text.bytes, text.length, RUNNEL_DIALECT_RNL) != RUNNEL_OK) {
        fprintf(stderr, "generate: the types of %s: %s", file->path, session == NULL ? "no memory\n" : runnel_messages(session));
        exit(3);
    }
    runnel_write_types(session);
    runnel_close(session);
    text_free(&text);
    *vec_push(forms->arena, &output.bytes) = '\0';
    add_probed(forms, strstr(file->path, "runnel.rnl") == NULL ? FORM_BOTH : FORM_RNL, output.bytes.items);
}

void forms_add_all(Forms *forms)
{
#define FORM(DIALECT, name, weight, type, text) forms_add(forms, FORM_##DIALECT, name, weight *WEIGHT_UNIT, type, text);
#define FAILING(DIALECT, name, type, text) forms_add(forms, FORM_##DIALECT, name, FAILING_WEIGHT, type, text);
#include "forms.def"
#undef FORM
#undef FAILING
    add_operations(forms);
    for (size_t i = 0; i < library_file_count; i++)
        if (strstr(library_files[i].path, ".nesl") == NULL && strstr(library_files[i].path, "io.rnl") == NULL)
            add_library_file(forms, &library_files[i]);
}
