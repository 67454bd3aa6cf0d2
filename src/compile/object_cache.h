/* Shared objects that were compiled once, on disk.
 *
 * A file is named by its key, the hash of all that it depends on, and ends in a hash of what it holds, so one that is damaged is not loaded. Files appear whole, by renaming, and are never
 * changed: several processes may use one directory, and remove what others have loaded. When it was last used is the time of a file. Only a directory and files that belong to
 * the user, and that nobody else can write, are trusted. */
#ifndef RUNNEL_COMPILE_OBJECT_CACHE_H
#define RUNNEL_COMPILE_OBJECT_CACHE_H

#include "compile/path.h"
#include "compile/sha256.h"

#include <stdbool.h>

#define OBJECT_CACHE_LIMIT (UINT64_C(256) << 20)

/* The directory: `given` if it is not null, else $RUNNEL_CACHE, $XDG_CACHE_HOME/runnel or ~/.cache/runnel. False if there is none of them. */
bool object_cache_locate(const char *given, char directory[PATH_SIZE]);
/* Why it is not used: it is not ours alone, or cannot be written. Null if it is used, or would be made. */
const char *object_cache_fault(const char *directory);

/* The path of a file that may be loaded, which counts as used now. */
bool object_cache_find(const char *directory, const char *key, char path[PATH_SIZE]);
/* Adds a copy of the file `from`, or replaces what there is. False if that cannot be done. */
bool object_cache_add(const char *directory, const char *key, const char *from, char path[PATH_SIZE]);
/* Removes what was not used for longest until the rest is within `limit` bytes. */
void object_cache_trim(const char *directory, uint64_t limit);

typedef struct ObjectCacheSize {
    uint64_t files;
    uint64_t bytes;
} ObjectCacheSize;

ObjectCacheSize object_cache_measure(const char *directory);
/* Removes all files of the cache, and no others; what is gone. */
ObjectCacheSize object_cache_clear(const char *directory);

#endif
