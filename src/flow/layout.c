#include "flow/layout.h"

#include <string.h>

void layouts_init(Layouts *layouts, Arena *arena, Types *types)
{
    *layouts = (Layouts){.arena = arena, .types = types};
}

static TypeId representation(Types *types, TypeId type)
{
    while (type_kind(types, type) == TYPE_DATA || type_kind(types, type) == TYPE_CLOSURE)
        type = type_representation(types, type);
    return type;
}

static const Layout *make(Layouts *layouts, TypeId type, const Layout *first, const Layout *rest)
{
    uint32_t count = first->count + rest->count;
    if (count > LAYOUT_LEAVES_MAX)
        return NULL;
    Layout *layout = arena_alloc(layouts->arena, sizeof *layout + count * sizeof(Leaf));
    layout->type = type;
    layout->count = count;
    memcpy(layout->leaves, first->leaves, first->count * sizeof(Leaf));
    memcpy(layout->leaves + first->count, rest->leaves, rest->count * sizeof(Leaf));
    return layout;
}

static const Layout *make_leaves(Layouts *layouts, TypeId type, const Leaf *leaves, uint32_t count)
{
    Layout *layout = arena_alloc(layouts->arena, sizeof *layout + count * sizeof(Leaf));
    layout->type = type;
    layout->count = count;
    if (count > 0)
        memcpy(layout->leaves, leaves, count * sizeof(Leaf));
    return layout;
}

static const Layout *compute(Layouts *layouts, TypeId type)
{
    Types *types = layouts->types;
    TypeId inner = representation(types, type);
    if (type_kind(types, inner) == TYPE_SCALAR) {
        Leaf leaf = {.type = (LeafType)type_scalar(types, inner)};
        return make_leaves(layouts, type, &leaf, 1);
    }
    if (type_kind(types, inner) == TYPE_PAIR) {
        const Layout *first = layout_of(layouts, type_first(types, inner));
        const Layout *rest = layout_of(layouts, type_rest(types, inner));
        return first == NULL || rest == NULL ? NULL : make(layouts, type, first, rest);
    }
    if (type_kind(types, inner) == TYPE_CONTAINER) {
        const Layout *elements = layout_of(layouts, type_element(types, inner));
        Leaf leaves[] = {{.type = LEAF_ARRAY, .elements = elements}, {.type = SCALAR_I64}, {.type = SCALAR_I64}};
        return elements == NULL ? NULL : make_leaves(layouts, type, leaves, 3);
    }
    return make_leaves(layouts, type, NULL, 0); /* unit */
}

/* Remembers that a type has too many leaves: types are graphs, and what failed once must not be walked again. */
static const Layout too_large;

const Layout *layout_of(Layouts *layouts, TypeId type)
{
    while (layouts->by_type.count <= type)
        *vec_push(layouts->arena, &layouts->by_type) = NULL;
    if (layouts->by_type.items[type] == NULL) {
        const Layout *layout = compute(layouts, type); /* may move the table */
        layouts->by_type.items[type] = layout == NULL ? &too_large : layout;
    }
    const Layout *found = layouts->by_type.items[type];
    return found == &too_large ? NULL : found;
}

bool layout_has_arrays(const Layout *layout)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->leaves[i].type == LEAF_ARRAY)
            return true;
    return false;
}

size_t leaf_size(LeafType type)
{
    static const uint8_t sizes[] = {
#define SCALAR(ID, name, c_type, kind) [SCALAR_##ID] = sizeof(c_type),
#include "ops/scalars.def"
#undef SCALAR
        [LEAF_ARRAY] = sizeof(void *), [LEAF_ENDS] = sizeof(int64_t), [LEAF_POINTS] = 0,
    };
    return sizes[type];
}

const char *leaf_name(LeafType type)
{
    switch (type) {
    case LEAF_ARRAY: return "array";
    case LEAF_ENDS: return "ends";
    case LEAF_POINTS: return "points";
    default: return scalar_name((ScalarType)type);
    }
}
