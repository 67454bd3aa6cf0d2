/* Which nodes can be part of a kernel, as far as the node itself tells. */
#ifndef RUNNEL_KERNEL_MEMBERS_H
#define RUNNEL_KERNEL_MEMBERS_H

#include "flow/flow.h"
#include "kernel/function_text.h"

/* There is C for it. `functions` may be null: then calls are not accepted. */
bool member_accepts(const FlowNetwork *network, const FlowNode *node, FunctionTexts *functions);
/* A vector of scalars, made of all points. */
bool member_is_sink(const FlowNode *node);
/* Elements of a vector on unit are replaced, all by the same one: in which order makes no difference. */
bool member_is_scatter(const FlowNetwork *network, const FlowNode *node);
enum { SCATTER_LENGTH = 2, SCATTER_INDEX, SCATTER_LEAVES }; /* inputs of such a node; the first are the vector */
/* The elements of one vector of scalars, which streams are lent as they are: copying them gains nothing. */
bool member_is_lent(const FlowNetwork *network, const FlowNode *node);
/* It relates points and their parents. */
bool member_has_segments(const FlowNode *node);
/* It does so only where the points are a loop directly below their parents. */
bool member_needs_loop(const FlowNode *node);
/* Its result depends on the order in which elements are combined (math/combine.h). */
bool member_is_ordered(const FlowNode *node);
/* Of scans: the reduction by the same operator, and whether an element is part of its own result. */
Op member_scan_operator(const FlowNode *node);
bool member_is_inclusive(const FlowNode *node);
/* A scan over all points: its value goes on from one call of a kernel to the next. */
bool member_may_go_on(const FlowNode *node);
/* A reduction to unit of points below the root: one whose parts can be joined in any grouping. */
bool member_may_be_total(const FlowNode *node);
/* The type that an operation gives, which its output tells if somebody reads it. */
ScalarType member_result_type(const FlowNetwork *network, const FlowNode *node);

#endif
