#ifndef REPRISE_CSPAWN_H
#define REPRISE_CSPAWN_H

#include <spawn.h>

/// Keeps every descriptor from `lowest` on out of the program that is started.
///
/// Returns 0, or an errno value. Needs glibc 2.34; does nothing on Apple's systems, which have a flag for it. Swift's
/// overlay of the C library has no posix_spawn_file_actions_addclosefrom_np.
int reprise_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest);

#endif
