/* What operations there are, as text: for users, and as docs/operations.md. It is made from the table of
 * operations and from the library, where the documentation of a function stands in lines before it:
 *
 *     --- # Title          (in .nesl: %--- # Title %)    heads what follows, as SECTION does in ops.def
 *     --- what it does     (in .nesl: %--- what it does %)
 */
#include "session/session.h"

#include "session/operations.h"

#include <string.h>

/* The rows and the headings of ops.def in order; a heading has no operation. It also gives the order of the sections. */
typedef struct LayoutEntry {
    Op op;
    const char *title;
} LayoutEntry;

#define SECTION(title) {OP_COUNT, title},
#define OP(ID, ...) {OP_##ID, NULL},
static const LayoutEntry layout[] = {
#include "ops/ops.def"
};
#undef OP

/* One definition under one name. */
typedef struct Entry {
    const char *title;
    Name name;
    Definition *dialects[2]; /* what the name means in each, null where it means something else or nothing */
    const char *documentation;
} Entry;

typedef struct Operations {
    RunnelSession *session;
    VEC(Entry) entries;
    VEC(const char *) titles; /* in the order of their first entries */
} Operations;

/* ---- collecting ---- */

static void note_title(Operations *operations, const char *title)
{
    for (uint32_t i = 0; i < operations->titles.count; i++)
        if (strcmp(operations->titles.items[i], title) == 0)
            return;
    *vec_push(&operations->session->arena, &operations->titles) = title;
}

static bool is_same(const Definition *a, const Definition *b)
{
    return a == b || (a != NULL && a->kind == DEFINITION_OP && b->kind == DEFINITION_OP && a->op == b->op);
}

static void add_entry(Operations *operations, const char *title, Name name, const Definition *definition,
                      const char *documentation)
{
    const Environment *environment = &operations->session->environment;
    Entry entry = {.title = title, .name = name, .documentation = documentation};
    for (Dialect dialect = DIALECT_RUNNEL; dialect <= DIALECT_NESL; dialect++) {
        Definition *found = environment_lookup(environment, name, dialect, false, 0);
        if (is_same(found, definition))
            entry.dialects[dialect] = found;
    }
    if (entry.dialects[DIALECT_RUNNEL] == NULL && entry.dialects[DIALECT_NESL] == NULL)
        return;
    *vec_push(&operations->session->arena, &operations->entries) = entry;
    note_title(operations, title);
}

static void add_ops(Operations *operations)
{
    RunnelSession *session = operations->session;
    const char *title = "";
    for (size_t i = 0; i < sizeof layout / sizeof layout[0]; i++) {
        if (layout[i].title != NULL) {
            title = layout[i].title;
            note_title(operations, title);
            continue;
        }
        const OpInfo *info = &op_table[layout[i].op];
        const char *name = info->rnl_name != NULL ? info->rnl_name : info->nesl_name;
        if (name != NULL)
            add_entry(operations, title, names_of(&session->names, name),
                      session->environment.ops[DIALECT_RUNNEL][layout[i].op], info->documentation);
    }
}

/* ---- documentation in the library ---- */

/* What a line of documentation says, and how long that is; null for other lines. */
static const char *documentation_line(const Source *source, const char *line, size_t length, size_t *text_length)
{
    bool is_nesl = source->dialect == DIALECT_NESL;
    const char *mark = is_nesl ? "%---" : "---";
    size_t mark_length = strlen(mark);
    if (length < mark_length || memcmp(line, mark, mark_length) != 0)
        return NULL;
    const char *start = line + mark_length, *end = line + length - (is_nesl ? 1 : 0); /* without the closing % */
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    *text_length = (size_t)(end - start);
    return start;
}

/* The heading above a position, and the documentation right before it, "" without. */
static void find_documentation(RunnelSession *session, Span span, const char **title, const char **documentation)
{
    Location location = sources_locate(&session->sources, span.start);
    const Source *source = location.source;
    Text text;
    text_init(&text, &session->memory);
    *title = "";
    for (uint32_t i = 0; i + 1 < location.line; i++) {
        const char *line = source->text + source->line_starts[i];
        size_t length = source->line_starts[i + 1] - source->line_starts[i] - 1, text_length;
        const char *start = documentation_line(source, line, length, &text_length);
        if (start == NULL) {
            text_clear(&text);
        } else if (text_length > 2 && start[0] == '#') {
            *title = arena_text(&session->arena, start + 2, text_length - 2);
        } else {
            text_add(&text, text.length > 0 ? " " : "");
            text_add_bytes(&text, start, text_length);
        }
    }
    *documentation = arena_text(&session->arena, text_string(&text), text.length);
    text_free(&text);
}

static void add_library(Operations *operations, Dialect dialect)
{
    RunnelSession *session = operations->session;
    for (uint32_t i = 0; i < session->environment.library.count; i++) {
        const Definition *definition = session->environment.library.items[i];
        const char *title, *documentation;
        if (definition->dialect != dialect)
            continue;
        find_documentation(session, definition->item->span, &title, &documentation);
        add_entry(operations, title, definition->name, definition, documentation);
    }
}

static Operations collect(RunnelSession *session)
{
    Operations operations = {.session = session};
    add_ops(&operations);
    add_library(&operations, DIALECT_RUNNEL);
    add_library(&operations, DIALECT_NESL);
    return operations;
}

/* ---- writing ---- */

/* Types in .nesl are those that its programs see: integers are int, floats float. */
static TypeId type_in(RunnelSession *session, const Definition *definition, Dialect dialect)
{
    TypeId *types = ARENA_ARRAY(&session->arena, TypeId, definition->variable_count);
    for (uint32_t i = 0; i < definition->variable_count; i++) {
        ClassSet set = type_variable_of(&session->types, definition->variables[i])->class_set;
        bool is_narrow = dialect == DIALECT_NESL && (set == CLASS_INTEGER || set == CLASS_FLOATING);
        types[i] = !is_narrow ? definition->variables[i] : set == CLASS_INTEGER ? TYPE_INT : TYPE_FLOAT;
    }
    return type_substitute(&session->types, definition->type, types, definition->variable_count);
}

static void add_type(RunnelSession *session, Definition *definition, Dialect dialect, Text *out)
{
    if (definition->kind == DEFINITION_OP)
        infer_built_in(&session->environment, definition);
    else
        infer_definitions(&session->environment, &definition, 1);
    TypeId type = type_in(session, definition, dialect);
    if (definition->is_constant)
        type = type_node(&session->types, type)->b; /* () -> t */
    type_print(&session->types, type, dialect == DIALECT_NESL ? TYPE_STYLE_NESL : TYPE_STYLE_RUNNEL, out);
}

/* In a table's cell a bar is escaped. */
static void add_cell_text(const char *text, Text *out)
{
    for (; *text != '\0'; text++)
        text_addf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

static void add_row(RunnelSession *session, const Entry *entry, Text *out)
{
    text_addf(out, "| `%s` |", names_text(&session->names, entry->name));
    for (Dialect dialect = DIALECT_RUNNEL; dialect <= DIALECT_NESL; dialect++) {
        text_add(out, " ");
        if (entry->dialects[dialect] != NULL) {
            text_add(out, "`");
            add_type(session, entry->dialects[dialect], dialect, out);
            text_add(out, "` ");
        }
        text_add(out, "|");
    }
    text_add(out, " ");
    add_cell_text(entry->documentation, out);
    text_add(out, " |\n");
}

static const char introduction[] =
    "# Operations\n"
    "\n"
    "Made by `runnel help operations` from `src/ops/ops.def` and `lib/`; a test compares.\n"
    "\n"
    "The columns give the type of each name in the two dialects; an empty one means that the name is not there or has another "
    "row. `c[a]` and `d[a]` stand for a vector or a sequence, and .nesl only has vectors. `runnel help NAME` shows one of them.\n"
    "\n"
    "Besides these there are forms of their own: `log(x)` is `ln(x)` and `log(x, b)` is `log_base(x, b)`; `time(e)` is the value of "
    "`e` with the seconds of processor time it took; `s || n` is `pad(s, n)`; `&n` is `iota(n)`; `v[i]` and `v[i:j]` are `elt` and "
    "`subseq`.\n";

static void add_section(const Operations *operations, const char *title, Text *out)
{
    text_addf(out, "\n## %s\n\n| name | .rnl | .nesl | |\n|---|---|---|---|\n", title);
    for (uint32_t i = 0; i < operations->entries.count; i++)
        if (strcmp(operations->entries.items[i].title, title) == 0)
            add_row(operations->session, &operations->entries.items[i], out);
}

void operations_write_all(RunnelSession *session, Text *out)
{
    Operations operations = collect(session);
    text_add(out, introduction);
    for (uint32_t i = 0; i < operations.titles.count; i++)
        add_section(&operations, operations.titles.items[i], out);
}

bool operations_write_one(RunnelSession *session, const char *name, Text *out)
{
    static const char *const labels[] = {[DIALECT_RUNNEL] = "", [DIALECT_NESL] = "  in .nesl "};
    Operations operations = collect(session);
    Name wanted = names_of(&session->names, name);
    bool is_found = false;
    for (uint32_t i = 0; i < operations.entries.count; i++) {
        const Entry *entry = &operations.entries.items[i];
        if (entry->name != wanted)
            continue;
        is_found = true;
        for (Dialect dialect = DIALECT_RUNNEL; dialect <= DIALECT_NESL; dialect++)
            if (entry->dialects[dialect] != NULL) {
                text_addf(out, "%s%s : ", labels[dialect], name);
                add_type(session, entry->dialects[dialect], dialect, out);
                text_add(out, "\n");
            }
        text_addf(out, "  %s\n", entry->documentation);
    }
    return is_found;
}

const char *operations_nearest(RunnelSession *session, const char *name)
{
    Operations operations = collect(session);
    const char *nearest = NULL;
    uint32_t distance = (uint32_t)strlen(name) / 3 + 1; /* a third of it may be wrong */
    for (uint32_t i = 0; i < operations.entries.count; i++) {
        const char *known = names_text(&session->names, operations.entries.items[i].name);
        uint32_t further = names_distance(name, known, distance);
        if (further < distance) {
            nearest = known;
            distance = further;
        }
    }
    return nearest;
}
