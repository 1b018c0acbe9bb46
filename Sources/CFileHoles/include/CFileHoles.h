#ifndef REPRISE_CFILEHOLES_H
#define REPRISE_CFILEHOLES_H

#include <stdint.h>

/// Gives the blocks that lie wholly in a range of a file back to the file system; the range then reads as zeros and the
/// file keeps its length.
///
/// Returns 0, or an errno value. Swift's overlay of the C library has no fallocate.
int reprise_punch_hole(int descriptor, int64_t offset, int64_t length);

#endif
