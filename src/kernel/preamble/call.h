/* What the VM and emitted kernels tell each other. This header is part of both. */
#ifndef RUNNEL_KERNEL_PREAMBLE_CALL_H
#define RUNNEL_KERNEL_PREAMBLE_CALL_H

#include "kernel/preamble/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array as emitted code sees it: as vm/array.h declares it. One without references lies in a region, with all that it has; it has no layout, and no column of it is uniform. */
typedef struct KernelColumn {
    void *data;
    size_t capacity;
    bool is_uniform;
    void *shared;
} KernelColumn;

typedef struct KernelArray {
    uint64_t references;
    const void *layout;
    size_t count;
    KernelColumn columns[];
} KernelArray;

typedef const KernelArray *KernelArrayRef; /* null: one that nobody made yet, of which all vectors are empty */

typedef struct KernelCall KernelCall;
typedef struct KernelTask KernelTask;
typedef struct KernelForks KernelForks;

/* A call that another thread may do, while whoever offers it does something else. It lies in the frame of that function, or in a region that is its own, which therefore settles it before it returns. */
struct KernelTask {
    bool (*run)(KernelTask *task, const KernelCall *call); /* with the memory and the flags of `call` */
    const KernelCall *call;      /* of who offers it */
    KernelWorkspace *workspace;  /* that its result is in, if another thread did it */
    int state;                   /* vm/forks.c */
    bool is_good;                /* what it gave */
    KernelTask *next;            /* of the calls of a comprehension (preamble/vector.h), */
    int64_t place;               /* ... and where its result goes */
};

/* Through which threads take calls from each other. */
struct KernelForks {
    void (*offer)(KernelForks *forks, KernelTask *task);
    /* True if another thread did the call, and has ended; else it was not taken, and is not to be any more. */
    bool (*settle)(KernelForks *forks, KernelTask *task);
    /* Nobody needs its result where it is any more. */
    void (*finish)(KernelForks *forks, KernelTask *task);
    int64_t least; /* elements that are worth it */
};

/* How the points of one long loop are shared by several calls for the same point of the root. */
typedef struct KernelLoopParts {
    uint32_t scope;       /* the loop of which this call does only the blocks from `from` up to `end`, and gives what its reductions come to in each; 0 if none */
    int64_t from, end;
    bool wants_totals;    /* of the loop's scans, in each of these blocks, and nothing else: the call after it begins blocks with what comes before them */
    uint64_t known;       /* loops, as bits, of which that is known already */
    void *const *totals;  /* by number in the kernel's list of partials: where it goes, by number of the block, or is; of scans, what comes before blocks */
    const int64_t *given; /* by scope, of those below known loops: how many elements were given of each output there */
    uint32_t wanted;      /* is set with KERNEL_LONG: the loop that is to be shared, */
    int64_t length;       /* ... and how many points it has */
} KernelLoopParts;

/* Threads that do one point together: each computes all of it, but for loops of which each does a part. */
typedef struct KernelTogether {
    uint32_t members;
    uint32_t arrived;       /* at the place where all meet, */
    uint32_t meetings;      /* ... and how often they have met */
    void *shared[2];        /* what the first gives the others, at one meeting and at the next */
    void (*give_way)(void); /* while waiting: somebody else may want to run */
} KernelTogether;

/* Points [position, position + count) of a kernel's root. Tables are in the order of the kernel's lists (kernel/fuse.h). */
struct KernelCall {
    int64_t position;
    int64_t count;
    int64_t share, shares;       /* of a vector in which elements are replaced (kernel/strided.h): only those in this one of so many are */
    bool owns_share;             /* nobody else replaces elements there at the same time */
    const void *const *streams;  /* elements from the first of these points on */
    const void *const *uniforms; /* one cell each */
    const void *const *columns;  /* elements of arrays that serve all points */
    const int64_t *strides;      /* for each of them: 0 if one element stands for all, as may be with arrays in arrays, else 1 */
    const void *const *rows;     /* vectors as rows (kernel/preamble/rows.h); null for those that are not */
    void *const *outputs;        /* room for as many elements as there are points, or for `room` if their number is not known beforehand */
    int64_t room;
    int64_t blocks;              /* of folds and scans: how many are done at once, each of `count` elements: 1, or KERNEL_FOLD_BLOCKS; 0: see function_text_need_scan */
    int64_t *given;              /* by scope: how many elements were given of each output on points below the root */
    int64_t *done;               /* is set if not all points were done, for want of room */
    bool wants_totals;           /* only those of scans, or how much will be given, but nothing is */
    void *const *carries;        /* scans over all points: their value before these, and where it goes after them */
    void *const *totals;         /* reductions to unit: what is added to the cell there */
    const void *const *globals;  /* cells that functions read, by number (kernel/function_text.h); null where there is no value */
    int64_t depth;               /* calls of functions that may be nested in one that a kernel does */
    const volatile int *stop;         /* not 0 where the run must end: what may take long looks at it now and then, */
    const volatile bool *has_failed;  /* ... and at this: another part of these points has failed */
    int64_t long_loop;           /* loops of as many points are shared, if they can be: */
    KernelLoopParts *parts;
    KernelWorkspace *workspace;  /* of this thread, for functions that make vectors; null for others */
    KernelRegion *spare;         /* of this thread: where calls that it takes from others have what they need meanwhile */
    KernelForks *forks;          /* null if other threads have their own to do */
    uint32_t nested;             /* calls taken from others while waiting for one, one inside of the other */
    KernelTogether *together;    /* those that do this point with this thread; null if there are none */
    uint32_t member;             /* its number among them */
};

enum { KERNEL_LANES = 32 };        /* points that functions do at once (kernel/function_lanes.c), */
enum { KERNEL_LANE_POINTS = 256 }; /* ... of those that kernels give them: a power of two */
#ifndef KERNEL_WIDE
#define KERNEL_WIDE 64 /* points that wide versions of functions do at once; files may say otherwise (kernel/function_wide.h) */
#endif
enum { KERNEL_FOLD_BLOCKS = 8 }; /* of the order of combination, next to each other, that operators are folded over at once */
enum { KERNEL_GROUP_COLUMNS = 4 }; /* that are brought into the order of the places where points go (kernel/preamble/groups.h) */
enum { KERNEL_ENTRY_LEAVES = 32 }; /* of the arguments, and of the result, of a function that is called from outside of kernels */

enum {
    KERNEL_FAILED = 1, /* somewhere in these points, or they must be done in another way: then nothing was done */
    KERNEL_SLOW = 2,   /* only inside kernels */
    KERNEL_LONG = 3,   /* the point `*done` has a loop that is to be shared: nothing was done */
    KERNEL_LEFT = 4,   /* of an entry that only does many points at once: the first that was not done may be done by a complete one (kernel/function_text.h) */
};

/* Nobody wants it to go on. */
static inline bool kernel_is_over(const KernelCall *call)
{
    return (__atomic_load_n(call->stop, __ATOMIC_RELAXED) | __atomic_load_n(call->has_failed, __ATOMIC_RELAXED)) != 0;
}

typedef uint64_t KernelFunction(const KernelCall *call);

#endif
