/* The list of passes: everything that happens between a text and the Core that is run, in order. After each pass the form it made is
 * checked; a failed check is our bug and names the pass. */
#include "core/outline.h"
#include "core/streamability.h"
#include "flow/flatten.h"
#include "kernel/function_text.h"
#include "session/session.h"

static bool pass_infer(RunnelSession *session, Load *load)
{
    Environment *environment = &session->environment;
    uint32_t first = load->mark.definition_count;
    uint32_t count = environment->definitions.count - first;
    if (count > 0) /* there may be no array yet */
        infer_definitions(environment, environment->definitions.items + first, count);
    return session->diagnostics.error_count == 0;
}

/* ---- elaborate ---- */

static Definition *find_main(RunnelSession *session)
{
    Name name = names_of(&session->names, "main");
    Definition *found = environment_lookup(&session->environment, name, session->dialect, false,
                                           session->environment.next_position);
    return found != NULL && found->kind == DEFINITION_FUNCTION && !found->is_library ? found : NULL;
}

static bool elaborate_main(RunnelSession *session)
{
    EntryPoint *main = &session->main;
    *main = (EntryPoint){.definition = find_main(session)};
    if (main->definition == NULL)
        return true;
    main->function = elaborate_entry(session->elaborator, main->definition);
    uint32_t count = main->definition->item->parameter_count;
    main->defaults = ARENA_ARRAY(&session->arena, CoreFunctionId, count);
    bool is_right = main->function != 0;
    for (uint32_t i = 0; i < count && main->definition->defaults != NULL && is_right; i++) {
        if (main->definition->defaults[i] == NULL)
            continue;
        main->defaults[i] = elaborate_default(session->elaborator, main->definition, i);
        is_right = main->defaults[i] != 0;
    }
    return is_right;
}

static bool pass_elaborate(RunnelSession *session, Load *load)
{
    bool is_right = true;
    for (uint32_t i = load->first_step; i < session->steps.count; i++) {
        Step *step = &session->steps.items[i];
        if (step->definition == NULL)
            continue;
        step->item = session->program.items.count;
        is_right &= elaborate_item(session->elaborator, step->definition);
    }
    return is_right && elaborate_main(session);
}

static const char *check_core(RunnelSession *session, const Load *load)
{
    return core_check(&session->program, load->first_function, load->first_item);
}

/* ---- stream ---- */

static bool pass_stream(RunnelSession *session, Load *load)
{
    if (session->options.counts_costs)
        return true; /* what a program would cost can be asked of any */
    if (session->options.materializes)
        streamability_materialize(&session->program, &session->diagnostics, session->main.function,
                                  load->first_function, load->first_item);
    return streamability_check(&session->program, &session->diagnostics, session->main.function,
                               load->first_function, load->first_item);
}

/* ---- simplify ---- */

static bool pass_simplify(RunnelSession *session, Load *load)
{
    if (session->options.is_unsimplified)
        return true;
    const EntryPoint *main = &session->main;
    for (uint32_t i = 0; main->definition != NULL && i < main->definition->item->parameter_count; i++)
        if (main->defaults[i] != 0)
            simplify_entry(session->simplifier, main->defaults[i]);
    if (main->function != 0)
        simplify_entry(session->simplifier, main->function);
    load->first_simple_function = simplify_program(session->simplifier);
    return true;
}

static const char *check_simple(RunnelSession *session, const Load *load)
{
    return core_check(&session->simple, load->first_simple_function, load->first_item);
}

/* ---- outline ---- */

typedef struct Acceptance {
    RunnelSession *session;
    uint32_t asked;
} Acceptance;

/* A program with very many such bodies would take the C compiler long, and looking at them long too. */
enum { OUTLINED_MAX = 200 };

static bool accepts_function(void *context, CoreFunctionId function)
{
    Acceptance *acceptance = context;
    RunnelSession *session = acceptance->session;
    if (++acceptance->asked > OUTLINED_MAX)
        return false;
    return function_text_need_entry(function_texts_new(&session->arena, &session->simple, &session->layouts, 0), function);
}

static bool shares_calls(void *context, CoreFunctionId function)
{
    Acceptance *acceptance = context;
    RunnelSession *session = acceptance->session;
    if (++acceptance->asked > OUTLINED_MAX)
        return false;
    return function_text_shares(function_texts_new(&session->arena, &session->simple, &session->layouts, 0), function);
}

static bool pass_outline(RunnelSession *session, Load *load)
{
    if (session->options.engine != RUNNEL_ENGINE_C || session->options.is_unsimplified)
        return true;
    Acceptance acceptance = {.session = session};
    simplify_alone(session->simplifier, load->first_simple_function);
    Outliner outliner = {.program = &session->simple, .original = &session->program, .accepts = accepts_function, .shares = shares_calls, .context = &acceptance};
    outline_program(&outliner, load->first_simple_function, load->first_item);
    return true;
}

/* ---- flatten ---- */

static bool pass_flatten(RunnelSession *session, Load *load)
{
    (void)load;
    if (session->options.engine == RUNNEL_ENGINE_REFERENCE)
        return true;
    const EntryPoint *main = &session->main;
    uint32_t count = main->definition == NULL ? 0 : main->definition->item->parameter_count;
    FlattenEntry *entries = ARENA_ARRAY(&session->arena, FlattenEntry, count + 1);
    for (uint32_t i = 0; i < count; i++)
        entries[i].function = main->defaults[i];
    entries[count] = (FlattenEntry){.function = main->function, .is_printed = true};
    FlattenOptions options = vm_flatten_options(session->vm);
    return flatten_program(&session->flow, &session->diagnostics, &options, entries, count + 1);
}

static const char *check_flow(RunnelSession *session, const Load *load)
{
    return flow_check(&session->flow, load->first_network);
}

/* ---- the list ---- */

typedef struct Pass {
    const char *name;
    const char *summary;
    bool (*run)(RunnelSession *session, Load *load); /* false: nothing after it makes sense */
    const char *(*check)(RunnelSession *session, const Load *load); /* null, or what is wrong */
} Pass;

static const Pass passes[] = {
    {"read", "text to syntax trees; files that are imported or loaded too", read_source, NULL},
    {"infer", "names to what they mean; types of all definitions", pass_infer, NULL},
    {"elaborate", "typed syntax to Core, specialised", pass_elaborate, check_core},
    {"stream", "whether one pass over every sequence is enough", pass_stream, check_core},
    {"simplify", "Core to less Core: functions inlined, nothing computed twice or in vain", pass_simplify, check_simple},
    {"outline", "bodies that make vectors to functions, for engines that compile", pass_outline, check_simple},
    {"flatten", "Core to Flow: nesting becomes spaces and streams", pass_flatten, check_flow},
};

bool passes_run(RunnelSession *session, Load *load)
{
    for (uint32_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        if (!passes[i].run(session, load))
            return false;
        const char *problem = passes[i].check == NULL ? NULL : passes[i].check(session, load);
        if (problem != NULL)
            bug(passes[i].name, "%s", problem);
    }
    return session->diagnostics.error_count == 0;
}
