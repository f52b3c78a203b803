/* Recorded sysfs and cgroup trees as one small text file each, unpacked into a temporary folder. Lines:
 *     # comment
 *     path: content                      a file; "\n" in the content is a line break
 *     @cpu ID package core online|offline
 *     @node ID cpulist memory_MiB free_1g/total_1g free_2m/total_2m distances
 *     @pci ADDRESS class vendor device numa_node speed width max_speed max_width [secondary subordinate]
 * The @ lines write the files that the kernel has for such an object (pci: with a config space of 64 bytes). */
#ifndef TESTS_NUMA_TREE_H
#define TESTS_NUMA_TREE_H

enum { TREE_PATH = 512 };

/* Unpack tests/numa/trees/NAME.tree; `root` becomes the folder. Fails the running test when anything is wrong. */
void tree_unpack(char root[TREE_PATH], const char *name);

/* Write or replace one file below root; "" as content makes an empty file. */
void tree_put(const char *root, const char *content, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

void tree_remove(const char *root);

#endif
