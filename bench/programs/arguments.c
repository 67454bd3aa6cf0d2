#define _GNU_SOURCE
#include "arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t argument_int(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0')
        fail("\"%s\" is not an integer", text);
    return value;
}

double argument_float(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0' || *end != '\0')
        fail("\"%s\" is not a number", text);
    return value;
}

Array argument_array(const char *text, ElementType type)
{
    if (text[0] != '@')
        fail("\"%s\" is not @FILE.npy", text);
    return npy_read(text + 1, type);
}

char *argument_text(const char *text)
{
    size_t length = strlen(text);
    if (length < 2 || text[0] != '"' || text[length - 1] != '"')
        fail("%s is not a text in double quotes", text);
    return strndup(text + 1, length - 2);
}

/* Digits and exponent of the shortest text in exponent form that reads back: "-1.25e-07". */
static void shortest(char text[40], double x)
{
    for (int digits = 0; digits <= 17; digits++) {
        snprintf(text, 40, "%.*e", digits, x);
        if (strtod(text, NULL) == x)
            return;
    }
}

static void print_plain(FILE *out, const char *digits, int count, int exponent)
{
    int point = exponent + 1; /* digits before it */
    if (point <= 0) {
        fprintf(out, "0.%.*s", -point, "00000");
        fprintf(out, "%.*s", count, digits);
        return;
    }
    for (int i = 0; i < point; i++)
        fputc(i < count ? digits[i] : '0', out);
    fprintf(out, ".%s", count > point ? digits + point : "0");
}

void print_float(FILE *out, double x)
{
    if (isnan(x) || isinf(x)) {
        fputs(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf", out);
        return;
    }
    if (signbit(x))
        fputc('-', out);
    char text[40], digits[20];
    shortest(text, fabs(x));
    char *e = strchr(text, 'e');
    int exponent = atoi(e + 1), count = 0;
    for (char *c = text; c < e; c++)
        if (*c != '.')
            digits[count++] = *c;
    digits[count] = '\0';
    if (x == 0)
        fputs("0.0", out);
    else if (exponent >= -5 && exponent < 16)
        print_plain(out, digits, count, exponent);
    else
        fprintf(out, "%c.%se%d", digits[0], count > 1 ? digits + 1 : "0", exponent);
}
