#include <wchar.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// The groups of the calling thread alone: setgroups(3) changes those of all.
static inline long clinux_set_thread_groups(size_t count, const gid_t *groups) {
    return syscall(SYS_setgroups, count, groups);
}

// Behind _XOPEN_SOURCE, which a module cannot set after others have included the header.
extern int wcwidth(wchar_t character);
