/* Writes the table of powers of five that reading floats needs (src/io/number_text.c): the first 128 bits of 5^q for every q from -342 to 308, as C text. They
 * are rounded down, but up where 5^-q fits 64 bits (Lemire 2021). Numbers are lists of 32-bit digits, the least first. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LEAST = -342, LEAST_ROUNDED_UP = -27, MOST = 308, DIGITS = 64 };

typedef struct Number {
    uint32_t digits[DIGITS];
} Number;

static void multiply(Number *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < DIGITS; i++) {
        carry += (uint64_t)number->digits[i] * factor;
        number->digits[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void divide(Number *number, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = DIGITS; i-- > 0;) {
        rest = rest << 32 | number->digits[i];
        number->digits[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

static int bit(const Number *number, int place)
{
    return place < 0 ? 0 : number->digits[place / 32] >> place % 32 & 1;
}

static int length(const Number *number)
{
    int place = DIGITS * 32;
    while (place > 0 && bit(number, place - 1) == 0)
        place--;
    return place;
}

/* Its first 128 bits, one added at the last of them if it is to be rounded up: what is cut off is never zero then. */
static void print(const Number *number, int is_rounded_up)
{
    uint64_t parts[2] = {0, 0};
    int end = length(number);
    for (int i = 0; i < 128; i++)
        parts[i / 64] = parts[i / 64] << 1 | (uint64_t)bit(number, end - 1 - i);
    if (is_rounded_up && ++parts[1] == 0)
        parts[0]++;
    printf("    {UINT64_C(0x%016" PRIx64 "), UINT64_C(0x%016" PRIx64 ")},\n", parts[0], parts[1]);
}

/* 5^q, or for a negative q so large a power of two divided by it that all 128 bits are right. */
static void make(Number *number, int q)
{
    memset(number, 0, sizeof *number);
    if (q >= 0)
        number->digits[0] = 1;
    else
        number->digits[DIGITS - 1] = 1;
    for (int i = 0; i < q; i++)
        multiply(number, 5);
    for (int i = 0; i < -q; i++)
        divide(number, 5);
}

int main(void)
{
    printf("#include \"io/powers_of_five.h\"\n\nconst uint64_t powers_of_five[][2] = {\n");
    for (int q = LEAST; q <= MOST; q++) {
        Number number;
        make(&number, q);
        print(&number, q >= LEAST_ROUNDED_UP && q < 0);
    }
    printf("};\n");
    return 0;
}
