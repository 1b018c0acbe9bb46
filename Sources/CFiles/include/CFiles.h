#ifndef REPRISE_CFILES_H
#define REPRISE_CFILES_H

#include <stddef.h>
#include <stdint.h>

/// Gives the blocks that lie wholly in a range of a file back to the file system; the range then reads as zeros and the
/// file keeps its length.
///
/// Returns 0, or an errno value. Swift's overlay of the C library has no fallocate.
int reprise_punch_hole(int descriptor, int64_t offset, int64_t length);

/// Reads only what is in memory already (preadv2 with RWF_NOWAIT).
///
/// Returns the number of bytes, fewer than asked for where the rest would have to come from the disk, or -1 with errno:
/// EAGAIN if nothing is in memory, EOPNOTSUPP where the system or the file system cannot tell.
ptrdiff_t reprise_read_resident(int descriptor, void *buffer, size_t count, int64_t offset);

/// The bytes of the C library's heap that are in use, and those that are free but still resident.
///
/// Both are 0 where the C library does not tell (all but glibc).
void reprise_heap(size_t *used, size_t *unused);

/// Gives free pages of the heap back to the system; does nothing where the C library does so by itself.
void reprise_trim_heap(void);

#endif
