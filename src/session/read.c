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

static bool read_all(FILE *file, Text *text)
{
    char buffer[1 << 16];
    size_t count;
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_add_bytes(text, buffer, count);
    return !ferror(file);
}

Source *read_file(RunnelSession *session, const char *path, Span span)
{
    bool is_nesl = ends_with(path, ".nesl");
    if (!is_nesl && !ends_with(path, ".rnl"))
        return cannot_read(session, span, path, "the name of a program ends in .rnl or .nesl");
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return cannot_read(session, span, path, strerror(errno));
    if (is_too_large(file)) {
        fclose(file);
        return too_large(session, path, span);
    }
    Text text;
    text_init(&text, &session->memory);
    errno = 0;
    bool is_read = read_all(file, &text);
    int failure = errno;
    fclose(file);
    Source *source = NULL;
    if (!is_read)
        cannot_read(session, span, path, strerror(failure));
    else {
        source = sources_add(&session->sources, path, text_string(&text), text.length,
                             is_nesl ? DIALECT_NESL : DIALECT_RUNNEL);
        if (source == NULL)
            too_large(session, path, span);
    }
    text_free(&text);
    return source;
}

/* The path as the file system has it, so that a file is recognised however it is named. */
static const char *canonical_path(RunnelSession *session, const char *path)
{
    char resolved[PATH_MAX];
    const char *found = realpath(path, resolved);
    return arena_text(&session->arena, found == NULL ? path : found, strlen(found == NULL ? path : found));
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

static bool add_constant_text(RunnelSession *session, const Expr *expr, Text *out);

static bool add_constant_name(RunnelSession *session, const Expr *expr, Text *out)
{
    const Definition *found = environment_lookup(&session->environment, expr->name, DIALECT_NESL, false,
                                                 session->environment.next_position);
    bool is_bound = found != NULL && found->kind == DEFINITION_VALUE &&
                    found->owner->item->pattern->kind == PATTERN_NAME;
    return is_bound && add_constant_text(session, found->owner->item->value, out);
}

/* Texts, names bound to texts, and ++ of them. Chains are left-deep, but names of files are short: recursion is fine
 * within the parser's bound on nesting, and longer chains are refused. */
static bool add_constant_text(RunnelSession *session, const Expr *expr, Text *out)
{
    if (expr->kind == EXPR_STRING) {
        text_add_bytes(out, expr->text, expr->count);
        return true;
    }
    if (expr->kind == EXPR_NAME)
        return add_constant_name(session, expr, out);
    bool is_append = expr->kind == EXPR_BINARY && strcmp(names_text(&session->names, expr->name), "++") == 0;
    uint32_t depth = 0;
    for (const Expr *left = expr; left->kind == EXPR_BINARY; left = left->items[0])
        depth++;
    return is_append && depth < PARSE_DEPTH_MAX && add_constant_text(session, expr->items[0], out) &&
           add_constant_text(session, expr->items[1], out);
}

/* ---- forms ---- */

typedef enum ReadMode { READ_ALL, READ_DEFINITIONS } ReadMode;

static void read_items(RunnelSession *session, Source *source, ReadMode mode);

static bool contains(const char *const *paths, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(paths[i], path) == 0)
            return true;
    return false;
}

static void read_named_file(RunnelSession *session, const char *path, Span span, ReadMode mode)
{
    const char *canonical = canonical_path(session, path);
    if (mode == READ_DEFINITIONS && contains(session->files.items, session->files.count, canonical))
        return;
    if (contains(session->open_files.items, session->open_files.count, canonical)) {
        if (mode == READ_ALL)
            cannot_read(session, span, path, "it is being loaded already, so this would not end");
        return;
    }
    Source *source = read_file(session, path, span);
    if (source == NULL)
        return;
    *vec_push(&session->arena, &session->files) = canonical;
    *vec_push(&session->arena, &session->open_files) = canonical;
    read_items(session, source, mode);
    session->open_files.count--;
}

static void read_import(RunnelSession *session, const Source *source, const Item *item)
{
    const Expr *name = item->value;
    if (memchr(name->text, '\0', name->count) != NULL) {
        cannot_read(session, name->span, name->text, "the name holds a zero byte");
        return;
    }
    read_named_file(session, relative_path(session, source, name->text), name->span, READ_DEFINITIONS);
}

static void read_load(RunnelSession *session, const Source *source, const Item *item)
{
    Text path;
    text_init(&path, &session->memory);
    if (item->value == NULL || !add_constant_text(session, item->value, &path))
        diagnostics_error(&session->diagnostics, ERROR_CANNOT_READ_FILE, item->span,
                          "the argument of load is a text, or texts joined by ++");
    else {
        if (!ends_with(text_string(&path), ".nesl") && !ends_with(text_string(&path), ".rnl"))
            text_add(&path, ".nesl");
        const char *copy = arena_text(&session->arena, text_string(&path), path.length);
        read_named_file(session, relative_path(session, source, copy), item->span, READ_ALL);
    }
    text_free(&path);
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

static void read_item(RunnelSession *session, const Source *source, const Item *item, ReadMode mode)
{
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
        read_import(session, source, item);
        break;
    case ITEM_LOAD:
        read_load(session, source, item);
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

static void read_items(RunnelSession *session, Source *source, ReadMode mode)
{
    Items items = parse_source(&session->arena, &session->names, &session->diagnostics, source);
    for (uint32_t i = 0; i < items.count; i++)
        read_item(session, source, items.list[i], mode);
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
    session->environment.load_start = session->environment.next_position;
    const char *canonical = canonical_path(session, load->source->path);
    *vec_push(&session->arena, &session->files) = canonical;
    *vec_push(&session->arena, &session->open_files) = canonical;
    read_items(session, load->source, READ_ALL);
    session->open_files.count = 0;
    check_stubs(session);
    return true; /* whatever could be read goes on: more errors may be found */
}
