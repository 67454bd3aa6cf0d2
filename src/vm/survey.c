#include "vm/survey.h"

#include "vm/call.h"

typedef struct Survey {
    uint64_t inputs; /* elements that came from outside */
    bool has_inputs;
    uint64_t points, total; /* of ranges: given so far, and as many as they are */
} Survey;

static bool is_done(const Instance *instance, FlowNodeId id)
{
    return (instance->status[id] & NODE_DONE) != 0;
}

/* Points that the node has given: what its first output has seen, or what its bundle has done in its place. */
static uint64_t points_given(const Instance *instance, FlowNodeId id)
{
    uint64_t given = stream_end(&instance->streams[instance->plan->nodes[id].node->outputs[0]]);
    uint64_t done = bundle_points_done(instance, id);
    return done > given ? done : given;
}

/* A range that has its count, and goes on, or is over. */
static void survey_range(Vm *vm, Instance *instance, FlowNodeId id, Survey *survey)
{
    uint64_t given = points_given(instance, id);
    survey->points += given;
    Firing firing = instance_firing(vm, instance, id);
    if (is_done(instance, id) || firing_available(&firing, 0) == 0)
        survey->total += given;
    else
        survey->total += *(const uint64_t *)firing_cells(&firing, 0).data;
}

static void survey_node(Vm *vm, Instance *instance, FlowNodeId id, Survey *survey)
{
    const FlowNode *node = instance->plan->nodes[id].node;
    if (node->op == FLOW_INPUT) {
        survey->has_inputs = true;
        survey->inputs += points_given(instance, id);
    } else if (node->op == FLOW_RANGE && node->segments == SEGMENTS_SINGLE && node->outputs[0] != 0) {
        survey_range(vm, instance, id, survey);
    }
}

/* How long input is nobody here knows; where there is some, it is what counts. */
void survey_run(Vm *vm)
{
    Survey survey = {0};
    Instance *instance = vm->frame_count > 0 ? vm->frames[0].instance : NULL;
    for (FlowNodeId id = 0; instance != NULL && id < instance->plan->node_count; id++)
        survey_node(vm, instance, id, &survey);
    if (survey.has_inputs)
        progress_tell(vm->options.progress, survey.inputs, 0);
    else
        progress_tell(vm->options.progress, survey.points, survey.total);
}
