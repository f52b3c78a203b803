#include "perf/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "perf/err.h"

static const struct {
    const char *name;
    double bytes;
} size_units[] = {
    {"", 1},       {"B", 1},      {"kB", 1e3},   {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"K", 0x1p10},
    {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
};

int units_parse_bytes(const char *text, uint64_t *bytes)
{
    if (!isdigit((unsigned char)text[0]))
        return err_fail(-EINVAL, "\"%s\" is not a size (write it like 512MiB or 16GiB)", text);
    /* strtod would take hex and exponents: sizes have neither */
    size_t span = 0;
    while (isdigit((unsigned char)text[span]) || text[span] == '.')
        span++;
    char *end;
    double number = strtod(text, &end);
    if ((size_t)(end - text) != span)
        return err_fail(-EINVAL, "\"%s\" is not a size (write it like 512MiB or 16GiB)", text);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof size_units / sizeof *size_units; i++) {
        if (strcasecmp(end, size_units[i].name) != 0)
            continue;
        double value = number * size_units[i].bytes;
        if (value >= 0x1p64)
            return err_fail(-EINVAL, "\"%s\" is larger than 64 bits can count", text);
        *bytes = size_units[i].bytes == 1 ? strtoull(text, NULL, 10) : (uint64_t)value;
        return 0;
    }
    return err_fail(-EINVAL, "\"%s\": unknown unit \"%s\" (kB MB GB TB KiB MiB GiB TiB)", text, end);
}

const char *units_bytes(char text[UNITS_TEXT], uint64_t bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof names / sizeof *names) {
        value /= 1024;
        unit++;
    }
    snprintf(text, UNITS_TEXT, unit == 0 ? "%.0f %s" : "%.2f %s", value, names[unit]);
    return text;
}

const char *units_seconds(char text[UNITS_TEXT], double seconds)
{
    double size = fabs(seconds);
    if (size >= 1)
        snprintf(text, UNITS_TEXT, "%.2f s", seconds);
    else if (size >= 1e-3)
        snprintf(text, UNITS_TEXT, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, UNITS_TEXT, "%.3g us", seconds * 1e6);
    return text;
}
