#include "vm/stages.h"

#include "base/machine.h"
#include "vm/code.h"

#include <inttypes.h>

/* ---- finding them ---- */

/* Whether values on a space are held as a whole: it is the network's own, or a filter of it. */
static bool is_whole(const FlowNetwork *network, FlowSpaceId id)
{
    const FlowSpace *space = &network->spaces.items[id];
    while (space->kind == SPACE_FILTER)
        space = &network->spaces.items[space->parent];
    return space->kind == SPACE_UNIT || space->kind == SPACE_ROOT;
}

static uint32_t representative(uint32_t *sets, uint32_t node)
{
    while (sets[node] != node)
        node = sets[node] = sets[sets[node]];
    return node;
}

static void unite_readers(const Plan *plan, uint32_t *sets)
{
    for (FlowStreamId i = 1; i < plan->stream_count; i++) {
        const StreamPlan *stream = &plan->streams[i];
        if (is_whole(plan->network, plan->network->streams.items[i].space))
            continue;
        for (uint32_t k = 0; k < stream->reader_count; k++)
            if (stream->readers[k].node != NO_NODE)
                sets[representative(sets, stream->readers[k].node)] = representative(sets, stream->node);
    }
}

void stages_find(Vm *vm, Plan *plan)
{
    uint32_t *sets = ARENA_ARRAY(&vm->arena, uint32_t, plan->node_count);
    uint32_t *numbers = ARENA_ARRAY(&vm->arena, uint32_t, plan->node_count);
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        sets[id] = id;
        numbers[id] = UINT32_MAX;
    }
    unite_readers(plan, sets);
    plan->stages = ARENA_ARRAY(&vm->arena, Stage, plan->node_count);
    for (FlowNodeId id = 0; id < plan->node_count; id++) {
        uint32_t *number = &numbers[representative(sets, id)];
        if (*number == UINT32_MAX) {
            *number = plan->stage_count++;
            plan->stages[*number].first = id;
        }
        plan->stages[*number].node_count++;
        plan->nodes[id].stage = *number;
    }
}

/* ---- counting ---- */

void stages_count(Vm *vm, const Plan *plan, FlowNodeId node, uint64_t start, uint64_t produced)
{
    Stage *stage = &plan->stages[plan->nodes[node].stage];
    stage->firings++;
    stage->elements += vm->produced - produced;
    stage->nanoseconds += machine_clock() - start;
}

/* ---- showing ---- */

/* Stages of one node with few elements are not shown one by one. */
static bool is_shown(const Stage *stage)
{
    return stage->node_count > 1 && stage->firings > 0;
}

static void show_stage(const Vm *vm, const Plan *plan, const Stage *stage, Text *out)
{
    const char *name = plan->network->name == 0 ? "top level" : names_text(vm->program->core->names, plan->network->name);
    Location place = {0};
    Span span = plan->nodes[stage->first].node->span;
    if (span.start != 0)
        place = sources_locate(vm->diagnostics->sources, span.start);
    text_addf(out, "  %-20s line %-5u %6u nodes %12" PRIu64 " firings %14" PRIu64 " elements %10.3f s\n", name,
              place.line, stage->node_count, stage->firings, stage->elements, (double)stage->nanoseconds * 1e-9);
}

static void show_plan(const Vm *vm, const Plan *plan, Text *out)
{
    for (uint32_t k = 0; k < plan->stage_count; k++)
        if (is_shown(&plan->stages[k]))
            show_stage(vm, plan, &plan->stages[k], out);
    chunks_show(&plan->chunks, out);
}

/* How much of the time that its threads had was spent working. */
static double busy_share(const Vm *vm)
{
    double time = (double)vm->stats.nanoseconds;
    if (vm->team == NULL || time == 0)
        return 0;
    double worked = time - (double)team_waiting_time(vm->team) + (double)team_busy_time(vm->team);
    return worked / (time * vm->options.threads);
}

/* What the C compiler had to do with it. */
static void write_code_stats(const Vm *vm, Text *out)
{
    text_addf(out, "kernels %" PRIu64 ", compiled or loaded in %.1f ms", code_kernels(vm), code_milliseconds(vm));
    if (vm->options.is_fast)
        text_add(out, "; fast: floats may be contracted, and multiplied by reciprocals");
    text_add_char(out, '\n');
}

void vm_write_stats(const Vm *vm, Text *out)
{
    const VmStats *stats = &vm->stats;
    uint32_t stages = 0;
    for (uint32_t i = 0; i < vm->plans.count; i++)
        for (uint32_t k = 0; vm->plans.items[i] != NULL && k < vm->plans.items[i]->stage_count; k++)
            stages += is_shown(&vm->plans.items[i]->stages[k]);
    text_addf(out, "engine %s, threads %u, busy %.2f of the time, ", vm->options.compiles ? "c" : "vm", vm->options.threads,
              busy_share(vm));
    if (vm->options.chunk == 0)
        text_add(out, "chunks adapt\n");
    else
        text_addf(out, "chunks of %" PRIu64 " elements\n", vm->options.chunk);
    if (vm->options.compiles)
        write_code_stats(vm, out);
    text_addf(out, "peak bytes %" PRIu64 ", vector bytes %" PRIu64 ", stages %u, calls %" PRIu64 ", firings %" PRIu64 ", elements %" PRIu64
              ", grown buffers %" PRIu64 ", fallbacks %" PRIu64 "\n",
              (uint64_t)vm->memory->peak_bytes, vm->vector_bytes, stages, stats->calls, stats->firings, vm->produced, stats->growths,
              stats->fallbacks);
    for (uint32_t i = 0; i < vm->plans.count; i++)
        if (vm->plans.items[i] != NULL)
            show_plan(vm, vm->plans.items[i], out);
}
