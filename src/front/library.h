/* The standard library: the files of lib/, built into the program by tools/embed; and so are the documents that the program shows. */
#ifndef RUNNEL_FRONT_LIBRARY_H
#define RUNNEL_FRONT_LIBRARY_H

#include <stddef.h>

typedef struct LibraryFile {
    const char *path; /* as in the source tree, such as lib/vectors.rnl */
    const char *text; /* zero-terminated */
    size_t length;
} LibraryFile;

extern const LibraryFile library_files[];
extern const size_t library_file_count;

/* docs/, only in the command, not in the library. */
extern const LibraryFile document_files[];
extern const size_t document_file_count;

#endif
