// C that only Darwin declares.
#include <stdint.h>
#include <sys/types.h>

#define SO_NOSIGPIPE 0x1022
#define SO_NREAD 0x1020
#define SO_NWRITE 0x1024
#define TCP_KEEPALIVE 0x10
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000

int getpeereid(int, uid_t *, gid_t *);

struct statfs {
  uint32_t f_bsize;
  uint64_t f_blocks;
  uint64_t f_bfree;
  uint64_t f_bavail;
};
int statfs(const char *, struct statfs *);
