/* SHA-256 (FIPS 180-4): names of cached files, and whether they are whole. */
#ifndef RUNNEL_COMPILE_SHA256_H
#define RUNNEL_COMPILE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_BLOCK_SIZE = 64, SHA256_HEX_LENGTH = 2 * SHA256_SIZE };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t block[SHA256_BLOCK_SIZE];
} Sha256;

void sha256_init(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *bytes, size_t length);
void sha256_finish(Sha256 *hash, uint8_t digest[SHA256_SIZE]);
void sha256_hex(const uint8_t digest[SHA256_SIZE], char hex[SHA256_HEX_LENGTH + 1]);

#endif
