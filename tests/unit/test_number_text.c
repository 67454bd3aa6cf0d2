/* Numbers from text: the same bits as the C library gives, for numbers of every size and length; ends, ranges and what is no number. */
#include "io/number_text.h"
#include "math/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition, text)                                                                                        \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, text);                                          \
            failures++;                                                                                               \
        }                                                                                                             \
    } while (0)

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    return random_state = random_hash(random_state, 1);
}

static char buffer[4096];

static const char *padded(const char *text)
{
    memset(buffer, 0, sizeof buffer);
    snprintf(buffer, sizeof buffer - NUMBER_TEXT_PADDING, "%s,", text);
    return buffer;
}

static void check_float(const char *text)
{
    const char *at = padded(text), *start = at;
    double wide, expected_wide = strtod(text, NULL);
    NumberStatus status = number_text_read(&at, SCALAR_F64, &wide);
    CHECK(status == (isinf(expected_wide) ? NUMBER_OUT_OF_RANGE : NUMBER_READ), text);
    CHECK(status != NUMBER_READ || (memcmp(&wide, &expected_wide, sizeof wide) == 0 && *at == ','), text);
    at = start;
    float narrow, expected_narrow = strtof(text, NULL);
    status = number_text_read(&at, SCALAR_F32, &narrow);
    CHECK(status == (isinf(expected_narrow) ? NUMBER_OUT_OF_RANGE : NUMBER_READ), text);
    CHECK(status != NUMBER_READ || (memcmp(&narrow, &expected_narrow, sizeof narrow) == 0 && *at == ','), text);
}

/* Any bits, with as many digits as they need, fewer, or more. */
static void test_random_bits(void)
{
    char text[64];
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, "%.*e", (int)(next_random() % 25), value);
        check_float(text);
    }
}

/* Digits with a point somewhere, and perhaps an exponent. */
static void test_random_digits(void)
{
    char text[200];
    for (int i = 0; i < 100000; i++) {
        size_t length = 0, digits = 1 + next_random() % (i % 10 == 0 ? 100 : 22), point = next_random() % (2 * digits);
        if (next_random() % 2 == 0)
            text[length++] = '-';
        for (size_t k = 0; k < digits; k++) {
            text[length++] = (char)('0' + next_random() % 10);
            if (k == point)
                text[length++] = '.';
        }
        text[length] = '\0';
        if (next_random() % 2 == 0)
            snprintf(text + length, 16, "e%d", (int)(next_random() % 80) - 40);
        check_float(text);
    }
}

/* Exactly between two floats, and a little beside. */
static void test_middles(void)
{
    char text[1200];
    for (int i = 0; i < 5000; i++) {
        uint64_t fraction = next_random() >> 11 | UINT64_C(1) << 52;
        int exponent = (int)(next_random() % 120) - 60;
        long double middle = ldexpl((long double)fraction + 0.5L, exponent);
        snprintf(text, sizeof text, "%.80Lf", middle);
        check_float(text);
        strcat(text, "1");
        check_float(text);
    }
}

static void test_odd_floats(void)
{
    static const char *const texts[] = {
        "0", "-0", "0.0", ".5", "5.", "1e5", "1E+5", "1e-5", "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9e-324", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "9007199254740993", "9007199254740992.5",
        "1e23", "8.5e22", "123456789012345678901234567890", "0.000000000000000000000000000000000000001", "3.4028235e38", "3.4028236e38", "1.401298464324817e-45",
        "7.006492321624085e-46", "7.006492321624086e-46", "16777217", "16777217.0000000000000000000000000001", "1e-400", "1e999999999999", "0e999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_float(texts[i]);
    char many[1100];
    memset(many, '0', sizeof many);
    memcpy(many, "0.", 2);
    strcpy(many + 1050, "17e1050");
    check_float(many);
    memset(many, '9', 1000);
    strcpy(many + 1000, "e-990");
    check_float(many);
}

static void check_status(ScalarType type, const char *text, NumberStatus expected, size_t length)
{
    uint64_t cell;
    const char *start = padded(text), *at = start;
    CHECK(number_text_read(&at, type, &cell) == expected && (size_t)(at - start) == length, text);
}

static void test_words_and_ends(void)
{
    check_status(SCALAR_F64, "nan", NUMBER_READ, 3);
    check_status(SCALAR_F64, "-INF", NUMBER_READ, 4);
    check_status(SCALAR_F32, "Infinity", NUMBER_READ, 8);
    check_status(SCALAR_F64, "1e", NUMBER_READ, 1);
    check_status(SCALAR_F64, "1e+", NUMBER_READ, 1);
    check_status(SCALAR_F64, "1.5x", NUMBER_READ, 3);
    check_status(SCALAR_F64, ".", NUMBER_NONE, 0);
    check_status(SCALAR_F64, "-", NUMBER_NONE, 0);
    check_status(SCALAR_F64, "", NUMBER_NONE, 0);
    check_status(SCALAR_I64, "12.5", NUMBER_READ, 2);
    check_status(SCALAR_I64, "x", NUMBER_NONE, 0);
    check_status(SCALAR_BOOL, "1", NUMBER_NONE, 0);
}

/* What the common case takes is right, up to the same place as everything else would go; and it takes what it should. */
static void check_short(const char *text, bool is_common)
{
    const char *start = padded(text), *at = start, *slow = start;
    double value, expected;
    bool is_taken = number_text_short_double(&at, &value);
    CHECK(is_taken || !is_common, text);
    CHECK(is_taken || at == start, text);
    if (is_taken)
        CHECK(number_text_double(&slow, &expected) == NUMBER_READ && slow == at && memcmp(&value, &expected, sizeof value) == 0, text);
}

/* Digits before and behind a point, of every number, and what may follow them. */
static void test_short_floats(void)
{
    static const char *const ends[] = {"", "\n", "\r\n", " ", "x", ".", ".5", "e", "e5", "E-3", "-", "\x80", "\xff", "\xff\xff" "9", "/", ":"};
    char text[64];
    for (unsigned before = 0; before <= 9; before++)
        for (unsigned behind = 0; behind <= 9; behind++)
            for (size_t end = 0; end < sizeof ends / sizeof *ends; end++)
                for (int i = 0; i < 30; i++) {
                    uint64_t digits = i % 10 == 0 ? 0 : i % 10 == 1 ? 999999999999999999 : next_random();
                    snprintf(text, sizeof text, "%s%.*" PRIu64 ".%.*" PRIu64 "%s", i < 15 ? "" : i < 25 ? "-" : "+", before,
                             before == 0 ? (uint64_t)0 : digits % (uint64_t)pow(10, before), behind,
                             behind == 0 ? (uint64_t)0 : digits % (uint64_t)pow(10, behind), ends[end]);
                    check_short(text, before + behind > 0 && before + behind < 16 && end < 7);
                }
}

static void test_integers(void)
{
    static const struct {
        ScalarType type;
        const char *most, *beyond;
    } limits[] = {{SCALAR_I8, "127", "128"}, {SCALAR_I8, "-128", "-129"}, {SCALAR_U8, "255", "256"}, {SCALAR_U8, "-0", "-1"},
                  {SCALAR_I64, "9223372036854775807", "9223372036854775808"}, {SCALAR_I64, "-9223372036854775808", "-9223372036854775809"},
                  {SCALAR_U64, "18446744073709551615", "18446744073709551616"}, {SCALAR_U64, "000000000000000000000000000007", "20000000000000000000"},
                  {SCALAR_U64, "10000000000000000000", "99999999999999999999"}, {SCALAR_I32, "+2147483647", "123456789012345678901234567890"}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        check_status(limits[i].type, limits[i].most, NUMBER_READ, strlen(limits[i].most));
        check_status(limits[i].type, limits[i].beyond, NUMBER_OUT_OF_RANGE, 0);
    }
    char text[32];
    for (int i = 0; i < 100000; i++) {
        int64_t value, expected = (int64_t)next_random() >> next_random() % 64;
        snprintf(text, sizeof text, "%" PRId64, expected);
        const char *at = padded(text);
        CHECK(number_text_int(&at, &value) == NUMBER_READ && value == expected && *at == ',', text);
    }
}

int main(void)
{
    test_random_bits();
    test_random_digits();
    test_middles();
    test_odd_floats();
    test_words_and_ends();
    test_short_floats();
    test_integers();
    return failures != 0;
}
