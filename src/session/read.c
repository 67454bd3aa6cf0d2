/* The pass `read`: a text and the files it names become definitions and steps. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "front/parse.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static Source *cannot_read(RunnelSession *session, Span span, const char *path, const char *why)
{
    diagnostics_error(&session->diagnostics, ERROR_CANNOT_READ_FILE, span, "cannot read `%s`: %s", path, why);
    return NULL;
}

/* What is larger than the space of positions is not read at all. */
static bool is_too_large(FILE *file)
{
    struct stat status;
    return fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= UINT32_MAX;
}

static Source *too_large(RunnelSession *session, const char *path, Span span)
{
    diagnostics_error(&session->diagnostics, ERROR_SOURCE_TOO_LARGE, span,
                      "`%s` is too large: all sources together must stay below 4 GiB", path);
    return NULL;
}

/* Into the session's text, and closes the file. */
static bool read_all(RunnelSession *session)
{
    char buffer[1 << 16];
    size_t count;
    errno = 0;
    text_clear(&session->reading_text);
    while ((count = fread(buffer, 1, sizeof buffer, session->reading)) > 0)
        text_add_bytes(&session->reading_text, buffer, count);
    bool is_read = !ferror(session->reading);
    int failure = errno;
    read_end(session);
    errno = failure;
    return is_read;
}

void read_end(RunnelSession *session)
{
    if (session->reading != NULL)
        fclose(session->reading);
    session->reading = NULL;
}

Source *read_file(RunnelSession *session, const char *path, Span span)
{
    bool is_nesl = ends_with(path, ".nesl");
    if (!is_nesl && !ends_with(path, ".rnl"))
        return cannot_read(session, span, path, "the name of a program ends in .rnl or .nesl");
    session->reading = fopen(path, "rb");
    if (session->reading == NULL)
        return cannot_read(session, span, path, strerror(errno));
    if (is_too_large(session->reading)) {
        read_end(session);
        return too_large(session, path, span);
    }
    if (!read_all(session))
        return cannot_read(session, span, path, strerror(errno));
    Text *text = &session->reading_text;
    Source *source = sources_add(&session->sources, path, text_string(text), text->length,
                                 is_nesl ? DIALECT_NESL : DIALECT_RUNNEL);
    text_free(text);
    return source != NULL ? source : too_large(session, path, span);
}

/* The path as the file system has it, so that a file is recognised however it is named. */
static Name canonical_path(RunnelSession *session, const char *path)
{
    char resolved[PATH_MAX];
    const char *found = realpath(path, resolved);
    return names_of(&session->names, found == NULL ? path : found);
}

/* `path` as seen from the directory of the file that names it. */
static const char *relative_path(RunnelSession *session, const Source *from, const char *path)
{
    const char *slash = strrchr(from->path, '/');
    if (path[0] == '/' || slash == NULL)
        return path;
    return arena_format(&session->arena, "%.*s/%s", (int)(slash - from->path), from->path, path);
}

/* ---- constant expressions: the argument of `load` ---- */

typedef struct ConstantText {
    RunnelSession *session;
    Text text;
    uint32_t step_count; /* names may stand for names, and twice for each: this bounds depth and time */
} ConstantText;

enum { CONSTANT_STEPS_MAX = 1000 };

static bool add_constant_text(ConstantText *constant, const Expr *expr, uint32_t position);

/* `position` is that of the form in which the name stands: it means what was bound before. */
static bool add_constant_name(ConstantText *constant, const Expr *expr, uint32_t position)
{
    const Definition *found =
        environment_lookup(&constant->session->environment, expr->name, DIALECT_NESL, false, position - 1);
    bool is_bound = found != NULL && found->kind == DEFINITION_VALUE && found->position < position &&
                    found->owner->item->pattern->kind == PATTERN_NAME;
    return is_bound && add_constant_text(constant, found->owner->item->value, found->position);
}

/* Texts, names bound to texts, and ++ of them. */
static bool add_constant_text(ConstantText *constant, const Expr *expr, uint32_t position)
{
    if (expr == NULL || ++constant->step_count > CONSTANT_STEPS_MAX)
        return false;
    if (expr->kind == EXPR_STRING) {
        text_add_bytes(&constant->text, expr->text, expr->count);
        return true;
    }
    if (expr->kind == EXPR_NAME)
        return add_constant_name(constant, expr, position);
    bool is_append = expr->kind == EXPR_BINARY && strcmp(names_text(&constant->session->names, expr->name), "++") == 0;
    return is_append && add_constant_text(constant, expr->items[0], position) &&
           add_constant_text(constant, expr->items[1], position);
}

/* ---- forms ---- */

typedef enum ReadMode { READ_ALL, READ_DEFINITIONS } ReadMode;

/* A file whose forms are being read. Files that name files make a stack of them, not of C frames. */
typedef struct OpenFile {
    Name path; /* canonical */
    const Source *source;
    ReadMode mode;
    Items items;
    uint32_t next; /* of items */
} OpenFile;

typedef struct Reader {
    RunnelSession *session;
    VEC(OpenFile) open;
} Reader;

static void open_file(Reader *reader, Source *source, Name path, ReadMode mode)
{
    RunnelSession *session = reader->session;
    *vec_push(&session->arena, &session->files) = path;
    *vec_push(&session->arena, &reader->open) =
        (OpenFile){.path = path,
                   .source = source,
                   .mode = mode,
                   .items = parse_source(&session->arena, &session->names, &session->diagnostics, source)};
}

static bool is_read(const RunnelSession *session, Name path)
{
    for (uint32_t i = 0; i < session->files.count; i++)
        if (session->files.items[i] == path)
            return true;
    return false;
}

static bool is_open(const Reader *reader, Name path)
{
    for (uint32_t i = 0; i < reader->open.count; i++)
        if (reader->open.items[i].path == path)
            return true;
    return false;
}

static void read_named_file(Reader *reader, const char *path, Span span, ReadMode mode)
{
    RunnelSession *session = reader->session;
    Name canonical = canonical_path(session, path);
    if (mode == READ_DEFINITIONS && is_read(session, canonical))
        return;
    if (is_open(reader, canonical)) {
        cannot_read(session, span, path, "it is being loaded already, so this would not end");
        return;
    }
    Source *source = read_file(session, path, span);
    if (source != NULL)
        open_file(reader, source, canonical, mode);
}

static void read_import(Reader *reader, const Source *source, const Item *item)
{
    RunnelSession *session = reader->session;
    const Expr *name = item->value;
    if (memchr(name->text, '\0', name->count) != NULL) {
        cannot_read(session, name->span, name->text, "the name holds a zero byte");
        return;
    }
    read_named_file(reader, relative_path(session, source, name->text), name->span, READ_DEFINITIONS);
}

static void read_load(Reader *reader, const Source *source, const Item *item)
{
    RunnelSession *session = reader->session;
    ConstantText constant = {.session = session};
    Text *path = &constant.text;
    text_init(path, &session->memory);
    if (!add_constant_text(&constant, item->value, session->environment.next_position))
        diagnostics_error(&session->diagnostics, ERROR_CANNOT_READ_FILE, item->span,
                          "the argument of load is a text, or texts joined by ++");
    else {
        if (!ends_with(text_string(path), ".nesl") && !ends_with(text_string(path), ".rnl"))
            text_add(path, ".nesl");
        const char *copy = arena_text(&session->arena, text_string(path), path->length);
        read_named_file(reader, relative_path(session, source, copy), item->span, READ_ALL);
    }
    text_free(path);
}

static void add_step(RunnelSession *session, StepKind kind, Definition *definition)
{
    *vec_push(&session->arena, &session->steps) =
        (Step){.kind = kind, .definition = definition};
}

/* NESL binds the value of an expression to `it`. */
static Item *bind_to_it(RunnelSession *session, const Item *item)
{
    Pattern *pattern = ARENA_NEW(&session->arena, Pattern);
    *pattern = (Pattern){.kind = PATTERN_NAME, .span = item->span, .name = names_of(&session->names, "it")};
    Item *binding = ARENA_NEW(&session->arena, Item);
    *binding = *item;
    binding->kind = ITEM_BINDING;
    binding->pattern = pattern;
    return binding;
}

static void read_set(RunnelSession *session, const Item *item)
{
    if (item->is_broken)
        return;
    const char *name = names_text(&session->names, item->name);
    if (strcmp(name, "print_length") != 0)
        return; /* arg_check: arguments are always checked */
    add_step(session, STEP_PRINT_LENGTH, NULL);
    vec_last(&session->steps).print_length = item->value == NULL ? 0 : item->value->magnitude;
}

/* A function whose type was declared by a stub has that type. */
static const Item *with_stub(RunnelSession *session, const Item *item)
{
    for (uint32_t i = session->stubs.count; i > 0; i--) {
        const Item *stub = session->stubs.items[i - 1];
        if (stub->name != item->name || item->type != NULL || item->is_broken)
            continue;
        Item *typed = ARENA_NEW(&session->arena, Item);
        *typed = *item;
        typed->type = stub->type;
        typed->is_whole_type = stub->is_whole_type;
        typed->context = stub->context;
        return typed;
    }
    return item;
}

static void read_item(Reader *reader, const Source *source, const Item *item, ReadMode mode)
{
    RunnelSession *session = reader->session;
    Environment *environment = &session->environment;
    switch (item->kind) {
    case ITEM_FUNCTION:
        environment_add_item(environment, source, with_stub(session, item));
        break;
    case ITEM_DATATYPE:
        environment_add_item(environment, source, item);
        break;
    case ITEM_BINDING: {
        Definition *binding = environment_add_item(environment, source, item);
        if (!item->is_broken)
            add_step(session, STEP_BINDING, binding);
        break;
    }
    case ITEM_EXPRESSION:
        if (mode == READ_ALL && source->dialect == DIALECT_NESL)
            add_step(session, STEP_EXPRESSION,
                     environment_add_item(environment, source, bind_to_it(session, item)));
        else if (mode == READ_ALL)
            add_step(session, STEP_EXPRESSION, environment_add_item(environment, source, item));
        break;
    case ITEM_IMPORT:
        read_import(reader, source, item);
        break;
    case ITEM_LOAD:
        read_load(reader, source, item);
        break;
    case ITEM_SET:
        read_set(session, item);
        break;
    case ITEM_STUB:
        if (item->is_broken)
            break;
        *vec_push(&session->arena, &session->stubs) = item;
        break;
    case ITEM_COMMAND:
        if (item->is_broken)
            break;
        diagnostics_warning(&session->diagnostics, item->span, "the command `%s` is not provided here; it is ignored",
                            names_text(&session->names, item->name));
        break;
    }
}

static void check_stubs(RunnelSession *session)
{
    for (uint32_t i = 0; i < session->stubs.count; i++) {
        const Item *stub = session->stubs.items[i];
        if (environment_lookup(&session->environment, stub->name, DIALECT_NESL, false, UINT32_MAX) == NULL)
            diagnostics_error(&session->diagnostics, ERROR_STUB_WITHOUT_BODY, stub->span,
                              "`%s` is declared, but never defined", names_text(&session->names, stub->name));
    }
    session->stubs.count = 0;
}

bool read_source(RunnelSession *session, Load *load)
{
    Reader reader = {.session = session};
    session->environment.load_start = session->environment.next_position;
    open_file(&reader, load->source, canonical_path(session, load->source->path), READ_ALL);
    while (reader.open.count > 0) {
        OpenFile *top = &vec_last(&reader.open);
        if (top->next == top->items.count)
            reader.open.count--;
        else
            read_item(&reader, top->source, top->items.list[top->next++], top->mode);
    }
    check_stubs(session);
    return true; /* whatever could be read goes on: more errors may be found */
}
