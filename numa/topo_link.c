/* PCIe link arithmetic. */
#include <math.h>
#include <stdio.h>

#include "numa/topology.h"

/* GB/s of one lane. Gen1 and Gen2 send 8 of 10 bits, Gen3 to Gen5 128 of 130, Gen6 242 of the 256 bytes of a flit (the
 * rest is CRC and FEC). hwloc's XML files carry these products, e.g. 63.015 for Gen5 x16. */
static const double lane_gb_per_s[] = {0,
                                       2.5 * 8 / 10 / 8,
                                       5.0 * 8 / 10 / 8,
                                       8.0 * 128 / 130 / 8,
                                       16.0 * 128 / 130 / 8,
                                       32.0 * 128 / 130 / 8,
                                       64.0 * 242 / 256 / 8};
enum { GENS = sizeof lane_gb_per_s / sizeof *lane_gb_per_s };

double topo_link_speed(int gen, int width)
{
    return gen > 0 && gen < GENS && width > 0 ? lane_gb_per_s[gen] * width : 0;
}

bool topo_link_guess(double gb_per_s, int *gen, int *width)
{
    int found = 0, found_gen = 0, found_width = 0;
    for (int g = 1; g < GENS; g++)
        for (int w = 1; w <= 16; w *= 2)
            if (fabs(topo_link_speed(g, w) - gb_per_s) < 0.004 * gb_per_s) {
                found++;
                found_gen = g;
                found_width = w;
            }
    if (found != 1)
        return false;
    *gen = found_gen;
    *width = found_width;
    return true;
}

const char *topo_link_text(char text[TOPO_NAME], const struct topo_link *link)
{
    if (link->gb_per_s <= 0)
        snprintf(text, TOPO_NAME, "unknown");
    else if (link->gen > 0)
        snprintf(text, TOPO_NAME, "%.1f GB/s (Gen%d x%d)", link->gb_per_s, link->gen, link->width);
    else
        snprintf(text, TOPO_NAME, "%.1f GB/s", link->gb_per_s);
    return text;
}
