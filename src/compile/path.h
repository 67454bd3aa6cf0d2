/* Names of files, in buffers of a fixed size. */
#ifndef RUNNEL_COMPILE_PATH_H
#define RUNNEL_COMPILE_PATH_H

/* As PATH_MAX is on Linux; not everywhere does a header find that. */
enum { PATH_SIZE = 4096 };

#endif
