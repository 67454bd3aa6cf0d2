#include "io/compression.h"

#include <limits.h>
#include <string.h>

#ifdef RUNNEL_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef RUNNEL_HAVE_ZSTD
#include <zstd.h>
#endif

/* ---- kinds ---- */

static const struct {
    const char *name;
    const char *ending;
    CompressionMagic magic;
    const char *lack;
} kinds[COMPRESSION_COUNT] = {
    [COMPRESSION_NONE] = {"none", "", {"", 0}, NULL},
    [COMPRESSION_GZIP] = {"gzip", ".gz", {"\x1f\x8b", 2},
#ifdef RUNNEL_HAVE_ZLIB
                          NULL
#else
                          "this runnel was built without zlib (zlib1g-dev), which gzip files need"
#endif
    },
    [COMPRESSION_ZSTD] = {"zstd", ".zst", {"\x28\xb5\x2f\xfd", 4},
#ifdef RUNNEL_HAVE_ZSTD
                          NULL
#else
                          "this runnel was built without libzstd (libzstd-dev), which zstd files need"
#endif
    },
};

const char *compression_name(Compression compression)
{
    return kinds[compression].name;
}

CompressionMagic compression_magic(Compression compression)
{
    return kinds[compression].magic;
}

const char *compression_lack(Compression compression)
{
    return kinds[compression].lack;
}

Compression compression_of_path(const char *path, size_t *length)
{
    *length = strlen(path);
    for (Compression kind = COMPRESSION_NONE + 1; kind < COMPRESSION_COUNT; kind++) {
        size_t end = strlen(kinds[kind].ending);
        if (*length > end && strcmp(path + *length - end, kinds[kind].ending) == 0) {
            *length -= end;
            return kind;
        }
    }
    return COMPRESSION_NONE;
}

/* ---- reading ---- */

struct Decoder {
    Compression compression;
    bool is_inside; /* of a member or frame */
#ifdef RUNNEL_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef RUNNEL_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

#ifdef RUNNEL_HAVE_ZLIB
enum { GZIP_WINDOW = 15 + 16 }; /* with the header and the end of gzip */

static unsigned at_most_uint(size_t size)
{
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

/* Members may follow one another, and zeros may follow the last. */
static DecodeStatus decode_gzip(Decoder *decoder, const unsigned char **bytes, size_t *count, char *out, size_t room, size_t *made)
{
    z_stream *stream = &decoder->gzip;
    if (!decoder->is_inside && **bytes == 0) {
        ++*bytes;
        --*count;
        return DECODE_WHOLE;
    }
    decoder->is_inside = true;
    unsigned given = at_most_uint(*count), wanted = at_most_uint(room);
    stream->next_in = (unsigned char *)*bytes;
    stream->avail_in = given;
    stream->next_out = (unsigned char *)out;
    stream->avail_out = wanted;
    int status = inflate(stream, Z_NO_FLUSH);
    *bytes += given - stream->avail_in;
    *count -= given - stream->avail_in;
    *made = wanted - stream->avail_out;
    if (status == Z_STREAM_END) {
        inflateReset(stream);
        decoder->is_inside = false;
        return DECODE_WHOLE;
    }
    return status == Z_OK || status == Z_BUF_ERROR ? DECODE_MORE : DECODE_WRONG;
}
#endif

#ifdef RUNNEL_HAVE_ZSTD
static DecodeStatus decode_zstd(Decoder *decoder, const unsigned char **bytes, size_t *count, char *out, size_t room, size_t *made)
{
    ZSTD_inBuffer input = {*bytes, *count, 0};
    ZSTD_outBuffer output = {out, room, 0};
    size_t status = ZSTD_decompressStream(decoder->zstd, &output, &input);
    *bytes += input.pos;
    *count -= input.pos;
    *made = output.pos;
    if (ZSTD_isError(status))
        return DECODE_WRONG;
    decoder->is_inside = status != 0;
    return decoder->is_inside ? DECODE_MORE : DECODE_WHOLE;
}
#endif

Decoder *decoder_new(Memory *memory, Compression compression)
{
    Decoder *decoder = memory_alloc(memory, sizeof *decoder);
    bool is_good = false;
    decoder->compression = compression;
#ifdef RUNNEL_HAVE_ZLIB
    if (compression == COMPRESSION_GZIP)
        is_good = inflateInit2(&decoder->gzip, GZIP_WINDOW) == Z_OK;
#endif
#ifdef RUNNEL_HAVE_ZSTD
    if (compression == COMPRESSION_ZSTD)
        is_good = (decoder->zstd = ZSTD_createDStream()) != NULL;
#endif
    if (!is_good) {
        memory_free(memory, decoder, sizeof *decoder);
        memory_fail(memory);
    }
    return decoder;
}

void decoder_free(Memory *memory, Decoder *decoder)
{
    if (decoder == NULL)
        return;
#ifdef RUNNEL_HAVE_ZLIB
    if (decoder->compression == COMPRESSION_GZIP)
        inflateEnd(&decoder->gzip);
#endif
#ifdef RUNNEL_HAVE_ZSTD
    if (decoder->compression == COMPRESSION_ZSTD)
        ZSTD_freeDStream(decoder->zstd);
#endif
    memory_free(memory, decoder, sizeof *decoder);
}

DecodeStatus decoder_run(Decoder *decoder, const unsigned char **bytes, size_t *count, char *out, size_t room, size_t *made)
{
    *made = 0;
#ifdef RUNNEL_HAVE_ZLIB
    if (decoder->compression == COMPRESSION_GZIP)
        return decode_gzip(decoder, bytes, count, out, room, made);
#endif
#ifdef RUNNEL_HAVE_ZSTD
    if (decoder->compression == COMPRESSION_ZSTD)
        return decode_zstd(decoder, bytes, count, out, room, made);
#endif
    (void)bytes, (void)count, (void)out, (void)room;
    return DECODE_WRONG;
}

/* ---- writing ---- */

struct Encoder {
    Compression compression;
#ifdef RUNNEL_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef RUNNEL_HAVE_ZSTD
    ZSTD_CStream *zstd;
#endif
};

#ifdef RUNNEL_HAVE_ZLIB
static bool encode_gzip(Encoder *encoder, const char **bytes, size_t *count, bool is_last, char *out, size_t room, size_t *made, bool *is_done)
{
    z_stream *stream = &encoder->gzip;
    unsigned given = at_most_uint(*count), wanted = at_most_uint(room);
    bool is_all = is_last && given == *count;
    stream->next_in = (unsigned char *)(uintptr_t)*bytes;
    stream->avail_in = given;
    stream->next_out = (unsigned char *)out;
    stream->avail_out = wanted;
    int status = deflate(stream, is_all ? Z_FINISH : Z_NO_FLUSH);
    *bytes += given - stream->avail_in;
    *count -= given - stream->avail_in;
    *made = wanted - stream->avail_out;
    *is_done = status == Z_STREAM_END;
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}
#endif

#ifdef RUNNEL_HAVE_ZSTD
static bool encode_zstd(Encoder *encoder, const char **bytes, size_t *count, bool is_last, char *out, size_t room, size_t *made, bool *is_done)
{
    ZSTD_inBuffer input = {*bytes, *count, 0};
    ZSTD_outBuffer output = {out, room, 0};
    size_t status = ZSTD_compressStream2(encoder->zstd, &output, &input, is_last ? ZSTD_e_end : ZSTD_e_continue);
    *bytes += input.pos;
    *count -= input.pos;
    *made = output.pos;
    *is_done = is_last && status == 0;
    return !ZSTD_isError(status);
}
#endif

Encoder *encoder_new(Memory *memory, Compression compression)
{
    Encoder *encoder = memory_alloc(memory, sizeof *encoder);
    bool is_good = false;
    encoder->compression = compression;
#ifdef RUNNEL_HAVE_ZLIB
    enum { MEMORY_LEVEL = 8 }; /* zlib's default */
    if (compression == COMPRESSION_GZIP)
        is_good = deflateInit2(&encoder->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
#endif
#ifdef RUNNEL_HAVE_ZSTD
    if (compression == COMPRESSION_ZSTD)
        is_good = (encoder->zstd = ZSTD_createCStream()) != NULL;
#endif
    if (!is_good) {
        memory_free(memory, encoder, sizeof *encoder);
        memory_fail(memory);
    }
    return encoder;
}

void encoder_free(Memory *memory, Encoder *encoder)
{
    if (encoder == NULL)
        return;
#ifdef RUNNEL_HAVE_ZLIB
    if (encoder->compression == COMPRESSION_GZIP)
        deflateEnd(&encoder->gzip);
#endif
#ifdef RUNNEL_HAVE_ZSTD
    if (encoder->compression == COMPRESSION_ZSTD)
        ZSTD_freeCStream(encoder->zstd);
#endif
    memory_free(memory, encoder, sizeof *encoder);
}

bool encoder_run(Encoder *encoder, const char **bytes, size_t *count, bool is_last, char *out, size_t room, size_t *made, bool *is_done)
{
#ifdef RUNNEL_HAVE_ZLIB
    if (encoder->compression == COMPRESSION_GZIP)
        return encode_gzip(encoder, bytes, count, is_last, out, room, made, is_done);
#endif
#ifdef RUNNEL_HAVE_ZSTD
    if (encoder->compression == COMPRESSION_ZSTD)
        return encode_zstd(encoder, bytes, count, is_last, out, room, made, is_done);
#endif
    (void)bytes, (void)count, (void)is_last, (void)out, (void)room, (void)made, (void)is_done;
    return false;
}
