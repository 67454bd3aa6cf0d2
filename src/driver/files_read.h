/* How far the process has read the files that it has open. */
#ifndef RUNNEL_DRIVER_FILES_READ_H
#define RUNNEL_DRIVER_FILES_READ_H

#include <stdbool.h>

/* The part of them that was read, by bytes; false if none is open, nothing was read, or all of it. Files are ordinary ones, open for reading only; what is
 * packed in them does not matter. From any thread. */
bool files_read_part(double *part);
/* Whether there is a file or pipe, other than the three standard ones, that is open for reading only. */
bool files_are_open(void);

#endif
