/* Compressed files: what they are called, how they begin, and what is in them. Which kinds can be read and written depends on the libraries that were there when
 * Runnel was built. */
#ifndef RUNNEL_IO_COMPRESSION_H
#define RUNNEL_IO_COMPRESSION_H

#include "base/memory.h"

#include <stdbool.h>

typedef enum Compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD, COMPRESSION_COUNT } Compression;

const char *compression_name(Compression compression);
/* The bytes that such a file begins with. */
typedef struct CompressionMagic {
    const char *bytes;
    size_t size;
} CompressionMagic;
CompressionMagic compression_magic(Compression compression);
/* By the end of a path; *length is that of the path without it. */
Compression compression_of_path(const char *path, size_t *length);
/* Null if it can be read and written here; otherwise why not. */
const char *compression_lack(Compression compression);

/* ---- reading ---- */
typedef struct Decoder Decoder;

typedef enum DecodeStatus {
    DECODE_MORE,  /* goes on with more bytes */
    DECODE_WHOLE, /* what was given so far is whole */
    DECODE_WRONG, /* it is damaged, or no such thing */
} DecodeStatus;

/* Only of kinds that nothing lacks for. */
Decoder *decoder_new(Memory *memory, Compression compression);
void decoder_free(Memory *memory, Decoder *decoder); /* null is allowed */
/* Decodes some of `*count` bytes at `*bytes`, which then are what is left of them, to `out`; *made are there, `room` at most. Allocates nothing. */
DecodeStatus decoder_run(Decoder *decoder, const unsigned char **bytes, size_t *count, char *out, size_t room, size_t *made);

/* ---- writing ---- */
typedef struct Encoder Encoder;

Encoder *encoder_new(Memory *memory, Compression compression);
void encoder_free(Memory *memory, Encoder *encoder); /* null is allowed */
/* Encodes some of the bytes as above; if they are the last, it is called until *is_done. False if that cannot be. */
bool encoder_run(Encoder *encoder, const char **bytes, size_t *count, bool is_last, char *out, size_t room, size_t *made, bool *is_done);

#endif
