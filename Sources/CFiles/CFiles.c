#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

int reprise_punch_hole(int descriptor, int64_t offset, int64_t length) {
    int result;
    do {
#if defined(__APPLE__)
        struct fpunchhole hole;
        memset(&hole, 0, sizeof hole);
        hole.fp_offset = offset;
        hole.fp_length = length;
        result = fcntl(descriptor, F_PUNCHHOLE, &hole);
#elif defined(__linux__)
        result = fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
#else
        return ENOTSUP;
#endif
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

ptrdiff_t reprise_read_resident(int descriptor, void *buffer, size_t count, int64_t offset) {
#if defined(__linux__) && defined(RWF_NOWAIT)
    struct iovec vector = {.iov_base = buffer, .iov_len = count};
    ptrdiff_t result;
    do {
        result = preadv2(descriptor, &vector, 1, offset, RWF_NOWAIT);
    } while (result < 0 && errno == EINTR);
    return result;
#else
    errno = EOPNOTSUPP;
    return -1;
#endif
}

void reprise_heap(size_t *used, size_t *unused) {
    *used = 0;
    *unused = 0;
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 heap = mallinfo2();
    *used = heap.uordblks + heap.hblkhd;
    *unused = heap.fordblks;
#endif
#endif
}

void reprise_trim_heap(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
