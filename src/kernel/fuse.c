#include "kernel/fuse_private.h"

#include "kernel/lanes.h"
#include "kernel/linear.h"
#include "kernel/members.h"
#include "kernel/strided.h"

#include <string.h>

enum { NODES_MAX = 20000 }; /* larger networks are left as they are: looking for kernels takes time */

/* Among the scopes that must be over before a node: it needs what a scan over all points gives. A second such scan cannot be done in the same
 * kernel, which first finds the totals of scans for all its pieces. */
#define AFTER_SCAN (UINT64_C(1) << 63)

/* ---- looking at nodes ---- */

static uint32_t points_of_space(const FlowNetwork *network, FlowSpaceId space)
{
    return network->spaces.items[space].points;
}

static uint32_t points_of_stream(const FlowNetwork *network, FlowStreamId stream)
{
    return points_of_space(network, network->streams.items[stream].space);
}

bool fuse_is_uniform(const FlowNetwork *network, const FlowOperand *operand)
{
    return operand->is_constant || operand->is_uniform || points_of_stream(network, operand->stream) == FLOW_UNIT;
}

bool fuse_is_reduction(const FlowNode *node)
{
    return node->op == FLOW_FOLD || node->op == FLOW_LENGTH || node->op == FLOW_EMPTY;
}

bool fuse_is_structure(const FlowNode *node)
{
    return node->op == FLOW_FLAG_ENDS || node->op == FLOW_ENDS || node->op == FLOW_COMPOSE;
}

uint32_t fuse_value_inputs(const FlowNode *node)
{
    switch (node->op) {
    case FLOW_RANGE:
    case FLOW_DISTRIBUTE:
    case FLOW_FOLD:
    case FLOW_SCAN:
        return 1;
    case FLOW_COLLECT:
        return node->input_count; /* the driver stands first */
    case FLOW_SLICES:
        return 2;
    case FLOW_LOCAL_INDEX:
    case FLOW_LENGTH:
    case FLOW_EMPTY:
    case FLOW_FLAG_ENDS:
    case FLOW_ENDS:
    case FLOW_COMPOSE:
    case FLOW_SAME_LENGTHS:
        return 0;
    default:
        return node->input_count;
    }
}

/* The points whose scope has the node in its body. */
static uint32_t points_of_node(const FlowNetwork *network, const FlowNode *node)
{
    if (node->op == FLOW_SAME_LENGTHS || fuse_is_structure(node)) {
        const FlowOperand *input = &node->inputs[node->op == FLOW_ENDS && node->segments == SEGMENTS_REGULAR];
        return points_of_stream(network, input->stream);
    }
    if ((node->op == FLOW_FILTER || node->op == FLOW_PACK) && node->outputs[0] != 0)
        return points_of_stream(network, node->outputs[0]);
    return points_of_space(network, node->space);
}

static uint32_t scope_in(const Kernel *kernel, uint32_t points)
{
    for (uint32_t i = 0; i < kernel->scopes.count; i++)
        if (kernel->scopes.items[i].points == points)
            return i;
    return KERNEL_NO_SCOPE;
}

uint32_t fuse_scope_of_node(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node)
{
    return scope_in(kernel, points_of_node(network, node));
}

uint32_t fuse_scope_of_stream(const FlowNetwork *network, const Kernel *kernel, FlowStreamId stream)
{
    return scope_in(kernel, points_of_stream(network, stream));
}

bool fuse_is_total(const FlowNetwork *network, const FlowNode *node)
{
    return fuse_is_reduction(node) && node->outputs[0] != 0 && points_of_stream(network, node->outputs[0]) == FLOW_UNIT;
}

uint32_t fuse_parent_scope(const FlowNetwork *network, const Kernel *kernel, const FlowNode *node)
{
    return scope_in(kernel, points_of_space(network, network->spaces.items[node->space].parent));
}

bool fuse_goes_on(const FlowNetwork *network, const FlowNode *node)
{
    return node->op == FLOW_SCAN && (node->segments == SEGMENTS_SINGLE ||
                                     points_of_space(network, network->spaces.items[node->space].parent) == FLOW_UNIT);
}

/* Whose ends a RANGE or ENDS gives. ENDS itself is where the parents are. */
static uint32_t points_of_made_ends(const FlowNetwork *network, const FlowNode *node)
{
    return node->op == FLOW_ENDS ? points_of_stream(network, node->inputs[0].stream) : points_of_space(network, node->space);
}

uint32_t fuse_scope_of_ends(const FlowNetwork *network, const Kernel *kernel, FlowStreamId ends)
{
    const FlowNode *node = &network->nodes.items[network->streams.items[ends].node];
    switch (node->op) {
    case FLOW_COMPOSE: return fuse_scope_of_ends(network, kernel, node->inputs[1].stream);
    case FLOW_FLAG_ENDS:
        for (uint32_t i = 1; i < kernel->scopes.count; i++)
            if (kernel->scopes.items[i].kind == SCOPE_IF && kernel->scopes.items[i].flags == node->inputs[0].stream &&
                kernel->scopes.items[i].keep == node->keep)
                return i;
        return KERNEL_NO_SCOPE;
    case FLOW_RANGE:
    case FLOW_ENDS: return scope_in(kernel, points_of_made_ends(network, node));
    default: return KERNEL_NO_SCOPE;
    }
}

/* ---- the tree of scopes ---- */

static uint32_t tree_scope(const Finder *finder, uint32_t points)
{
    return finder->tree.scope_of[points];
}

static bool can_be_scope(const Finder *finder, uint32_t points)
{
    return points != FLOW_UNIT && !finder->is_evicted[points] && finder->tree.scopes.count < KERNEL_SCOPES_MAX;
}

static KernelScope *add_scope(Finder *finder, KernelScopeKind kind, uint32_t points, uint32_t parent)
{
    uint32_t number = finder->tree.scopes.count;
    KernelScope *scope = vec_push(finder->arena, &finder->tree.scopes);
    *scope = (KernelScope){.kind = kind, .points = points, .parent = parent, .ancestors = UINT64_C(1) << number};
    if (kind != SCOPE_ROOT)
        scope->ancestors |= finder->tree.scopes.items[parent].ancestors;
    finder->tree.scope_of[points] = number;
    return scope;
}

/* Points that a range makes below others that are in the tree. */
static void add_loop(Finder *finder, FlowNodeId id, const FlowNode *node)
{
    const FlowNetwork *network = finder->network;
    uint32_t points = points_of_space(network, node->space);
    uint32_t parent = tree_scope(finder, points_of_space(network, network->spaces.items[node->space].parent));
    uint32_t number = tree_scope(finder, points);
    if (parent == NOWHERE || !can_be_scope(finder, points))
        return;
    KernelScope *scope = number != NOWHERE ? &finder->tree.scopes.items[number] : add_scope(finder, SCOPE_LOOP, points, parent);
    if (scope->kind == SCOPE_LOOP && scope->parent == parent)
        *vec_push(finder->arena, &scope->makers) = id;
}

/* Points of a filter, of which some node takes elements. */
static void add_if(Finder *finder, const FlowNode *node)
{
    const FlowNetwork *network = finder->network;
    FlowStreamId flags = node->inputs[node->op == FLOW_PACK].stream;
    uint32_t points = points_of_node(network, node), parent = tree_scope(finder, points_of_stream(network, flags));
    if (parent == NOWHERE || !can_be_scope(finder, points) || tree_scope(finder, points) != NOWHERE)
        return;
    KernelScope *scope = add_scope(finder, SCOPE_IF, points, parent);
    scope->flags = flags;
    scope->keep = node->keep;
}

static void add_maker(Finder *finder, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    if (finder->fusion->kernel_of[id] != 0 || !member_accepts(finder->network, node, finder->functions))
        return;
    if (node->op == FLOW_RANGE && node->segments != SEGMENTS_SINGLE)
        add_loop(finder, id, node);
    else if (node->op == FLOW_FILTER || node->op == FLOW_PACK)
        add_if(finder, node);
}

static void grow_tree(Finder *finder, uint32_t root)
{
    for (uint32_t i = 0; i < finder->points_bound; i++)
        finder->tree.scope_of[i] = NOWHERE;
    finder->tree.scopes.count = 0;
    finder->tree.scopes.items = NULL;
    finder->tree.scopes.capacity = 0;
    add_scope(finder, SCOPE_ROOT, root, 0);
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        add_maker(finder, id);
}

static bool is_maker(const Finder *finder, uint32_t scope, FlowNodeId id)
{
    const KernelScope *s = &finder->tree.scopes.items[scope];
    for (uint32_t i = 0; i < s->makers.count; i++)
        if (s->makers.items[i] == id)
            return true;
    return false;
}

/* The scope just below `outer` on the way to `inner`. */
static uint32_t step_towards(const KernelScope *scopes, uint32_t outer, uint32_t inner)
{
    while (scopes[inner].parent != outer)
        inner = scopes[inner].parent;
    return inner;
}

static bool is_inside(const KernelScope *scopes, uint32_t inner, uint32_t outer)
{
    return scopes[inner].ancestors >> outer & 1;
}

/* ---- who can be a member ---- */

/* Its points are the root's, or those of filters below it. */
static bool is_below_filters(const Finder *finder, uint32_t scope)
{
    const KernelScope *scopes = finder->tree.scopes.items;
    while (scopes[scope].kind == SCOPE_IF)
        scope = scopes[scope].parent;
    return scope == KERNEL_ROOT;
}

/* Where the elements of a node with <C/P> lie below their parents: in a loop directly below them, or anywhere below. Unit is above the root. */
static bool has_parents_in_tree(const Finder *finder, const FlowNode *node, uint32_t scope)
{
    uint32_t parent_points = points_of_space(finder->network, finder->network->spaces.items[node->space].parent);
    const KernelScope *scopes = finder->tree.scopes.items;
    if (parent_points == FLOW_UNIT || node->segments == SEGMENTS_SINGLE)
        return node->op == FLOW_DISTRIBUTE || (node->op == FLOW_SCAN ? member_may_go_on(node) && is_below_filters(finder, scope) : scope == KERNEL_ROOT ? node->segments == SEGMENTS_SINGLE && node->op != FLOW_EMPTY
                                                                    : member_may_be_total(node));
    uint32_t parent = tree_scope(finder, parent_points);
    if (parent == NOWHERE || parent == scope || !is_inside(scopes, scope, parent))
        return false;
    return !member_needs_loop(node) || (scopes[scope].kind == SCOPE_LOOP && scopes[scope].parent == parent);
}

/* Operands of MERGE may lie on filters by its selector. */
static bool merge_operand_is_near(const Finder *finder, const FlowNode *node, uint32_t input, uint32_t scope)
{
    const FlowOperand *operand = &node->inputs[input];
    uint32_t from = tree_scope(finder, points_of_stream(finder->network, operand->stream));
    if (from == NOWHERE)
        return false;
    const KernelScope *scopes = finder->tree.scopes.items;
    if (from == scope)
        return true;
    return scopes[from].kind == SCOPE_IF && scopes[from].parent == scope && scopes[from].flags == node->inputs[0].stream &&
           scopes[from].keep == (input == 2);
}

static bool merge_is_near(const Finder *finder, const FlowNode *node, uint32_t scope)
{
    for (uint32_t i = 1; i < node->input_count; i++)
        if (!fuse_is_uniform(finder->network, &node->inputs[i]) && !merge_operand_is_near(finder, node, i, scope))
            return false;
    return true;
}

/* Of two sequences that are one loop: the loop itself compares their lengths. */
static bool compares_makers(const Finder *finder, const FlowNode *node)
{
    const FlowNetwork *network = finder->network;
    uint32_t points[2];
    for (uint32_t i = 0; i < 2; i++) {
        const FlowNode *maker = &network->nodes.items[network->streams.items[node->inputs[i].stream].node];
        if (maker->op != FLOW_RANGE && maker->op != FLOW_ENDS)
            return false;
        points[i] = points_of_made_ends(network, maker);
    }
    uint32_t scope = tree_scope(finder, points[0]);
    return points[0] == points[1] && scope != NOWHERE && finder->tree.scopes.items[scope].kind == SCOPE_LOOP;
}

/* Every leaf of a vector's elements is on its points, or the same for all. */
static bool has_leaves_near(const Finder *finder, const FlowNode *node, uint32_t scope)
{
    for (uint32_t i = 1; i <= node->layout->count; i++)
        if (!fuse_is_uniform(finder->network, &node->inputs[i]) &&
            tree_scope(finder, points_of_stream(finder->network, node->inputs[i].stream)) != scope)
            return false;
    return true;
}

static bool has_place(const Finder *finder, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    if (finder->fusion->kernel_of[id] != 0 || finder->is_banned[id] || !member_accepts(finder->network, node, finder->functions))
        return false;
    uint32_t scope = tree_scope(finder, points_of_node(finder->network, node));
    if (scope == NOWHERE)
        return false;
    switch (node->op) {
    case FLOW_RANGE:
        return node->segments == SEGMENTS_SINGLE ? scope == KERNEL_ROOT : is_maker(finder, scope, id);
    case FLOW_FILTER:
    case FLOW_PACK: {
        const KernelScope *filter = &finder->tree.scopes.items[scope];
        return filter->kind == SCOPE_IF && filter->flags == node->inputs[node->op == FLOW_PACK].stream && filter->keep == node->keep;
    }
    case FLOW_MERGE:
        return merge_is_near(finder, node, scope);
    case FLOW_COLLECT:
        return has_leaves_near(finder, node, scope);
    case FLOW_SCATTER:
        return tree_scope(finder, points_of_stream(finder->network, node->inputs[SCATTER_INDEX].stream)) == scope;
    case FLOW_SAME_LENGTHS:
        return node->segments == SEGMENTS_SINGLE ? scope == KERNEL_ROOT : compares_makers(finder, node);
    default:
        return !member_has_segments(node) || has_parents_in_tree(finder, node, scope);
    }
}

/* ---- depths ---- */

/* Whether what `reader` takes from a member comes to it within the kernel, and which scopes are over then. */
static bool is_direct(const Finder *finder, const FlowNode *reader, uint32_t input, uint64_t *over)
{
    const FlowOperand *operand = &reader->inputs[input];
    const KernelScope *scopes = finder->tree.scopes.items;
    if (operand->is_uniform)
        return false;
    uint32_t from = tree_scope(finder, points_of_stream(finder->network, operand->stream));
    uint32_t to = tree_scope(finder, points_of_node(finder->network, reader));
    if (from == NOWHERE)
        return false;
    if (input >= fuse_value_inputs(reader) || is_inside(scopes, to, from))
        return true;
    if (reader->op != FLOW_MERGE || scopes[from].parent != to)
        return false;
    *over |= UINT64_C(1) << from;
    return true;
}

/* Scopes that a reduction is the end of. */
static uint64_t ended_by(const Finder *finder, const FlowNode *node)
{
    if (!fuse_is_reduction(node) || node->outputs[0] == 0)
        return 0;
    const KernelScope *scopes = finder->tree.scopes.items;
    uint32_t from = tree_scope(finder, points_of_node(finder->network, node));
    uint32_t to = tree_scope(finder, points_of_stream(finder->network, node->outputs[0]));
    return to == NOWHERE ? 0 : scopes[from].ancestors & ~scopes[to].ancestors;
}

static void find_depth(Finder *finder, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    bool is_member = finder->is_candidate[id];
    uint32_t depth = is_member;
    uint64_t over = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (node->inputs[i].is_constant)
            continue;
        FlowNodeId maker = finder->network->streams.items[node->inputs[i].stream].node;
        if (maker < finder->first || maker >= id || finder->depths[maker] == 0)
            continue;
        bool is_maker_member = finder->is_candidate[maker];
        uint64_t through = 0;
        bool comes_direct = is_member && is_maker_member && is_direct(finder, node, i, &through);
        uint32_t needed = finder->depths[maker] + (is_member && !comes_direct);
        if (comes_direct && i < fuse_value_inputs(node))
            through |= finder->over[maker];
        if (needed > depth) {
            depth = needed;
            over = 0;
        }
        if (needed == depth)
            over |= comes_direct ? through : 0;
    }
    if (is_member) {
        uint32_t scope = tree_scope(finder, points_of_node(finder->network, node));
        bool goes_on = fuse_goes_on(finder->network, node);
        if ((over & finder->tree.scopes.items[scope].ancestors) != 0 || (goes_on && (over & AFTER_SCAN) != 0)) {
            depth++;
            over = 0;
        }
        over |= ended_by(finder, node) | (goes_on ? AFTER_SCAN : 0);
    }
    finder->depths[id] = depth;
    finder->over[id] = over;
}

/* ---- what must not be ---- */

static void evict(Finder *finder, uint32_t scope)
{
    finder->is_evicted[finder->tree.scopes.items[scope].points] = true;
}

/* Of a kernel of this root, at whatever depth. */
static bool is_member(const Finder *finder, FlowNodeId id)
{
    return id >= finder->first && id <= finder->last && finder->is_candidate[id];
}

static bool is_member_at(const Finder *finder, FlowNodeId id, uint32_t depth)
{
    return is_member(finder, id) && finder->depths[id] == depth;
}

/* Composed ends are counted by what says which points there are, and that is known to the makers of both. */
static bool has_makers_of_ends(const Finder *finder, FlowStreamId stream, uint32_t depth)
{
    FlowNodeId maker = finder->network->streams.items[stream].node;
    const FlowNode *node = &finder->network->nodes.items[maker];
    if (!is_member_at(finder, maker, depth))
        return false;
    return node->op != FLOW_COMPOSE || (has_makers_of_ends(finder, node->inputs[0].stream, depth) &&
                                        has_makers_of_ends(finder, node->inputs[1].stream, depth));
}

/* Whether ends can be given: their points are those of a scope inside the one they are on. */
static bool has_ends_inside(const Finder *finder, FlowStreamId stream, uint32_t scope, uint32_t depth)
{
    Kernel tree = {.scopes = {finder->tree.scopes.items, finder->tree.scopes.count, 0}};
    uint32_t of = fuse_scope_of_ends(finder->network, &tree, stream);
    return scope != NOWHERE && of != KERNEL_NO_SCOPE && of != scope && is_inside(tree.scopes.items, of, scope) &&
           has_makers_of_ends(finder, stream, depth);
}

/* Whether a stream that a member makes is read as it can be. */
static bool is_read_well(const Finder *finder, FlowStreamId stream, uint32_t depth)
{
    const FlowStream *made = &finder->network->streams.items[stream];
    if (points_of_stream(finder->network, stream) == FLOW_UNIT)
        return true; /* of a reduction, or a vector: it is there when all is done */
    uint32_t scope = tree_scope(finder, points_of_stream(finder->network, stream));
    Readers readers = finder->readers_of[stream];
    for (uint32_t i = 0; i < readers.count; i++) {
        const Reader *reader = &finder->readers[readers.first + i];
        if (is_member_at(finder, reader->node, depth))
            continue;
        if (is_member(finder, reader->node) && scope != KERNEL_ROOT && scope != NOWHERE && made->type != LEAF_ENDS)
            return false; /* kernels take their root's points, and no others */
        if (made->type == LEAF_ARRAY || (made->type == LEAF_ENDS && !has_ends_inside(finder, stream, scope, depth)))
            return false;
    }
    return true;
}

/* Finds one thing that must not be, and sees to it that it is not the next time; false if there is none. */
static bool mend_node(Finder *finder, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    if (!finder->is_candidate[id])
        return false;
    uint32_t scope = tree_scope(finder, points_of_node(finder->network, node));
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != 0 && !is_read_well(finder, node->outputs[i], finder->depths[id])) {
            bool is_of_scope = scope != KERNEL_ROOT && !fuse_is_structure(node) &&
                               finder->network->streams.items[node->outputs[i]].type != LEAF_ARRAY;
            if (is_of_scope)
                evict(finder, scope);
            else
                finder->is_banned[id] = true;
            return true;
        }
    return false;
}

static bool is_read_by_members(const Finder *finder, FlowStreamId stream)
{
    Readers readers = finder->readers_of[stream];
    for (uint32_t i = 0; i < readers.count; i++) {
        FlowNodeId node = finder->readers[readers.first + i].node;
        if (is_member(finder, node))
            return true;
    }
    return false;
}

/* What members read on a scope below the root is made by members. */
static bool mend_sources(Finder *finder, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    if (finder->is_candidate[id])
        return false;
    for (uint32_t i = 0; i < node->output_count; i++) {
        FlowStreamId stream = node->outputs[i];
        uint32_t scope = stream == 0 ? NOWHERE : tree_scope(finder, points_of_stream(finder->network, stream));
        if (scope == NOWHERE || scope == KERNEL_ROOT || finder->network->streams.items[stream].type == LEAF_ENDS ||
            !is_read_by_members(finder, stream))
            continue;
        evict(finder, scope);
        return true;
    }
    return false;
}

/* The nodes of a scope below the root, and of those inside it, are done together or not at all. */
static bool mend_depths(Finder *finder)
{
    uint32_t depth_of_scope[KERNEL_SCOPES_MAX] = {0};
    for (FlowNodeId id = finder->first; id <= finder->last; id++) {
        if (!finder->is_candidate[id])
            continue;
        uint32_t scope = tree_scope(finder, points_of_node(finder->network, &finder->network->nodes.items[id]));
        for (; scope != KERNEL_ROOT; scope = finder->tree.scopes.items[scope].parent) {
            if (depth_of_scope[scope] != 0 && depth_of_scope[scope] != finder->depths[id]) {
                evict(finder, scope);
                return true;
            }
            depth_of_scope[scope] = finder->depths[id];
        }
    }
    return false;
}

static bool mend(Finder *finder)
{
    bool has_mended = false;
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        has_mended |= mend_sources(finder, id);
    if (has_mended || mend_depths(finder))
        return true;
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        has_mended |= mend_node(finder, id);
    return has_mended;
}

/* ---- the order of bodies ---- */

/* A part of a body while these are put in order. */
typedef struct Unit {
    KernelUnit unit;
    uint32_t waits; /* for so many others */
    bool is_done;
} Unit;

/* One must come before the other. */
typedef struct Edge {
    uint32_t before, after;
} Edge;

typedef struct Ordering {
    VEC(Unit) units;
    VEC(Edge) edges;
    uint32_t *unit_of;       /* by node of the kernel: the unit it is in, NOWHERE if in none */
    uint32_t *unit_of_scope; /* by scope */
} Ordering;

static void gather_units(const Finder *finder, const Kernel *kernel, uint32_t scope, Ordering *ordering)
{
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &finder->network->nodes.items[kernel->nodes.items[i]];
        uint32_t own = fuse_scope_of_node(finder->network, kernel, node);
        ordering->unit_of[i] = NOWHERE;
        if (!is_inside(kernel->scopes.items, own, scope) || fuse_is_structure(node))
            continue;
        uint32_t child = own == scope ? NOWHERE : step_towards(kernel->scopes.items, scope, own);
        if (child == NOWHERE || ordering->unit_of_scope[child] == NOWHERE) {
            if (child != NOWHERE)
                ordering->unit_of_scope[child] = ordering->units.count;
            ordering->unit_of[i] = ordering->units.count;
            *vec_push(finder->arena, &ordering->units) =
                (Unit){.unit = {child != NOWHERE, child != NOWHERE ? child : kernel->nodes.items[i]}};
        } else
            ordering->unit_of[i] = ordering->unit_of_scope[child];
    }
}

/* Scopes of which nothing but their points is wanted: they come after what decides about these. */
static void add_empty_scopes(const Finder *finder, const Kernel *kernel, uint32_t scope, Ordering *ordering)
{
    for (uint32_t i = 1; i < kernel->scopes.count; i++) {
        if (kernel->scopes.items[i].parent != scope || ordering->unit_of_scope[i] != NOWHERE)
            continue;
        uint32_t unit = ordering->unit_of_scope[i] = ordering->units.count;
        *vec_push(finder->arena, &ordering->units) = (Unit){.unit = {true, i}};
        int position = fuse_position_of(kernel, finder->network->streams.items[kernel->scopes.items[i].flags].node);
        if (kernel->scopes.items[i].kind != SCOPE_IF || position < 0 || ordering->unit_of[position] == NOWHERE)
            continue;
        *vec_push(finder->arena, &ordering->edges) = (Edge){ordering->unit_of[position], unit};
        ordering->units.items[unit].waits++;
    }
}

static void gather_edges(const Finder *finder, const Kernel *kernel, Ordering *ordering)
{
    const FlowNetwork *network = finder->network;
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &network->nodes.items[kernel->nodes.items[i]];
        for (uint32_t k = 0; k < fuse_value_inputs(node) && ordering->unit_of[i] != NOWHERE; k++) {
            if (node->inputs[k].is_constant || node->inputs[k].is_uniform)
                continue;
            int position = fuse_position_of(kernel, network->streams.items[node->inputs[k].stream].node);
            if (position < 0)
                continue;
            uint32_t before = ordering->unit_of[position], after = ordering->unit_of[i];
            if (before == NOWHERE || before == after)
                continue;
            *vec_push(finder->arena, &ordering->edges) = (Edge){before, after};
            ordering->units.items[after].waits++;
        }
    }
}

/* Each time a unit is done, those that wait for it wait for one less. */
static void finish_unit(Ordering *ordering, uint32_t unit, const uint32_t *first_edge)
{
    ordering->units.items[unit].is_done = true;
    for (uint32_t e = first_edge[unit]; e < first_edge[unit + 1]; e++)
        ordering->units.items[ordering->edges.items[e].after].waits--;
}

/* Edges by the unit that comes before; gives where those of each begin. */
static uint32_t *sort_edges(const Finder *finder, Ordering *ordering)
{
    uint32_t *first = ARENA_ARRAY(finder->arena, uint32_t, ordering->units.count + 2);
    Edge *sorted = ARENA_ARRAY(finder->arena, Edge, ordering->edges.count + 1);
    for (uint32_t e = 0; e < ordering->edges.count; e++)
        first[ordering->edges.items[e].before + 2]++;
    for (uint32_t u = 2; u < ordering->units.count + 2; u++)
        first[u] += first[u - 1];
    for (uint32_t e = 0; e < ordering->edges.count; e++)
        sorted[first[ordering->edges.items[e].before + 1]++] = ordering->edges.items[e];
    ordering->edges.items = sorted;
    return first;
}

/* False if there is no order. What comes first in the network comes first, as far as that goes. */
static bool order_body(Finder *finder, Kernel *kernel, uint32_t scope)
{
    Ordering ordering = {.unit_of = ARENA_ARRAY(finder->arena, uint32_t, kernel->nodes.count),
                         .unit_of_scope = ARENA_ARRAY(finder->arena, uint32_t, kernel->scopes.count)};
    for (uint32_t i = 0; i < kernel->scopes.count; i++)
        ordering.unit_of_scope[i] = NOWHERE;
    gather_units(finder, kernel, scope, &ordering);
    add_empty_scopes(finder, kernel, scope, &ordering);
    gather_edges(finder, kernel, &ordering);
    uint32_t *first_edge = sort_edges(finder, &ordering);
    for (uint32_t done = 0, before; done < ordering.units.count;) {
        before = done;
        for (uint32_t u = 0; u < ordering.units.count; u++) {
            Unit *unit = &ordering.units.items[u];
            if (unit->is_done || unit->waits > 0)
                continue;
            finish_unit(&ordering, u, first_edge);
            *vec_push(finder->arena, &kernel->scopes.items[scope].body) = unit->unit;
            done++;
        }
        if (done == before)
            return false;
    }
    return true;
}

/* ---- making kernels ---- */

static bool is_worth_it(const FlowNetwork *network, const Kernel *kernel)
{
    uint32_t computed = 0;
    bool only_lends = true;
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        const FlowNode *node = &network->nodes.items[kernel->nodes.items[i]];
        bool is_cheap = fuse_is_structure(node) || node->op == FLOW_RANGE || node->op == FLOW_SAME_LENGTHS || node->op == FLOW_LENGTH || node->op == FLOW_COLLECT;
        computed += node->op == FLOW_SCALAR_CALL ? 2 : !is_cheap;
        only_lends &= is_cheap || member_is_lent(network, node);
    }
    return (computed > 1 && !only_lends) || (computed > 0 && kernel->scopes.count > 1);
}

FlowOperand fuse_resolve(const Fusion *fusion, const Kernel *kernel, FlowOperand operand)
{
    const FlowNetwork *network = fusion->network;
    while (!operand.is_constant && !operand.is_uniform) {
        FlowNodeId maker = network->streams.items[operand.stream].node;
        const FlowNode *node = &network->nodes.items[maker];
        if ((node->op != FLOW_DISTRIBUTE && node->op != FLOW_PACK) || !fuse_is_member(kernel, maker))
            break;
        operand = node->inputs[0];
    }
    return operand;
}

/* They come in the order of the network. */
int fuse_position_of(const Kernel *kernel, FlowNodeId node)
{
    uint32_t low = 0, high = kernel->nodes.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (kernel->nodes.items[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kernel->nodes.count && kernel->nodes.items[low] == node ? (int)low : -1;
}

bool fuse_is_driver(const FlowNode *node, uint32_t input)
{
    uint32_t segments = flow_segment_inputs(node);
    if (segments == 2 && input + segments == node->input_count)
        return true;
    const char *signature = flow_op_table[node->op].signature;
    const char *first = signature == NULL ? "" : strchr(signature, ':') != NULL ? strchr(signature, ':') + 2 : signature;
    bool is_of_points = input >= fuse_value_inputs(node) && node->op != FLOW_FLAG_ENDS;
    return is_of_points || (input == 0 && strncmp(first, "driver@", strlen("driver@")) == 0);
}

/* The scopes whose ends a node gives. */
static uint64_t scopes_of_ends(const Finder *finder, FlowNodeId id)
{
    const FlowNode *node = &finder->network->nodes.items[id];
    Kernel tree = {.scopes = {finder->tree.scopes.items, finder->tree.scopes.count, 0}};
    uint32_t of = fuse_is_structure(node) && node->outputs[0] != 0 ? fuse_scope_of_ends(finder->network, &tree, node->outputs[0])
                                                                   : KERNEL_NO_SCOPE;
    return of == KERNEL_NO_SCOPE ? 0 : tree.scopes.items[of].ancestors;
}

/* Only the scopes that have members, numbered anew. */
static void copy_scopes(Finder *finder, Kernel *kernel)
{
    uint64_t used = 1;
    for (uint32_t i = 0; i < kernel->nodes.count; i++) {
        uint32_t scope = tree_scope(finder, points_of_node(finder->network, &finder->network->nodes.items[kernel->nodes.items[i]]));
        used |= finder->tree.scopes.items[scope].ancestors | scopes_of_ends(finder, kernel->nodes.items[i]);
    }
    uint32_t new_number[KERNEL_SCOPES_MAX];
    for (uint32_t i = 0; i < finder->tree.scopes.count; i++) {
        if ((used >> i & 1) == 0)
            continue;
        uint32_t number = new_number[i] = kernel->scopes.count;
        KernelScope *scope = vec_push(finder->arena, &kernel->scopes);
        *scope = finder->tree.scopes.items[i];
        scope->parent = number == KERNEL_ROOT ? KERNEL_ROOT : new_number[scope->parent];
        scope->ancestors = UINT64_C(1) << number;
        if (number != KERNEL_ROOT)
            scope->ancestors |= kernel->scopes.items[scope->parent].ancestors;
    }
}

static bool order_bodies(Finder *finder, Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->scopes.count; i++)
        if (!order_body(finder, kernel, i))
            return false;
    return true;
}

/* The kernel of nodes of this depth. Loops that wait for each other are left to the kernels of their own points. */
static void make_kernel(Finder *finder, uint32_t depth)
{
    Kernel kernel = {.number = finder->next_number};
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        if (is_member_at(finder, id, depth))
            *vec_push(finder->arena, &kernel.nodes) = id;
    copy_scopes(finder, &kernel);
    if (!is_worth_it(finder->network, &kernel))
        return;
    if (!order_bodies(finder, &kernel))
        return;
    uint32_t index = finder->fusion->kernels.count + 1;
    for (uint32_t i = 0; i < kernel.nodes.count; i++)
        finder->fusion->kernel_of[kernel.nodes.items[i]] = index;
    fuse_find_lists(finder, &kernel);
    finder->next_number++;
    *vec_push(finder->arena, &finder->fusion->kernels) = kernel;
}

static uint32_t find_depths(Finder *finder)
{
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        finder->is_candidate[id] = has_place(finder, id);
    uint32_t deepest = 0;
    for (FlowNodeId id = finder->first; id <= finder->last; id++) {
        find_depth(finder, id);
        deepest = finder->depths[id] > deepest ? finder->depths[id] : deepest;
    }
    return deepest;
}

static void fuse_below(Finder *finder, uint32_t root, Extent extent)
{
    if (extent.count < 2)
        return;
    finder->first = extent.first;
    finder->last = extent.last;
    for (uint32_t i = 0; i < finder->points_bound; i++)
        finder->is_evicted[i] = false;
    for (FlowNodeId id = finder->first; id <= finder->last; id++)
        finder->is_banned[id] = false;
    uint32_t deepest;
    do {
        grow_tree(finder, root);
        deepest = find_depths(finder);
    } while (mend(finder));
    for (uint32_t depth = 1; depth <= deepest; depth++)
        make_kernel(finder, depth);
}

/* ---- the whole network ---- */

static void find_readers(Finder *finder)
{
    const FlowNetwork *network = finder->network;
    finder->readers_of = ARENA_ARRAY(finder->arena, Readers, network->streams.count);
    uint32_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (FlowNodeId id = 0; id <= network->nodes.count; id++) {
            bool is_node = id < network->nodes.count;
            const FlowOperand *inputs = is_node ? network->nodes.items[id].inputs : network->result;
            uint32_t count = is_node ? network->nodes.items[id].input_count : network->is_item ? network->result_count : 0;
            for (uint32_t i = 0; i < count; i++) {
                if (inputs[i].is_constant)
                    continue;
                Readers *readers = &finder->readers_of[inputs[i].stream];
                if (pass == 1)
                    finder->readers[readers->first + readers->count] = (Reader){is_node ? id : NOWHERE, i};
                readers->count++;
                total++;
            }
        }
        if (pass == 1)
            break;
        finder->readers = ARENA_ARRAY(finder->arena, Reader, total);
        uint32_t first = 0;
        for (uint32_t s = 1; s < network->streams.count; s++) {
            finder->readers_of[s].first = first;
            first += finder->readers_of[s].count;
            finder->readers_of[s].count = 0;
        }
    }
}

static uint32_t points_bound(const FlowNetwork *network)
{
    uint32_t bound = 0;
    for (uint32_t i = 1; i < network->spaces.count; i++)
        bound = network->spaces.items[i].points >= bound ? network->spaces.items[i].points + 1 : bound;
    return bound;
}

static Extent extent_with(Extent extent, Extent other)
{
    if (extent.count == 0 || other.count == 0)
        return extent.count == 0 ? other : extent;
    return (Extent){.first = other.first < extent.first ? other.first : extent.first,
                    .last = other.last > extent.last ? other.last : extent.last,
                    .count = extent.count + other.count};
}

/* By set of points: of its own nodes and of those of spaces below. */
static Extent *find_extents(const Finder *finder)
{
    const FlowNetwork *network = finder->network;
    Extent *extents = ARENA_ARRAY(finder->arena, Extent, finder->points_bound);
    for (FlowNodeId id = 0; id < network->nodes.count; id++) {
        Extent *extent = &extents[points_of_node(network, &network->nodes.items[id])];
        *extent = extent_with(*extent, (Extent){id, id, 1});
    }
    for (uint32_t i = network->spaces.count; i-- > FLOW_UNIT + 1;) {
        const FlowSpace *space = &network->spaces.items[i];
        uint32_t parent = space->parent == 0 ? FLOW_UNIT : points_of_space(network, space->parent);
        if (parent != space->points)
            extents[parent] = extent_with(extents[parent], extents[space->points]);
    }
    return extents;
}

Fusion *fuse_network(Arena *arena, const FlowNetwork *network, FunctionTexts *functions, uint32_t first_number)
{
    Fusion *fusion = ARENA_NEW(arena, Fusion);
    *fusion = (Fusion){.network = network, .kernel_of = ARENA_ARRAY(arena, uint32_t, network->nodes.count + 1)};
    if (network->nodes.count == 0 || network->nodes.count > NODES_MAX)
        return fusion;
    Finder finder = {.arena = arena,
                     .network = network,
                     .functions = functions,
                     .fusion = fusion,
                     .next_number = first_number,
                     .points_bound = points_bound(network),
                     .depths = ARENA_ARRAY(arena, uint32_t, network->nodes.count),
                     .over = ARENA_ARRAY(arena, uint64_t, network->nodes.count),
                     .is_candidate = ARENA_ARRAY(arena, bool, network->nodes.count),
                     .is_banned = ARENA_ARRAY(arena, bool, network->nodes.count)};
    finder.is_evicted = ARENA_ARRAY(arena, bool, finder.points_bound);
    finder.tree.scope_of = ARENA_ARRAY(arena, uint32_t, finder.points_bound);
    find_readers(&finder);
    const Extent *extents = find_extents(&finder);
    bool *is_seen = ARENA_ARRAY(arena, bool, finder.points_bound);
    for (uint32_t i = FLOW_UNIT + 1; i < network->spaces.count; i++) {
        uint32_t points = network->spaces.items[i].points;
        if (points == FLOW_UNIT || is_seen[points])
            continue;
        is_seen[points] = true;
        fuse_below(&finder, points, extents[points]);
    }
    for (uint32_t i = 0; i < fusion->kernels.count; i++) {
        Kernel *kernel = &fusion->kernels.items[i];
        kernel->is_linear = linear_find(arena, fusion, kernel).scopes != 0;
        kernel->is_strided = strided_is(arena, fusion, kernel);
        kernel->has_lanes = lanes_at_root(functions, fusion, kernel);
        lanes_find_rows(arena, functions, fusion, kernel);
    }
    return fusion;
}
