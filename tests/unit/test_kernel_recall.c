/* What emitted loops keep from point to point (kernel/preamble/recall.h): it is found again under its key only, is forgotten when there is no more room, and is not looked for where
 * that finds nothing. */
#include "kernel/preamble/recall.h"
#include "check.h"

#include <stdlib.h>

enum { LENGTH = 100 };

static size_t blocks_left;

static KernelBlock *take_block(KernelWorkspace *workspace, size_t bytes)
{
    (void)workspace;
    KernelBlock *block = blocks_left == 0 ? NULL : malloc(bytes);
    if (block != NULL) {
        block->size = bytes;
        blocks_left--;
    }
    return block;
}

static void begin(KernelWorkspace *workspace, size_t blocks)
{
    blocks_left = blocks;
    kernel_workspace_init(workspace, take_block, NULL);
}

static void end(KernelWorkspace *workspace)
{
    for (KernelBlock *block = workspace->regions[KERNEL_REGION_RECALL].first, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
}

/* As emitted code does it: values that tell the key. True if they were there. */
static bool use(KernelWorkspace *workspace, int64_t loop, int64_t k, int64_t length)
{
    KernelRecalled *recalled = kernel_recall(workspace, (const int64_t[]){loop, length, k}, 3, length, sizeof(int64_t) + 1);
    if (recalled == NULL)
        return false;
    uint8_t *bytes = kernel_recall_column(recalled, length, 0);
    int64_t *values = kernel_recall_column(recalled, length, 1);
    bool was_there = recalled->is_filled;
    for (int64_t i = 0; i < length && !was_there; i++) {
        values[i] = loop * 1000000 + k * 1000 + i;
        bytes[i] = (uint8_t)(i ^ k);
    }
    recalled->is_filled = true;
    for (int64_t i = 0; i < length; i++)
        CHECK(values[i] == loop * 1000000 + k * 1000 + i && bytes[i] == (uint8_t)(i ^ k));
    return was_there;
}

static void test_keys(void)
{
    KernelWorkspace workspace;
    begin(&workspace, 8);
    CHECK(!use(&workspace, 1, 5, LENGTH));
    CHECK(use(&workspace, 1, 5, LENGTH));
    CHECK(!use(&workspace, 2, 5, LENGTH));
    CHECK(!use(&workspace, 1, 6, LENGTH));
    CHECK(!use(&workspace, 1, 5, LENGTH + 1));
    CHECK(use(&workspace, 1, 5, LENGTH) && use(&workspace, 2, 5, LENGTH) && use(&workspace, 1, 6, LENGTH));
    CHECK(kernel_recall(&workspace, (const int64_t[]){1, LENGTH, 5}, 2, LENGTH, 8) != kernel_recall(&workspace, (const int64_t[]){1, LENGTH, 5}, 3, LENGTH, 8));
    kernel_workspace_reset(&workspace);
    CHECK(!use(&workspace, 1, 5, LENGTH));
    end(&workspace);
}

static void test_lengths(void)
{
    KernelWorkspace workspace;
    begin(&workspace, 8);
    for (int i = 0; i < 2; i++) {
        CHECK(!use(&workspace, 1, 1, KERNEL_RECALL_LEAST - 1));
        CHECK(!use(&workspace, 1, 1, KERNEL_RECALL_MOST + 1));
        CHECK(use(&workspace, 1, 1, KERNEL_RECALL_LEAST) == i);
        CHECK(use(&workspace, 1, 1, KERNEL_RECALL_MOST) == i);
    }
    end(&workspace);
}

/* One that failed while it was filled is filled the next time. */
static void test_unfilled(void)
{
    KernelWorkspace workspace;
    begin(&workspace, 8);
    KernelRecalled *recalled = kernel_recall(&workspace, (const int64_t[]){1, LENGTH, 5}, 3, LENGTH, sizeof(int64_t) + 1);
    CHECK(recalled != NULL && !recalled->is_filled);
    CHECK(!use(&workspace, 1, 5, LENGTH));
    CHECK(use(&workspace, 1, 5, LENGTH));
    end(&workspace);
}

static void test_room(void)
{
    KernelWorkspace workspace;
    begin(&workspace, 8);
    for (int64_t k = 0; k < 1000; k++) {
        use(&workspace, k, k, KERNEL_RECALL_MOST);
        CHECK(workspace.recall_bytes <= KERNEL_RECALL_BYTES);
    }
    CHECK(blocks_left > 0);
    end(&workspace);
}

static void test_misses(void)
{
    KernelWorkspace workspace;
    begin(&workspace, 8);
    int64_t k = 0;
    while (kernel_recall(&workspace, (const int64_t[]){3, LENGTH, k}, 3, LENGTH, 8) != NULL)
        k++;
    CHECK(k == KERNEL_RECALL_MISSES);
    int64_t tried = 0;
    for (int64_t i = 0; i < 4 * KERNEL_RECALL_PAUSE; i++)
        tried += kernel_recall(&workspace, (const int64_t[]){3, LENGTH, ++k}, 3, LENGTH, 8) != NULL;
    CHECK(tried > 0 && tried <= 5 * KERNEL_RECALL_RETRIES);
    use(&workspace, 4, 1, LENGTH);
    for (int i = 0; i < 10 * KERNEL_RECALL_PAUSE; i++)
        CHECK(use(&workspace, 4, 1, LENGTH)); /* another loop is not disturbed */
    end(&workspace);
}

static void test_want_of_memory(void)
{
    KernelWorkspace workspace;
    for (size_t blocks = 0; blocks < 2; blocks++) {
        begin(&workspace, blocks);
        for (int64_t k = 0; k < 20; k++)
            use(&workspace, 1, k, KERNEL_RECALL_MOST / 2);
        end(&workspace);
    }
}

int main(void)
{
    test_keys();
    test_lengths();
    test_unfilled();
    test_room();
    test_misses();
    test_want_of_memory();
    return failures > 0;
}
