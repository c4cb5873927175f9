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

// The effective user of the calling thread alone: seteuid(2) changes that of all. The saved one stays.
static inline long clinux_set_thread_user(uid_t user) {
    return syscall(SYS_setresuid, -1, user, -1);
}

// Behind _XOPEN_SOURCE, which a module cannot set after others have included the header.
extern int wcwidth(wchar_t character);
