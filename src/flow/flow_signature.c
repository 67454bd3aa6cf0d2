/* Nodes against their signatures (flow.def).
 *
 * The alternative that is for the node is walked once for its inputs and once for its outputs. Letters of spaces are bound to sets of points,
 * x and y to types, as they are met; the node's own space and its parent are bound before. */
#include "flow/flow_check_internal.h"

#include <string.h>

/* What an entry says about the type of one stream: a LeafType, or one of these. */
enum { ANY_TYPE = LEAF_POINTS + 1, DRIVER, FLAGS, SELECTOR, WORD, TYPE_X, TYPE_Y };

enum { ALTERNATIVE_MAX = 160, LETTER_UNIT = 'u', LETTER_ROOT = 'r', LETTER_ANY = '*' };

typedef struct Entry {
    char word[16];
    char letter;      /* of the space */
    bool is_repeated; /* k times */
    bool is_optional;
} Entry;

typedef struct Matcher {
    FlowChecker *checker;
    const FlowNode *node;
    char text[ALTERNATIVE_MAX]; /* the alternative that is for the node, its condition left out */
    uint32_t points[128];       /* by letter; 0 while unbound */
    bool is_read[128];          /* some input is on it */
    bool is_driven[128];        /* some input is read point by point on it */
    bool is_bound[2];           /* x and y */
    LeafType bound[2];
    uint32_t rest_start, rest_count; /* of the inputs that `rest` stands for */
} Matcher;

/* One side of a signature while it is walked. */
typedef struct Side {
    Matcher *matcher;
    bool is_output;
    uint32_t count; /* of the node's inputs or outputs */
    uint32_t at;
    uint32_t spare; /* those that no entry of a fixed number takes */
} Side;

/* ---- reading ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

/* The next entry; null at the end of the side. */
static const char *read_entry(const char *at, Entry *entry)
{
    *entry = (Entry){0};
    at = skip_blanks(at);
    if (*at == '\0' || *at == '-')
        return NULL;
    if (strncmp(at, "k ", 2) == 0) {
        entry->is_repeated = true;
        at += 2;
    }
    size_t length = strcspn(at, "@");
    memcpy(entry->word, at, length < sizeof entry->word ? length : sizeof entry->word - 1);
    at += length + 1;
    entry->letter = *at; /* the first letter of `unit` and `root` stands for them */
    at += strcspn(at, " ?");
    if (*at == '?') {
        entry->is_optional = true;
        at++;
    }
    return at;
}

/* The segments as entries of their own. */
static const char *segment_entries(const Matcher *matcher)
{
    static const char *const entries[] = {
        [SEGMENTS_SINGLE] = "", [SEGMENTS_REGULAR] = "driver@P int@unit", [SEGMENTS_ENDS] = "ends@P"};
    return entries[matcher->node->segments];
}

/* Calls `visit` for each entry from `at` to the end of the side. */
static bool each_entry(Side *side, const char *at, bool (*visit)(Side *, const Entry *))
{
    for (;;) {
        at = skip_blanks(at);
        if (*at == '<') {
            if (!each_entry(side, segment_entries(side->matcher), visit))
                return false;
            at = strchr(at, '>') + 1;
            continue;
        }
        Entry entry;
        at = read_entry(at, &entry);
        if (at == NULL)
            return true;
        if (!visit(side, &entry))
            return false;
    }
}

/* ---- choosing an alternative ---- */

static bool is_condition(const FlowNode *node, const char *word, size_t length)
{
    static const char *const segments[] = {
        [SEGMENTS_SINGLE] = "SINGLE", [SEGMENTS_REGULAR] = "REGULAR", [SEGMENTS_ENDS] = "ENDS"};
    const char *names[2] = {segments[node->segments], ""};
    if ((flow_op_table[node->op].fields & HAS_CORE_OP) != 0 && node->core_op < OP_COUNT)
        names[1] = op_table[node->core_op].id;
    for (uint32_t i = 0; i < 2; i++)
        if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0)
            return true;
    return false;
}

static bool choose_alternative(Matcher *matcher)
{
    const char *at = flow_op_table[matcher->node->op].signature;
    for (;;) {
        at = skip_blanks(at);
        size_t length = strcspn(at, "|"), word = strcspn(at, ":|");
        bool has_condition = at[word] == ':';
        if (!has_condition || is_condition(matcher->node, at, word)) {
            size_t start = has_condition ? word + 1 : 0;
            if (length - start >= sizeof matcher->text)
                return flow_check_fail(matcher->checker, "its signature is too long");
            memcpy(matcher->text, at + start, length - start);
            return true;
        }
        if (at[length] == '\0')
            return flow_check_fail(matcher->checker, "it has segments that it cannot have");
        at += length + 1;
    }
}

/* ---- the node's own space ---- */

static char own_letter(const char *text)
{
    const char *segments = strchr(text, '<');
    if (segments != NULL)
        return segments[1];
    for (const char *letter = "SJC"; *letter != '\0'; letter++) {
        char place[] = {'@', *letter, '\0'};
        if (strstr(text, place) != NULL)
            return *letter;
    }
    return '\0';
}

static bool is_single(const Matcher *matcher)
{
    const char *signature = flow_op_table[matcher->node->op].signature;
    return matcher->node->segments == SEGMENTS_SINGLE &&
           (strchr(signature, '<') != NULL || strstr(signature, "SINGLE:") != NULL);
}

static bool bind_own_space(Matcher *matcher)
{
    FlowChecker *checker = matcher->checker;
    const FlowSpace *space = &checker->network->spaces.items[matcher->node->space];
    char letter = own_letter(matcher->text);
    matcher->points[LETTER_UNIT] = FLOW_UNIT;
    matcher->points[LETTER_ROOT] = flow_has_root(checker->network) ? flow_check_points(checker, FLOW_ROOT) : FLOW_UNIT;
    if (letter == '\0')
        return true;
    matcher->points[(int)letter] = space->points;
    if (letter == 'S') {
        matcher->is_read['S'] = true; /* even if there is no input: its points must come from somewhere */
        return true;
    }
    if (strstr(matcher->text, "@P") == NULL && strstr(matcher->text, "/P>") == NULL)
        return true;
    if (space->parent == 0)
        return flow_check_fail(checker, "its space, unit, has no parent");
    matcher->points['P'] = flow_check_points(checker, space->parent);
    return !is_single(matcher) || matcher->points['P'] == FLOW_UNIT ||
           flow_check_fail(checker, "its segments are single, but the parent of its space is not unit");
}

/* ---- which types an entry stands for ---- */

static void add_type(Matcher *matcher, uint8_t type)
{
    *vec_push(matcher->checker->program->arena, &matcher->checker->types) = type;
}

static void add_layout(Matcher *matcher, const Layout *layout)
{
    for (uint32_t i = 0; layout != NULL && i < layout->count; i++)
        add_type(matcher, layout->leaves[i].type);
}

static void add_layout_of(Matcher *matcher, TypeId type)
{
    add_layout(matcher, layout_of(matcher->checker->program->layouts, type));
}

static void add_leaves(Matcher *matcher)
{
    add_layout(matcher, matcher->node->layout);
}

static void add_elements(Matcher *matcher)
{
    add_leaves(matcher);
    if (matcher->node->layout->count == 0)
        add_type(matcher, LEAF_POINTS);
}

static void add_arguments(Matcher *matcher)
{
    for (uint32_t i = 0; i < matcher->node->layout_count; i++)
        add_layout(matcher, matcher->node->layouts[i]);
}

static void add_variable(Matcher *matcher)
{
    add_layout_of(matcher, matcher->checker->program->core->variables.items[matcher->node->variable].type);
}

static void add_vector(Matcher *matcher)
{
    add_type(matcher, LEAF_ARRAY);
    add_type(matcher, SCALAR_I64);
    add_type(matcher, SCALAR_I64);
}

static void add_list(Matcher *matcher, const LeafType *types, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_type(matcher, types[i]);
}

static void add_parameters(Matcher *matcher)
{
    const FlowProgram *program = matcher->checker->program;
    const FlowNode *node = matcher->node;
    if (node->network != 0) {
        const FlowNetwork *callee = program->networks.items[node->network];
        add_list(matcher, callee->parameters, callee->parameter_count);
        return;
    }
    const CoreBlock *body = program->core->functions.items[node->function]->body;
    for (uint32_t i = 0; i < body->parameter_count; i++)
        add_layout_of(matcher, program->core->variables.items[body->parameters[i]].type);
}

static void add_results(Matcher *matcher)
{
    const FlowProgram *program = matcher->checker->program;
    const FlowNode *node = matcher->node;
    if (node->network != 0) {
        const FlowNetwork *callee = program->networks.items[node->network];
        add_list(matcher, callee->results, callee->result_count);
        return;
    }
    add_layout_of(matcher, program->core->functions.items[node->function]->result_type);
}

static void add_captured(Matcher *matcher)
{
    add_parameters(matcher);
    if (matcher->checker->types.count > matcher->node->captured_count)
        matcher->checker->types.count = matcher->node->captured_count;
}

static void add_draw(Matcher *matcher)
{
    if (matcher->node->draws)
        add_type(matcher, SCALAR_U64);
}

static void add_own_parameters(Matcher *matcher)
{
    add_list(matcher, matcher->checker->network->parameters, matcher->checker->network->parameter_count);
}

static void add_own_results(Matcher *matcher)
{
    add_list(matcher, matcher->checker->network->results, matcher->checker->network->result_count);
}

static const struct {
    const char *word;
    void (*add)(Matcher *);
} lists[] = {
    {"vector", add_vector},         {"leaves", add_leaves},         {"elements", add_elements},
    {"arguments", add_arguments},   {"variable", add_variable},     {"parameters", add_parameters},
    {"results", add_results},       {"captured", add_captured},     {"own_parameters", add_own_parameters},
    {"own_results", add_own_results}, {"draw", add_draw},
};

static const struct {
    const char *word;
    uint8_t type;
} words[] = {
    {"any", ANY_TYPE}, {"driver", DRIVER}, {"flags", FLAGS}, {"selector", SELECTOR}, {"word", WORD}, {"x", TYPE_X}, {"y", TYPE_Y},
};
enum { LIST_COUNT = sizeof lists / sizeof lists[0], WORD_COUNT = sizeof words / sizeof words[0] };

static uint8_t type_of_word(const char *word)
{
    for (uint32_t i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].type;
    uint8_t type = 0;
    while (type < LEAF_POINTS && strcmp(leaf_name(type), word) != 0)
        type++;
    return type;
}

/* `rest`: among the inputs what is left over; among the outputs the same again. */
static void add_rest(Side *side)
{
    Matcher *matcher = side->matcher;
    if (!side->is_output) {
        matcher->rest_start = side->at;
        matcher->rest_count = side->spare;
        side->spare = 0;
    }
    for (uint32_t i = 0; i < matcher->rest_count; i++)
        add_type(matcher, matcher->node->inputs[matcher->rest_start + i].type);
}

/* Puts what the entry stands for into the checker's `types`. What takes any number takes what is left over. */
static void expand(Side *side, const Entry *entry)
{
    Matcher *matcher = side->matcher;
    matcher->checker->types.count = 0;
    if (strcmp(entry->word, "rest") == 0) {
        add_rest(side);
        return;
    }
    for (uint32_t i = 0; i < LIST_COUNT; i++)
        if (strcmp(lists[i].word, entry->word) == 0) {
            lists[i].add(matcher);
            return;
        }
    uint32_t count = 1;
    if (entry->is_repeated || entry->is_optional) {
        count = entry->is_optional && side->spare > 1 ? 1 : side->spare;
        side->spare -= count;
    }
    for (uint32_t i = 0; i < count; i++)
        add_type(matcher, type_of_word(entry->word));
}

/* ---- matching ---- */

static const char *side_word(const Side *side)
{
    return side->is_output ? "output" : "input";
}

static const char *type_text_of(const Matcher *matcher, uint8_t type)
{
    for (uint32_t i = 0; i < WORD_COUNT; i++)
        if (words[i].type == type && type < TYPE_X)
            return type == FLAGS ? "bool" : words[i].word;
    return leaf_name(type >= TYPE_X ? matcher->bound[type - TYPE_X] : type);
}

static bool accepts(Matcher *matcher, uint8_t type, LeafType found)
{
    switch (type) {
    case ANY_TYPE:
    case DRIVER:
        return true;
    case FLAGS:
        return found == SCALAR_BOOL;
    case SELECTOR:
        return found == SCALAR_BOOL || found == SCALAR_I32;
    case WORD:
        return found == SCALAR_I64 || found == SCALAR_U64;
    case TYPE_X:
    case TYPE_Y:
        if (!matcher->is_bound[type - TYPE_X]) {
            matcher->is_bound[type - TYPE_X] = true;
            matcher->bound[type - TYPE_X] = found;
        }
        return found == matcher->bound[type - TYPE_X];
    default:
        return found == type;
    }
}

static bool match_points(Side *side, const Entry *entry, FlowStreamId stream)
{
    if (entry->letter == LETTER_ANY)
        return true;
    FlowChecker *checker = side->matcher->checker;
    uint32_t found = flow_check_stream_points(checker, stream);
    uint32_t *expected = &side->matcher->points[(int)entry->letter];
    if (*expected == 0)
        *expected = found;
    return found == *expected ||
           flow_check_fail(checker, "%s %u, %s, is on %s, expected one on %s", side_word(side), side->at + 1,
                           flow_check_stream_name(checker, stream), flow_check_points_name(checker, found),
                           flow_check_points_name(checker, *expected));
}

/* Constants and uniform operands are on every space; but what a node goes by is a stream. On unit they are the same. */
static bool match_everywhere(Side *side, const Entry *entry, const FlowOperand *input, uint8_t type)
{
    FlowChecker *checker = side->matcher->checker;
    bool is_on_unit = entry->letter != LETTER_ANY && side->matcher->points[(int)entry->letter] == FLOW_UNIT;
    bool needs_points = type == DRIVER && !is_on_unit;
    bool needs_stream = (type == FLAGS || type == LEAF_ENDS) && !(is_on_unit && !input->is_constant);
    return (!needs_points && !needs_stream) ||
           flow_check_fail(checker, "input %u is %s, expected a stream read point by point", side->at + 1,
                           input->is_constant ? "a constant" : "uniform");
}

static bool match_input(Side *side, const Entry *entry, uint8_t type)
{
    Matcher *matcher = side->matcher;
    const FlowOperand *input = &matcher->node->inputs[side->at];
    matcher->is_read[(int)entry->letter] = true;
    if (!accepts(matcher, type, input->type))
        return flow_check_fail(matcher->checker, "input %u has type %s, expected %s", side->at + 1, leaf_name(input->type),
                               type_text_of(matcher, type));
    if (input->is_constant || input->is_uniform)
        return match_everywhere(side, entry, input, type);
    matcher->is_driven[(int)entry->letter] = true;
    return match_points(side, entry, input->stream);
}

static bool match_output(Side *side, const Entry *entry, uint8_t type)
{
    Matcher *matcher = side->matcher;
    FlowStreamId output = matcher->node->outputs[side->at];
    if (output == 0)
        return true;
    LeafType found = matcher->checker->network->streams.items[output].type;
    if (!accepts(matcher, type, found))
        return flow_check_fail(matcher->checker, "output %u has type %s, expected %s", side->at + 1, leaf_name(found),
                               type_text_of(matcher, type));
    return match_points(side, entry, output);
}

static bool match_entry(Side *side, const Entry *entry)
{
    FlowChecker *checker = side->matcher->checker;
    expand(side, entry);
    for (uint32_t i = 0; i < checker->types.count; i++, side->at++) {
        uint8_t type = checker->types.items[i];
        if (!(side->is_output ? match_output(side, entry, type) : match_input(side, entry, type)))
            return false;
    }
    return true;
}

static bool count_entry(Side *side, const Entry *entry)
{
    bool is_open = entry->is_repeated || entry->is_optional || (!side->is_output && strcmp(entry->word, "rest") == 0);
    if (is_open)
        return true;
    expand(side, entry);
    side->at += side->matcher->checker->types.count;
    return true;
}

static bool match_side(Matcher *matcher, const char *text, bool is_output)
{
    Side side = {.matcher = matcher, .is_output = is_output};
    side.count = is_output ? matcher->node->output_count : matcher->node->input_count;
    each_entry(&side, text, count_entry);
    if (side.at > side.count)
        return flow_check_fail(matcher->checker, "%u %ss, expected %u", side.count, side_word(&side), side.at);
    side.spare = side.count - side.at;
    side.at = 0;
    if (!each_entry(&side, text, match_entry))
        return false;
    return side.spare == 0 || flow_check_fail(matcher->checker, "%u %ss, expected %u", side.count, side_word(&side),
                                              side.count - side.spare);
}

/* A node must be told its points by something that it reads. */
static bool check_driven(const Matcher *matcher)
{
    for (char letter = 'A'; letter <= 'Z'; letter++)
        if (matcher->is_read[(int)letter] && !matcher->is_driven[(int)letter] && matcher->points[(int)letter] != FLOW_UNIT)
            return flow_check_fail(matcher->checker, "no input is read point by point on %s",
                                   flow_check_points_name(matcher->checker, matcher->points[(int)letter]));
    return true;
}

bool flow_check_signature(FlowChecker *checker, const FlowNode *node)
{
    Matcher matcher = {.checker = checker, .node = node};
    if (flow_op_table[node->op].signature == NULL)
        return true;
    return choose_alternative(&matcher) && bind_own_space(&matcher) && match_side(&matcher, matcher.text, false) &&
           check_driven(&matcher) && match_side(&matcher, strstr(matcher.text, "->") + 2, true);
}
