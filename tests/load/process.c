/* /proc, which only Linux has. */
#include "load.h"

#include <dirent.h>
#include <stdio.h>

uint64_t process_resident_bytes(int pid)
{
    char path[64], line[256];
    unsigned long long kib = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "VmRSS: %llu kB", &kib) == 1)
            break;
    }
    (void)fclose(file);
    return (uint64_t)kib * 1024;
}

uint64_t process_descriptors(int pid)
{
    char path[64];
    uint64_t count = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return 0;
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count - 2; /* . and .. */
}
