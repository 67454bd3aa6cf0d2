/* How it is decided.
 *
 * Every sequence is traversed once. A Space is what is traversed: the points of a sequence below one parent point. Spaces made from
 * others in one pass (a map, a filter, a concatenation) are traversed together with them; a space made from nothing (iota, seq,
 * an input) is a source of its own. Two things can go wrong:
 *
 *  1. Two spaces that are not the same must be walked in step (zip, part, comparison), but hang together already, by a common
 *     source or by an earlier meeting. Nothing bounds how far one runs ahead of the other. The graph of sources and meetings must
 *     be a forest: union-find over sources.
 *
 *  2. Something is needed before it can be there. A traversal has two events, its start and its end; a concrete value has the
 *     event of its being available: after the end of what it sums up. A value used inside a traversal is there before its start.
 *     `a ++ b` and the printed result put one traversal after another. The order of events must have no cycle.
 *
 * A level is the depth of enclosing comprehensions: events order what happens for one point of the level's parent. Guards and
 * branches stay on the level of their surroundings, where they may use sequences freely. */
#include "core/streamability.h"

#include "core/materialize.h"

/* ---- what is known of values ---- */

typedef uint32_t Event; /* 0: always available, orders nothing */

typedef struct Space {
    struct Space *same;      /* union-find: spaces with the same points */
    struct Space *connected; /* union-find: spaces that hang together by sources and meetings */
    struct Space *parts_of;  /* the inner space of part(s): put together it is s again */
    Event start, end;
    uint32_t level;
} Space;

typedef enum KnownKind { KNOWN_CONCRETE, KNOWN_PAIR, KNOWN_SEQUENCE } KnownKind;

typedef struct Known {
    KnownKind kind;
    Event available;                /* CONCRETE */
    Space *space;                   /* SEQUENCE */
    const struct Known *parts[2];   /* PAIR: both; SEQUENCE: parts[0] is the element */
} Known;

/* ---- the order of events ---- */

typedef struct Edge {
    Event to;
    bool is_strict;
    Span span; /* what in the program asks for this order */
} Edge;

typedef struct EventNode {
    Event same; /* union-find: events that happen together */
    VEC(Edge) edges;
    uint32_t visit;
} EventNode;

/* A comprehension whose body is being looked at. */
typedef struct Enclosing {
    const Space *space;
    uint32_t level; /* of the body */
    Span span;
    const CoreAtom *sequence;
} Enclosing;

typedef struct VariableFact {
    const Known *known;
    uint32_t level;
    const CoreStatement *statement; /* that binds it; null for parameters */
    CoreVar argument;               /* parameters: what was passed, or the sequence they are elements of; 0 if unknown */
    Span span;
} VariableFact;

/* A call that was looked at: the same function, given the same, gives the same. */
typedef struct CallMemo {
    struct CallMemo *older; /* of the same function */
    const Known **arguments;
    const Space *around; /* the innermost comprehension; null outside of any */
    const Known *result;
    uint32_t run; /* of the item or function being checked: facts do not outlive it */
} CallMemo;

typedef struct Checker {
    const CoreProgram *program;
    const Types *types;
    Arena *arena;
    Diagnostics *diagnostics;
    VEC(EventNode) events; /* [0] unused */
    VEC(VariableFact) facts; /* by CoreVar */
    uint32_t *uses;          /* by CoreVar: how often it is named; null until a failure asks */
    CallMemo **calls;        /* by function */
    uint32_t run;
    VEC(Enclosing) enclosing;
    uint32_t level;
    uint32_t visit;
    uint32_t call_depth;
    uint32_t looked_into; /* calls that make sequences from nothing */
    bool has_failed;
    bool is_silent;  /* a failure is not reported: what would mend it is in `culprit` */
    CoreVar culprit; /* the sequence to hold in memory; 0 if there is none */
} Checker;

enum { CALL_DEPTH_MAX = 500 };

static const Known always = {.kind = KNOWN_CONCRETE};

/* ---- reporting ---- */

/* ---- what is used twice ---- */

static void count_uses(Checker *c, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count; i++) {
        const CoreStatement *statement = &block->statements[i];
        for (uint32_t a = 0; a < statement->argument_count; a++)
            if (!statement->arguments[a].is_constant)
                c->uses[statement->arguments[a].variable]++;
        for (uint32_t b = 0; b < 2; b++)
            if (statement->blocks[b] != NULL)
                count_uses(c, statement->blocks[b]);
    }
    if (!block->result.is_constant)
        c->uses[block->result.variable]++;
}

/* Only a failure asks for it, so it is counted then. */
static void count_all_uses(Checker *c)
{
    if (c->uses != NULL)
        return;
    const CoreProgram *program = c->program;
    c->uses = ARENA_ARRAY(c->arena, uint32_t, program->variables.count);
    for (uint32_t i = 0; i < program->items.count; i++)
        count_uses(c, program->items.items[i].block);
    for (uint32_t i = 1; i < program->functions.count; i++)
        count_uses(c, program->functions.items[i]->body);
}

typedef VEC(CoreVar) VariableList;

static void add_sequences(const Checker *c, VariableList *list, const CoreAtom *atoms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!atoms[i].is_constant && !type_is_concrete(c->types, atoms[i].type))
            *vec_push(c->arena, list) = atoms[i].variable;
}

/* What a variable is made from, as far as sequences go: what the statement that binds it uses and its blocks give. */
static void add_origins(const Checker *c, VariableList *list, const VariableFact *fact)
{
    if (fact->argument != 0)
        *vec_push(c->arena, list) = fact->argument;
    const CoreStatement *statement = fact->statement;
    if (statement == NULL)
        return;
    add_sequences(c, list, statement->arguments, statement->argument_count);
    for (uint32_t b = 0; b < 2; b++)
        if (statement->blocks[b] != NULL)
            add_sequences(c, list, &statement->blocks[b]->result, 1);
}

/* The sequence nearest to the given ones, on the way back to their sources, that is named more than once and that a vector can
 * hold: then it could be traversed more than once. 0 if there is none. */
static CoreVar find_shared(const Checker *c, const CoreAtom *const *atoms, uint32_t count)
{
    VariableList list = {0};
    for (uint32_t i = 0; i < count; i++)
        if (atoms[i] != NULL)
            add_sequences(c, &list, atoms[i], 1);
    for (uint32_t next = 0; next < list.count && next < c->program->variables.count; next++) {
        CoreVar candidate = list.items[next];
        if (c->uses[candidate] > 1 && materialize_is_possible(c->program, candidate))
            return candidate;
        if (candidate < c->facts.count)
            add_origins(c, &list, &c->facts.items[candidate]);
    }
    return 0;
}

static Span definition_span(const Checker *c, CoreVar variable)
{
    return variable < c->facts.count ? c->facts.items[variable].span : (Span){0};
}

/* What asks for an order that may be impossible. */
typedef struct Demand {
    const char *problem;
    Span span;
    const char *second; /* a note on the second traversal, or null */
    Span second_span;
    const CoreAtom *sequences[2]; /* what is traversed; null for none */
} Demand;

static void report(Checker *c, const Demand *demand, Span first)
{
    c->has_failed = true;
    count_all_uses(c);
    c->culprit = find_shared(c, demand->sequences, 2);
    if (c->is_silent)
        return;
    diagnostics_error(c->diagnostics, ERROR_NOT_STREAMABLE, demand->span, "%s", demand->problem);
    if (first.start != 0)
        diagnostics_note(c->diagnostics, first, "the whole sequence is traversed here first");
    if (demand->second != NULL)
        diagnostics_note(c->diagnostics, demand->second_span, "%s", demand->second);
    Span span = definition_span(c, c->culprit);
    if (span.start != 0)
        diagnostics_note(c->diagnostics, span,
                         "tab(...) around this would hold the sequence in memory, so that it can be traversed twice");
}

/* ---- events ---- */

static Event new_event(Checker *c)
{
    Event event = c->events.count;
    *vec_push(c->arena, &c->events) = (EventNode){.same = event};
    return event;
}

static Event find_event(const Checker *c, Event event)
{
    EventNode *nodes = c->events.items;
    while (nodes[event].same != event)
        event = nodes[event].same = nodes[nodes[event].same].same;
    return event;
}

typedef struct PathStep {
    Event event;
    uint32_t next_edge;
    bool is_strict; /* something on the way here is */
} PathStep;

/* On a path that leads through a traversal, from its start to its end, what follows it: whatever needs its end. */
static Span span_after_traversal(const Checker *c, const PathStep *path, uint32_t count)
{
    Span span = {0};
    for (uint32_t i = 0; i + 1 < count; i++) {
        const Edge *edge = &c->events.items[path[i].event].edges.items[path[i].next_edge - 1];
        if (i > 0 && path[i].is_strict)
            return edge->span;
        span = edge->span;
    }
    return span;
}

/* Whether there is a path between two events with a strict step in it, and why. */
static bool find_strict_path(Checker *c, Event from, Event to, Span *why)
{
    from = find_event(c, from);
    to = find_event(c, to);
    VEC(PathStep) path = {0};
    /* visited once without and once with a strict step behind: two marks per search */
    uint32_t plain = c->visit + 1, strict = c->visit + 2;
    c->visit += 2;
    *vec_push(c->arena, &path) = (PathStep){.event = from};
    c->events.items[from].visit = plain;
    while (path.count > 0) {
        PathStep *top = &vec_last(&path);
        if (top->event == to && top->is_strict) {
            *why = span_after_traversal(c, path.items, path.count);
            return true;
        }
        EventNode *node = &c->events.items[top->event];
        if (top->next_edge == node->edges.count) {
            path.count--;
            continue;
        }
        Edge edge = node->edges.items[top->next_edge++];
        edge.to = find_event(c, edge.to);
        bool becomes_strict = top->is_strict || edge.is_strict;
        uint32_t *seen = &c->events.items[edge.to].visit;
        if (*seen == strict || (*seen == plain && !becomes_strict))
            continue;
        *seen = becomes_strict ? strict : plain;
        *vec_push(c->arena, &path) = (PathStep){.event = edge.to, .is_strict = becomes_strict};
    }
    return false;
}

static void add_edge(Checker *c, Event from, Event to, bool is_strict, Span span)
{
    *vec_push(c->arena, &c->events.items[find_event(c, from)].edges) = (Edge){.to = to, .is_strict = is_strict, .span = span};
}

/* `from` happens no later than `to`; reports it if that cannot be. */
static void demand_order(Checker *c, Event from, Event to, const Demand *demand)
{
    if (from == 0 || to == 0 || from == to || c->has_failed)
        return;
    Span first = {0};
    if (find_strict_path(c, to, from, &first))
        report(c, demand, first);
    else
        add_edge(c, from, to, false, demand->span);
}

/* Every traversal has an edge from its start to its end; many that become one need it once. */
static bool is_among_first(const Checker *c, const EventNode *node, const Edge *edge)
{
    enum { LOOKED_AT = 4 };
    for (uint32_t i = 0; i < node->edges.count && i < LOOKED_AT; i++) {
        const Edge *other = &node->edges.items[i];
        if (find_event(c, other->to) == find_event(c, edge->to) && (other->is_strict || !edge->is_strict))
            return true;
    }
    return false;
}

/* Two events become one: the edges of the one with fewer move to the other. */
static void demand_together(Checker *c, Event a, Event b, const Demand *demand)
{
    a = find_event(c, a);
    b = find_event(c, b);
    if (a == b || c->has_failed)
        return;
    Span first = {0};
    if (find_strict_path(c, b, a, &first) || find_strict_path(c, a, b, &first)) {
        report(c, demand, first);
        return;
    }
    bool is_swapped = c->events.items[a].edges.count < c->events.items[b].edges.count;
    EventNode *kept = &c->events.items[is_swapped ? b : a], *moved = &c->events.items[is_swapped ? a : b];
    for (uint32_t i = 0; i < moved->edges.count; i++)
        if (!is_among_first(c, kept, &moved->edges.items[i]))
            *vec_push(c->arena, &kept->edges) = moved->edges.items[i];
    moved->same = is_swapped ? b : a;
}

/* The sequences that a statement traverses, for messages. */
typedef struct Walked {
    const CoreAtom *first, *second; /* null for none */
} Walked;

/* The same where one traversal comes after another. */
static Demand demand_of(Span span, Walked walked)
{
    return (Demand){.problem = "this cannot be computed in one pass: a sequence is needed again after all of it was traversed",
                    .span = span,
                    .sequences = {walked.first, walked.second}};
}

static void order(Checker *c, Event from, Event to, Span span, Walked walked)
{
    Demand demand = demand_of(span, walked);
    demand_order(c, from, to, &demand);
}

static Event later_of(Checker *c, Event a, Event b, Span span)
{
    if (a == 0 || b == 0 || a == b)
        return a == 0 ? b : a;
    Event both = new_event(c);
    add_edge(c, a, both, false, span);
    add_edge(c, b, both, false, span);
    return both;
}

/* ---- spaces ---- */

static Space *find_same(Space *space)
{
    while (space->same != space)
        space = space->same = space->same->same;
    return space;
}

static Space *find_connected(Space *space)
{
    while (space->connected != space)
        space = space->connected = space->connected->connected;
    return space;
}

static void connect(Space *a, Space *b)
{
    find_connected(b)->connected = find_connected(a);
}

static Space *add_space(Checker *c, uint32_t level)
{
    Space *space = ARENA_NEW(c->arena, Space);
    *space = (Space){.same = space, .connected = space, .level = level};
    return space;
}

/* A space with a traversal of its own. */
static Space *new_source(Checker *c, uint32_t level, Span span)
{
    Space *space = add_space(c, level);
    space->start = new_event(c);
    space->end = new_event(c);
    add_edge(c, space->start, space->end, true, span);
    return space;
}

/* A space of other points that is traversed together with `from`. */
static Space *derived_space(Checker *c, Space *from)
{
    Space *space = add_space(c, from->level);
    space->start = from->start;
    space->end = from->end;
    connect(from, space);
    return space;
}

/* Two spaces are walked in step, or one by the other's flags. */
static void meet(Checker *c, Space *a, Space *b, bool are_equal, Span span, Walked walked)
{
    if (find_same(a) == find_same(b) || c->has_failed)
        return;
    if (find_connected(a) == find_connected(b)) {
        Demand demand = {.problem = "this cannot be computed in one pass: sequences of different lengths that come from the same "
                                    "source are needed in step",
                         .span = span,
                         .sequences = {walked.first, walked.second}};
        report(c, &demand, (Span){0});
        return;
    }
    connect(a, b);
    Demand demand = demand_of(span, walked);
    demand_together(c, a->end, b->end, &demand);
    demand_together(c, a->start, b->start, &demand);
    if (are_equal)
        find_same(b)->same = find_same(a);
}

/* ---- facts ---- */

static const Known *concrete(Checker *c, Event available)
{
    if (available == 0)
        return &always;
    Known *known = ARENA_NEW(c->arena, Known);
    *known = (Known){.kind = KNOWN_CONCRETE, .available = available};
    return known;
}

static const Known *sequence_of(Checker *c, Space *space, const Known *element)
{
    Known *known = ARENA_NEW(c->arena, Known);
    *known = (Known){.kind = KNOWN_SEQUENCE, .space = space, .parts = {element, NULL}};
    return known;
}

static const Known *pair_of(Checker *c, const Known *first, const Known *rest)
{
    if (first->kind == KNOWN_CONCRETE && rest->kind == KNOWN_CONCRETE)
        return concrete(c, later_of(c, first->available, rest->available, (Span){0}));
    Known *known = ARENA_NEW(c->arena, Known);
    *known = (Known){.kind = KNOWN_PAIR, .parts = {first, rest}};
    return known;
}

/* A value of this type that comes from nowhere known: every sequence in it is a source. */
static const Known *unknown_of(Checker *c, TypeId type, uint32_t level, Event available, Span span)
{
    type = type_representation((Types *)c->types, type);
    if (type_is_concrete(c->types, type))
        return concrete(c, available);
    if (type_kind(c->types, type) == TYPE_PAIR) {
        const Known *first = unknown_of(c, type_first(c->types, type), level, available, span);
        return pair_of(c, first, unknown_of(c, type_rest(c->types, type), level, available, span));
    }
    Space *space = new_source(c, level, span);
    if (available != 0)
        add_edge(c, available, space->start, false, span);
    return sequence_of(c, space, unknown_of(c, type_element(c->types, type), level + 1, 0, span));
}

static VariableFact *bind(Checker *c, CoreVar variable, const Known *known, Span span)
{
    while (c->facts.count <= variable)
        *vec_push(c->arena, &c->facts) = (VariableFact){0};
    c->facts.items[variable] = (VariableFact){.known = known, .level = c->level, .span = span};
    return &c->facts.items[variable];
}

/* The outermost comprehension between a level and here; null if there is none. */
static const Enclosing *crossed(const Checker *c, uint32_t level)
{
    for (uint32_t i = 0; i < c->enclosing.count; i++)
        if (c->enclosing.items[i].level > level)
            return &c->enclosing.items[i];
    return NULL;
}

/* A concrete value of the surroundings is there before the traversal that uses it starts. */
static const Known *read_atom(Checker *c, const CoreAtom *atom, Span span)
{
    if (atom->is_constant || c->program->variables.items[atom->variable].is_global)
        return &always;
    if (atom->variable >= c->facts.count || c->facts.items[atom->variable].known == NULL)
        bug("streamability", "a variable is used before it is bound");
    const VariableFact *fact = &c->facts.items[atom->variable];
    const Enclosing *traversal = crossed(c, fact->level);
    if (traversal == NULL || fact->known->kind != KNOWN_CONCRETE)
        return fact->known;
    Demand demand = {.problem = "this cannot be computed in one pass: a value that is known only when a whole sequence was traversed "
                                "is used inside a traversal of the same sequence",
                     .span = span,
                     .second = "it is used inside this traversal",
                     .second_span = traversal->span,
                     .sequences = {traversal->sequence, NULL}};
    demand_order(c, fact->known->available, traversal->space->start, &demand);
    return &always;
}

/* A sequence of an outer level, reached through a guard, is traversed within the comprehension around it. */
static void traverse(Checker *c, const Space *space, Span span, Walked walked)
{
    const Enclosing *around = crossed(c, space->level);
    if (around == NULL)
        return;
    order(c, around->space->start, space->start, span, walked);
    order(c, space->end, around->space->end, span, walked);
}

static Event available_of(Checker *c, const Known *known, Span span)
{
    switch (known->kind) {
    case KNOWN_CONCRETE:
        return known->available;
    case KNOWN_PAIR:
        return later_of(c, available_of(c, known->parts[0], span), available_of(c, known->parts[1], span), span);
    case KNOWN_SEQUENCE:
        break;
    }
    return 0;
}

/* What a traversal gives when it has ended. */
static const Known *at_end(Checker *c, Space *space, Event others, Span span, Walked walked)
{
    traverse(c, space, span, walked);
    Event done = new_event(c);
    add_edge(c, space->end, done, false, span);
    return concrete(c, later_of(c, done, others, span));
}

/* ---- meetings ---- */

static const Known *merge(Checker *c, const Known *a, const Known *b, Event decided, Span span);

/* Sequences of two branches: one of them is traversed. */
static const Known *merge_sequences(Checker *c, const Known *a, const Known *b, Event decided, Span span)
{
    if (a->space == b->space)
        return sequence_of(c, a->space, merge(c, a->parts[0], b->parts[0], 0, span));
    Space *either = new_source(c, a->space->level, span);
    const Space *branches[2] = {a->space, b->space};
    if (decided != 0)
        add_edge(c, decided, either->start, false, span);
    for (uint32_t i = 0; i < 2; i++) {
        add_edge(c, either->start, branches[i]->start, false, span);
        add_edge(c, branches[i]->end, either->end, false, span);
        connect(either, (Space *)branches[i]);
    }
    return sequence_of(c, either, merge(c, a->parts[0], b->parts[0], 0, span));
}

static const Known *merge(Checker *c, const Known *a, const Known *b, Event decided, Span span)
{
    if (a->kind != b->kind) /* a pair of which one side is concrete as a whole */
        return a->kind == KNOWN_CONCRETE ? b : a;
    switch (a->kind) {
    case KNOWN_CONCRETE:
        return concrete(c, later_of(c, decided, later_of(c, a->available, b->available, span), span));
    case KNOWN_PAIR: {
        const Known *first = merge(c, a->parts[0], b->parts[0], decided, span);
        return pair_of(c, first, merge(c, a->parts[1], b->parts[1], decided, span));
    }
    case KNOWN_SEQUENCE:
        return merge_sequences(c, a, b, decided, span);
    }
    return a;
}

/* One traversal after another: `a ++ b`, sequences of sequences written down. */
static const Known *join(Checker *c, const Known *a, const Known *b, Span span, Walked walked)
{
    Space *both = new_source(c, a->space->level, span);
    add_edge(c, both->start, a->space->start, false, span);
    order(c, a->space->end, b->space->start, span, walked);
    if (!c->has_failed)
        order(c, b->space->end, both->end, span, walked);
    connect(both, a->space);
    connect(both, b->space);
    return sequence_of(c, both, merge(c, a->parts[0], b->parts[0], 0, span));
}

/* The inner sequences put together. */
static const Known *flatten(Checker *c, const Known *outer, Span span, Walked walked)
{
    const Known *inner = outer->parts[0];
    if (inner->kind != KNOWN_SEQUENCE) /* a sequence of vectors */
        return sequence_of(c, derived_space(c, outer->space), &always);
    Space *within = inner->space;
    Space *space = derived_space(c, outer->space);
    if (within->parts_of != NULL && outer->space->level == within->parts_of->level) {
        find_same(space)->same = find_same(within->parts_of);
    } else if (within->level == outer->space->level) {
        /* a guard's: what it holds is traversed on this level */
        space->start = new_event(c);
        space->end = new_event(c);
        add_edge(c, space->start, space->end, true, span);
        order(c, outer->space->start, space->start, span, walked);
        order(c, space->start, within->start, span, walked);
        order(c, within->end, space->end, span, walked);
        connect(space, within);
    }
    return sequence_of(c, space, inner->parts[0]);
}

/* One point for each part of `space`; its elements below them. */
static const Known *part(Checker *c, const Known *elements, Space *flags, bool is_one_flag_each, Span span,
                         Walked walked)
{
    Space *space = elements->space;
    meet(c, space, flags, is_one_flag_each, span, walked);
    Space *outer = derived_space(c, space);
    Space *inner = new_source(c, space->level + 1, span);
    inner->parts_of = space;
    return sequence_of(c, outer, sequence_of(c, inner, elements->parts[0]));
}

/* ---- operations ---- */

enum { OP_ARGUMENTS_MAX = 8 };

typedef struct OpFacts {
    const Known *arguments[OP_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t sequence_count;
    uint32_t first; /* the first argument that is a sequence */
    Event others;   /* when the concrete arguments are available */
} OpFacts;

static OpFacts read_arguments(Checker *c, const CoreStatement *statement)
{
    OpFacts facts = {.count = statement->argument_count};
    if (facts.count > OP_ARGUMENTS_MAX)
        bug("streamability", "%s has %u arguments", op_name(statement->op), facts.count);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        facts.arguments[i] = read_atom(c, &statement->arguments[i], statement->span);
        if (facts.arguments[i]->kind == KNOWN_SEQUENCE) {
            if (facts.sequence_count++ == 0)
                facts.first = i;
        } else {
            facts.others = later_of(c, facts.others, available_of(c, facts.arguments[i], statement->span), statement->span);
        }
    }
    for (uint32_t i = 0; i < statement->captured_count; i++)
        facts.others = later_of(
            c, facts.others, available_of(c, read_atom(c, &statement->captured[i], statement->span), statement->span),
            statement->span);
    return facts;
}

/* Operations whose result has an element for each element of the sequence they are given. */
static bool keeps_space(Op op)
{
    switch ((int)op) {
#define FOLD_OPERATOR(OPERATOR, on_scalars, reduction, scan, inclusive)                                                \
    case OP_##scan:                                                                                                    \
    case OP_##inclusive:
#include "ops/fold_operators.def"
#undef FOLD_OPERATOR
    case OP_SCAN:
    case OP_SCAN_INCLUSIVE:
    case OP_MULTISCAN:
    case OP_PREVIOUS:
    case OP_NEXT:
    case OP_READ:
    case OP_SEQ:
        return true;
    }
    return false;
}

/* A sequence of one element that holds a sequence. */
static const Known *single_of(Checker *c, const Known *element, Span span)
{
    return sequence_of(c, new_source(c, c->level, span), element);
}

/* Two sequences advance with a third, or in turn: not in step, but neither runs ahead of what both depend on. */
static const Known *alternate(Checker *c, const Known *a, const Known *b, Space *space, Span span)
{
    return sequence_of(c, space, merge(c, a->parts[0], b->parts[0], 0, span));
}

static const Known *flag_merge(Checker *c, const CoreStatement *statement, const OpFacts *facts)
{
    Space *flags = facts->arguments[0]->space;
    for (uint32_t i = 1; i < facts->count; i++)
        meet(c, flags, facts->arguments[i]->space, false, statement->span,
             (Walked){&statement->arguments[i], &statement->arguments[0]});
    return alternate(c, facts->arguments[1], facts->arguments[2], flags, statement->span);
}

static const Known *op_on_two(Checker *c, const CoreStatement *statement, const OpFacts *facts)
{
    const Known *a = facts->arguments[0], *b = facts->arguments[1];
    Walked walked = {&statement->arguments[1], &statement->arguments[0]};
    Span span = statement->span;
    switch ((int)statement->op) {
    case OP_APPEND:
        return join(c, a, b, span, walked);
    case OP_CONS:
        return join(c, single_of(c, a, span), b, span, walked);
    case OP_SNOC:
        return join(c, a, single_of(c, b, span), span, walked);
    case OP_INTERLEAVE:
        meet(c, a->space, b->space, false, span, walked);
        return alternate(c, a, b, derived_space(c, a->space), span);
    case OP_FLAG_MERGE:
        return flag_merge(c, statement, facts);
    case OP_PARTITION: /* counts are as many as elements only by chance: they are never in step */
        return part(c, a, derived_space(c, b->space), false, span, walked);
    case OP_PART:
        return part(c, a, b->space, false, span, walked);
    case OP_FLAG_PARTITION:
        return part(c, a, b->space, true, span, walked);
    }
    bool is_comparison = type_is_concrete(c->types, c->program->variables.items[statement->target].type);
    meet(c, a->space, b->space, !is_comparison, span, walked);
    if (is_comparison)
        return at_end(c, a->space, facts->others, span, walked);
    return sequence_of(c, a->space, pair_of(c, a->parts[0], b->parts[0]));
}

static const Known *op_on_one(Checker *c, const CoreStatement *statement, const OpFacts *facts)
{
    const Known *given = facts->arguments[facts->first];
    Walked walked = {.first = &statement->arguments[facts->first]};
    Span span = statement->span;
    TypeId result = c->program->variables.items[statement->target].type;
    if (statement->op == OP_ELEMENT_IDENTITY)
        return &always; /* only the type matters */
    if (statement->op == OP_EMPTY)
        return concrete(c, given->space->start);
    if (statement->op == OP_CONCAT || statement->op == OP_FLATTEN)
        return flatten(c, given, span, walked);
    if (statement->op == OP_THE && given->parts[0]->kind != KNOWN_CONCRETE)
        return given->parts[0]->kind == KNOWN_SEQUENCE ? flatten(c, given, span, walked) : given->parts[0];
    if (type_is_concrete(c->types, result))
        return at_end(c, given->space, facts->others, span, walked);
    order(c, facts->others, given->space->start, span, walked);
    Space *space = keeps_space(statement->op) ? given->space : derived_space(c, given->space);
    return sequence_of(c, space, given->parts[0]);
}

static const Known *check_op(Checker *c, const CoreStatement *statement)
{
    OpFacts facts = read_arguments(c, statement);
    if (facts.sequence_count == 0)
        return unknown_of(c, c->program->variables.items[statement->target].type, c->level, facts.others,
                          statement->span);
    return facts.sequence_count == 1 ? op_on_one(c, statement, &facts) : op_on_two(c, statement, &facts);
}

/* ---- statements ---- */

static const Known *check_block(Checker *c, const CoreBlock *block);

static const Known *check_make(Checker *c, const CoreStatement *statement)
{
    TypeId type = c->program->variables.items[statement->target].type;
    Span span = statement->span;
    Event available = 0;
    const Known *joined = NULL;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const Known *element = read_atom(c, &statement->arguments[i], span);
        available = later_of(c, available, available_of(c, element, span), span);
        if (element->kind == KNOWN_CONCRETE && type_is_concrete(c->types, type_element(c->types, type)))
            continue;
        Space *one = new_source(c, c->level, span);
        const Known *single = sequence_of(c, one, element);
        joined = joined == NULL ? single : join(c, joined, single, span, (Walked){.first = &statement->arguments[i]});
    }
    if (joined != NULL)
        return joined;
    return unknown_of(c, type, c->level, available, span);
}

static const Known *check_guard(Checker *c, const CoreStatement *statement)
{
    Event condition = available_of(c, read_atom(c, &statement->arguments[0], statement->span), statement->span);
    Space *space = new_source(c, c->level, statement->span);
    const Known *element = check_block(c, statement->blocks[0]);
    Event ready = later_of(c, condition, available_of(c, element, statement->span), statement->span);
    order(c, ready, space->start, statement->span, (Walked){0});
    return sequence_of(c, space, element);
}

static const Known *check_if(Checker *c, const CoreStatement *statement)
{
    Event condition = available_of(c, read_atom(c, &statement->arguments[0], statement->span), statement->span);
    const Known *first = check_block(c, statement->blocks[0]);
    const Known *second = check_block(c, statement->blocks[1]);
    return merge(c, first, second, condition, statement->span);
}

/* The sequences in lock step; gives the first, all being the same space now. */
static const Known *zip_arguments(Checker *c, const CoreStatement *statement, const Known **elements)
{
    const Known *first = NULL;
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const Known *given = read_atom(c, &statement->arguments[i], statement->span);
        elements[i] = given->parts[0];
        Walked walked = {&statement->arguments[i], &statement->arguments[0]};
        traverse(c, given->space, statement->span, walked);
        if (first == NULL)
            first = given;
        else
            meet(c, first->space, given->space, true, statement->span, walked);
    }
    return first;
}

static void enter(Checker *c, const Space *space, const CoreStatement *statement)
{
    c->level++;
    *vec_push(c->arena, &c->enclosing) = (Enclosing){
        .space = space, .level = c->level, .span = statement->span, .sequence = &statement->arguments[0]};
}

static void leave(Checker *c)
{
    c->level--;
    c->enclosing.count--;
}

static const Known *check_each(Checker *c, const CoreStatement *statement)
{
    const Known **elements = ARENA_ARRAY(c->arena, const Known *, statement->argument_count);
    const Known *first = zip_arguments(c, statement, elements);
    enter(c, first->space, statement);
    for (uint32_t i = 0; i < statement->argument_count; i++)
        bind(c, statement->blocks[0]->parameters[i], elements[i], statement->span)->argument =
            statement->arguments[i].variable;
    const Known *body = check_block(c, statement->blocks[0]);
    leave(c);
    return sequence_of(c, first->space, body);
}

/* The collections of one group are one sequence each, all on one space: a pass over the group. */
static const Known *check_group(Checker *c, const CoreStatement *statement)
{
    const Known **elements = ARENA_ARRAY(c->arena, const Known *, statement->argument_count);
    const Known *first = zip_arguments(c, statement, elements);
    const CoreBlock *body = statement->blocks[0];
    enter(c, first->space, statement);
    Space *members = new_source(c, c->level, statement->span);
    bind(c, body->parameters[0], &always, statement->span);
    for (uint32_t i = 1; i < statement->argument_count; i++)
        bind(c, body->parameters[i], sequence_of(c, members, &always), statement->span);
    check_block(c, body);
    leave(c);
    return at_end(c, first->space, 0, statement->span, (Walked){.first = &statement->arguments[0]});
}

static bool takes_or_gives_sequence(const Checker *c, const CoreFunction *function)
{
    bool has_sequence = !type_is_concrete(c->types, function->result_type);
    for (uint32_t i = 0; i < function->body->parameter_count; i++)
        has_sequence |= !type_is_concrete(c->types, c->program->variables.items[function->body->parameters[i]].type);
    return has_sequence;
}

static const Space *innermost(const Checker *c)
{
    return c->enclosing.count == 0 ? NULL : vec_last(&c->enclosing).space;
}

/* Sequences that a function makes from nothing are others at each call, though their values are the same. Looking into it each time can take long where
 * such calls are nested; so it is done a number of times only. */
static bool makes_sources(Checker *c, const CoreFunction *function, const Known *const *arguments)
{
    enum { LOOKED_INTO = 1000 };
    for (uint32_t i = 0; i < function->body->parameter_count; i++)
        if (arguments[i]->kind != KNOWN_CONCRETE)
            return false;
    return !type_is_concrete(c->types, function->result_type) && c->looked_into++ < LOOKED_INTO;
}

/* Looks back a little only: calls with the same arguments stand close together. */
static const Known *find_call(Checker *c, const CoreStatement *statement, const Known *const *arguments)
{
    if (makes_sources(c, c->program->functions.items[statement->function], arguments))
        return NULL;
    enum { LOOKED_AT = 8 };
    uint32_t looked_at = 0;
    for (const CallMemo *memo = c->calls[statement->function];
         memo != NULL && memo->run == c->run && looked_at < LOOKED_AT; memo = memo->older, looked_at++) {
        bool is_same = memo->around == innermost(c);
        for (uint32_t i = 0; i < statement->argument_count; i++)
            is_same &= memo->arguments[i] == arguments[i];
        if (is_same)
            return memo->result;
    }
    return NULL;
}

static void remember_call(Checker *c, CoreFunctionId function, const Known **arguments, const Known *result)
{
    CallMemo *memo = ARENA_NEW(c->arena, CallMemo);
    *memo = (CallMemo){
        .older = c->calls[function], .arguments = arguments, .around = innermost(c), .result = result, .run = c->run};
    c->calls[function] = memo;
}

/* A function with sequences is looked at as part of its caller; any other is looked at on its own. */
static const Known *check_call(Checker *c, const CoreStatement *statement)
{
    const CoreFunction *function = c->program->functions.items[statement->function];
    bool is_part = takes_or_gives_sequence(c, function);
    Event available = 0;
    const Known **arguments = ARENA_ARRAY(c->arena, const Known *, statement->argument_count);
    for (uint32_t i = 0; i < statement->argument_count; i++) {
        const Known *argument = arguments[i] = read_atom(c, &statement->arguments[i], statement->span);
        available = later_of(c, available, available_of(c, argument, statement->span), statement->span);
        if (!is_part)
            continue;
        const CoreAtom *atom = &statement->arguments[i];
        CoreVar passed = atom->is_constant ? 0 : atom->variable;
        bind(c, function->body->parameters[i], argument, definition_span(c, passed))->argument = passed;
    }
    if (!is_part)
        return concrete(c, available);
    const Known *before = find_call(c, statement, arguments);
    if (before != NULL)
        return before;
    if (++c->call_depth > CALL_DEPTH_MAX) {
        c->has_failed = true;
        diagnostics_error(c->diagnostics, ERROR_NESTING_TOO_DEEP, statement->span,
                          "more than %d functions pass sequences on to each other", CALL_DEPTH_MAX);
        return &always;
    }
    const Known *result = check_block(c, function->body);
    c->call_depth--;
    remember_call(c, statement->function, arguments, result);
    return result;
}

static const Known *project(Checker *c, const CoreStatement *statement)
{
    const Known *pair = read_atom(c, &statement->arguments[0], statement->span);
    return pair->kind == KNOWN_PAIR ? pair->parts[statement->component] : pair;
}

static const Known *check_pair(Checker *c, const CoreStatement *statement)
{
    const Known *first = read_atom(c, &statement->arguments[0], statement->span);
    return pair_of(c, first, read_atom(c, &statement->arguments[1], statement->span));
}

static const Known *check_statement(Checker *c, const CoreStatement *statement)
{
    switch (statement->kind) {
    case CORE_COPY:
    case CORE_WRAP:
    case CORE_UNWRAP:
        return read_atom(c, &statement->arguments[0], statement->span);
    case CORE_UNIT:
    case CORE_TEXT:
        return &always;
    case CORE_PAIR:
        return check_pair(c, statement);
    case CORE_PROJECT:
        return project(c, statement);
    case CORE_MAKE:
        return check_make(c, statement);
    case CORE_OP:
        return check_op(c, statement);
    case CORE_CALL:
        return check_call(c, statement);
    case CORE_IF:
        return check_if(c, statement);
    case CORE_EACH:
        return check_each(c, statement);
    case CORE_GUARD:
        return check_guard(c, statement);
    case CORE_GROUP:
        return check_group(c, statement);
    }
    return &always;
}

static const Known *check_block(Checker *c, const CoreBlock *block)
{
    for (uint32_t i = 0; i < block->statement_count && !c->has_failed; i++) {
        const CoreStatement *statement = &block->statements[i];
        const Known *known = check_statement(c, statement);
        bind(c, statement->target, known, statement->span)->statement = statement;
    }
    return c->has_failed ? &always : read_atom(c, &block->result, (Span){0});
}

/* ---- results ---- */

/* What is printed comes out in the order it is written in. Gives the event after which the next thing is printed. */
static Event print_in_order(Checker *c, const Known *known, Event before, Span span, const CoreAtom *result)
{
    Walked walked = {.first = result};
    switch (known->kind) {
    case KNOWN_CONCRETE:
        return later_of(c, before, known->available, span);
    case KNOWN_PAIR:
        before = print_in_order(c, known->parts[0], before, span, result);
        return print_in_order(c, known->parts[1], before, span, result);
    case KNOWN_SEQUENCE: {
        order(c, before, known->space->start, span, walked);
        Event done = new_event(c);
        add_edge(c, known->space->end, done, false, span);
        if (!c->has_failed)
            print_in_order(c, known->parts[0], 0, span, result);
        return done;
    }
    }
    return before;
}

static void start(Checker *c)
{
    c->culprit = 0;
    c->run++;
    c->events.count = 0;
    c->enclosing.count = 0;
    c->level = 0;
    c->visit = 0;
    c->call_depth = 0;
    c->has_failed = false;
    new_event(c);
}

static void check_result(Checker *c, const CoreBlock *block, Span span)
{
    const Known *result = check_block(c, block);
    if (!c->has_failed)
        print_in_order(c, result, 0, span, &block->result);
}

static bool check_function(Checker *c, const CoreFunction *function)
{
    start(c);
    for (uint32_t i = 0; i < function->body->parameter_count; i++) {
        CoreVar parameter = function->body->parameters[i];
        bind(c, parameter, unknown_of(c, c->program->variables.items[parameter].type, 0, 0, function->span),
             function->span);
    }
    check_result(c, function->body, function->span);
    return !c->has_failed;
}

static Checker new_checker(const CoreProgram *program, Diagnostics *diagnostics, Arena *arena)
{
    Checker c = {.program = program, .types = program->types, .arena = arena, .diagnostics = diagnostics};
    c.calls = ARENA_ARRAY(arena, CallMemo *, program->functions.count);
    return c;
}

/* Stops at the first failure when silent. */
static bool check_all(Checker *c, CoreFunctionId entry, uint32_t first_function, uint32_t first_item)
{
    const CoreProgram *program = c->program;
    bool is_right = true;
    for (uint32_t i = first_item; i < program->items.count && (is_right || !c->is_silent); i++) {
        start(c);
        check_result(c, program->items.items[i].block, program->items.items[i].span);
        is_right &= !c->has_failed;
    }
    for (uint32_t i = first_function; i < program->functions.count && (is_right || !c->is_silent); i++) {
        const CoreFunction *function = program->functions.items[i];
        if (i == entry || !takes_or_gives_sequence(c, function))
            is_right &= check_function(c, function);
    }
    return is_right;
}

bool streamability_check(const CoreProgram *program, Diagnostics *diagnostics, CoreFunctionId entry,
                         uint32_t first_function, uint32_t first_item)
{
    Arena arena;
    arena_init(&arena, program->arena->memory);
    Checker c = new_checker(program, diagnostics, &arena);
    bool is_right = check_all(&c, entry, first_function, first_item);
    arena_free(&arena);
    return is_right;
}

/* One sequence held in memory may not be enough; each is held once, so this ends. */
void streamability_materialize(CoreProgram *program, Diagnostics *diagnostics, CoreFunctionId entry,
                               uint32_t first_function, uint32_t first_item)
{
    CoreVar last_variable = program->variables.count;
    for (bool is_mended = true; is_mended;) {
        Arena arena;
        arena_init(&arena, program->arena->memory);
        Checker c = new_checker(program, diagnostics, &arena);
        c.is_silent = true;
        is_mended = !check_all(&c, entry, first_function, first_item) && c.culprit != 0 && c.culprit < last_variable;
        if (is_mended) {
            diagnostics_warning(diagnostics, definition_span(&c, c.culprit),
                                "this sequence is held in memory, as if tab(...) stood around it");
            materialize_variable(program, c.culprit);
        }
        arena_free(&arena);
    }
}
