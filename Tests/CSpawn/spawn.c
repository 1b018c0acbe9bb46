#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CSpawn.h"

int reprise_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest) {
#if defined(__linux__)
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
#else
    (void)actions;
    (void)lowest;
    return 0;
#endif
}
