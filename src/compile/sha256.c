#include "compile/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned count)
{
    return word >> count | word << (32 - count);
}

static void expand(const uint8_t block[SHA256_BLOCK_SIZE], uint32_t words[64])
{
    for (unsigned i = 0; i < 16; i++, block += 4)
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (unsigned i = 16; i < 64; i++) {
        uint32_t early = words[i - 15], late = words[i - 2];
        words[i] = words[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) + words[i - 7] +
                   (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
}

static void add_block(uint32_t state[8], const uint8_t block[SHA256_BLOCK_SIZE])
{
    uint32_t words[64];
    expand(block, words);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + round_constants[i] + words[i];
        uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    const uint32_t last[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++)
        state[i] += last[i];
}

void sha256_init(Sha256 *hash)
{
    *hash = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(Sha256 *hash, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    while (length > 0) {
        size_t held = (size_t)(hash->length % SHA256_BLOCK_SIZE);
        size_t count = SHA256_BLOCK_SIZE - held < length ? SHA256_BLOCK_SIZE - held : length;
        memcpy(hash->block + held, from, count);
        hash->length += count;
        from += count;
        length -= count;
        if (held + count == SHA256_BLOCK_SIZE)
            add_block(hash->state, hash->block);
    }
}

/* Big-endian. */
static void put_bytes(uint8_t *to, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

void sha256_finish(Sha256 *hash, uint8_t digest[SHA256_SIZE])
{
    static const uint8_t padding[SHA256_BLOCK_SIZE] = {0x80};
    uint8_t bits[8];
    put_bytes(bits, hash->length * 8, sizeof bits);
    size_t held = (size_t)(hash->length % SHA256_BLOCK_SIZE);
    size_t end = SHA256_BLOCK_SIZE - sizeof bits; /* where the length goes, in this block or the next */
    sha256_add(hash, padding, held < end ? end - held : end + SHA256_BLOCK_SIZE - held);
    sha256_add(hash, bits, sizeof bits);
    for (unsigned i = 0; i < 8; i++)
        put_bytes(digest + 4 * i, hash->state[i], 4);
}

void sha256_hex(const uint8_t digest[SHA256_SIZE], char hex[SHA256_HEX_LENGTH + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < SHA256_SIZE; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[SHA256_HEX_LENGTH] = '\0';
}
