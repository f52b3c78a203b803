/* unpack_tree NAME: unpack a recorded machine of tests/numa/trees and print its folder. */
#include <stdio.h>
#include <string.h>

#include "tests/numa/tree.h"

int main(int argc, char **argv)
{
    char root[TREE_PATH];
    if (argc != 2)
        return 2;
    tree_unpack(root, argv[1]);
    puts(root);
    return 0;
}
